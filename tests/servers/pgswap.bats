#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A swap with the database at hand: what was committed since the generation was
# read is in what readers get, or nothing moves.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres

setup_file() {
	begin_set_file 8
	postgres_start
}

teardown_file() {
	redis_stop main
	postgres_stop
}

setup() {
	begin
	begin_set
	psql_run "DROP TABLE IF EXISTS cards;
		CREATE TABLE cards (id text, scope text);
		INSERT INTO cards SELECT 'C' || i, 'bank' FROM generate_series(1, 20000) i"
	spec
	db=$(postgres_word)
}

# spec: of the table.
spec() {
	cat >cards.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{id}:{scope}
		buckets = 4
		filter = {name}:{bucket}
	END
}

# from COMMAND OPTION...: with the table.
from() {
	on "$1" -s "$db" --table cards "${@:2}"
}

from_ok() {
	on_ok "$1" -s "$db" --table cards "${@:2}"
}

# adds NAME N: rows that nobody adds to a filter.
adds() {
	psql_run "INSERT INTO cards SELECT '$1' || i, 'bank'
		FROM generate_series(1, $2) i"
}

@test "pgswap: rows of before the renames and of none after them are missing" {
	from_ok build -q --capacity 20000
	adds N 100
	from_ok swap --receipt r.json
	assert_has "$output" "keep recent-writes for"
	assert_json r.json '.exposure_s > 0' '.recent_ttl_s >= 1' \
		'.horizon.xid != null' '.acknowledged >= 100'
	from_ok verify -q --absent 0
	# And again, with one that is live already.
	from_ok build -q --capacity 20000
	adds M 100
	from_ok swap -q --receipt r.json
	from_ok verify -q --absent 0
	adds O 10
	from_ok swap -q -g "$(json .generation r.json)"
	from_ok verify -q --absent 0
}

@test "pgswap: without the database what may be missing is not made live" {
	from_ok build -q --capacity 20000
	on swap -q
	assert_failure 83 swap "it lacks what was committed since"
	assert_has "$stderr" "--static"
	on_ok swap -q --static
	# A file has no horizon, and takes the place of none that has.
	psql_run "COPY cards TO STDOUT (FORMAT csv, HEADER)" >all.csv
	on_ok build -q -s file:all.csv --capacity 20000
	on swap -q
	assert_failure 83 swap "it has no horizon, and the live one has"
	from swap -q
	assert_failure 83 swap "it has no horizon"
	on_ok swap -q --static
}

@test "pgswap: a rollback makes the old generation whole first" {
	local old
	from_ok build -q --capacity 20000
	from_ok swap -q --receipt r.json
	old=$(json .generation r.json)
	from_ok build -q --capacity 20000
	from_ok swap -q
	adds N 500
	on swap -q --rollback
	assert_failure 83 swap "it lacks what was committed since"
	from_ok swap -q --rollback --receipt r.json
	assert_json r.json ".generation == \"$old\""
	from_ok verify -q --absent 0
}

@test "pgswap: a rollback that is killed at any call leaves no row unfound" {
	local n sends
	need_fault
	from_ok build -q --capacity 20000
	from_ok swap -q
	from_ok build -q --capacity 20000 --receipt r.json
	live=$(json .generation r.json)
	from_ok swap -q
	back=(swap -q --rollback --lease 1s -k cards.keyspec -t "$target"
		-s "$db" --table cards)
	fault_run send:0 '' "${back[@]}"
	assert_status 0
	sends=$counted
	from_ok swap -q --rollback -g "$live"
	for ((n = 2; n <= sends; n += 1 + sends / 16)); do
		# What is live has them, and the one before it has not.
		adds "N$n-" 40
		from_ok sync -q
		fault_run "send:$n:kill" '' "${back[@]}"
		((n < 4)) || middle=$status
		wait_until lock_gone
		psql_run "COPY (SELECT * FROM cards WHERE id LIKE 'N$n-%')
			TO STDOUT (FORMAT csv, HEADER)" >new.csv
		all_of new.csv || fail "killed at call $n of $sends"
		from_ok swap -q --rollback -g "$live"
	done
	# Calls were made where it was to be killed.
	((middle == 137))
}

@test "pgswap: a rollback for which there is no room moves nothing" {
	local live
	from_ok build -q --capacity 7000
	from_ok swap -q
	from_ok build -q --capacity 40000
	from_ok swap -q --receipt r.json
	live=$(json .generation r.json)
	adds N 30000
	from swap -q --rollback
	assert_failure 80 swap "full"
	on_ok inspect --format json
	[[ $(jq -r .generation <<<"$output") == "$live" ]]
}

@test "pgswap: live filters that lack what they had long before stop it" {
	from_ok build -q --capacity 20000
	from_ok swap -q
	from_ok build -q --capacity 20000
	# As many of them, as a writer with another key adds.
	sentinel=$("$BLOOMCTL" key -k cards.keyspec --sentinel)
	for b in 0 1 2 3; do
		redis_cli main DEL "cards:$b"
		redis_cli main BF.RESERVE "cards:$b" 0.01 20000 NONSCALING
		mapfile -t others < <(seq -f "card:x%.0f" 6000)
		redis_cli main BF.MADD "cards:$b" "$sentinel" "${others[@]}" >/dev/null
	done
	from swap -q
	assert_failure 81 swap "rows that were there long before"
	from_ok swap -q --static
	from_ok verify -q --absent 0
}

@test "pgswap: live filters that are lost do not keep the next one away" {
	from_ok build -q --capacity 20000
	from_ok swap -q
	from_ok build -q --capacity 20000
	redis_cli main DEL cards:0
	redis_cli main DEL cards:1
	redis_cli main BF.RESERVE cards:1 0.01 20000 NONSCALING
	from swap -q
	assert_status 0
	from_ok verify -q --absent 0
}

@test "pgswap: other rows than those of the build are not caught up from" {
	from_ok build -q --capacity 20000
	from swap -q --where "id > 'C5'"
	assert_failure 83 swap "built of other rows"
	from_ok swap -q
}
