#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Passes into filters that are whole, on a server: what they add is found, and a
# horizon moves only where the filter is what it was when the pass began.  What
# begins and ends them is tests/pass/.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 500
	write_keyspec cards.keyspec
	write_csv others.rows 100001 100900
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		<others.rows | cut -f 3 >buckets
	tail -n +2 others.rows | tr , ' ' | paste buckets - >others
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
	passes=()
	cp "$BATS_FILE_TMPDIR/others" .
}

teardown() {
	local pid
	for pid in "${passes[@]}"; do
		kill -CONT "$pid" && kill -KILL "$pid"
		wait "$pid"
	done 2>/dev/null || :
}

h1='1000 0 100 0/0 0 0 0'
h2='2000 0 200 0/0 0 0 0'
h3='3000 0 300 0/0 0 0 0'

# open_pass [NAME]: a program that does what say() tells it.
open_pass() {
	local name=${1:-one}
	mkfifo "$name.in"
	: >"$name.out"
	"$BUILD/pass" cards.keyspec "$target" <"$name.in" >"$name.out" \
		2>"$name.err" 3>&- &
	passes+=($!)
	eval "exec {to_$name}>$name.in"
	eval "pid_$name=$!"
}

# lines FILE NUMBER: it has so many.
lines() {
	[[ $(wc -l <"$1") -ge $2 ]]
}

# tell NAME LINE
tell() {
	local fd=to_$1
	echo "$2" >&"${!fd}"
}

# say NAME LINE: $answer is what it answers.
say() {
	local before
	before=$(wc -l <"$1.out")
	tell "$1" "$2"
	wait_until lines "$1.out" $((before + 1))
	answer=$(tail -n 1 "$1.out")
}

# said PATTERN: so it answered.
said() {
	# shellcheck disable=SC2053 # a pattern
	[[ $answer == $1 ]] || fail "it said: $answer"
}

# ok NAME LINE [PATTERN]: it does that.
ok() {
	say "$1" "$2"
	said 'ok *'
	said "${3:-*}"
}

# horizons: of the live filters, one a line.
horizons() {
	local b
	for b in 0 1 2 3; do
		state_of "$b" horizon
	done
}

# all_have TEXT: all live filters have this horizon.
all_have() {
	local b
	for b in 0 1 2 3; do
		[[ $(state_of "$b" horizon) == "$1" ]] ||
			fail "bucket $b: $(horizons)" || return
	done
}

# at BUCKET [NUMBER]: fields of a row of that bucket that no file has.
at() {
	awk -F '\t' -v b="$1" -v n="${2:-1}" \
		'$1 == b && ++i == n { print $2; exit }' others
}

# rows_of BUCKET: of the live filter's state.
rows_of() {
	state_of "$1" rows
}

@test "passes: what is added is found, and the horizons of all filters move" {
	server_live rows.csv
	rows=$(rows_of 1)
	added=$(state_of 1 added)
	open_pass
	ok one begin 'ok '
	ok one "add $(at 1)"
	ok one "add $(at 2)"
	ok one "end $h1" '*acknowledged=2 *moved=4 changed=0 failed=0 *why=0 '
	all_have "$h1"
	for b in 1 2; do
		# shellcheck disable=SC2046 # words
		server_has $(at "$b")
	done
	[[ $(rows_of 1) == $((rows + 1)) ]]
	[[ $(state_of 1 added) -le $((added + 1)) ]]
	[[ $(state_of 1 items) == "$(redis_cli main BF.CARD cards:1)" ]]
	ok one begin "ok $h1"
	ok one "end $h2" '*moved=4*'
	all_have "$h2"
	# A stamp does not move what is known of transactions.
	ok one begin
	ok one 'end 5000 5000 0 0/0 0 0 0' '*moved=4*'
	[[ $(state_of 3 horizon) == '5000 5000 200 '* ]]
	on_ok verify -q -s file:rows.csv
}

