#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Writers and readers that do as bloomctl-operations(7) says
# (tests/writers/service), beside PostgreSQL and bloomctl: what is committed is
# found at every moment, and what is in doubt is for the database.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../postgres
load ../service

setup_file() {
	begin_file
	servers_start main
	postgres_start
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=1
}

teardown_file() {
	postgres_stop
	redis_stop main
}

# An empty server, and a table of 2000 cards of which 1800 are blocked.
setup() {
	begin
	write_keyspec cards.keyspec 'key=card:{entity_id}:{scope}'
	redis_cli main FLUSHALL >/dev/null
	psql_run "TRUNCATE cards;
		INSERT INTO cards SELECT 'c' || i, 'global', (i % 10 > 0)::int
		FROM generate_series(1, 2000) AS g (i)"
	target=redis://127.0.0.1:$(redis_port main)
	place=127.0.0.1:$(redis_port main)
	database=$(postgres_word main)
}

teardown() {
	services_teardown
}

# build: a generation of the cards that are blocked.
build() {
	bloomctl_ok build -q -k cards.keyspec -t "$target" -s "$database" \
		--table cards --where 'status = 1' --keys 20000
}

# swap: readers get it.
swap() {
	bloomctl_ok swap -q --static -k cards.keyspec -t "$target"
}

# writes OPTION...: some cards.
writes() {
	service write -d "$database" --ttl 600 "$@"
}

# asks ENTITY_ID [OPTION...]: for a card of the scope `global`.
asks() {
	service ask -d "$database" "${@:2}" -- "$1" global
}

# says STATUS TIER-AND-WORD: asks() does.
says() {
	assert_status "$1"
	# shellcheck disable=SC2053 # a pattern
	[[ $output == $2 ]] || fail "it did not say $2"
}

# forget: nothing is in recent-writes any more, as after its time to live.
forget() {
	local key
	for key in $(redis_cli main KEYS 'recent:*'); do
		redis_cli main DEL "$key" >/dev/null
	done
}

# drop_filters: all four vanish.
drop_filters() {
	local b
	for b in 0 1 2 3; do
		[[ $(redis_cli main DEL "cards:$b") == 1 ]]
	done
}

# blocked ENTITY_ID: how many such cards the database has.
blocked() {
	psql_run "SELECT count(*) FROM cards
		WHERE entity_id = '$1' AND status = 1"
}

