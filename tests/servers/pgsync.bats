#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl sync from PostgreSQL: what is committed is in the filters that
# readers get after the next run, whatever was done to either of them.
#
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # $server and others
# are of pgstands, and each test has its own $source
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres
load ../pgstands

setup_file() {
	begin_set_file
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=20000
	postgres_follows copy
}

teardown() {
	stands_teardown
}

teardown_file() {
	redis_stop main
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	begin_set
	stands_keyspec
	server=main
	word=$(postgres_word main)
	source=(-s "$word" --table cards --where 'status = 1')
}

# ours COMMAND OPTION...: on the set of the table.
ours() {
	bloomctl_run "$1" -k c.keyspec -t "$target" "${source[@]}" "${@:2}"
}

ours_ok() {
	ours "$@"
	assert_status 0
	assert_stderr_is ''
}

# live_table: the table is live.
live_table() {
	ours_ok build -q --capacity 40000
	ours_ok swap -q --allow-shrink
}

# add ID [SQL]: a row that is committed.
add() {
	psql_run "INSERT INTO cards (entity_id, scope, status)
		VALUES ('$1', 'global', 1)
		ON CONFLICT (entity_id, scope) DO UPDATE SET status = 1"
}

found() {
	"$BLOOMCTL" lookup -q -k c.keyspec -t "$target" "$1" global >/dev/null
}

lost() {
	! found "$1"
}

@test "pgsync: what was committed since is found, and the horizon moves" {
	live_table
	add new1
	lost new1
	ours_ok sync --receipt got.json
	[[ $output == "set '"*"rows changed since "*"lack nothing committed before "* ||
		$output == "set '"*"row changed since "* ]]
	found new1
	assert_json got.json '.exposure_s > 0' \
		'.recent_ttl_s >= 2 * .exposure_s + 60' '.horizon.xid != null'
	# And for whoever comes later.
	bloomctl_ok inspect -k c.keyspec -t "$target" --format json
	jq -e --slurpfile got got.json '.sync_lock == {} and
		.exposure.recent_ttl_s == $got[0].recent_ttl_s and
		.exposure.exposure_s == $got[0].exposure_s' <<<"$output"
	bloomctl_ok inspect -k c.keyspec -t "$target"
	assert_has "$output" 'caught up     until ' \
		"keep recent-writes for $(json .recent_ttl_s got.json) s"
	add new2
	ours_ok sync -n
	assert_has "$output" 'nothing was added'
	lost new2
	ours_ok sync -q
	[[ -z $output ]]
	found new2
	ours_ok verify -q
}

@test "pgsync: a transaction that is late is found by the run after it" {
	live_table
	holds "BEGIN; INSERT INTO cards (entity_id, scope, status)
		VALUES ('late', 'global', 1) RETURNING entity_id;"
	wait_until test -s psql.out
	# Nobody else asks this server to write what that has logged.
	ours_ok sync -q --max-lag 2s
	lost late
	# One with a higher id ends first: the horizon stays below both.
	add early
	ours_ok sync -q
	found early
	lost late
	echo 'COMMIT;' >&"$sql"
	wait_until committed late
	unblocks
	ours_ok sync -q
	found late
}

committed() {
	[[ $(psql_run "SELECT count(*) FROM cards WHERE entity_id = '$1'") == 1 ]]
}