@test "passes: a filter whose horizon changed meanwhile keeps it, the others move" {
	server_live rows.csv
	open_pass
	ok one begin
	redis_cli main HSET '{cards:1}:bloomctl' horizon "$h3" >/dev/null
	ok one "add $(at 1)"
	ok one "end $h2" '*moved=3 changed=1 failed=0 *'
	[[ $(horizons) == "$h2"$'\n'"$h3"$'\n'"$h2"$'\n'"$h2" ]]
	ok one begin "ok $h2"
}

@test "passes: of two at once the first moves the horizons, the second is told" {
	server_live rows.csv
	open_pass one
	open_pass two
	ok one begin
	ok two begin
	ok one "add $(at 0)"
	ok two "add $(at 3)"
	ok two "end $h1" '*moved=4 changed=0*'
	ok one "end $h2" '*moved=0 changed=4*'
	all_have "$h1"
	ok one begin "ok $h1"
	ok one "add $(at 0)"
	ok one "end $h2" '*moved=4 changed=0*'
	all_have "$h2"
}

@test "passes: a swap meanwhile leaves the horizons of both generations" {
	server_live rows.csv
	before=$live
	open_pass
	ok one begin
	ok one "add $(at 0)"
	ok one flush
	server_live more.csv
	ok one "add $(at 1)"
	ok one "end $h1" '*moved=0 changed=4 failed=0*'
	all_have ''
	[[ -z $(redis_cli main HGET "{cards:0}:bloomctl:$before:state" \
		horizon) ]]
	ok one begin
	ok one "add $(at 0)"
	ok one "end $h1" '*moved=4 changed=0*'
	# shellcheck disable=SC2046 # words
	server_has $(at 0)
}

@test "passes: one that slept through a swap and a rollback moves nothing" {
	server_live rows.csv
	before=$live
	open_pass
	ok one begin
	ok one "add $(at 0)"
	ok one flush
	# shellcheck disable=SC2154 # open_pass() sets it
	kill -STOP "$pid_one"
	wait_until stopped "$pid_one"
	server_live more.csv
	on_ok swap -q --rollback --allow-shrink
	[[ $(state_of 0 generation) == "$before" ]]
	kill -CONT "$pid_one"
	ok one "end $h1" '*moved=0 changed=4 failed=0*'
	all_have ''
}

@test "passes: with no horizon to move, a swap meanwhile is told all the same" {
	server_live rows.csv
	rows=$(rows_of 0)
	open_pass
	ok one begin
	ok one "add $(at 0)"
	ok one end '*acknowledged=1 *moved=0 changed=0 failed=0*'
	all_have ''
	[[ $(rows_of 0) == $((rows + 1)) ]]
	# Somebody else's horizon is none of its business.
	ok one begin
	redis_cli main HSET '{cards:0}:bloomctl' horizon "$h1" >/dev/null
	ok one "add $(at 0)"
	ok one end '*moved=0 changed=0*'
	[[ $(state_of 0 horizon) == "$h1" ]]
	ok one begin
	ok one "add $(at 0)"
	ok one flush
	server_live more.csv
	ok one end '*moved=0 changed=1*'
}

@test "passes: a full filter keeps its horizon, and is told once" {
	local i
	server_live rows.csv --capacity 200
	open_pass
	ok one begin
	for i in {1..90}; do
		ok one "add $(at 0 "$i")"
	done
	ok one "add $(at 1)"
	ok one flush
	ok one "add $(at 0 91)"
	ok one "end $h1" '*moved=3 changed=0 failed=1 *why=80 *'
	said "*filter 'cards:0': it is full: bucket 0 with a capacity of 200 *"
	said '*fill=1.000 fullest=0 *'
	[[ $(horizons) == $'\n'"$h1"$'\n'"$h1"$'\n'"$h1" ]]
	# shellcheck disable=SC2046 # words
	server_has $(at 1)
}

