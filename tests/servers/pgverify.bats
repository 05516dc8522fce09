#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl verify with the database at hand: what is not found is read again
# before it counts, and what counts is told apart by the horizon.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres

setup_file() {
	begin_set_file 8
	postgres_start
	postgres_standby copy
	postgres_start other
}

teardown_file() {
	redis_stop main
	postgres_stop other
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	begin_set
	psql_run "DROP TABLE IF EXISTS cards;
		CREATE TABLE cards (id text, scope text,
			updated_at timestamptz NOT NULL DEFAULT now(),
			status int DEFAULT 1, PRIMARY KEY (id, scope));
		INSERT INTO cards SELECT i, 'm:' || i % 7,
			now() - interval '1 day' FROM generate_series(1, 2000) AS i"
	postgres_follows copy
	db=$(postgres_word main)
	copy=$(postgres_word copy)
}

teardown() {
	server=copy psql_run 'SELECT pg_wal_replay_resume()' >/dev/null
}

# live_of_table OPTION...: a generation of the table is live.
live_of_table() {
	server=main on_ok build -q -s "$db" --table cards "$@"
	server=main on_ok swap -q --static
}

# verify OPTION...: the table, as it is.
verify() {
	on verify -s "$db" --table cards --absent 0 --receipt got.json "$@"
}

# verified OPTION...: it succeeds and has no complaint.
verified() {
	verify "$@"
	assert_status 0
	assert_stderr_is ''
}

# shows_missing KEY...: the command ended with 81 and listed these.
shows_missing() {
	assert_status 81
	assert_stdout_is "$(printf '%s\n' "$@")"
}

# moves_since WHEN: the horizon of every filter has that stamp, as SQL has it.
moves_since() {
	local b ms
	local -a words
	ms=$(psql_run "SELECT (extract(epoch FROM $1) * 1000)::bigint")
	for b in 0 1 2 3; do
		read -ra words <<<"$(state_of "$b" horizon)"
		words[1]=$ms
		redis_cli main HSET "{cards:$b}:bloomctl" horizon \
			"${words[*]}" >/dev/null
	done
}

@test "pgverify: a row that is not there any more is not missing" {
	live_of_table
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	postgres_follows copy
	server=copy psql_run 'SELECT pg_wal_replay_pause()'
	psql_run "DELETE FROM cards WHERE id = 'late'"
	on verify -s "$copy" --table cards --writer "$db" --absent 0 \
		--grace 0s --receipt got.json
	assert_status 0
	assert_stderr_is ''
	assert_has "$output" '2,000 of 2,001 rows are found' \
		'1 gone from the database'
	assert_json got.json '.missing == 0' '.missed.gone == 1' '.asked == 2001'
	# Where the primary is not named the standby is asked, and has it.
	on verify -s "$copy" --table cards --absent 0 --grace 0s
	shows_missing card:late:x
	assert_has "$stderr" 'read again on a standby' '--writer'
}

@test "pgverify: a row that the condition leaves out by now is not missing" {
	live_of_table --where 'status = 1'
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	postgres_follows copy
	server=copy psql_run 'SELECT pg_wal_replay_pause()'
	psql_run "UPDATE cards SET status = 0 WHERE id = 'late'"
	on verify -s "$copy" --table cards --where 'status = 1' \
		--writer "$db" --absent 0 --grace 0s
	assert_status 0
	assert_has "$output" '1 gone from the database'
}

@test "pgverify: what is added within the grace is not missing" {
	live_of_table
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	redis_cli main CONFIG RESETSTAT >/dev/null
	verify --grace 5s >said &
	pid=$!
	wait_until asked
	add late x
	wait "$pid"
	grep -q '^  | .*all 2,001 rows are found; 1 of them within the grace' said
}

# asked: the server was, and whoever asked has gone.
asked() {
	redis_cli main INFO commandstats | grep -qi 'cmdstat_bf.mexists' &&
		! redis_cli main CLIENT LIST | grep -qi 'cmd=bf.mexists'
}

# add ID SCOPE: to its filter, as a writer does.
add() {
	redis_cli main BF.INSERT "$("$BLOOMCTL" key -k cards.keyspec \
		--format json "$1" "$2" | jq -r .filter)" NOCREATE ITEMS \
		"card:$1:$2" >/dev/null
}

@test "pgverify: what changed since the horizon is missing, unless in recent-writes" {
	live_of_table
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	verify --grace 0s
	shows_missing card:late:x
	assert_has "$stderr" '1 of 2001 rows are missing' \
		'1 of them changed since the horizon' 'hint: a catch-up brings'
	assert_json got.json '.missing == 1' '.missed.later == 1'
	redis_cli main SET recent:card:late:x '' EX 60 >/dev/null
	verified --grace 0s --recent 'recent:{key}'
	assert_has "$output" '2,000 of 2,001 rows are found' \
		'1 in recent-writes only'
	assert_json got.json '.missing == 0' '.missed.recent == 1'
	verify --grace 0s --recent 'other:{key}'
	shows_missing card:late:x
}

