#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl sync from a pipe, on servers: what is told is in the filters that
# readers get, beside a build, a swap and a rollback, and after a kill.
#
# shellcheck disable=SC2154 # $target and $built are of serverset
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

# feeding OPTION...: a sync whose pipe is descriptor $pipe and whose lines come
# from $told; $pid is its process.
feeding() {
	rm -f pipe.in pipe.out
	mkfifo pipe.in pipe.out
	"$BLOOMCTL" sync -k cards.keyspec -t "$target" -s - \
		--columns id,scope "$@" <pipe.in >pipe.out 2>said.err 3>&- &
	pid=$!
	exec {pipe}>pipe.in {told}<pipe.out
	: >said.out
}

# sent ID: a row goes in, and the next line says so.
sent() {
	local line
	echo "$1,x" >&"$pipe"
	IFS= read -r -t 20 -u "$told" line || fail "$1 is not told" || return
	[[ $line == $'1\t'* ]] || fail "told: $line"
	server_has "$1" x || fail "$1 is told and not found"
}

@test "sync: each row is found when it is told" {
	local id
	server_live rows.csv
	feeding --receipt got.json
	for id in {9001..9050}; do
		sent "$id"
	done
	exec {pipe}>&-
	ends 0
	[[ -z $stderr ]]
	assert_json got.json '.rows == 50' '.acknowledged == 50'
	all_of rows.csv
}

@test "sync: beside a build, a swap and a rollback nothing told is lost" {
	local id
	server_live rows.csv
	feeding
	sent 9000
	server_build more.csv --capacity 2000
	sent 9001
	on swap -q -g "$built"
	assert_failure 83 swap 'it was fed by sync until'
	on_ok swap -q -g "$built" --static
	for id in {9100..9120}; do
		sent "$id"
	done
	on swap -q --rollback
	assert_failure 83 swap 'it was fed by sync until'
	on_ok swap -q --rollback --static
	for id in {9200..9220}; do
		sent "$id"
	done
	exec {pipe}>&-
	ends 0
	for id in {9200..9220}; do
		server_has "$id" x
	done
}

@test "sync: a feeder that begins again where a swap says loses nothing" {
	local id before
	server_live rows.csv
	before=$(date -u +%FT%TZ)
	feeding
	for id in {9000..9010}; do
		sent "$id"
	done
	exec {pipe}>&-
	ends 0
	server_build more.csv --capacity 2000
	on_ok swap -q -g "$built" --horizon "$before"
	# All of them again, as its log has them since then.
	feeding
	for id in {9000..9020}; do
		sent "$id"
	done
	exec {pipe}>&-
	ends 0
	all_of more.csv
	on swap -q --rollback
	assert_failure 83 swap
	on_ok swap -q --rollback --horizon "$before"
}

@test "sync: what was told before a swap of a generation under way stays" {
	local id
	many
	server_live rows.csv
	server_build more.csv --capacity 400
	next=$built
	feeding
	sent 9000
	on swap -q -g "$next" --static &
	swapping=$!
	for id in {9100..9180}; do
		sent "$id"
	done
	wait "$swapping"
	[[ $(moved "$next") == 64 ]]
	sent 9300
	exec {pipe}>&-
	ends 0
}

@test "sync: killed while rows flow it has what was told" {
	local line total=0
	server_live rows.csv --capacity 100000
	feeding
	awk 'BEGIN { for (i = 10000; i < 200000; i++) print i ",x" }' \
		>&"$pipe" 2>/dev/null 3>&- &
	IFS= read -r -t 20 -u "$told" line
	kill -KILL "$pid"
	wait "$pid" || :
	exec {pipe}>&-
	total=${line#*$'\t'}
	while IFS= read -r -t 5 -u "$told" line; do
		total=${line#*$'\t'}
	done
	((total > 0))
	awk -v n="$total" 'BEGIN { print "id,scope"
		for (i = 0; i < n; i++) print i + 10000 ",x" }' >told.csv
	all_of told.csv
}

@test "sync: a filter that is full is named, and its rows are not told" {
	server_live rows.csv --capacity 700
	feeding
	sent 9000
	awk 'BEGIN { for (i = 10000; i < 13000; i++) print i ",x" }' >&"$pipe"
	ends 80
	assert_has "$stderr" cards:
	if IFS= read -r -t 5 -u "$told" line; then
		fail "told: $line"
	fi
	exec {pipe}>&-
}

@test "sync: a filter that is gone ends it, and makes none" {
	server_live rows.csv
	redis_cli main DEL cards:1 >/dev/null
	printf 'id,scope\n' >gone.csv
	awk 'BEGIN { for (i = 9000; i < 9100; i++) print i ",x" }' >>gone.csv
	on sync -s - <gone.csv
	assert_status 74
	[[ -z $output ]]
	[[ $(redis_cli main EXISTS cards:1) == 0 ]]
}
