#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What may go wrong while rows come from PostgreSQL: each ends with its status,
# one sentence and what to do, and nothing that a swap would take.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres
load ../pgstands

setup_file() {
	begin_file
	postgres_start
	postgres_standby copy -c max_standby_streaming_delay=0
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	psql_run "
		CREATE USER weak;
		CREATE TABLE few AS SELECT * FROM cards LIMIT 30;
		CREATE TABLE guarded AS SELECT * FROM few;
		ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
		CREATE POLICY part ON guarded USING (entity_id < 'c0000000009');
		GRANT SELECT ON guarded TO weak;
	"
	postgres_follows copy
	stands_file
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
}

# from OPTION...: a build from $server.
from() {
	bloomctl_run build -k c.keyspec -t dir:t -s "$(postgres_word "$server")" \
		--capacity 200000 "$@"
}

@test "pgfaults: a session is one transaction that only reads, and has a name" {
	begins
	[[ $(psql_run "SELECT count(*), min(backend_xid::text), min(state)
		FROM pg_stat_activity WHERE application_name = 'bloomctl'") == \
		'1||active' ]]
	psql_run "SELECT query FROM pg_stat_activity
		WHERE application_name = 'bloomctl'" | grep -q '^COPY (SELECT'
	unblocks
	ends 0
}

@test "pgfaults: a backend that is terminated is 75" {
	for server in main copy; do
		begins
		those pg_terminate_backend
		ends 75
		assert_one_sentence build "table 'public.cards'" \
			'terminating connection due to administrator command'
		assert_has "$stderr" 'hint: run it again'
		unblocks
		left_alone
	done
}

@test "pgfaults: a statement that is cancelled is 75" {
	begins
	those pg_cancel_backend
	ends 75
	assert_one_sentence build 'canceling statement due to user request'
	unblocks
	left_alone
}

@test "pgfaults: rows that a standby needs no more end a read with 75 and a remedy" {
	server=copy
	begins
	server=main psql_run "DELETE FROM cards WHERE entity_id = 'c0000299999';
		VACUUM cards"
	ends 75
	assert_one_sentence build "table 'public.cards'" \
		'canceling statement due to conflict with recovery'
	assert_has "$stderr" hot_standby_feedback max_standby_streaming_delay \
		'hint: '
	unblocks
	left_alone
}

@test "pgfaults: a change of the table on the primary ends a read of a standby with 75" {
	server=copy
	begins
	server=main psql_run "ALTER TABLE cards ADD COLUMN note text"
	ends 75
	assert_one_sentence build 'conflict with recovery'
	unblocks
	postgres_follows copy
	left_alone
	server=main psql_run "ALTER TABLE cards DROP COLUMN note"
}

@test "pgfaults: a stop and a deadline end a read that stands still" {
	begins
	kill -TERM "$pid"
	ends 143
	left_alone
	unblocks
	begins --deadline 3s
	ends 75
	assert_one_sentence build deadline
	unblocks
	left_alone
}

@test "pgfaults: a stop ends the wait for a lock" {
	holds 'BEGIN; LOCK TABLE few;'
	wait_until asked "SELECT count(*) > 0 FROM pg_locks
		WHERE mode = 'AccessExclusiveLock' AND granted"
	"$BLOOMCTL" build -k c.keyspec -t dir:t --table few \
		-s "$(postgres_word main)" >said.out 2>said.err 3>&- &
	pid=$!
	wait_until asked "SELECT count(*) = 1 FROM pg_stat_activity WHERE
		application_name = 'bloomctl' AND wait_event_type = 'Lock'"
	kill -INT "$pid"
	ends 130
	unblocks
	left_alone
}

# --- ranges that are read again -------------------------------------------

@test "pgfaults: a range that is cut off is read again, and so is what moved" {
	moved
	(($(jq .rows r.json) >= 299999))
	[[ $(jq .source.origin.again r.json) == true ]]
	bloomctl_ok swap -q -k c.keyspec -t dir:t --allow-shrink --static
	bloomctl_ok verify -q -k c.keyspec -t dir:t --table cards \
		-s "$(postgres_word main)"
	psql_run 'UPDATE cards SET status = 1 WHERE status = 5'
}

@test "pgfaults: a range that is cut off again and again ends with 75" {
	cut_off_again
}

# --- proxies, rights and words --------------------------------------------

@test "pgfaults: an answer that is cut anywhere leaves nothing to promote" {
	local n proxy runs=0 step=61
	[[ ${CUTS-} != all ]] || step=1
	echo pass >order
	exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" \
		.s.PGSQL.5432 "$(postgres_socket)/.s.PGSQL.5432" order 3>&-)
	wait_until test -S .s.PGSQL.5432
	for ((n = 1; ; n += step)); do
		printf 'cut %d\n' "$n" >order.new
		mv order.new order
		bloomctl_run build -q -k c.keyspec -t dir:t --table few \
			--capacity 99 -s "host=$PWD dbname=postgres user=postgres"
		[[ -e order.cut ]] || break
		rm order.cut
		((status == 75 || status == 69)) ||
			fail "cut at $n: it ended with $status"
		assert_one_sentence build
		[[ $(readlink t/*/live) == "$live" ]]
		bloomctl_run swap -n -k c.keyspec -t dir:t
		assert_status 83
		((++runs))
	done
	assert_status 0
	((runs > 40)) || fail "only $runs runs"
	exec {proxy}>&-
}

@test "pgfaults: rows that a policy would hide are 77, not left out" {
	bloomctl_run build -k c.keyspec -t dir:t --table guarded \
		-s "$(postgres_word main user=weak)"
	assert_failure 77 build "table 'public.guarded'" 'row-level security'
	assert_has "$stderr" BYPASSRLS
	from --table guarded
	assert_status 0
	assert_has "$output" ': 30 rows'
}

@test "pgfaults: no rights, no table, no column, and bad SQL each have a sentence" {
	bloomctl_run build -k c.keyspec -t dir:t --table few \
		-s "$(postgres_word main user=weak)"
	assert_failure 77 build "table 'public.few'" 'permission denied'
	assert_has "$stderr" 'GRANT SELECT'
	from --table none
	assert_failure 66 build "table 'none'"
	from --table pg_class
	assert_failure 65 build "table 'pg_catalog.pg_class'" entity_id
	from --table few --where 'stat = 1'
	assert_failure 65 build 'column "stat" does not exist'
	from --table few --where 'status ='
	assert_failure 64 build 'syntax error'
	from --table few --where '1/0 = 1'
	assert_failure 64 build 'division by zero'
	from --query 'DELETE FROM public.few RETURNING *'
	assert_status 64
	from --query "SELECT 'a' AS entity_id, 'b' AS scope, entity_id FROM public.few"
	assert_failure 65 build ambiguous
	from --table few --where "(entity_id || 'x')::int = 1"
	assert_failure 74 build 'SQLSTATE 22P02'
	assert_lacks "$stderr" c000000
	left_alone
}

@test "pgfaults: what does not go together is 64" {
	from
	assert_failure 64 build 'which rows'
	from --table few --query 'SELECT 1'
	assert_failure 64 build '--table and --query'
	from --query 'SELECT 1' --where true
	assert_failure 64 build '--where and --query'
	from --table few --columns a
	assert_failure 64 build --columns
	from --table few -s file:x
	assert_failure 64 build 'different kinds'
	bloomctl_run build -k c.keyspec -t dir:t -s file:x --table few
	assert_failure 64 build --table
	bloomctl_run build -k c.keyspec -t dir:t --table few \
		-s 'postgresql://u:secret@localhost/x'
	assert_failure 64 build 'seen by others'
	assert_has "$stderr" BLOOMCTL_SOURCE PGPASSWORD
	assert_lacks "$stderr" secret
	bloomctl_run build -k c.keyspec -t dir:t --table few -s 'hots=x'
	assert_failure 64 build "'hots'"
}

@test "pgfaults: a server that is not there, or does not let in, has its status" {
	for word in "host=$PWD dbname=x" 'postgresql://127.0.0.1:1/x'; do
		bloomctl_run build -k c.keyspec -t dir:t --table few -s "$word"
		assert_failure 69 build 'source: connection to server'
	done
	bloomctl_run build -k c.keyspec -t dir:t --table few \
		-s "$(postgres_word main user=nobody_there)"
	assert_failure 77 build 'role "nobody_there" does not exist'
	bloomctl_run build -k c.keyspec -t dir:t --table few \
		-s "$(postgres_word main dbname=none)"
	assert_failure 66 build 'database "none" does not exist'
	bloomctl_run build -k c.keyspec -t dir:t --table few -s service=none
	assert_failure 66 build 'service "none" not found'
	left_alone
}

# Last: it takes the server away.
@test "pgfaults: a server that is killed is 75" {
	server=copy
	begins
	postgres_kill copy
	ends 75
	# It waits for words, not for the server.
	kill "$blocker"
	blocker=
	assert_one_sentence build "table 'public.cards'"
	left_alone
}
