#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What a horizon says of PostgreSQL, and what changed since one: nothing that
# was committed is on neither side of it.  $BUILD/changed reads as a pass does.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres

setup_file() {
	begin_file
	postgres_start main -c max_prepared_transactions=5
	postgres_standby copy -c max_prepared_transactions=5
	psql_run 'CREATE ROLE reader LOGIN; CREATE ROLE other LOGIN;
		GRANT pg_read_all_data TO reader, other'
}

teardown_file() {
	postgres_stop promoted
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	rows "CREATE TABLE cards (id text PRIMARY KEY,
		updated_at timestamptz DEFAULT now());
		INSERT INTO cards VALUES ('old', '2026-01-01'), ('older', '2025-01-01')"
	main=$(postgres_word main)
	copy=$(postgres_word copy)
	sql=
}

teardown() {
	[[ -z $sql ]] || ends 'ROLLBACK;'
	server=copy psql_run 'SELECT pg_wal_replay_resume()' >/dev/null || :
	# What is prepared outlives its session, and its locks do.
	psql_run "$(psql_run "SELECT format('ROLLBACK PREPARED %L;', gid)
		FROM pg_prepared_xacts")"
	psql_run 'DROP TABLE IF EXISTS cards, parted, fresh CASCADE' 2>/dev/null
}

# rows SQL: it is committed, and written to the log at once.
rows() {
	psql_run "$1"
}

# follows: the copy has all of that.
follows() {
	# Behind a commit that waits for it nothing is unwritten.
	rows "SELECT pg_logical_emit_message(true, 'x', 'x')" >/dev/null
	postgres_follows copy
}

# writes_after DELAY: what nobody waits for is written so much later.
writes_after() {
	rows "ALTER SYSTEM SET wal_writer_delay = '$1'"
	rows 'SELECT pg_reload_conf()' >/dev/null
	wait_until written_after "$1"
}

written_after() {
	[[ $(psql_run 'SHOW wal_writer_delay') == "$1" ]]
}

# begins SQL [USER]: a session in the background has run that, and waits.
begins() {
	postgres_bin
	mkfifo sql
	"$postgres_bin/psql" -X -q -h "$(postgres_socket main)" \
		-U "${2:-postgres}" -d postgres <sql >psql.out 2>&1 3>&- &
	session=$!
	exec {sql}>sql
	printf '%s \\echo begun\n' "$1" >&"$sql"
	wait_until grep -q begun psql.out
}

# ends SQL: it runs that and is gone.
ends() {
	echo "$1" >&"$sql"
	exec {sql}>&-
	wait "$session"
	rm sql
	sql=
}