@test "pgverify: what was committed before the horizon is missing, recent or not" {
	live_of_table --where "id <> '5'"
	redis_cli main SET recent:card:5:m:5 '' EX 60 >/dev/null
	verify --grace 0s --recent 'recent:{key}'
	shows_missing card:5:m:5
	assert_has "$stderr" '1 of them were committed before the horizon' \
		'hint: the filter lost what was committed'
	assert_json got.json '.missed.before == 1' '.missed.recent == 0'
}

@test "pgverify: what changed without moving the column is told" {
	psql_run "UPDATE cards SET status = 0 WHERE id = '5'"
	live_of_table --where 'status = 1'
	moves_since "now() - interval '1 hour'"
	psql_run "UPDATE cards SET status = 1 WHERE id = '5';
		INSERT INTO cards VALUES ('late', 'x')"
	redis_cli main SET recent:card:5:m:5 '' EX 60 >/dev/null
	verify --grace 0s --where 'status = 1' --changed-column updated_at \
		--recent 'recent:{key}'
	assert_status 81
	[[ $(sort <<<"$output") == $'card:5:m:5\ncard:late:x' ]]
	assert_has "$stderr" \
		"1 of them changed without moving the column 'updated_at'" \
		'1 of them changed since the horizon' 'hint: what does not move'
	assert_json got.json '.missed.unmoved == 1' '.missed.later == 1'
	# By ids of transactions alone it is one like others.
	verify --grace 0s --where 'status = 1'
	assert_has "$stderr" '2 of them changed since the horizon'
	assert_json got.json '.missed.unmoved == 0'
}

@test "pgverify: --fresh reads what changed of late, and nothing is no fault" {
	local what
	live_of_table
	for what in --table=cards '--query=SELECT * FROM public.cards -- x'; do
		on verify -s "$db" "$what" --absent 0 --receipt got.json \
			--changed-column updated_at --fresh 10m
		assert_status 0
		assert_has "$output" 'no row changed within 10 min'
		psql_run "UPDATE cards SET updated_at = now() WHERE id = '7'"
		on_ok verify -s "$db" "$what" --absent 0 --receipt got.json \
			--changed-column updated_at --fresh 10m
		assert_has "$output" 'all 1 rows changed within 10 min are found'
		assert_json got.json '.rows == 1' '.asked == 1'
		psql_run "UPDATE cards SET updated_at = now() - interval '11 min'"
	done
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	verify --changed-column updated_at --fresh 10m --grace 0s \
		--where "id <> 'other'"
	shows_missing card:late:x
	verify --fresh 10m
	assert_failure 64 verify 'option --fresh: it needs --changed-column'
}

@test "pgverify: --sample keeps the values of rows, too" {
	live_of_table
	psql_run "INSERT INTO cards SELECT 'late' || i, 'x'
			FROM generate_series(1, 2000) AS i"
	postgres_follows copy
	server=copy psql_run 'SELECT pg_wal_replay_pause()'
	psql_run "DELETE FROM cards WHERE scope = 'x'"
	on verify -s "$copy" --table cards --writer "$db" --absent 0 \
		--grace 0s --sample 100 -j 2 --receipt got.json
	assert_status 0
	assert_json got.json '.asked == 100' '.missed.gone > 10' '.missing == 0'
}

@test "pgverify: a writer that is none, or of another cluster, is told" {
	live_of_table
	psql_run "INSERT INTO cards VALUES ('late', 'x')"
	verify --writer "$(postgres_word other)" --grace 0s --quiet-keys
	assert_failure 66 verify 'rows that are not found, read again: ' \
		'is not of the cluster of the source'
	verify --writer "$copy" --grace 0s
	assert_failure 66 verify 'is a standby, where the writer is to be asked'
	verify --writer file:rows.csv
	assert_failure 64 verify 'option --writer: it is no database'
	# Nobody asks it where nothing is missing.
	psql_run "DELETE FROM cards WHERE id = 'late'"
	verified --writer 'host=/nowhere'
}

@test "pgverify: values of all kinds are found again" {
	psql_run "INSERT INTO cards VALUES ('quo''te', E'ta\tb'), ('', 'empty'),
			('back\\\\slash', 'x'), ('%', '_')"
	live_of_table --where "id ~ '^[0-9]+\$'"
	verify --where "id <> ''" --grace 0s
	assert_status 81
	[[ $(wc -l <<<"$output") == 3 ]]
	assert_json got.json '.missed.before == 3' '.missed.gone == 0'
}
