#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# From one keyspec to another, as bloomctl-operations(7) says, while writers and
# readers of both are alive: what is committed is found at every moment, by all
# of them, and what was left is removed.
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

# A table of 2000 cards of which 1800 are blocked, and the keyspecs.
setup() {
	begin
	redis_cli main FLUSHALL >/dev/null
	psql_run "TRUNCATE cards;
		INSERT INTO cards SELECT 'c' || i, 'global', (i % 10 > 0)::int
		FROM generate_series(1, 2000) AS g (i)"
	write_keyspec old.keyspec 'key=card:{entity_id}:{scope}' buckets=200
	write_keyspec new.keyspec 'key=card:{entity_id}:{scope}' buckets=400 \
		'filter={name}-400:{bucket}'
	target=redis://127.0.0.1:$(redis_port main)
	# shellcheck disable=SC2034 # tests/service.bash asks there
	place=127.0.0.1:$(redis_port main)
	database=$(postgres_word main)
}

teardown() {
	services_teardown
}

# on KEYSPEC COMMAND OPTION...: bloomctl COMMAND on that set, from the table.
on() {
	bloomctl_run "$2" -q -k "$1.keyspec" -t "$target" -s "$database" \
		--table cards --where 'status = 1' "${@:3}"
}

on_ok() {
	on "$@"
	assert_status 0
	assert_stderr_is ''
}

# alive KEYSPEC: a writer and a reader of that set; all share one log.
alive() {
	keyspec=$1.keyspec start "$1-writer" write -d "$database" --ttl 600 \
		--name "$1" --rate 200 --flip 20 --log log
	keyspec=$1.keyspec start "$1-reader" follow --log log
}

# more: there are more changes in the log than there were.
more() {
	wait_until logged $(($(wc -l <log) + $1))
}

# keys_of TEXT: how many keys of the server begin so.
keys_of() {
	redis_cli main KEYS "$1*" | grep -c . || :
}

@test "migrate: from 200 buckets to 400, with writers and readers of both" {
	local live
	on_ok old rebuild --capacity 500
	alive old
	wait_until logged 50
	on_ok new rebuild --capacity 500
	alive new
	for _ in 1 2 3; do
		more 50
		on_ok old sync
		on_ok new sync
	done
	on_ok new rebuild --capacity 500
	more 50
	# Readers change first, so that nobody asks what nobody writes to.
	stop_one old-reader
	stop_one old-writer
	live=$(redis_cli main HGET '{cards:000}:bloomctl' generation)
	bloomctl_ok swap -q --retire -k old.keyspec -t "$target" -g "$live"
	more 50
	stop_all
	[[ $(keys_of cards:) == 0 && $(keys_of '{cards:') == 0 ]]
	on_ok new sync
	keyspec=new.keyspec service follow --log log --once --filter-only
	assert_status 0
	on_ok new verify --grace 0s
	# Nothing is left of the old one but its fences.
	redis_cli main KEYS 'bloomctl:*' >left
	[[ $(grep -c "^bloomctl:{cards-[0-9a-f]*}:.*fence$" left) -ge 2 ]]
	bloomctl_run inspect -k old.keyspec -t "$target"
	assert_failure 66 inspect
}

@test "migrate: a set whose filters have the same names is refused" {
	write_keyspec same.keyspec 'key=card:{entity_id}:{scope}' buckets=400 \
		'filter={name}:{bucket}'
	on_ok old rebuild --capacity 500
	on same rebuild --capacity 500
	assert_status 83
	assert_has "$stderr" 'of another keyspec' 'must not share a name'
	on_ok old verify
}

@test "migrate: --retire that loses its server half way is finished by the next" {
	local live n
	need_fault
	on_ok old rebuild --capacity 500
	live=$(redis_cli main HGET '{cards:000}:bloomctl' generation)
	for n in 20 60 150 210; do
		LD_PRELOAD=$BUILD/fault.so FAULT=send:$n:kill "$BLOOMCTL" swap \
			-q --retire --lease 1s -k old.keyspec -t "$target" \
			-g "$live" || (($? == 137)) || fail "call $n"
		wait_until unlocked
	done
	bloomctl_run swap -q --retire -k old.keyspec -t "$target" -g "$live"
	((status == 0 || status == 66))
	[[ $(keys_of cards:) == 0 && $(keys_of '{cards:') == 0 ]]
	[[ $(keys_of 'bloomctl:{cards-'*manifest) == 0 ]]
}

# unlocked: the lease of the set is over.
unlocked() {
	! redis_cli main KEYS 'bloomctl:*' | grep -q ':lock$'
}
