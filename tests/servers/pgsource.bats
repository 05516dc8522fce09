#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# PostgreSQL as the source: what is read of it, by whom and how often, on a
# primary and on its standby.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres

setup_file() {
	begin_file
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/odd.sql")"
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	psql_run "
		CREATE VIEW active AS SELECT * FROM cards WHERE status = 1;
		CREATE MATERIALIZED VIEW kept AS SELECT * FROM active;
		CREATE TABLE parted (LIKE cards) PARTITION BY RANGE (entity_id);
		CREATE TABLE parted_a PARTITION OF parted
			FOR VALUES FROM (MINVALUE) TO ('c0000100000');
		CREATE TABLE parted_b PARTITION OF parted
			FOR VALUES FROM ('c0000100000') TO ('c0000290000')
			PARTITION BY RANGE (entity_id);
		CREATE TABLE parted_b1 PARTITION OF parted_b DEFAULT;
		CREATE TABLE parted_c PARTITION OF parted DEFAULT;
		INSERT INTO parted SELECT * FROM cards;
		CREATE TABLE parent (LIKE cards);
		CREATE TABLE child () INHERITS (parent);
		INSERT INTO parent SELECT * FROM cards WHERE status = 0;
		INSERT INTO child SELECT * FROM cards WHERE status = 1;
		CREATE TABLE \"Odd \"\"name\" (\"Entity Id\" text, \"sc\"\"ope\" text);
		INSERT INTO \"Odd \"\"name\" SELECT entity_id, scope FROM cards;
		CREATE TABLE made (n int, entity_id text GENERATED ALWAYS AS
			('c' || lpad(n::text, 10, '0')) STORED, scope char(20));
		INSERT INTO made (n, scope) SELECT substr(entity_id, 2)::int, scope FROM cards;
		CREATE SCHEMA elsewhere;
		CREATE TABLE elsewhere.cards AS SELECT * FROM cards LIMIT 7;
		CREATE SEQUENCE counter;
	"
	postgres_follows copy
	psql_run "COPY (SELECT entity_id, scope FROM cards WHERE status = 1)
		TO STDOUT (FORMAT csv, HEADER)" >active.csv
	psql_run 'COPY (SELECT entity_id, scope FROM cards)
		TO STDOUT (FORMAT csv, HEADER)' >all.csv
	cards_keyspec
	"$BLOOMCTL" build -q -k c.keyspec -t dir:active -s file:active.csv
	"$BLOOMCTL" build -q -k c.keyspec -t dir:all -s file:all.csv
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	cards_keyspec
}

# cards_keyspec [LINE...]: of 20 buckets, with fields as LINEs say.
cards_keyspec() {
	cat >c.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{entity_id}:{scope}
		buckets = 20
		filter = {name}:{bucket}
	END
	printf '%s\n' "$@" >>c.keyspec
}

# from SERVER COMMAND OPTION...: bloomctl COMMAND on dir:t, rows from there.
from() {
	bloomctl_run "$2" -k c.keyspec -t dir:t \
		-s "$(postgres_word "$1")" "${@:3}"
}

# from_ok SERVER COMMAND OPTION...
from_ok() {
	from "$@"
	assert_status 0
	assert_stderr_is ''
}

# built: the folder of the one generation in dir:t.
built() {
	echo t/*/2*
}

# gives active|all SERVER OPTION...: a build has the bits of the file's rows.
gives() {
	rm -rf t
	from_ok "$2" build -q "${@:3}"
	# shellcheck disable=SC2046 # one word each
	assert_same_bits $(echo "$BATS_FILE_TMPDIR/$1"/*/2*) $(built)
}

# --- what is read ---------------------------------------------------------

@test "pgsource: a table, rows of it, a query and views give their rows" {
	for server in main copy; do
		gives all "$server" --table cards
		gives all "$server" --table public.cards
		gives active "$server" --table cards --where 'status = 1'
		gives active "$server" --table cards --where 'cards.status = 1 -- x'
		gives active "$server" --table active
		gives active "$server" --table kept
		gives active "$server" --query \
			'SELECT * FROM public.cards WHERE status = 1 -- x'
		gives all "$server" --table parted
		gives all "$server" --table parent
	done
}

@test "pgsource: several jobs give the same rows, leaf by leaf" {
	for server in main copy; do
		gives all "$server" -j 4 --table cards
		gives active "$server" -j 3 --table cards --where 'status = 1'
		gives all "$server" -j 4 --table parted
		gives all "$server" -j 4 --table parent
		gives active "$server" -j 4 --table kept
		gives active "$server" -j 4 --table active
	done
}