@test "pgsync: a status that flips without a stamp is found by ids" {
	live_table
	id=$(psql_run "SELECT entity_id FROM cards WHERE status = 0
		AND scope = 'global' LIMIT 1")
	psql_run "UPDATE cards SET status = 1 WHERE entity_id = '$id'"
	ours_ok sync -q
	found "$id"
}

@test "pgsync: filters that lost adds with their server get them again" {
	is_cluster main && skip "passes.bats has a cluster's failover"
	redis_cli main SAVE >/dev/null
	live_table
	redis_cli main SAVE >/dev/null
	add kept
	ours_ok sync -q
	found kept
	redis_kill main
	redis_restart main
	lost kept
	ours_ok sync -q
	found kept
}

@test "pgsync: killed between adds and horizon, the next one does the rest" {
	need_fault
	live_table
	add killed
	for n in {4..30..2}; do
		LD_PRELOAD=$BUILD/fault.so FAULT=send:$n:kill "$BLOOMCTL" sync \
			-q --lease 1s -k c.keyspec -t "$target" "${source[@]}" \
			>/dev/null 2>&1 || ended[$?]=yes
		wait_until lease_over
	done
	# Some were killed, and some came to their end.
	[[ -n ${ended[137]-} ]]
	ours_ok sync -q
	found killed
	ours_ok verify -q
}

lease_over() {
	! redis_cli main KEYS "*" | grep -q ":sync-lock$"
}

@test "pgsync: another sync is 82, another selection 83" {
	live_table
	add both
	holds 'BEGIN; LOCK TABLE cards;'
	wait_until asked "SELECT count(*) > 0 FROM pg_locks
		WHERE mode = 'AccessExclusiveLock' AND granted"
	"$BLOOMCTL" sync -q -k c.keyspec -t "$target" "${source[@]}" \
		>said.out 2>said.err 3>&- &
	pid=$!
	wait_until asked "SELECT count(*) = 1 FROM pg_stat_activity WHERE
		application_name = 'bloomctl' AND wait_event_type = 'Lock'"
	ours sync
	assert_failure 82 sync 'sync, pid '
	bloomctl_ok inspect -k c.keyspec -t "$target" --format json
	jq -e '.sync_lock.held | startswith("sync, pid ")' <<<"$output"
	unblocks
	does=sync ends 0
	found both
	source=(-s "$word" --table cards --where 'status = 0')
	ours sync
	assert_failure 83 sync 'other rows'
	source=(-s "$word" --table cards --where 'status = 1')
	server_build rows.csv
}

@test "pgsync: by stamps without an index it is 83, unless told" {
	psql_run "CREATE TABLE bare AS SELECT * FROM cards"
	source=(-s "$word" --table bare --changed-column updated_at
		--overlap 60s)
	ours_ok build -q --capacity 40000
	ours_ok swap -q --allow-shrink --catch-up stamp
	psql_run "INSERT INTO bare VALUES ('bare', 'global', 1, now(), now())"
	ours sync --catch-up stamp
	assert_failure 83 sync updated_at index
	lost bare
	ours_ok sync -q --catch-up stamp --allow-scan
	found bare
	psql_run "CREATE INDEX ON bare (updated_at)"
	psql_run "INSERT INTO bare VALUES ('indexed', 'global', 1, now(), now())"
	ours_ok sync -q --catch-up stamp
	found indexed
	psql_run "DROP TABLE bare"
}

@test "pgsync: every second beside rebuilds and swaps, nothing stays missing" {
	local turn
	live_table
	(
		while [[ ! -e enough ]]; do
			"$BLOOMCTL" sync -q -k c.keyspec -t "$target" \
				"${source[@]}" || echo "$?"
		done
	) >ends 2>errors 3>&- &
	pid=$!
	for turn in 1 2 3; do
		add "beside$turn"
		ours build -q --capacity 40000
		assert_status 0
		add "between$turn"
		ours swap -q
		assert_status 0
		add "behind$turn"
	done
	touch enough
	wait "$pid"
	[[ ! -s ends ]] || fail "a sync ended with $(<ends): $(<errors)"
	ours_ok sync -q
	for turn in 1 2 3; do
		found "beside$turn"
		found "between$turn"
		found "behind$turn"
	done
	ours_ok verify -q
}

@test "pgsync: from a standby, with the writer's position" {
	source=(-s "$(postgres_word copy)" --writer "$word" --table cards
		--where 'status = 1')
	live_table
	add lagging
	ours_ok sync -q
	found lagging
}