# nobody_writes: all other sessions of the database have ended.
nobody_writes() {
	[[ $(psql_run "SELECT count(*) FROM pg_stat_activity
		WHERE backend_type = 'client backend'
			AND pid <> pg_backend_pid()") == 0 ]]
}

# inserts: how often BF.INSERT was done.
inserts() {
	local node
	local -a nodes=(main)
	! is_cluster main || mapfile -t nodes < <(cluster_primaries main)
	for node in "${nodes[@]}"; do
		redis_cli "$node" INFO commandstats
	done | tr -d '\r' | awk -F '[=,]' '
		tolower($1) ~ /^cmdstat_bf.insert:/ { n += $2 }
		END { print n + 0 }'
}

@test "writers: what is committed is found at every moment of builds and swaps" {
	local lines i
	build
	swap
	for i in 1 2; do
		start "reader$i" follow --log log
		start "writer$i" write -d "$database" --ttl 600 --log log \
			--name "w$i-" --rate 200 --hold 20 --rollback 10 \
			--flip 30 --seed "$i"
	done
	wait_until logged 50
	for i in 1 2 3; do
		build
		lines=$(wc -l <log)
		# These are in no filter of the new generation.
		wait_until logged $((lines + 40))
		swap
		wait_until logged $((lines + 80))
	done
	stop_all
	for i in 1 2; do
		# Every answer came from a tier, and those of recent-writes
		# were needed.
		grep -E ' recent=[1-9][0-9]* passed=0 missing=0$' "reader$i.out"
		grep -E '^done=[1-9].* rolled_back=[1-9].* alarms=0$' \
			"writer$i.out"
	done

	# The filters alone lack what was written between snapshot and swap.
	service follow --log log --once
	assert_status 0
	service follow --log log --once --filter-only
	assert_status 1
	assert_has "$stderr" ', committed at '
	# A build that nobody writes beside has it all.
	build
	swap
	forget
	service follow --log log --once --filter-only
	assert_status 0
	[[ $output == keys=[1-9]*' recent=0 passed=0 missing=0' ]]
}

@test "writers: one that dies at any step leaves no row that is not found" {
	local kind n name committed killed=0 recent=0
	need_fault
	build
	swap
	for kind in write send; do
		for ((n = 1; n < 100; n++)); do
			name=$kind$n-
			status=0
			LD_PRELOAD=$BUILD/fault.so FAULT=$kind:$n:kill \
				"$BUILD/service" write -k cards.keyspec \
				-t "$place" -d "$database" --ttl 600 \
				--name "$name" --number 1 >said 2>&1 ||
				status=$?
			((status != 0)) || break
			cat said
			assert_status 137
			killed=$((killed + 1))
			wait_until nobody_writes
			committed=$(blocked "${name}0000000")
			asks "${name}0000000"
			((status != committed)) ||
				fail "$committed rows, and the answer is $output"
			[[ $output != yes*recent-writes ]] ||
				recent=$((recent + 1))
		done
	done
	# Before SET and BF.INSERT; before each statement.
	((killed >= 6)) || fail "it was killed $killed times"
	((recent >= 1)) || fail "never between COMMIT and BF.INSERT"
}

@test "writers: a row that is rolled back is a false positive, and expires" {
	build
	swap
	writes --name r --number 1 --rollback 100 --log log
	assert_status 0
	[[ $output == 'done=0 rolled_back=1 no_key=0 alarms=0' && ! -s log ]]
	asks r0000000
	says 1 $'no\trecent-writes'
	forget
	asks r0000000
	says 1 $'no\tnothing'
}

@test "writers: what recent-writes refuse is not committed" {
	build
	swap
	writes --recent "$BATS_TEST_TMPDIR/none" --number 1 --name n --log log
	assert_status 1
	assert_has "$stderr" 'ALARM: '
	[[ $(blocked n0000000) == 0 && ! -s log ]]
	# Nor is it taken for a no.
	asks n0000000 --recent "$BATS_TEST_TMPDIR/none"
	says 1 $'no\tpassed on: recent-writes: *'
}

@test "writers: a recent write is kept so long from COMMIT on, not from BEGIN" {
	local left
	build
	swap
	# A transaction that is open for two seconds costs none of them.
	writes --name t --number 1 --hold 2000
	assert_status 0
	left=$(redis_cli main PTTL recent:card:t0000000:global)
	((598500 <= left && left <= 600000))
}

@test "writers: an update that brings a row back adds it again" {
	build
	swap
	writes --name u --number 1
	assert_status 0
	forget
	asks u0000000
	says 0 $'yes\tfilter'
	psql_run "UPDATE cards SET status = 0 WHERE entity_id = 'u0000000'"
	asks u0000000
	says 1 $'no\tfilter'
	build
	swap
	asks u0000000
	says 1 $'no\tnothing'
	writes --name u --number 1
	assert_status 0
	forget
	asks u0000000
	says 0 $'yes\tfilter'
}

@test "writers: a filter that vanished is passed on, and an alarm" {
	local before
	build
	swap
	asks c1
	says 0 $'yes\tfilter'
	drop_filters
	asks c1
	says 0 $'yes\tpassed on: cards:?: the sentinel is missing'
	asks nobody
	says 1 $'no\tpassed on: cards:?: the sentinel is missing'
	before=$(inserts)
	writes --name v --number 5
	assert_status 1
	[[ $output == 'done=0 rolled_back=0 no_key=0 alarms=1' ]]
	[[ $stderr == 'ALARM: filter cards:'*not\ found* ]]
	# Once, and it has made none.
	(($(inserts) == before + 1))
	[[ -z $(redis_cli main KEYS 'cards:*') ]]
	asks v0000000
	says 0 $'yes\tpassed on: *'
}

@test "writers: a filter that is full is an alarm, and loses no row" {
	local b sentinel before
	sentinel=$("$BLOOMCTL" key -k cards.keyspec --sentinel)
	for b in 0 1 2 3; do
		redis_cli main BF.RESERVE "cards:$b" 0.0000001 1 NONSCALING
		redis_cli main BF.ADD "cards:$b" "$sentinel"
	done
	before=$(inserts)
	writes --name f --number 5 --log log
	assert_status 1
	[[ $output == 'done=0 rolled_back=0 no_key=0 alarms=1' ]]
	[[ $stderr == 'ALARM: filter cards:'*full* ]]
	(($(inserts) == before + 1))
	asks f0000000
	says 0 $'yes\trecent-writes'
	# It was committed, so it is asked for.
	service follow --log log --once
	assert_status 0
	forget
	service follow --log log --once
	assert_status 1
	[[ $stderr == 'card:f0000000:global, committed at '*' is not found at '* ]]
}

@test "writers: a row without a key is told, and passed on" {
	build
	swap
	asks a:b
	says 1 $'no\tpassed on: the key is rejected: delimiter'
	writes --name a:b --number 1 --log log
	assert_status 0
	[[ $output == 'done=0 rolled_back=0 no_key=1 alarms=0' && ! -s log ]]
	assert_has "$stderr" 'in the database only: the key is rejected'
	asks a:b0000000
	says 0 $'yes\tpassed on: the key is rejected: delimiter'
}

@test "writers: a replica that lags may answer for filters only" {
	[[ $servers_kind == single ]] || skip "in a cluster it sends readers on"
	build
	swap
	redis_replica copy main
	# It goes on to answer, and gets nothing more.
	redis_cli copy REPLICAOF 127.0.0.1 1
	writes --name l --number 1
	assert_status 0
	place=$(redis_socket copy)
	asks l0000000 --recent "$(redis_socket main)"
	says 0 $'yes\trecent-writes'
	asks l0000000
	says 0 $'yes\tpassed on: recent-writes: READONLY *'
	redis_stop copy
}

@test "writers: in a cluster they follow filters that move" {
	local b to
	[[ $servers_kind == cluster ]] || skip "nothing moves on one server"
	build
	swap
	start writer write -d "$database" --ttl 600 --log log --rate 200
	start reader follow --log log
	for b in 0 1 2 3; do
		wait_until logged $((b * 80 + 40))
		to=$(cluster_primaries main |
			grep -vx "$(cluster_owner main "cards:$b")" | head -n 1)
		# Where a key is gone already, it is asked for once elsewhere.
		cluster_migrate main "cards:$b" "$to" half
		wait_until logged $((b * 80 + 80))
		cluster_migrate main "cards:$b" "$to"
	done
	wait_until logged 400
	stop_all
	grep -E ' passed=0 missing=0$' reader.out
	grep -E '^done=[1-9].* alarms=0$' writer.out
	service follow --log log --once --filter-only
	assert_status 0
}

@test "writers: a reader names the first committed key that is not found" {
	build
	swap
	printf '%s\n' $'card:c1:global\t1.5' $'card:gone:global\t2' \
		$'card:gone:global\t3\tgone' $'card:part:glo' | head -c -1 >log
	service follow --log log --once
	assert_status 0
	[[ $output == 'keys=2 filter=1 recent=0 passed=0 missing=0' ]]
	printf '%s\n' $'bal\t4' $'card:other:global\t5' >>log
	service follow --log log
	assert_status 1
	[[ $stderr == 'card:part:global, committed at 4, is not found at '* ]]
}