@test "passes: a filter that is gone is told, and is not made anew" {
	server_live rows.csv
	redis_cli main DEL cards:2 >/dev/null
	open_pass
	ok one begin
	ok one "add $(at 2)"
	ok one "add $(at 3)"
	redis_cli main DEL cards:1 >/dev/null
	ok one "add $(at 1)"
	ok one "end $h1" "*acknowledged=1 *moved=2 *failed=2 *why=74 filter 'cards:2': it is missing"
	[[ $(redis_cli main EXISTS cards:2) == 0 ]]
	[[ $(redis_cli main EXISTS cards:1) == 0 ]]
	[[ -z $(state_of 1 horizon)$(state_of 2 horizon) ]]
}

@test "passes: a time to live, another filter or none of ours moves nothing" {
	server_live rows.csv
	open_pass
	ok one begin
	redis_cli main EXPIRE cards:0 1000 >/dev/null
	ok one "end $h1" "*moved=3 *failed=1 *why=74 filter 'cards:0': somebody gave it a time to live*"
	redis_cli main PERSIST cards:0 >/dev/null
	ok one begin
	redis_cli main DEL cards:1 >/dev/null
	redis_cli main BF.RESERVE cards:1 0.01 1000 >/dev/null
	ok one "end $h2" "*moved=3 *failed=1 *why=81 filter 'cards:1': it holds 0 items, fewer than*"
	[[ $(state_of 1 horizon) == "$h1" ]]
	redis_cli main HSET '{cards:2}:bloomctl' fingerprint 0123 >/dev/null
	redis_cli main DEL '{cards:3}:bloomctl' >/dev/null
	# What gets nothing is no reason to begin further back.
	ok one begin "ok $h1"
	ok one "add $(at 2)"
	ok one "add $(at 3)"
	ok one "end $h3" "*acknowledged=0 *moved=1 *failed=3 *why=74 filter 'cards:[23]': it*"
	[[ $(redis_cli main EXISTS '{cards:3}:bloomctl') == 0 ]]
}

@test "passes: a server that is back with what it had saved moves nothing" {
	is_cluster main && skip "lost.bats and the next test have clusters"
	server_live rows.csv
	open_pass
	ok one begin
	ok one "end $h1"
	redis_cli main SAVE
	ok one begin "ok $h1"
	ok one "add $(at 0)"
	ok one flush
	redis_kill main
	redis_restart main
	# shellcheck disable=SC2046 # words
	[[ -n ${engine:-} ]] || ! server_has $(at 0)
	ok one "end $h2" '*moved=0 changed=4*'
	all_have "$h1"
	# In the middle of adds: it is told as soon as it is met.
	ok one begin "ok $h1"
	ok one "add $(at 0)"
	ok one flush
	redis_kill main
	redis_restart main
	ok one "add $(at 1)"
	say one flush
	said '75 *replaced*'
	ok one close
	ok one drop
	all_have "$h1"
	ok one begin "ok $h1"
	ok one "add $(at 0)"
	ok one "end $h2" '*moved=4 changed=0*'
}

@test "passes: a generation is promoted with the horizons that this run gave it" {
	server_live rows.csv
	server_build more.csv
	next=$built
	open_pass
	say one "begin $next"
	said '70 *without its lock'
	ok one lock
	ok one "begin $next" 'ok '
	ok one "add $(at 1)"
	ok one "end $h2" '*moved=4 changed=0*'
	all_have ''
	redis_cli main HSET "{cards:3}:bloomctl:$next:state" horizon "$h1" \
		>/dev/null
	say one "promote $next"
	said "83 filter '{cards:3}:bloomctl:$next': its horizon is not the one that this run gave it*"
	[[ $(state_of 0 generation) == "$live" ]]
	ok one "begin $next" "ok $h1"
	ok one "end $h2" '*moved=4*'
	ok one "promote $next"
	ok one unlock
	all_have "$h2"
	# shellcheck disable=SC2046 # words
	server_has $(at 1)
	live=$next
	server_answers
}

@test "passes: a shadow whose horizon no pass of this run gave is promoted as ever" {
	server_live rows.csv
	server_build more.csv
	redis_cli main HSET "{cards:3}:bloomctl:$built:state" horizon "$h1" \
		>/dev/null
	open_pass
	ok one lock
	ok one "promote $built"
	[[ $(state_of 3 horizon) == "$h1" ]]
}

