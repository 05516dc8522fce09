#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl doctor: what it says of a source, above all of PostgreSQL, before
# anything is read of it.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres

setup_file() {
	begin_file
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=5000
	psql_run "
		CREATE USER weak;
		CREATE TABLE guarded AS SELECT * FROM cards;
		ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
		CREATE POLICY part ON guarded USING (entity_id < 'c0000000009');
		GRANT SELECT ON guarded TO weak;
		CREATE VIEW active AS SELECT * FROM cards WHERE status = 1;
		CREATE MATERIALIZED VIEW kept AS SELECT * FROM active;
		CREATE TABLE parted (LIKE cards) PARTITION BY LIST (scope);
		CREATE TABLE parted_a PARTITION OF parted DEFAULT;
		GRANT SELECT ON parted TO weak;
		REVOKE EXECUTE ON FUNCTION pg_is_wal_replay_paused(),
			pg_last_xact_replay_timestamp() FROM PUBLIC;
	"
	postgres_follows copy
}

teardown_file() {
	postgres_stop tls
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	write_keyspec c.keyspec key='card:{entity_id}:{scope}'
	server=main
	write_csv rows.csv 1 100
}

# from OPTION...: what doctor says of $server as the source.
from() {
	bloomctl_run doctor -k c.keyspec -s "$(postgres_word "$server")" "$@"
}

# levels: "level what" of each finding of the JSON of the last run.
levels() {
	jq -r '.findings[] | "\(.level) \(.what)"' <<<"$output"
}

# clean OPTION...: nothing is worse than ok.
clean() {
	from "$@"
	assert_status 0
	assert_stderr_is ''
	assert_lacks "$output" warning error
}

# warns WHAT TEXT OPTION...: that is the one warning, and there is a remedy.
warns() {
	from "${@:3}"
	assert_status 0
	assert_stderr_is ''
	assert_has "$output" "warning  $1: $2"
	from --format json "${@:3}"
	[[ $(levels | grep -v '^ok ') == "warning $1" ]]
	[[ $(jq -r '.findings[] | select(.level == "warning").remedy' \
		<<<"$output") != null ]]
}

# --- servers --------------------------------------------------------------

