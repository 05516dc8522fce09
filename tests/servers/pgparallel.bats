#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# PostgreSQL read by several sessions: one snapshot of one server, and the same
# rows as one session reads, whatever cuts some of them off.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres
load ../pgstands

setup_file() {
	begin_file
	postgres_start
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	psql_run "$(<"$BATS_TEST_DIRNAME/odd.sql")"
	psql_run "
		CREATE TABLE none (LIKE cards);
		CREATE TABLE few AS SELECT * FROM cards LIMIT 30;
		CREATE TABLE pages WITH (fillfactor = 10) AS SELECT * FROM cards
			WHERE entity_id <= 'c0000020000';
		CREATE TABLE wide WITH (fillfactor = 10) AS SELECT o.* FROM odd o,
			generate_series(1, 5);
		CREATE TABLE sparse AS SELECT * FROM cards;
		CREATE TABLE loose WITH (fillfactor = 15) AS SELECT * FROM cards;
		DELETE FROM sparse WHERE entity_id <= 'c0000100000';
	"
	postgres_standby copy -c max_standby_streaming_delay=0
	stands_file
	stands_keyspec
	for name in cards sparse; do
		"$BLOOMCTL" build -q -k c.keyspec -t "dir:$name" \
			-s "$(postgres_word main)" --table "$name" \
			--capacity 200000
	done
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

setup() {
	stands_setup
}

teardown() {
	stands_teardown
	# Who forwards ends with its standard input.
	[[ -z ${proxy-} ]] || exec {proxy}>&-
}

# as_one [TABLE]: the new generation has the bits that one session gave.
as_one() {
	local new
	new=$(json .generation r.json)
	# shellcheck disable=SC2046 # one word each
	assert_same_bits $(echo "$BATS_FILE_TMPDIR/${1:-cards}"/*/2*) \
		$(echo t/*/"$new")
}

# alternates NAME...: $word leads to these servers in turn.
alternates() {
	local sockets=
	for name; do
		sockets+=,$(postgres_socket "$name")/.s.PGSQL.5432
	done
	echo pass >order
	exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" \
		.s.PGSQL.5432 "${sockets#,}" order 3>&-)
	wait_until test -S .s.PGSQL.5432
	word="host=$PWD dbname=postgres user=postgres"
}

# --- one server -----------------------------------------------------------

@test "pgparallel: an address of several servers is 66 with jobs, and will do without" {
	# What is not written yet would have bloomctl connect once more.
	psql_run CHECKPOINT
	alternates main copy
	for n in 2 4; do
		bloomctl_run build -k c.keyspec -t dir:t -j "$n" -s "$word" \
			--table cards
		assert_failure 66 build \
			'another connection has come to another server'
		assert_has "$stderr" 'hint: give the address of one server'
		left_alone
	done
	for _ in 1 2; do
		bloomctl_ok build -q -k c.keyspec -t dir:t --capacity 200000 \
			-s "$word" --table cards --receipt r.json
		as_one
	done
}

@test "pgparallel: another server is told by itself, not by its snapshots" {
	# As if the other one had a snapshot of that very name.
	alternates main copy
	echo 'swap TRANSACTION a.b=1------' >order
	bloomctl_run build -k c.keyspec -t dir:t -j 2 -s "$word" --table cards
	assert_failure 66 build 'another connection has come to another server'
	left_alone
}

@test "pgparallel: what is read again is read at the server of before, or is 75" {
	# Two share a snapshot; whoever comes next comes to another server.
	alternates main main copy copy copy copy copy copy copy copy
	begins -j 2
	wait_until one_waits
	psql_run "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'bloomctl'" >/dev/null
	ends 75
	assert_one_sentence build "table 'public.cards', pages" \
		'is not the server of which rows were read before'
	unblocks
	left_alone
}

# --- sessions that are cut off --------------------------------------------

@test "pgparallel: a session that is terminated costs no row" {
	for server in main copy; do
		begins -j 2
		wait_until one_waits
		those pg_terminate_backend
		unblocks
		ends 0
		as_one
	done
}

@test "pgparallel: sessions that are terminated all at once cost no row" {
	# More than a range is tried again.
	for jobs in 2 8; do
		table=loose begins -j "$jobs"
		wait_until one_waits
		((jobs == 2)) || [[ $(psql_run "SELECT count(*)
			FROM pg_stat_activity
			WHERE application_name = 'bloomctl'") == 8 ]]
		psql_run "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = 'bloomctl'" >/dev/null
		unblocks
		ends 0
		assert_json r.json .source.origin.again
		as_one
	done
}

@test "pgparallel: rows that a standby needs no more cost none of the others" {
	server=copy
	for jobs in 2 3; do
		begins -j "$jobs"
		wait_until one_waits
		server=main psql_run "UPDATE few SET status = 3; VACUUM few"
		postgres_follows copy
		unblocks
		ends 0
		assert_json r.json .source.origin.again
		as_one
	done
}

@test "pgparallel: with feedback of a standby nothing is cut off" {
	postgres_standby fed -c max_standby_streaming_delay=0 \
		-c hot_standby_feedback=on -c wal_receiver_status_interval=1 \
		-c cluster_name=fed
	server=fed
	for jobs in 1 2; do
		begins -j "$jobs"
		server=main wait_until asked "SELECT backend_xmin IS NOT NULL
			FROM pg_stat_replication WHERE application_name = 'fed'"
		server=main psql_run "UPDATE few SET status = 3; VACUUM few"
		postgres_follows fed
		waits
		unblocks
		ends 0
		assert_json r.json '.source.origin.again == false'
		as_one
	done
	postgres_stop fed
}

@test "pgparallel: a change of the table on the primary costs no row" {
	server=copy
	begins -j 2
	wait_until one_waits
	server=main psql_run 'ALTER TABLE cards ADD COLUMN note text'
	postgres_follows copy
	unblocks
	ends 0
	as_one
	server=main psql_run 'ALTER TABLE cards DROP COLUMN note'
}

@test "pgparallel: a table that is rewritten between ranges is 75, no row is lost" {
	# shellcheck disable=SC2034 # of pgstands
	server=copy table=sparse
	for change in 'VACUUM FULL sparse' 'BEGIN;
		ALTER TABLE sparse RENAME TO gone;
		CREATE TABLE sparse AS SELECT * FROM gone ORDER BY 1 DESC;
		COMMIT'; do
		begins -j 2
		wait_until one_waits
		server=main psql_run "$change"
		postgres_follows copy
		unblocks
		ends 75
		assert_one_sentence build "table 'public.sparse'" \
			'was rewritten'
		assert_has "$stderr" 'hint: run it again'
		left_alone
	done
	# And then it is as good as any.
	bloomctl_ok build -q -k c.keyspec -t dir:t --capacity 200000 -j 2 \
		-s "$(postgres_word copy)" --table sparse --receipt r.json
	as_one sparse
}

# --- few pages, odd values ------------------------------------------------

@test "pgparallel: fewer pages than jobs, and none, are as with one job" {
	local name
	for server in main copy; do
		for name in none few pages; do
			for jobs in 1 4; do
				bloomctl_ok build -q -k c.keyspec -j "$jobs" \
					-t "dir:$jobs" --table "$name" \
					-s "$(postgres_word "$server")" \
					--receipt "$jobs.json"
			done
			assert_json 4.json ".rows == $(json .rows 1.json)"
			assert_same_bits 1/*/2* 4/*/2*
			rm -r 1 4
		done
	done
}

@test "pgparallel: odd values by ranges have the keys that they have in one" {
	spec odd '{id}:{a}' <<-'END'
		[field a]
		empty = allow
		null = empty
	END
	for server in main copy; do
		for jobs in 1 3; do
			bloomctl_ok build -q -k odd.keyspec -t "dir:$jobs" \
				--table wide -s "$(postgres_word "$server")" \
				-j "$jobs" --receipt "$jobs.json"
		done
		assert_json 3.json '.rows == 63405'
		assert_same_bits 1/*/2* 3/*/2*
		rm -r 1 3
	done
}

# Last: it takes the server away.
@test "pgparallel: a server that is killed is 75" {
	server=copy
	begins -j 2
	postgres_kill copy
	ends 75
	# It waits for words, not for the server.
	kill "$blocker"
	blocker=
	assert_one_sentence build "table 'public.cards'"
	left_alone
}
