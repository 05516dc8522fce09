#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# PostgreSQL behind a proxy that hands out its connections: one that does so by
# the session or the transaction will do, and what will not says why.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres
load ../pgbouncer
load ../pgstands

setup_file() {
	begin_file
	need_pgbouncer
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	psql_run "CREATE USER locked PASSWORD 'right horse';
		GRANT SELECT ON cards TO locked"
	psql_run 'COPY (SELECT entity_id, scope FROM cards)
		TO STDOUT (FORMAT csv, HEADER)' >all.csv
	postgres_follows copy
	cards_keyspec
	"$BLOOMCTL" build -q -k c.keyspec -t dir:all -s file:all.csv
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	cards_keyspec
	# shellcheck disable=SC2034 # of pgstands
	server=copy
	database="postgres = host=$(postgres_socket copy)"
}

teardown() {
	stands_teardown
	pgbouncer_stop
}

cards_keyspec() {
	cat >c.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{entity_id}:{scope}
		buckets = 4
		filter = {name}:{bucket}
	END
}

# from WORD COMMAND OPTION...
from() {
	bloomctl_run "$2" -k c.keyspec -t dir:t -s "$1" --table cards "${@:3}"
}

# gives_all [OPTION...]: a build through the proxy has every row, and verify
# finds them.
gives_all() {
	rm -rf t
	from "$pooled" build -q --receipt r.json "$@"
	assert_status 0
	assert_stderr_is ''
	assert_json r.json '.rows == 300000' .source.origin.standby
	# shellcheck disable=SC2046 # one word each
	assert_same_bits $(echo "$BATS_FILE_TMPDIR"/all/*/2*) $(echo t/*/2*)
	bloomctl_ok swap -q -k c.keyspec -t dir:t --static
	from "$pooled" verify "$@"
	assert_status 0
	assert_has "$output" 'all 300,000 rows are found'
}

@test "pgproxy: by the transaction, or the session, all rows come" {
	for mode in transaction session; do
		pgbouncer_start "$database" "pool_mode = $mode"
		gives_all
		gives_all -j 2
		gives_all -j 4
		pgbouncer_stop
	done
}

@test "pgproxy: by the statement it is 66, in one sentence" {
	pgbouncer_start "$database" 'pool_mode = statement'
	from "$pooled" build
	assert_failure 66 build 'statement pooling mode'
	assert_has "$stderr" 'hint: ' 'by the transaction'
	[[ ! -e t ]]
}

@test "pgproxy: settings that it does not pass on are 64" {
	pgbouncer_start "$database" 'pool_mode = transaction'
	PGOPTIONS='-c work_mem=4MB' from "$pooled" build
	assert_failure 64 build 'unsupported startup parameter: options'
	assert_has "$stderr" 'hint: a proxy there'
}

@test "pgproxy: fewer connections than jobs are 75" {
	pgbouncer_start "$database" 'pool_mode = transaction' \
		'default_pool_size = 1' 'query_wait_timeout = 1'
	from "$pooled" build -j 2
	assert_failure 75 build query_wait_timeout
	assert_has "$stderr" 'hint: ' --jobs
	pgbouncer_stop
	pgbouncer_start "$database" 'pool_mode = transaction' \
		'max_client_conn = 1'
	from "$pooled" build -j 2
	assert_failure 75 build 'max_client_conn'
	assert_has "$stderr" 'hint: ' --jobs
}

@test "pgproxy: whom it does not let in is 77, a database that it has not 66" {
	pgbouncer_start "$database" 'pool_mode = transaction' \
		'auth_type = scram-sha-256'
	word=${pooled/user=postgres/user=locked}
	PGPASSWORD='right horse' from "$word" build
	assert_status 0
	rm -r t
	PGPASSWORD=wronghorse from "$word" build
	assert_failure 77 build 'authentication failed'
	assert_has "$stderr" 'hint: ' PGPASSWORD
	assert_lacks "$stderr" wronghorse
	word=${pooled/user=postgres/user=stranger}
	PGPASSWORD=x from "$word" build
	assert_failure 77 build
	pgbouncer_stop
	pgbouncer_start "$database" 'pool_mode = transaction'
	from "${pooled/dbname=postgres/dbname=none}" build
	assert_failure 66 build 'no such database: none'
	from "${pooled/user=postgres/user=stranger}" build
	assert_failure 77 build 'authentication failed'
	[[ ! -e t ]]
}

@test "pgproxy: no server behind it is 69, and one that cuts a read 75" {
	pgbouncer_start "postgres = host=$PWD" 'pool_mode = transaction' \
		'server_login_retry = 1'
	from "$pooled" build
	assert_failure 69 build
	pgbouncer_stop
	pgbouncer_start "$database" 'pool_mode = transaction'
	word=$pooled
	begins
	those pg_terminate_backend
	ends 75
	assert_one_sentence build "table 'public.cards'" \
		'terminating connection due to administrator command'
	bloomctl_run swap -k c.keyspec -t dir:t
	assert_status 83
	# With several jobs the range is read again, by another session.
	unblocks
	begins -j 2
	wait_until one_waits
	those pg_terminate_backend
	unblocks
	ends 0
	assert_json r.json '.rows == 300000'
	bloomctl_ok swap -q -k c.keyspec -t dir:t --static
	from "$pooled" verify
	assert_has "$output" 'all 300,000 rows are found'
}

@test "pgproxy: one that goes away cuts a read, and it is 75" {
	pgbouncer_start "$database" 'pool_mode = transaction'
	word=$pooled
	begins
	pgbouncer_stop
	ends 75
	assert_one_sentence build "table 'public.cards'" \
		'the connection was lost'
	bloomctl_run swap -k c.keyspec -t dir:t
	assert_status 83
}

# holds_one FIFO: a session through the pooler, of what is written there.
holds_one() {
	postgres_bin
	mkfifo "$1"
	"$postgres_bin/psql" -X -q -A -t -h "$pooler" -p 6432 -U postgres \
		-d postgres <"$1" >"$1.out" 2>&1 3>&- &
}

@test "pgproxy: a position is told only of the server that the rows are of" {
	local one two
	pgbouncer_start \
		"postgres = host=$(postgres_socket),$(postgres_socket copy)" \
		'pool_mode = transaction' 'server_round_robin = 1'
	# Both are in the pool, and statements go to them in turn.
	holds_one one
	exec {one}>one
	echo 'BEGIN; SELECT pg_is_in_recovery();' >&"$one"
	wait_until test -s one.out
	holds_one two
	exec {two}>two
	echo 'BEGIN; SELECT pg_is_in_recovery();' >&"$two"
	wait_until test -s two.out
	[[ $(sort one.out two.out) == f$'\n't ]]
	echo "COMMIT; SELECT 'over';" >&"$one"
	echo "COMMIT; SELECT 'over';" >&"$two"
	wait_until grep -q over one.out
	wait_until grep -q over two.out
	from "$pooled" build -q --receipt r.json --capacity 100000
	assert_status 0
	# The position was asked of the other one.
	assert_json r.json '.source.origin.lsn == null' \
		'(.source.origin.lag_ms != null) == .source.origin.standby'
	pgbouncer_stop
	pgbouncer_start "$database" 'pool_mode = transaction'
	from "$pooled" build -q --receipt r.json --capacity 100000
	assert_json r.json '.source.origin.lsn != null'
}