@test "pgdoctor: a clean primary and a clean standby give no warning, and no row is read" {
	local log
	psql_run "ALTER SYSTEM SET log_statement = 'all'; SELECT pg_reload_conf()"
	clean --table cards
	assert_has "$output" "a primary; database 'postgres', user 'postgres'" \
		'source plan: Seq Scan on cards' 'source rows: about 5,000,' \
		"at '$(postgres_socket)/.s.PGSQL.5432'"
	psql_run "ALTER SYSTEM RESET log_statement; SELECT pg_reload_conf()"
	log=$BATS_FILE_TMPDIR/postgres.main.log
	grep -q 'EXPLAIN SELECT' "$log"
	! grep -q 'COPY' "$log" || fail "rows were read"
	clean --table cards --format json
	[[ $(levels) == 'ok source
ok source TLS
ok source timeouts
ok source encoding
ok source rights
ok source columns
ok source plan
ok source rows
ok source jobs' ]]
	server=copy
	clean --table cards
	assert_has "$output" 'a standby; database' \
		'source standby: hot_standby_feedback is off, max_standby_streaming_delay 30 s' \
		'source lag: it has replayed all that it has received'
}

@test "pgdoctor: both ends are looked at, and each has its findings" {
	from --table cards -t dir:t --format json
	assert_status 0
	[[ $(levels | head -n 2) == $'ok target\nok source' ]]
	[[ ! -e t ]]
	: >t
	from --table cards -t dir:t --format json
	assert_status 66
	[[ $(levels | head -n 2) == $'error target\nok source' ]]
	printf '%s\n' "$output" >got.json
	assert_json got.json '.set == "cards-'"$(bloomctl_set)"'"' '.status == 66'
	from --table cards --format csv
	assert_status 0
	[[ ${lines[0]} == level,what,evidence,remedy ]]
}

# bloomctl_set: the first digits of the keyspec's fingerprint.
bloomctl_set() {
	"$BLOOMCTL" key -k c.keyspec --fingerprint | cut -c 1-8
}

# unfit STATUS TEXT OPTION...: an error, the one finding of the source.
unfit() {
	from "${@:3}"
	assert_status "$1"
	assert_stderr_is ''
	assert_has "$output" 'error    source: ' "$2"
	from "${@:3}" -t dir:none --format json
	assert_status "$1"
	[[ $(levels) == $'ok target\nerror source' ]]
}

@test "pgdoctor: a source that cannot be opened is a finding with its status" {
	unfit 66 "table 'none' is not in" --table none
	unfit 65 'column "stat" does not exist' --table cards --where 'stat = 1'
	unfit 64 'syntax error' --table cards --where 'status ='
	unfit 64 'no name of a table' --table 'cards cards'
	unfit 66 'relation "cards" does not exist' --query 'SELECT * FROM cards'
	for word in "host=$PWD dbname=x" 'postgresql://127.0.0.1:1/x'; do
		bloomctl_run doctor -k c.keyspec -s "$word" --table cards
		assert_status 69
		assert_stderr_is ''
		assert_has "$output" 'error    source: connection to server'
	done
}

@test "pgdoctor: rights that are missing and policies that hide rows are 77" {
	bloomctl_run doctor -k c.keyspec --table cards \
		-s "$(postgres_word main user=weak)"
	assert_status 77
	assert_has "$output" 'error    source: ' 'permission denied' 'GRANT SELECT'
	bloomctl_run doctor -k c.keyspec --table guarded \
		-s "$(postgres_word main user=weak)"
	assert_status 77
	assert_has "$output" 'error    source: ' 'row-level security' BYPASSRLS
	clean --table guarded
	assert_has "$output" 'no policy hides rows from it' \
		'in one piece, whatever --jobs says: it has row-level security'
}

@test "pgdoctor: options that do not go together are 64, and no findings" {
	from
	assert_failure 64 doctor 'which rows'
	from --table cards --query 'SELECT 1'
	assert_failure 64 doctor '--table and --query'
	from --where true
	assert_failure 64 doctor --where
	from --table cards -s file:x
	assert_failure 64 doctor 'different kinds'
	from --table cards -s "$(postgres_word copy)"
	assert_failure 64 doctor '2 databases'
	bloomctl_run doctor -k c.keyspec -s file:rows.csv --table cards
	assert_failure 64 doctor --table
	bloomctl_run doctor -k c.keyspec -s nowhere:x
	assert_failure 64 doctor 'no such kind'
	bloomctl_run doctor -k c.keyspec
	assert_failure 64 doctor --target
	bloomctl_run doctor -k c.keyspec --table cards \
		-s 'postgresql://u:secret@localhost/x'
	assert_failure 64 doctor 'seen by others'
	assert_lacks "$stderr" secret
}

@test "pgdoctor: a stop ends it, and there are no findings" {
	local pid sql
	postgres_bin
	mkfifo sql
	"$postgres_bin/psql" -X -q -h "$(postgres_socket)" -U postgres <sql \
		>psql.out 2>&1 3>&- &
	blocker=$!
	exec {sql}>sql
	echo 'BEGIN; LOCK TABLE cards;' >&"$sql"
	wait_until locked_by 1 AccessExclusiveLock true
	"$BLOOMCTL" doctor -k c.keyspec -s "$(postgres_word main)" \
		--table cards >said.out 2>said.err 3>&- &
	pid=$!
	wait_until locked_by 1 AccessShareLock false
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	kill "$blocker"
	exec {sql}>&-
	wait_until locked_by 0 AccessExclusiveLock true
	assert_status 143
	[[ ! -s said.out ]]
}

# locked_by N MODE GRANTED: so many have or want such a lock on cards.
locked_by() {
	[[ $(psql_run "SELECT count(*) FROM pg_locks
		WHERE relation = 'cards'::regclass AND mode = '$2'
			AND granted = $3") == "$1" ]]
}

# --- standbys -------------------------------------------------------------

# set_copy NAME VALUE
set_copy() {
	server=copy psql_run "ALTER SYSTEM SET $1 = '$2'; SELECT pg_reload_conf()"
	wait_until copy_has "$1" "$2"
}

copy_has() {
	[[ $(server=copy psql_run "SHOW $1") == "$2" ]]
}

@test "pgdoctor: a standby that would cancel the read is a warning, until it would not" {
	local rows="SELECT i::text AS entity_id, 'x' AS scope
		FROM generate_series(1, 8000000) AS g (i)"
	server=copy
	warns 'source standby' \
		'hot_standby_feedback is off, max_standby_streaming_delay 30 s' \
		--query "$rows"
	set_copy hot_standby_feedback on
	clean --query "$rows"
	assert_has "$output" 'source standby: hot_standby_feedback is on'
	set_copy hot_standby_feedback off
	set_copy max_standby_streaming_delay -1
	clean --query "$rows"
	assert_has "$output" 'max_standby_streaming_delay without end'
	set_copy max_standby_streaming_delay 30s
}

@test "pgdoctor: a standby whose replay is paused is a warning" {
	server=copy
	server=copy psql_run 'SELECT pg_wal_replay_pause()'
	warns 'source lag' 'replay is paused' --table cards
	server=copy psql_run 'SELECT pg_wal_replay_resume()'
	clean --table cards
}

@test "pgdoctor: a standby that does not say how it replays is looked at all the same" {
	bloomctl_ok doctor -k c.keyspec --table parted \
		-s "$(postgres_word copy user=weak)"
	assert_lacks "$output" warning
	assert_has "$output" 'ok       source standby: ' \
		'max_standby_streaming_delay 30 s' \
		'ok       source lag: the last transaction that it has replayed is of an age not known'
}

# --- connections ----------------------------------------------------------

@test "pgdoctor: the user's time-outs are told, and no warning" {
	PGOPTIONS='-c statement_timeout=5min -c idle_in_transaction_session_timeout=2s' \
		clean --table cards
	assert_has "$output" 'source timeouts: statement_timeout 5 min, idle_in_transaction_session_timeout 2000 ms of this user'
	clean --table cards
	assert_has "$output" 'source timeouts: this user has none'
}

@test "pgdoctor: a proxy that shares connections is a warning" {
	local proxy
	echo share >order
	exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" \
		.s.PGSQL.5432 "$(postgres_socket)/.s.PGSQL.5432" order 3>&-)
	wait_until test -S .s.PGSQL.5432
	bloomctl_ok doctor -k c.keyspec --table cards --format json \
		-s "host=$PWD dbname=postgres user=postgres"
	[[ $(levels | grep -v '^ok') == 'warning source proxy' ]]
	echo pass >order.new
	mv order.new order
	bloomctl_ok doctor -k c.keyspec --table cards --format json \
		-s "host=$PWD dbname=postgres user=postgres"
	[[ $(levels | grep -cv '^ok') == 0 ]]
	exec {proxy}>&-
}

# begin_tls: a server `tls` that others could reach, at $address and $port.
begin_tls() {
	local data
	address=$(hostname -I | tr ' ' '\n' | grep -m 1 '^[0-9.]*$') ||
		skip "this machine has no address but its own"
	port=$(python3 -c 'import socket
s = socket.create_server(("", 0))
print(s.getsockname()[1])')
	postgres_start tls -c listen_addresses="$address,127.0.0.1"
	data=$(postgres_socket tls)/data
	openssl req -x509 -newkey ec -nodes -days 2 -subj /CN=server \
		-pkeyopt ec_paramgen_curve:P-256 \
		-addext "subjectAltName=IP:$address" \
		-keyout server.key -out server.crt
	cp server.key server.crt "$data"
	chown --reference "$data" "$data"/server.*
	chmod 600 "$data/server.key"
	echo 'host all all all trust' >>"$data/pg_hba.conf"
	server=tls psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=9
	server=tls psql_run 'ALTER SYSTEM SET ssl = on; SELECT pg_reload_conf()'
	wait_until tls_is_on
}

tls_is_on() {
	"$postgres_bin/psql" -X -q -U postgres -c 'SELECT' \
		-d "host=$address port=$port dbname=postgres sslmode=require"
}

# tls_warns TEXT WORD...: of the connection with these words.
tls_warns() {
	bloomctl_ok doctor -k c.keyspec --table cards --format json \
		-s "host=$address port=$port user=postgres dbname=postgres ${*:2}"
	[[ $(levels | grep -v '^ok') == 'warning source TLS' ]]
	assert_has "$output" "$1" sslrootcert=FILE
}

@test "pgdoctor: from another machine all but verify-full is a warning" {
	begin_tls
	tls_warns '"none: whoever is in between can read' sslmode=disable
	tls_warns 'TLSv1.3, but sslmode is require: ' sslmode=require
	tls_warns 'TLSv1.3, but sslmode is verify-ca: ' sslmode=verify-ca \
		sslrootcert=server.crt
	bloomctl_ok doctor -k c.keyspec --table cards \
		-s "postgresql://postgres@$address:$port/postgres?sslmode=verify-full&sslrootcert=server.crt"
	assert_has "$output" \
		'ok       source TLS: TLSv1.3, and sslmode is verify-full'
	bloomctl_ok doctor -k c.keyspec --table cards \
		-s "postgresql://postgres@127.0.0.1:$port/postgres"
	assert_has "$output" \
		'ok       source TLS: TLSv1.3, and the server is on this machine'
	bloomctl_run doctor -k c.keyspec --table cards \
		-s "host=other.example hostaddr=$address port=$port user=postgres dbname=postgres sslmode=verify-full sslrootcert=server.crt"
	assert_status 77
	assert_has "$output" 'error    source: ' 'certificate'
}

# --- what is read ---------------------------------------------------------

@test "pgdoctor: SQL_ASCII is a warning, unless the keyspec takes bytes" {
	psql_run 'CREATE DATABASE bytes TEMPLATE template0 ENCODING sql_ascii'
	psql_run "CREATE TABLE cards (entity_id text, scope text)" -d bytes
	word=$(postgres_word main dbname=bytes)
	bloomctl_ok doctor -k c.keyspec -s "$word" --table cards
	assert_has "$output" 'warning  source encoding: SQL_ASCII'
	write_keyspec raw.keyspec key='card:{entity_id}:{scope}' encoding=bytes
	bloomctl_ok doctor -k raw.keyspec -s "$word" --table cards
	assert_lacks "$output" warning
	assert_has "$output" 'ok       source encoding: SQL_ASCII'
}

@test "pgdoctor: columns whose text programs do not write are warnings" {
	psql_run 'CREATE DOMAIN money_like AS float8 CHECK (VALUE >= 0)'
	for type in money_like real timestamp timestamptz 'char(9)' bytea boolean \
		json jsonb; do
		warns "source column 'scope'" 'of type ' --query \
			"SELECT 'a' AS entity_id, NULL::public.money_like AS other,
				NULL::$(of_public "$type") AS scope"
	done
	for type in text 'varchar(9)' int bigint numeric uuid date; do
		clean --query "SELECT 'a' AS entity_id, NULL::$type AS scope,
			0.1::float8 AS other"
	done
	write_keyspec c.keyspec key='card:{entity_id}:{scope}' - \
		<<<$'[field scope]\ntransform = rtrim'
	clean --query "SELECT 'a' AS entity_id, NULL::char(9) AS scope"
}

# of_public TYPE: ours has its schema in front.
of_public() {
	echo "${1/#money_like/public.money_like}"
}

@test "pgdoctor: a plan that sorts, groups or loops over everything is a warning" {
	local rows="generate_series(1, 2000000) AS g (i)"
	warns 'source plan' 'Sort, of about 2,000,000 rows: no row' --query \
		"SELECT i AS entity_id, 1 AS scope FROM $rows ORDER BY i"
	psql_run "CREATE TABLE fat (entity_id int PRIMARY KEY, scope text);
		INSERT INTO fat VALUES (1, 'x'); ANALYZE fat;
		UPDATE pg_class SET reltuples = 4000000 WHERE relname = 'fat'"
	PGOPTIONS='-c enable_sort=off -c enable_incremental_sort=off' \
		warns 'source plan' 'HashAggregate, of about 4,000,000 rows' \
		--query 'SELECT DISTINCT entity_id, scope FROM public.fat'
	warns 'source plan' 'Nested Loop, of about ' --query \
		"SELECT i AS entity_id, j AS scope
			FROM $rows, generate_series(1, 2) AS h (j) WHERE i <> j"
	clean --query "SELECT * FROM public.cards ORDER BY scope"
	assert_has "$output" 'ok       source plan: Subquery Scan'
}

@test "pgdoctor: more rows than 30 minutes read are a warning, on a primary and a standby" {
	local rows="SELECT i AS entity_id, 1 AS scope
		FROM generate_series(1, 2000000000) AS g (i)"
	warns 'source rows' 'about 2,000,000,000, which one worker reads in about 66 min, at 0.5 M rows a second; for so long nothing is vacuumed on this primary' \
		--query "$rows"
	assert_has "$output" 'read a standby, a clone, a snapshot' --jobs
	server=copy
	set_copy max_standby_streaming_delay -1
	warns 'source rows' 'about 2,000,000,000' --query "$rows"
	assert_has "$output" 'serving standby' 'read a clone, a snapshot' --jobs
	set_copy max_standby_streaming_delay 30s
}

@test "pgdoctor: it is said whether several jobs can read side by side" {
	clean --table cards --where 'status = 1'
	assert_has "$output" 'source jobs: --jobs N reads ranges'
	clean --table parted
	assert_has "$output" 'source jobs: --jobs N reads ranges'
	clean --table active
	assert_has "$output" 'in one piece' 'it is a view'
	clean --table kept
	assert_has "$output" 'source jobs: --jobs N' 'its last REFRESH'
	clean --query 'SELECT * FROM public.cards'
	assert_has "$output" 'in one piece' 'it is a query'
	bloomctl_ok doctor -k c.keyspec --table parted \
		-s "$(postgres_word main user=weak)"
	assert_has "$output" 'in one piece' 'may not be read by itself'
}

# --- other sources --------------------------------------------------------

@test "pgdoctor: of files it says that they are there, and how large" {
	bloomctl_ok doctor -k cards.keyspec -s file:rows.csv
	[[ $output == "ok       source: 1 file is there, $(stat -c %s rows.csv) B in all" ]]
	head -c 1000 /dev/zero | tr '\0' a >b.csv
	head -c 24 /dev/zero | tr '\0' a >c.csv
	bloomctl_ok doctor -k cards.keyspec -s 'file:[bc].csv' -t dir:t
	assert_has "$output" 'ok       target:' \
		'ok       source: 2 files are there, 1.0 KiB in all'
	bloomctl_run doctor -k cards.keyspec -s file:none.csv
	assert_status 66
	assert_stderr_is ''
	assert_has "$output" "error    source: file 'none.csv'"
	bloomctl_run doctor -k cards.keyspec -s 'file:none*'
	assert_status 66
	assert_has "$output" "error    source: no file matches 'none*'"
}

@test "pgdoctor: a command is not run, and standard input not read" {
	bloomctl_ok doctor -k cards.keyspec -s 'exec:touch ran' \
		-s 'exec:touch ran secret'
	assert_has "$output" "ok       source: command 1 'touch ...'" \
		"ok       source: command 2 'touch ...'"
	assert_lacks "$output" secret
	[[ ! -e ran ]]
	{
		"$BLOOMCTL" doctor -k cards.keyspec -s - >out
		read -r line
	} <<<'whole line'
	[[ $line == 'whole line' ]]
	assert_has "$(<out)" 'ok       source: standard input'
}
