#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Exports of PostgreSQL: from a primary and a standby into files and pipes, and
# filters of these; what may go wrong in between.
# servers: none
# shellcheck disable=SC2034 # variables are for pgstands
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres
load ../pgstands

setup_file() {
	begin_file
	need gzip gzip
	need zstd zstd
	postgres_start
	postgres_standby copy -c max_standby_streaming_delay=0
	psql_run "$(<"$BATS_TEST_DIRNAME/odd.sql")"
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	postgres_follows copy
	keyspec
	bloomctl_ok build -q -k c.keyspec -t dir:want --capacity 80000 \
		-s "$(postgres_word main)" --table cards --where 'status = 1'
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

keyspec() {
	spec c 'card:{entity_id}:{scope}' </dev/null
}

setup() {
	begin
	keyspec
	server=main
}

teardown() { stands_teardown; }

# gives WORD OPTION...: filters of it are those of the table itself.
gives() {
	rm -rf t
	bloomctl_ok build -q -k c.keyspec -t dir:t --capacity 80000 -s "$@"
	assert_same_bits "$(echo "$BATS_FILE_TMPDIR"/want/*/2*)" "$(echo t/*/2*)"
}

# from SERVER OPTION...: an export of the table's active rows.
from() {
	bloomctl_run export -s "$(postgres_word "$1")" --table cards \
		--where 'status = 1' "${@:2}"
}

from_ok() {
	from "$@"
	assert_status 0
	assert_stderr_is ''
}

# --- what is exported -----------------------------------------------------

@test "pgexport: a table goes through files, by several sessions, and nothing is lost" {
	local options
	for server in main copy; do
		while read -r options; do
			rm -f x.*
			# shellcheck disable=SC2086 # words
			from_ok "$server" -q -t file:x $options
			gives file:x
			gives file:x -j 2
		done <<-'END'
			-j 1
			-j 4
			-j 4 --compress zstd --output-format text
			-j 2 --compress none -k c.keyspec
			-j 3 -k c.keyspec --canonical
		END
	done
	# By pages there are several parts.
	from_ok copy -q -t file:x -j 4 -k c.keyspec
	(($(json '.parts | length' x.export.json) > 2))
	[[ $(gzip -dc x.00002.csv.gz | head -n 1) == '"entity_id","scope"' ]]
	bloomctl_ok swap -q -k c.keyspec -t dir:t --static --allow-shrink
	bloomctl_ok verify -q -k c.keyspec -t dir:t --absent 0 -s file:x
	bloomctl_ok verify -q -k c.keyspec -t dir:t --absent 0 --table cards \
		--where 'status = 1' -s "$(postgres_word copy)" -j 2
}

@test "pgexport: a table goes through a pipe, as CSV and as COPY text" {
	# shellcheck disable=SC2016 # the inner shell expands it
	any_run bash -c 'set -o pipefail
		"$1" export -q -s "$2" --table cards --where "status = 1" -t - |
		"$1" build -q -k c.keyspec -t dir:t --capacity 80000 -s -' \
		sh "$BLOOMCTL" "$(postgres_word copy)"
	assert_status 0
	assert_same_bits "$(echo "$BATS_FILE_TMPDIR"/want/*/2*)" "$(echo t/*/2*)"
	"$BLOOMCTL" export -q -s "$(postgres_word copy)" --table cards \
		--where 'status = 1' -t - -k c.keyspec --output-format text \
		--compress zstd >x
	gives file:x --input-format text --columns entity_id,scope
	rm -rf t
	"$BLOOMCTL" export -q -s "$(postgres_word copy)" --table cards \
		--where 'status = 1' -t - -k c.keyspec --canonical >x
	gives - --input-format key <x
	tail -n 1 x | grep -q "^\\\\\\. rows=$(grep -c '^card:' x) bytes="
}

@test "pgexport: the list says from where, under which snapshot, and what was asked" {
	from_ok copy -q -t file:x -j 2 --receipt r.json
	assert_json x.export.json '.origin.standby' \
		'.origin.query == "table public.cards where status = 1"' \
		'.origin.software | startswith("PostgreSQL ")' \
		'.origin.lsn | test("^[0-9A-F]+/[0-9A-F]+$")' \
		'.origin.snapshot | test("^[0-9]+:[0-9]+$")' \
		'.origin.again == false' '.kind == "csv"' \
		'.horizon.relation > 0' '.horizon.since == null' '.horizon.lsn == .origin.lsn' \
		'.horizon.xid == (.origin.snapshot | split(":")[0])' \
		'.horizon.read_at == .origin.taken' \
		'.horizon.system == .origin.system' \
		'(.horizon.timeline | tostring) == .origin.timeline' \
		'.columns == ["entity_id", "scope", "status", "created_at", "updated_at", "expires_at"]' \
		'.rows == ([.parts[].rows] | add)' \
		".origin.system == \"$(psql_run 'SELECT system_identifier FROM pg_control_system()')\""
	[[ $(jq .source.origin r.json) == "$(jq .origin x.export.json)" ]]
	[[ $(json .rows x.export.json) == \
		$(psql_run 'SELECT count(*) FROM cards WHERE status = 1') ]]
	# It is that of the generation, too.
	gives file:x --receipt r.json
	[[ $(jq .source.origin r.json) == "$(jq .origin x.export.json)" ]]
	[[ $(json .source.names r.json) == file:x ]]
	[[ $(jq .horizon r.json) == "$(jq .horizon x.export.json)" ]]
	bloomctl_ok swap -q -k c.keyspec -t dir:t --static --allow-shrink
	bloomctl_ok inspect -k c.keyspec -t dir:t --format json
	[[ $(jq .horizon <<<"$output") == "$(jq .horizon r.json)" ]]
	bloomctl_ok inspect -k c.keyspec -t dir:t
	assert_has "$output" "horizon       $(json .horizon.read_at r.json), transaction $(json .horizon.xid r.json), WAL $(json .horizon.lsn r.json)"
	bloomctl_run build -k c.keyspec -t dir:t -s file:x --null NULL
	assert_failure 64 build "option --null: the rows of the export are a database's"
	# One in the environment is for other rows, and changes nothing here.
	BLOOMCTL_NULL=global gives file:x
	# Of a query and a view nobody can say which rows are new.
	bloomctl_ok build -q -k c.keyspec -t dir:t -s "$(postgres_word copy)" \
		--query 'SELECT * FROM public.cards' --receipt r.json
	assert_json r.json '.horizon == null' '.source.origin.standby'
}

@test "pgexport: odd values come through as the same keys, as CSV, text and keys" {
	local options
	spec odd '{id}:{a}' <<-'END'
		[field a]
		empty = allow
		null = empty
	END
	psql_run 'COPY (SELECT id, a FROM odd) TO STDOUT' >odd.rows
	bloomctl_ok build -q -k odd.keyspec -t dir:one --input-format text \
		--columns id,a -s file:odd.rows --capacity 9000
	while read -r options; do
		rm -rf two
		# shellcheck disable=SC2086 # words
		bloomctl_ok export -q -k odd.keyspec -s "$(postgres_word main)" \
			--table odd -t file:odd $options
		bloomctl_ok build -q -k odd.keyspec -t dir:two -s file:odd \
			--capacity 9000
		assert_same_bits "$(echo one/*/2*)" "$(echo two/*/2*)"
	done <<-'END'
		--output-format csv
		--output-format text
		--canonical
	END
	[[ $(json .rows odd.export.json) == $(wc -l <odd.rows) ]]
}

# --- what goes wrong ------------------------------------------------------

# kept: the earlier export is there as it was, and nothing else.
kept() {
	sha256sum --quiet -c was
	[[ $(echo x.*) == 'x.00001.csv.gz x.export.json' ]] ||
		fail "there is $(echo x.*)"
	gives file:x
}

# earlier: an export is there, which another is to replace.
earlier() {
	from_ok main -q -t file:x
	sha256sum x.* >was
	does=export target=file:x
}

@test "pgexport: one that is cut off leaves the earlier one as it was" {
	earlier
	begins
	those pg_terminate_backend
	ends 75
	assert_one_sentence export "table 'public.cards'" \
		'terminating connection due to administrator command'
	unblocks
	kept
	server=copy
	begins
	server=main psql_run "DELETE FROM cards WHERE entity_id = (
		SELECT max(entity_id) FROM cards WHERE status <> 1); VACUUM cards"
	ends 75
	assert_has "$stderr" 'conflict with recovery' hot_standby_feedback
	unblocks
	kept
	server=main
	begins -j 2
	kill -TERM "$pid"
	ends 143
	unblocks
	kept
}

@test "pgexport: a full disk is 73, and leaves the earlier one as it was" {
	local n
	need_fault
	earlier
	for n in 1 2 3; do
		fault_run "write:$n:ENOSPC" /x. export -q -k c.keyspec \
			-s "$(postgres_word main)" --table cards -t file:x -j 2
		assert_failure 73 export 'x.' 'No space left on device'
		kept
	done
}

@test "pgexport: a range that is cut off is written again, and so is what moved" {
	does=export target=file:x
	moved
	assert_json x.export.json .origin.again
	# The rows that moved are a part of their own, behind all others.
	gzip -dc "$(json '.parts[-1].name' x.export.json)" >moved.csv
	grep -q "$middle" moved.csv
	bloomctl_ok build -q -k c.keyspec -t dir:t -s file:x
	bloomctl_ok swap -q -k c.keyspec -t dir:t --static
	bloomctl_ok verify -q -k c.keyspec -t dir:t --absent 0 --table cards \
		-s "$(postgres_word main)"
	psql_run 'UPDATE cards SET status = 1 WHERE status = 5'
}