@test "pgsource: with several jobs pages are read once, by several sessions" {
	psql_run "ALTER SYSTEM SET log_statement = 'all'; SELECT pg_reload_conf()"
	gives all main -j 2 --table cards
	psql_run "ALTER SYSTEM RESET log_statement; SELECT pg_reload_conf()"
	log=$BATS_FILE_TMPDIR/postgres.main.log
	(($(grep -c "SET TRANSACTION SNAPSHOT" "$log") == 1))
	# Counted first, then built, in the same transactions.
	(($(grep -c "COPY (SELECT .*ctid >= " "$log") >= 2))
	# The last range alone is open.
	(($(grep "COPY (SELECT .*ctid >= " "$log" | grep -vc "ctid < ") == 2))
}

@test "pgsource: names are those of SQL" {
	cards_keyspec '[field entity_id]' 'column = Entity Id' \
		'[field scope]' 'column = "sc\"ope"'
	gives all main --table '"Odd ""name"'
	gives all main -j 2 --table 'public."Odd ""name"'
	cards_keyspec
	gives all main --table CARDS
	gives all main --table Public.Cards
	from main build --table '"Cards"'
	assert_failure 66 build "table '\"Cards\"'" "database 'postgres'"
	from main build --table 'cards cards'
	assert_failure 64 build --table 'no name of a table'
	from main build --table counter
	assert_failure 66 build 'it is a sequence'
	from main build --table cards_pkey
	assert_failure 66 build 'it is an index'
}

@test "pgsource: the login's search_path finds a table, and nothing else" {
	export PGOPTIONS='-c search_path=elsewhere,public'
	from_ok main build --table cards
	assert_has "$output" ': 7 rows'
	from main build --query 'SELECT * FROM cards'
	assert_failure 66 build 'relation "cards" does not exist'
	assert_has "$stderr" 'hint: names without a schema' schema.name
}

@test "pgsource: verify finds every row, and counts those that are missing" {
	for server in main copy; do
		rm -rf t
		from_ok "$server" build -q --table cards --where 'status = 1'
		bloomctl_ok swap -q --static -k c.keyspec -t dir:t
		from_ok "$server" verify --table cards --where 'status = 1'
		assert_has "$output" 'all 270,000 rows are found'
		from "$server" verify -j 2 --table cards --absent 0 --grace 0s
		assert_status 81
		assert_has "$stderr" 'of 300000 rows are missing'
	done
}

@test "pgsource: swap --adopt, size and --dry-run read it, too" {
	bloomctl_ok size -k c.keyspec -s "$(postgres_word copy)" --table cards
	assert_has "$output" '300,000'
	from_ok copy build -n --table cards
	assert_has "$output" 'nothing was written'
	[[ ! -e t ]]
}

# --- values ---------------------------------------------------------------

@test "pgsource: odd values have the keys that files of them have" {
	spec odd '{id}:{a}' <<-'END'
		[field a]
		empty = allow
		null = empty
	END
	psql_run 'COPY (SELECT id, a FROM odd) TO STDOUT' >odd.rows
	"$BLOOMCTL" build -q -k odd.keyspec -t dir:file --input-format text \
		--columns id,a -s file:odd.rows
	for server in main copy; do
		rm -rf t
		bloomctl_ok build -q -k odd.keyspec -t dir:t --table odd \
			-s "$(postgres_word "$server")"
		assert_same_bits file/*/2* t/*/2*
		bloomctl_ok build -q -k odd.keyspec -t dir:t --table odd \
			-s "$(postgres_word "$server")" -j 3
	done
}

@test "pgsource: char(n) is padded as it is stored, and rtrim takes that away" {
	from_ok main build -q --table made
	bloomctl_ok swap -q --static -k c.keyspec -t dir:t
	bloomctl_ok lookup -q -k c.keyspec -t dir:t c0000000001 \
		"$(printf '%-20s' global)"
	cards_keyspec '[field scope]' 'transform = rtrim'
	rm -rf t
	from_ok main build -q --table made
	bloomctl_ok swap -q --static -k c.keyspec -t dir:t
	bloomctl_ok lookup -q -k c.keyspec -t dir:t c0000000001 global
}

# as_text VALUE [NAME=VALUE...]: the key of SELECT VALUE, whatever the settings.
as_text() {
	spec one 'k:{v}' </dev/null
	rm -rf one
	bloomctl_ok build -q -k one.keyspec -t dir:one --query "SELECT $1 AS v" \
		-s "$(postgres_word main)"
	bloomctl_ok swap -q --static -k one.keyspec -t dir:one
	bloomctl_ok lookup -q -k one.keyspec -t dir:one "$2"
}

