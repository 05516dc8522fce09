#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What PostgreSQL's COPY writes is read as PostgreSQL has it.  One table of
# odd values is written in many formats, and each must give the keys that
# PostgreSQL itself puts together, row by row.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres

setup_file() {
	begin_file
	postgres_start
	psql_run "$(<"$BATS_TEST_DIRNAME/odd.sql")"
}

teardown_file() {
	postgres_stop
}

setup() {
	begin
	declare -gA format=() flags=()
}

# --- formats --------------------------------------------------------------

# offer NAME COPY-OPTIONS READ-OPTION...
offer() {
	format[$1]=$2
	flags[$1]=${*:3}
}

# offer_formats COLUMNS: all that COPY can write of these, and how it is read.
# Of text with another NULL see offer_nil().
offer_formats() {
	local csv='--input-format csv'
	offer text 'FORMAT text' --columns "$1"
	offer text-header 'FORMAT text, HEADER' --columns "$1" --header
	offer csv-header 'FORMAT csv, HEADER' "$csv"
	offer csv 'FORMAT csv' "$csv" --columns "$1"
	offer csv-skip 'FORMAT csv, HEADER' "$csv" --columns "$1" --header
	offer csv-quoted 'FORMAT csv, HEADER, FORCE_QUOTE *' "$csv"
	offer csv-null "FORMAT csv, NULL 'NULL'" "$csv" --columns "$1" \
		--null NULL
	offer csv-null-quoted "FORMAT csv, HEADER, NULL 'NULL', FORCE_QUOTE *" \
		"$csv" --null NULL
	offer csv-null-escape "FORMAT csv, HEADER, NULL '\\N'" \
		"$csv" --null '\N'
}

# offer_nil COLUMNS: with a NULL that COPY text does not tell from the value.
offer_nil() {
	offer nil "FORMAT text, NULL 'nil'" --columns "$1" --null nil
}

# copy_out QUERY [PSQL-OPTION...]: a file of the answer in each format.
copy_out() {
	local name script=
	for name in "${!format[@]}"; do
		script+="COPY ($1) TO STDOUT (${format[$name]}) \\g $name.rows"
		script+=$'\n'
	done
	psql_run "$script" "${@:2}"
}

# derive NAME KEYSPEC: NAME.answers is what the program makes of the file.
derive() {
	local -a options
	read -ra options <<<"${flags[$1]}"
	"$BLOOMCTL" key -k "$2" --stdin "${options[@]}" \
		<"$1.rows" >"$1.answers" || fail "$1: status $?"
	cut -f 1 "$1.answers" >"$1.keys"
}

# assert_expected KEYSPEC: in every format the program's keys are `expected`,
# and all that it answers is the same.
assert_expected() {
	local name first=
	[[ -s expected ]] || fail "nothing is expected"
	for name in "${!format[@]}"; do
		derive "$name" "$1"
		cmp expected "$name.keys" || {
			diff expected "$name.keys" | cut -c 1-200 | head -n 20
			fail "$name: not the keys that PostgreSQL makes"
		}
		: "${first:=$name.answers}"
		cmp "$first" "$name.answers" || fail "$first, $name: not equal"
	done
}

# --- keyspecs and what they make of a row, in SQL -------------------------

# key_of SQL: the hexadecimal digits of a key, or too-long.
key_of() {
	echo "CASE WHEN octet_length($1) > 65535 THEN '!too-long'
		ELSE encode(convert_to($1, 'UTF8'), 'hex') END"
}

# expect_open FROM: `k:{a}` where NULL is empty, and may be.
expect_open() {
	psql_run "SELECT CASE WHEN octet_length(a) > 65535 THEN '!too-long'
		ELSE $(key_of "'k:' || coalesce(a, '')") END
		FROM $1 ORDER BY id" >expected
}

open_keyspec() {
	spec open 'k:{a}' "$@" <<-'END'
		[field a]
		empty = allow
		null = empty
	END
}

# expect_null FROM: `{id}:{a}` where NULL has no key and the empty value has.
expect_null() {
	psql_run "SELECT CASE WHEN a IS NULL THEN '!null'
		WHEN octet_length(a) > 65535 THEN '!too-long'
		ELSE $(key_of "id::text || ':' || a") END
		FROM $1 ORDER BY id" >expected
}