@test "passes: one run keeps a set up to date, beside one that builds" {
	server_live rows.csv
	open_pass one
	open_pass two
	ok one sync-lock
	say two sync-lock
	said "82 set '$set': kept up to date by pass, pid $pid_one on *"
	ok two lock
	ok one begin
	ok one "end $h1" '*moved=4*'
	redis_cli main DEL "bloomctl:{$set}:sync-lock" \
		"bloomctl:{$set}:sync-fence" >/dev/null
	ok two sync-lock
	ok one begin
	taken_over() {
		say one flush
		say one "end $h2"
		[[ $answer == 82* ]] || ! ok one begin
	}
	wait_until taken_over
	said "82 set '$set': the lock was taken over by pass*"
	ok two sync-unlock
	ok two unlock
	lock_gone
	[[ $(redis_cli main EXISTS "bloomctl:{$set}:sync-lock") == 0 ]]
}

@test "passes: the mark of a set that was fed only grows" {
	server_live rows.csv
	open_pass
	ok one fed 'ok 0'
	ok one 'set-fed 1700000000000'
	ok one 'set-fed 1600000000000'
	ok one fed 'ok 1700000000000'
	ok one 'set-fed 1700000000001'
	[[ $(redis_cli main GET "bloomctl:{$set}:fed") == 1700000000001 ]]
	redis_cli main SET "bloomctl:{$set}:fed" yesterday >/dev/null
	say one fed
	said "74 set '$set': mark 'bloomctl:{$set}:fed': no time in milliseconds"
}

@test "passes: of a server that does not say who it is, a connection lost is a pass lost" {
	is_cluster main && skip "one server will do"
	redis_start less --rename-command INFO ''
	begin_set less
	server_live rows.csv
	open_pass
	ok one begin
	ok one "add $(at 0)"
	ok one "end $h1" '*moved=4 changed=0*'
	ok one begin "ok $h1"
	ok one "add $(at 1)"
	ok one flush
	ok one close
	redis_cli less CLIENT KILL TYPE normal SKIPME yes >/dev/null
	say one "end $h2"
	said '75 *replaced: what it acknowledged may be lost'
	all_have "$h1"
	ok one begin "ok $h1"
	ok one "add $(at 1)"
	ok one "end $h2" '*moved=4 changed=0*'
	all_have "$h2"
	redis_stop less
}

# cluster_of_passes: $node has bucket 0, and all filters have $h1.
cluster_of_passes() {
	is_cluster main || skip "one server has nobody to take its place"
	server_live rows.csv
	node=$(cluster_owner main cards:0)
	open_pass
	ok one begin
	ok one "end $h1" '*moved=4*'
	ok one begin "ok $h1"
}

@test "passes: adds that a failover loses move no horizon" {
	cluster_of_passes
	cluster_falls_behind "$node"
	ok one "add $(at 0)"
	ok one flush
	cluster_kill "$node"
	ok one "end $h2" '*failed=0*'
	[[ $answer != *changed=0* ]]
	[[ $(state_of 0 horizon) == "$h1" ]]
	# shellcheck disable=SC2046 # words
	[[ -n ${engine:-} ]] || ! server_has $(at 0)
	ok one begin "ok $h1"
	ok one "add $(at 0)"
	ok one "end $h2" '*moved=4 changed=0*'
	# shellcheck disable=SC2046 # words
	server_has $(at 0)
	cluster_mend main
}

@test "passes: a filter whose slot moves meanwhile is done once more" {
	local other
	cluster_of_passes
	other=$(cluster_primaries main | grep -v "$node" | head -n 1)
	ok one "add $(at 0)"
	ok one flush
	cluster_migrate main cards:0 "$other"
	ok one "add $(at 0 2)"
	ok one "end $h2" '*changed=1 failed=0*'
	ok one begin "ok $h1"
	ok one "end $h2" '*moved=4 changed=0*'
	for n in 1 2; do
		# shellcheck disable=SC2046 # words
		server_has $(at 0 "$n")
	done
	cluster_migrate main cards:0 "$node"
}
