#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What may go wrong while rows come from PostgreSQL to servers: whoever reads
# there does not notice, and nothing half made stays.
#
# shellcheck disable=SC2034 # $server and others are of pgstands
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset
load ../postgres
load ../pgstands

setup_file() {
	begin_set_file
	postgres_start
	postgres_standby copy -c max_standby_streaming_delay=0
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=300000
	psql_run "CREATE TABLE few AS SELECT * FROM cards LIMIT 30"
	postgres_follows copy
}

teardown_file() {
	redis_stop main
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	begin_set
	stands_keyspec
	server_live rows.csv
}

teardown() {
	stands_teardown
	[[ -z ${proxy-} ]] || exec {proxy}>&-
}

# left_alone: readers get what they got, nothing of the build is there, and there
# is nothing to promote.
left_alone() {
	local server=main
	server_left_alone
	on swap -q
	assert_status 83
	bloomctl_run inspect -k c.keyspec -t "$target" --format json
	printf '%s\n' "$output" >inspected.json
	assert_json inspected.json ".generation == \"$live\""
}

# cut_off SERVER STATUS TEXT FUNCTION [ARGUMENT...]: a build from there, to whose
# session the function does that.
cut_off() {
	server=$1
	begins
	"${@:4}"
	ends "$2"
	assert_one_sentence build "table 'public.cards'" "$3"
	unblocks
	left_alone
}

# On the primary, which is followed.
changes() {
	server=main psql_run "$1"
}

@test "pglive: a session that is terminated, on the primary or the standby" {
	cut_off main 75 'terminating connection' those pg_terminate_backend
	cut_off copy 75 'terminating connection' those pg_terminate_backend
}

@test "pglive: rows that the standby needs no more, and a change of the table" {
	cut_off copy 75 'conflict with recovery' \
		changes 'UPDATE few SET status = 3; VACUUM few'
	cut_off copy 75 'conflict with recovery' \
		changes 'ALTER TABLE cards ADD COLUMN note text'
}

@test "pglive: a range that is cut off again and again" {
	server=copy
	cut_off_again
}

@test "pglive: a range that is read again costs no row and counts none twice" {
	server=copy
	begins -j 2
	wait_until one_waits
	those pg_terminate_backend
	unblocks
	ends 0
	assert_json r.json '.rows == 300000' '.sent >= 300000'
	bloomctl_ok swap -q --static -k c.keyspec -t "$target" --allow-shrink
	bloomctl_run verify -k c.keyspec -t "$target" --table cards \
		-s "$(postgres_word copy)"
	assert_status 0
	assert_has "$output" 'all 300,000 rows are found'
}

@test "pglive: a stop, while the database is waited for" {
	server=copy
	begins
	kill -TERM "$pid"
	ends 143
	unblocks
	left_alone
}

@test "pglive: an answer of the database that is cut" {
	local n runs=0
	echo pass >order
	exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" \
		.s.PGSQL.5432 "$(postgres_socket)/.s.PGSQL.5432" order 3>&-)
	wait_until test -S .s.PGSQL.5432
	for ((n = 1; ; n += 397)); do
		printf 'cut %d\n' "$n" >order.new
		mv order.new order
		bloomctl_run build -q -k c.keyspec -t "$target" --table few \
			-s "host=$PWD dbname=postgres user=postgres"
		[[ -e order.cut ]] || break
		rm order.cut
		((status == 75 || status == 69)) ||
			fail "cut at $n: it ended with $status"
		assert_one_sentence build
		left_alone
		((++runs))
	done
	assert_status 0
	((runs > 6)) || fail "only $runs runs"
}

# Last: it takes the server away.
@test "pglive: a database that is killed" {
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