# changed OPTION...: sets $rows, sorted and in one line, and $horizon.
changed() {
	run --separate-stderr "$BUILD/changed" -t cards "$@"
	((${#output} < 10000)) || output=many
	show_run changed "$@"
	assert_status 0
	rows=$(cut -f 1 <<<"$output" | sort | tr '\n' ' ')
	rows=${rows% }
	horizon=${stderr##*$'\n'}
}

# is ROWS: those it was.
is() {
	[[ $rows == "$1" ]] || fail "not '$1' but '$rows'"
}

# refused STATUS PART... -- OPTION...
refused() {
	local status_wanted=$1 parts=()
	shift
	while [[ $1 != -- ]]; do
		parts+=("$1")
		shift
	done
	shift
	any_run "$BUILD/changed" -t cards "$@"
	assert_status "$status_wanted"
	assert_has "$stderr" "${parts[@]}"
	[[ -z $output ]] || fail "there are rows"
}

# field N: a word of $horizon: read_at, since, xid, lsn, timeline, relation,
# system.
field() {
	cut -d ' ' -f "$1" <<<"$horizon"
}

# with N VALUE: $horizon with another word.
with() {
	awk -v n="$1" -v value="$2" '{ $n = value; print }' <<<"$horizon"
}

# --- the writer's word ----------------------------------------------------

@test "pghorizon: it is the writer's, whatever the standby and the client say" {
	need_fault
	begins "BEGIN; INSERT INTO cards VALUES ('open');"
	follows
	xid=$(psql_run "SELECT backend_xid FROM pg_stat_activity
		WHERE state = 'idle in transaction'")
	# Nobody asks the clock of the client.
	FAULT_CLOCK=-3600 LD_PRELOAD=$BUILD/fault.so changed -w "$main" "$copy"
	is 'old older'
	(($(field 3) == xid))
	(($(field 2) == 0))
	(($(field 5) == 1))
	(($(field 6) == $(psql_run "SELECT 'cards'::regclass::oid")))
	[[ $(field 7) == "$(psql_run "SELECT system_identifier
		FROM pg_control_system()")" ]]
	(($(field 1) > (EPOCHSECONDS - 60) * 1000))
	[[ $(psql_run "SELECT '$(field 4)'::pg_lsn <= pg_current_wal_insert_lsn()
		AND '$(field 4)'::pg_lsn > '0/1000000'") == t ]]
}

@test "pghorizon: a standby that lags is waited for, and not for ever" {
	follows
	server=copy psql_run 'SELECT pg_wal_replay_pause()'
	rows "INSERT INTO cards VALUES ('new', '2026-02-02')"
	refused 75 'has come to 0/' 'was at 0/' 'within 1 s' -- \
		-m 1000 -w "$main" "$copy"
	# Without its word what is read is what the standby has.
	changed "$copy"
	is 'old older'
	(
		until [[ $(server=copy psql_run "SELECT count(*) > 0 FROM pg_stat_activity
			WHERE application_name = 'bloomctl'") == t ]]; do
			:
		done
		server=copy psql_run 'SELECT pg_wal_replay_resume()'
	) 3>&- &
	"$BUILD/changed" -t cards -w "$main" "$copy" >/dev/null
	wait
	changed -w "$main" "$copy"
	is 'new old older'
}

@test "pghorizon: a commit that is seen and not yet written is waited for" {
	follows
	writes_after 10s
	rows "SET synchronous_commit = off;
		INSERT INTO cards VALUES ('async', '2026-02-02')"
	refused 75 'was at 0/' -- -m 500 -w "$main" "$copy"
	# Not even the writer may forget it: its id would be given out again.
	refused 75 'was at 0/' -- -m 500 -w "$main" "$main"
	refused 75 'was at 0/' 'had not written that' -- -m 500 "$main"
	rows "SELECT pg_logical_emit_message(true, 'x', 'x')" >/dev/null
	changed -w "$main" "$copy"
	is 'async old older'
	writes_after 200ms
}

@test "pghorizon: nobody waits for the head of a page that is still to be written" {
	follows
	# The next record's place is behind that of a new file.
	rows 'SELECT pg_switch_wal()' >/dev/null
	[[ $(psql_run "SELECT pg_current_wal_insert_lsn() - '0/0'") -gt \
		$(psql_run "SELECT pg_current_wal_flush_lsn() - '0/0'") ]]
	changed -m 500 -w "$main" "$main"
	changed -m 500 -w "$main" "$copy"
	is 'old older'
}

@test "pghorizon: the writer is a primary of the source's cluster, or it is 66" {
	refused 66 'is a standby, where the writer' -- -w "$copy" "$main"
	postgres_start another
	refused 66 'is not of the cluster of the source' -- \
		-w "$(postgres_word another)" "$copy"
	changed "$main"
	server=another psql_run 'CREATE TABLE cards (id text)'
	refused 83 'of another cluster' -- "$(postgres_word another)" "$horizon"
	postgres_stop another
}

@test "pghorizon: after a failover to another timeline it is 83" {
	postgres_standby promoted -c max_prepared_transactions=5
	promoted=$(postgres_word promoted)
	postgres_follows promoted
	changed -w "$main" "$promoted"
	server=promoted psql_run 'SELECT pg_promote()' >/dev/null
	server=promoted psql_run "INSERT INTO cards VALUES ('after')"
	refused 83 'of timeline 1' 'is on 2' -- "$promoted" "$horizon"
	refused 83 'of timeline 1' 'is on 2' -- -w "$promoted" "$promoted" \
		"$horizon"
	refused 83 'of timeline 1' 'is on 2' -- -S -c updated_at -o 1000 \
		"$promoted" "$(with 2 1)"
	# It is no standby of the old primary any more, nor the other way.
	refused 66 'is on timeline 2' 'on 1' -- -w "$main" "$promoted"
	refused 75 'is on timeline 1' 'on 2' -- -m 300 -w "$promoted" "$copy"
}

@test "pghorizon: options name the writer, and no password" {
	spec one 'k:{id}' </dev/null
	local with=(build -q -k one.keyspec -t dir:t)
	bloomctl_ok "${with[@]}" -s "$copy" --table cards --writer "$main" \
		--changed-column updated_at --max-lag 30s --receipt r.json
	assert_json r.json .horizon.xid .horizon.since \
		".horizon.relation == $(psql_run "SELECT 'cards'::regclass::oid")"
	bloomctl_run "${with[@]}" -s "$copy" --table cards --writer "$main" \
		--changed-column updated_at --max-horizon-age 1d --overlap 5s
	assert_status 0
	bloomctl_run "${with[@]}" -s "$copy" --table cards \
		--writer "$main password=secret"
	assert_failure 64 build '--writer: a password on the command line'
	assert_lacks "$stderr" secret
	bloomctl_run "${with[@]}" -s "$copy" --table cards --writer file:x
	assert_failure 64 build '--writer: it is no database'
	for option in --writer=dbname=x --changed-column=x --overlap=1s \
		--max-lag=1s --max-horizon-age=1s; do
		bloomctl_run "${with[@]}" -s file:x "$option"
		assert_failure 64 build "${option%%=*}: it is for a database"
	done
	BLOOMCTL_WRITER="$main password=secret" bloomctl_run "${with[@]}" \
		-s "$copy" --table cards
	assert_status 0
}

# --- by ids ---------------------------------------------------------------

@test "pghorizon: what commits late, in subtransactions too, is found once" {
	begins "BEGIN; INSERT INTO cards VALUES ('late', '2025-01-01');
		DO \$\$ BEGIN FOR i IN 1..100 LOOP BEGIN
			INSERT INTO cards VALUES ('sub' || i, '2025-01-01');
		EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP; END \$\$;"
	rows "INSERT INTO cards VALUES ('first')"
	follows
	for source in "$main" "$copy"; do
		changed -w "$main" "$source"
		is 'first old older'
		own=$horizon
		changed "$source"
		[[ $(field 3) == "$(horizon=$own field 3)" ]]
	done
	rows "INSERT INTO cards VALUES ('second')"
	ends 'COMMIT;'
	rows 'VACUUM (FREEZE) cards'
	follows
	for source in "$main" "$copy"; do
		changed -w "$main" "$source" "$own"
		[[ $rows == *late* && $rows == *second* && $rows == *sub100* ]]
		(($(wc -w <<<"$rows") == 103)) || fail "they are: $rows"
		changed -w "$main" "$source" "$horizon"
		is ''
	done
}

@test "pghorizon: an update that moves no column is found, a look is not" {
	changed "$main"
	rows "UPDATE cards SET id = 'older' WHERE id = 'older'"
	rows 'ANALYZE cards; VACUUM cards; SELECT * FROM cards FOR UPDATE' \
		>/dev/null
	changed "$main" "$horizon"
	is older
}

@test "pghorizon: with jobs the same rows are found, and leaves read whole" {
	rows "CREATE TABLE parted (id text, n int) PARTITION BY RANGE (n);
		CREATE TABLE p1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
		CREATE TABLE fresh (id text, n int);
		INSERT INTO p1 SELECT repeat('x', 1000) || i, 1
			FROM generate_series(1, 30000) i;
		INSERT INTO fresh VALUES ('attached', 11)"
	changed -t parted "$main"
	begun=$horizon
	rows "INSERT INTO parted VALUES ('new', 2);
		ALTER TABLE parted ATTACH PARTITION fresh
			FOR VALUES FROM (10) TO (20)"
	for jobs in 1 3; do
		changed -j "$jobs" -t parted "$main" "$begun"
		is 'attached new'
	done
	changed -b -l 3 -t parted "$main" "$begun"
	(($(wc -w <<<"$rows") == 3))
	[[ $rows != *attached* && $rows != *new* ]]
}

@test "pghorizon: of a partition that was attached all rows are new, also below" {
	rows "CREATE TABLE parted (id text, n int) PARTITION BY RANGE (n);
		CREATE TABLE p1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
		CREATE TABLE fresh (id text, n int) PARTITION BY RANGE (n);
		CREATE TABLE f1 PARTITION OF fresh FOR VALUES FROM (10) TO (15);
		INSERT INTO parted VALUES ('there', 1);
		INSERT INTO fresh VALUES ('below', 11)"
	changed -t parted "$main"
	is there
	begun=$horizon
	rows 'ALTER TABLE parted ATTACH PARTITION fresh
		FOR VALUES FROM (10) TO (20)'
	follows
	for source in "$main" "$copy"; do
		changed -w "$main" -t parted "$source" "$begun"
		is below
		changed -w "$main" -t parted "$source" "$horizon"
		is ''
	done
}

@test "pghorizon: a table that was renamed into place is read whole" {
	rows "CREATE TABLE fresh (LIKE cards);
		INSERT INTO fresh VALUES ('swapped', '2025-01-01')"
	changed "$main"
	# As after another search_path: nobody has touched it since.
	changed -t fresh "$main" "$horizon"
	is swapped
	changed "$main"
	rows 'BEGIN; ALTER TABLE cards RENAME TO was;
		ALTER TABLE fresh RENAME TO cards; COMMIT'
	begun=$horizon
	changed "$main" "$begun"
	is swapped
	# Nothing of it is surely as it was.
	changed -b "$main" "$begun"
	is ''
	changed "$main" "$begun"
	changed "$main" "$horizon"
	is ''
	rows 'DROP TABLE cards; ALTER TABLE was RENAME TO cards'
	changed "$main" "$horizon"
	is 'old older'
}

@test "pghorizon: a table that was written anew is read whole" {
	changed "$main"
	rows "CREATE TABLE fresh AS SELECT * FROM cards;
		BEGIN; TRUNCATE cards;
		INSERT INTO cards SELECT * FROM fresh; COMMIT"
	begun=$horizon
	changed "$main" "$begun"
	is 'old older'
	begun=$horizon
	rows 'VACUUM (FULL, FREEZE) cards'
	changed "$main" "$begun"
	is 'old older'
}

@test "pghorizon: a horizon whose ids say nothing is 83" {
	changed "$main"
	refused 83 'beyond all transactions' -- "$main" \
		"$(with 3 $(($(field 3) + 1000)))"
	follows
	refused 75 'has not come to where the horizon is' -- "$copy" \
		"$(with 3 $(($(field 3) + 1000)))"
	refused 83 'beyond all transactions' -- -w "$main" "$copy" \
		"$(with 3 $(($(field 3) + 1000)))"
	refused 83 'no transaction' -- "$main" "$(horizon=$(with 2 1) with 3 0)"
	refused 83 'nothing says whether' -- "$main" "$(with 7 0)"
	refused 83 'nothing says whether' -- "$main" "$(with 5 0)"
	changed -S -c updated_at -o 1000 "$main" \
		"$(horizon=$(with 2 1767225600000) with 7 0)"
	is old
	refused 83 'no stamp' -- -S -c updated_at -o 1000 "$main" \
		"$(with 2 0)"
}

@test "pghorizon: of views and queries ids say nothing, which is 64" {
	rows 'CREATE VIEW fresh_view AS SELECT * FROM cards'
	changed "$main"
	begun=$horizon
	refused 64 'not told by ids' -- -t fresh_view "$main" "$begun"
	changed -t fresh_view "$main"
	[[ -z $horizon ]]
	any_run "$BUILD/changed" -q 'SELECT * FROM public.cards' "$main" "$begun"
	assert_status 64
	assert_has "$stderr" 'not told by ids'
}

@test "pghorizon: what surely did not change is all else, as far as is asked" {
	changed "$main"
	rows "INSERT INTO cards VALUES ('new', now()), ('none', NULL)"
	changed -b "$main" "$horizon"
	is 'old older'
	changed -b -l 1 "$main" "$horizon"
	(($(wc -w <<<"$rows") == 1))
	changed -b -S -c updated_at "$main" "$(with 2 1767225600000)"
	is older
}

# --- by stamps ------------------------------------------------------------

@test "pghorizon: a stamp is that of the oldest transaction, less a minute" {
	begins 'BEGIN; SELECT 1;'
	start=$(psql_run "SELECT (extract(epoch FROM xact_start) * 1000)::bigint
		FROM pg_stat_activity WHERE state = 'idle in transaction'")
	changed -c updated_at -w "$main" "$main"
	(($(field 2) == start - 60000))
	begun=$horizon
	# It stamps its row with its begin, and commits it late.
	echo "INSERT INTO cards VALUES ('late');" >&"$sql"
	ends 'COMMIT;'
	changed -S -c updated_at -w "$main" "$main" "$begun"
	is late
	# With no transaction open it is the server's time, not the client's.
	need_fault
	FAULT_CLOCK=3600 LD_PRELOAD=$BUILD/fault.so \
		changed -c updated_at -w "$main" "$main"
	now=$(psql_run "SELECT (extract(epoch FROM now()) * 1000)::bigint")
	(($(field 2) <= now - 60000 && $(field 2) > now - 70000))
}

@test "pghorizon: rows with the stamp, a later one, none or infinity are found" {
	changed -c updated_at -o 1000 "$main"
	rows "INSERT INTO cards VALUES ('same', to_timestamp(1767225600.123)),
		('before', to_timestamp(1767225600.122)), ('none', NULL),
		('never', '-infinity'), ('ever', 'infinity'),
		('future', '2999-01-01')"
	changed -S -c updated_at -o 1000 "$main" "$(with 2 1767225600123)"
	is 'ever future none same'
	any_run "$BUILD/changed" -q "SELECT id, updated_at AS at
		FROM public.cards" -S -c at -o 1000 "$main" \
		"$(with 2 1767225600123)"
	assert_status 0
	(($(wc -l <<<"$output") == 4))
}

@test "pghorizon: without a writer it is the source's time less the overlap" {
	need_fault
	FAULT_CLOCK=3600 LD_PRELOAD=$BUILD/fault.so \
		changed -c updated_at -o 5000 "$main"
	(($(field 2) == $(field 1) - 5000))
	(($(field 1) < (EPOCHSECONDS + 60) * 1000))
	# A standby shows what its primary had committed that long ago.
	follows
	changed -o 3600000 "$copy"
	(($(field 1) < (EPOCHSECONDS - 3500) * 1000))
	refused 64 '--changed-column: nothing says how long' -- \
		-c updated_at "$main"
}

@test "pghorizon: a stamp is a timestamptz of the rows, or it is 64 or 65" {
	rows "ALTER TABLE cards ADD at timestamp DEFAULT now()"
	refused 64 "column 'at' is no timestamptz" -- -c at -o 1000 "$main"
	refused 65 "option --changed-column" 'cards.gone' -- -c gone -o 1000 \
		"$main"
	refused 64 'no --changed-column' -- -S "$main" '1 1 1 0/1 1 1 1'
}

@test "pghorizon: a prepared transaction has no begin: no stamp beside it" {
	begins "BEGIN; INSERT INTO cards VALUES ('prepared');
		PREPARE TRANSACTION 'two';"
	ends ''
	refused 75 "prepared transaction two" 'no stamp is safe' -- -S -m 300 \
		-c updated_at -w "$main" "$main" '1 1 0 0/1 1 0 0'
	# By ids it is one like others.
	changed -m 300 -c updated_at -w "$main" "$main"
	is 'old older'
	assert_has "$stderr" 'prepared transaction two'
	(($(field 2) == 0))
	begun=$horizon
	rows "COMMIT PREPARED 'two'"
	changed "$main" "$begun"
	is prepared
	changed -c updated_at -w "$main" "$main"
	(($(field 2) > 0))
}

@test "pghorizon: who does not show when it began is no reason to guess" {
	reader=${main/user=postgres/user=reader}
	begins "SELECT 1;" other
	pid=$(psql_run "SELECT pid FROM pg_stat_activity
		WHERE usename = 'other'")
	refused 75 "process $pid of user 'other'" 'no stamp is safe' -- -S \
		-m 300 -c updated_at -w "$reader" "$main" '1 1 0 0/1 1 0 0'
	rows 'GRANT pg_read_all_stats TO reader'
	changed -c updated_at -w "$reader" "$main"
	(($(field 2) > 0))
	ends ''
	begins "SET track_activities = off; BEGIN; SELECT 1;"
	refused 75 'process' 'no stamp is safe' -- -S -m 300 -c updated_at \
		-w "$main" "$main" '1 1 0 0/1 1 0 0'
	ends ''
	rows 'REVOKE pg_read_all_stats FROM reader'
}

# --- what holds it --------------------------------------------------------

@test "pghorizon: one that cannot move is 75, and says who holds it" {
	begins "SET application_name = 'holder';
		BEGIN; INSERT INTO cards VALUES ('held');"
	pid=$(psql_run "SELECT pid FROM pg_stat_activity
		WHERE application_name = 'holder'")
	refused 75 "process $pid of user 'postgres', application 'holder'" \
		'has been in its transaction since 20' 'older than' -- \
		-a 1 "$main"
	refused 75 "process $pid" -- -a 1 -w "$main" "$main"
	refused 75 "process $pid" -- -S -a 1 -c updated_at -w "$main" \
		"$main" '1 1 0 0/1 1 0 0'
	changed -a 3600000 -w "$main" "$main"
	echo "PREPARE TRANSACTION 'three';" >&"$sql"
	ends ''
	refused 75 'prepared transaction three' -- -a 1 "$main"
	rows "ROLLBACK PREPARED 'three'"
	changed -a 1 "$main"
	is 'old older'
}

# --- Aurora ---------------------------------------------------------------

# aurora LSN: the servers tell no position but by a function of Aurora's name,
# to whom is no superuser.
aurora() {
	rows "REVOKE EXECUTE ON FUNCTION pg_current_wal_insert_lsn(),
			pg_current_wal_flush_lsn(), pg_last_wal_replay_lsn()
			FROM public;
		SET allow_system_table_mods = on; SET search_path = pg_catalog;
		CREATE OR REPLACE FUNCTION aurora_db_instance_identifier()
			RETURNS text LANGUAGE sql AS 'SELECT ''reader''';
		CREATE OR REPLACE FUNCTION aurora_replica_status(
			OUT server_id text, OUT session_id text,
			OUT durable_lsn bigint, OUT current_read_lsn bigint)
			RETURNS SETOF record LANGUAGE sql AS \$\$ VALUES
			('writer', 'MASTER_SESSION_ID', 100::bigint, NULL::bigint),
			('reader', 'a-b', NULL, $1::bigint),
			('another', 'c-d', NULL, 5) \$\$"
	follows
}

@test "pghorizon: Aurora tells of its volume how far a reader has come" {
	reader=${copy/user=postgres/user=reader}
	writer=${main/user=postgres/user=reader}
	aurora 99
	refused 75 'has come to 99' 'was at 100' -- -m 300 -w "$writer" "$reader"
	aurora 100
	changed -w "$writer" "$reader"
	is 'old older'
	changed -w "$writer" "$writer"
	is 'old older'
	rows 'SET allow_system_table_mods = on; DROP FUNCTION aurora_db_instance_identifier()'
	follows
	refused 75 'has come to 5' -- -m 300 -w "$writer" "$reader"
	rows 'SET allow_system_table_mods = on; DROP FUNCTION aurora_replica_status()'
	follows
	refused 66 'does not tell how far' -- -w "$writer" "$reader"
	rows "GRANT EXECUTE ON FUNCTION pg_current_wal_insert_lsn(),
		pg_current_wal_flush_lsn(), pg_last_wal_replay_lsn() TO public"
}