null_keyspec() {
	spec null '{id}:{a}' "$@" <<-'END'
		[field a]
		empty = allow
	END
}

# expect_strict FROM: `{b}|{a}`, where nothing is allowed.
expect_strict() {
	psql_run "SELECT CASE WHEN b IS NULL THEN '!null'
		WHEN octet_length(b) > 65535 THEN '!too-long'
		WHEN b = '' THEN '!empty'
		WHEN b LIKE '%|%' THEN '!delimiter'
		WHEN a IS NULL THEN '!null'
		WHEN octet_length(a) > 65535 THEN '!too-long'
		WHEN a = '' THEN '!empty'
		ELSE $(key_of "b || '|' || a") END
		FROM $1 ORDER BY id" >expected
}

strict_keyspec() {
	spec strict '{b}|{a}' 'delimiter=|' "$@" </dev/null
}

# assert_table FROM ENCODING...: with every keyspec, in each of the encodings.
assert_table() {
	local kind encoding
	for kind in open null strict; do
		"expect_$kind" "$1"
		for encoding in "${@:2}"; do
			"${kind}_keyspec" "encoding=$encoding"
			assert_expected "$kind.keyspec"
		done
	done
}

# build_rows NAME KEYSPEC TARGET [OPTION...]: a generation of the file in a
# format, live; $built is its folder.
build_rows() {
	local -a options
	read -ra options <<<"${flags[$1]}"
	[[ $1 == csv* ]] || options+=(--input-format text)
	bloomctl_run build -q -k "$2" -t "dir:$3" -s "file:$1.rows" \
		"${options[@]}" "${@:4}" --receipt built.json
	((status == 0)) || return 0
	built=$(set_of "$3")/$(json .generation built.json)
	"$BLOOMCTL" swap -q -k "$2" -t "dir:$3" || fail "swap: status $?"
}

# --- tests ----------------------------------------------------------------

@test "postgres: every format of odd values gives PostgreSQL's own keys" {
	offer_formats id,a,b
	copy_out 'SELECT * FROM odd ORDER BY id'
	assert_table odd utf-8 bytes
	(($(wc -l <expected) > 7000)) || fail "rows are missing"
	# The server's own file is the same.
	psql_run "COPY (SELECT * FROM odd ORDER BY id)
		TO '$(postgres_socket)/odd.rows'"
	cmp text.rows "$(postgres_socket)/odd.rows"
}

@test "postgres: values of 60 kB and at the limit of a key get equal keys" {
	offer_formats id,a,b
	offer_nil id,a,b
	copy_out 'SELECT * FROM big ORDER BY id'
	assert_table big utf-8
	grep -q '^!too-long$' expected || fail "nothing is too long"
}