@test "pgsource: no setting of the login changes a value's text" {
	export PGTZ=Asia/Kolkata PGDATESTYLE=SQL,DMY PGCLIENTENCODING=LATIN1
	export PGOPTIONS='-c extra_float_digits=0 -c bytea_output=escape
		-c IntervalStyle=iso_8601 -c statement_timeout=5min'
	PGOPTIONS=${PGOPTIONS//$'\n'/ }
	as_text "'2026-01-02 03:04:05.6+00'::timestamptz" '2026-01-02 03:04:05.6+00'
	as_text "'2026-01-02'::date" 2026-01-02
	as_text "0.1::float8 + 0.2" 0.30000000000000004
	as_text "'\\xdead'::bytea" '\xdead'
	as_text "interval '1 day 02:03:04'" '1 day 02:03:04'
	as_text "U&'\\00e9'" $'\xc3\xa9'
}

@test "pgsource: LATIN1 comes as UTF-8; of SQL_ASCII bytes come as they are" {
	psql_run 'CREATE DATABASE latin TEMPLATE template0 ENCODING latin1'
	psql_run 'CREATE DATABASE bytes TEMPLATE template0 ENCODING sql_ascii'
	psql_run "CREATE TABLE v AS SELECT chr(233) AS v" -d latin
	psql_run "CREATE TABLE v AS SELECT convert_from('\\xe9', 'sql_ascii') AS v" \
		-d bytes
	spec one 'k:{v}' </dev/null
	bloomctl_ok build -q -k one.keyspec -t dir:one --table v \
		-s "$(postgres_word main dbname=latin)"
	bloomctl_ok swap -q --static -k one.keyspec -t dir:one
	bloomctl_ok lookup -q -k one.keyspec -t dir:one $'\xc3\xa9'
	bloomctl_run build -q -k one.keyspec -t dir:one --table v \
		-s "$(postgres_word main dbname=bytes)"
	assert_failure 65 build "table 'public.v'" "field 'v'" 'no key: encoding'
	spec raw 'k:{v}' encoding=bytes </dev/null
	bloomctl_ok build -q -k raw.keyspec -t dir:raw --table v \
		-s "$(postgres_word main dbname=bytes)"
	bloomctl_ok swap -q --static -k raw.keyspec -t dir:raw
	bloomctl_ok lookup -q -k raw.keyspec -t dir:raw $'\xe9'
}

@test "pgsource: rows without a key are told by number, never by value" {
	psql_run "CREATE TABLE holes AS SELECT * FROM (VALUES ('a', 'global'),
		('secret', NULL), ('', 'global')) AS v (entity_id, scope)"
	from main build -q --table holes
	assert_failure 65 build "table 'public.holes'" 'row 2' "field 'scope'"
	assert_lacks "$stderr" secret
	from main build --table holes --max-rejects 2 --rejects list
	assert_status 0
	assert_has "$stderr" '2 rows have no key'
	[[ $(sed -n '2p' list) == "table 'public.holes'"$'\t2\tscope\tnull' ]]
}

# --- records --------------------------------------------------------------

@test "pgsource: the records say what was read, where and under which snapshot" {
	for server in main copy; do
		rm -rf t
		from_ok "$server" build -q --table cards --where 'status = 1' \
			--receipt r.json
		bloomctl_ok swap -q --static -k c.keyspec -t dir:t
		from_ok "$server" build -q --query 'SELECT * FROM public.active'
		bloomctl_ok inspect -k c.keyspec -t dir:t --format json
		printf '%s\n' "$output" | jq .origin >live.json
		jq .source.origin r.json | cmp - live.json
		[[ $(jq -r .query live.json) == \
			'table public.cards where status = 1' ]]
		[[ $(jq -r .software live.json) == PostgreSQL\ 1* ]]
		[[ $(jq -r .database live.json) == postgres ]]
		[[ $(jq -r .encoding live.json) == UTF8 ]]
		[[ $(jq -r .place live.json) == \
			"$(postgres_socket "$server")/.s.PGSQL.5432" ]]
		[[ $(jq -r .system live.json) == \
			"$(psql_run 'SELECT system_identifier
				FROM pg_control_system()')" ]]
		[[ $(jq -r .timeline live.json) == 1 ]]
		[[ $(jq -r .snapshot live.json) =~ ^[0-9]+:[0-9]+$ ]]
		[[ $(jq -r .lsn live.json) =~ ^[0-9A-F]+/[0-9A-F]+$ ]]
		if [[ $server == copy ]]; then
			[[ $(jq -r .standby live.json) == true ]]
			(($(jq -r .lag_ms live.json) >= 0))
		else
			[[ $(jq -r .standby live.json) == false ]]
			[[ $(jq -r .lag_ms live.json) == null ]]
		fi
	done
}

@test "pgsource: no password is kept or told" {
	word=$(postgres_word main password=hushhush)
	BLOOMCTL_SOURCE=$word bloomctl_ok build -k c.keyspec -t dir:t \
		--table cards --receipt r.json
	BLOOMCTL_SOURCE=$word bloomctl_run build -k c.keyspec -t dir:t \
		--table none -vv
	assert_status 66
	assert_lacks "$output$stderr" hushhush
	! grep -r hushhush t r.json || fail "it is in a file"
	BLOOMCTL_SOURCE="$word pass word" bloomctl_run build -k c.keyspec -t dir:t \
		--table none
	assert_failure 64 build 'libpq cannot read it'
	assert_lacks "$stderr" hushhush
}