@test "postgres: text with a NULL of its own is read as COPY FROM reads it" {
	offer_nil id,a,b
	copy_out 'SELECT * FROM odd ORDER BY id'
	psql_run "CREATE TABLE nil (LIKE odd);
		\\copy nil FROM nil.rows (NULL 'nil')"
	assert_table nil utf-8
	[[ $(psql_run "SELECT count(*) FROM odd
		JOIN nil USING (id) WHERE odd.a = 'nil' AND nil.a IS NULL") \
		-gt 0 ]] || fail "no value is the text of NULL"
}

@test "postgres: a table of one column, where NULL is an empty line" {
	offer_formats a
	copy_out 'SELECT a FROM odd ORDER BY id'
	grep -q '^$' csv.rows || fail "there is no empty line"
	grep -q '^"\\\."$' csv.rows || fail "there is no end mark in quotes"
	expect_open odd
	open_keyspec encoding=utf-8
	assert_expected open.keyspec
	# The same without NULL taken for the empty value.
	psql_run "SELECT CASE WHEN a IS NULL THEN '!null'
		WHEN a = '' THEN '!empty'
		ELSE $(key_of "'k:' || a") END FROM odd ORDER BY id" >expected
	spec one 'k:{a}' </dev/null
	assert_expected one.keyspec
}

@test "postgres: a single row of one column, whatever its value" {
	local id
	offer_formats a
	spec one 'k:{a}' <<-'END'
		[field a]
		empty = allow
	END
	# U+FEFF at the start is another test's.
	for id in $(psql_run "SELECT min(id) FROM odd WHERE b = 'b' AND
		(a IS NULL OR a IN ('', '\\.', '\\N', 'NULL', '\"', ' ',
		E'\\n', E'\\r', E'\\r\\n')) GROUP BY a"); do
		copy_out "SELECT a FROM odd WHERE id = $id"
		psql_run "SELECT coalesce($(key_of "'k:' || a"), '!null')
			FROM odd WHERE id = $id" >expected
		assert_expected one.keyspec
	done
}

@test "postgres: a first value that begins with U+FEFF keeps it, or is refused" {
	local name
	offer_formats a,b
	spec one 'k:{a}' </dev/null
	copy_out "SELECT a, b FROM (VALUES (E'\\uFEFFa', 'b'),
		(E'\\uFEFF\\uFEFF', 'b'), (E'\\uFEFF\"', 'b'), ('a', 'b')) AS v (a, b)"
	printf '%s\n' 6b3aefbbbf61 6b3aefbbbfefbbbf 6b3aefbbbf22 6b3a61 >expected
	assert_expected one.keyspec
	for name in text csv csv-null; do
		[[ $(head -c 3 "$name.rows") == $'\xef\xbb\xbf' ]] ||
			fail "$name: does not begin with U+FEFF"
		build_rows "$name" one.keyspec one
		assert_failure 66 build 'byte order mark'
	done
	for name in text-header csv-header csv-skip csv-quoted; do
		build_rows "$name" one.keyspec "$name"
		assert_status 0
		bloomctl_ok lookup -q -k one.keyspec -t "dir:$name" $'\xef\xbb\xbfa'
	done
}

# What is too long for a key is left out.
@test "postgres: CSV and COPY text build the same bits and verify each other" {
	local all one name rows
	offer_formats id,a,b
	open_keyspec encoding=utf-8
	all='SELECT * FROM odd UNION ALL
		SELECT * FROM big WHERE octet_length(a) <= 65533'
	copy_out "$all"
	rows=$(psql_run "SELECT to_char(count(*), 'FM99,999')
		FROM ($all) AS t")
	build_rows csv-header open.keyspec csv-header
	one=$built
	for name in text text-header csv csv-quoted csv-null; do
		build_rows "$name" open.keyspec "$name" -j 4
		assert_same_bits "$one" "$built"
	done
	bloomctl_ok verify -k open.keyspec -t dir:text --absent 0 \
		-s file:csv-header.rows
	assert_has "$output" "all $rows rows"
	bloomctl_ok verify -k open.keyspec -t dir:csv-header --absent 0 \
		-s file:text.rows --input-format text --columns id,a,b
	assert_has "$output" "all $rows rows"
}

# --- other encodings ------------------------------------------------------

# assert_encoding NAME: what is no UTF-8 of a database of that encoding, as it
# comes without asking for another, has a key with `encoding = bytes` alone.
assert_encoding() {
	local key="'k:'::bytea || convert_to(a, '$1')"
	psql_run "CREATE DATABASE $1 TEMPLATE template0 ENCODING '$1'"
	psql_run "$(<"$BATS_TEST_DIRNAME/bytes.sql")" -d "$1"
	offer_formats id,a
	copy_out 'SELECT * FROM raw ORDER BY id' -d "$1"

	psql_run "SELECT encode($key, 'hex') FROM raw ORDER BY id" \
		-d "$1" >expected
	open_keyspec encoding=bytes
	assert_expected open.keyspec

	psql_run "SELECT CASE WHEN is_utf8(convert_to(a, '$1'))
		THEN encode($key, 'hex') ELSE '!encoding' END
		FROM raw ORDER BY id" -d "$1" >expected
	open_keyspec encoding=utf-8
	assert_expected open.keyspec
	(($(grep -c '^!encoding$' expected) > 1000)) || fail "all is UTF-8"
	(($(grep -c '^6b3a.*[89a-f]' expected) > 100)) || fail "all is ASCII"
}

@test "postgres: of a LATIN1 database what is no UTF-8 is rejected" {
	assert_encoding latin1
}

@test "postgres: of a SQL_ASCII database what is no UTF-8 is rejected" {
	assert_encoding sql_ascii
}
