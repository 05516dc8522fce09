#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Servers that hang, die, come back with less than they had acknowledged, or
# are replaced by a replica that never got it.  Nothing incomplete is promoted:
# what is live answers all of its rows, and the next build and swap work.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../forward
load ../serverset

setup_file() {
	begin_file
	redis_start main
	redis_replica second main
	forward_start
	write_csv rows.csv 1 2000
	write_csv more.csv 1 2600
	write_csv many.csv 1 40000
}

teardown_file() {
	forward_stop
	redis_stop second
	redis_stop main
}

setup() {
	local name
	begin
	for name in main second; do
		redis_resume "$name" 2>/dev/null || redis_restart "$name"
	done
	redis_cli main REPLICAOF NO ONE >/dev/null
	redis_cli second REPLICAOF 127.0.0.1 "$(redis_port main)" >/dev/null
	begin_set
	wait_until redis_says second master_link_status up
	in_step
	forward_to main
}

# in_step: the replica has what the primary has.
in_step() {
	redis_cli main INCR step >/dev/null
	wait_until same_step
}

same_step() {
	[[ $(redis_cli main GET step) == "$(redis_cli second GET step)" ]]
}

# falls_behind: the replica has what there is, and gets nothing more.
falls_behind() {
	in_step
	redis_failover second
}

# fails_over: the same address leads to the replica now.
fails_over() {
	forward_to second
	server=second
}

# comes_back: killed, and started again with what was saved last.
comes_back() {
	redis_kill main
	redis_restart main
}

# --- it hangs --------------------------------------------------------------

@test "nodes: a server hangs while a generation is built" {
	server_live rows.csv
	slow_build --timeout 1s --lease 1s
	redis_pause main
	feed 4
	ends 75
	assert_one_sentence build 'no answer for '
	redis_resume main
	server_answers
	heals
	no_key_has "$building"
}

@test "nodes: a server hangs in the middle of a swap" {
	cut_swap --timeout 1s --lease 1s
	redis_pause main
	kill -CONT "$pid"
	ends 84
	assert_one_sentence swap ' of 64 filters, but ' 'no answer for 1 s'
	redis_resume main
	all_of rows.csv
	wait_until lock_gone
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

# --- it dies, and comes back with an older copy ----------------------------

save() {
	redis_cli main SAVE >/dev/null
}

@test "nodes: a server dies, and is without the generation that was being built" {
	server_live rows.csv
	save
	slow_build --lease 1s
	comes_back
	feed 4
	ends 75
	assert_one_sentence build
	assert_has "$stderr" 'hint: '
	server_answers
	heals
}

# half_built [OPTION...]: some of many.csv is in the shadows, and saved; and
# then more is acknowledged.
half_built() {
	keys=50000 slow_build "$@"
	sed -n 4,9999p many.csv >&"$feed"
	wait_until has_items 1000
	save
	sed -n 10000,19999p many.csv >&"$feed"
	wait_until has_items 4000
}

# has_items N: the first shadow.
has_items() {
	(($(redis_cli "$server" BF.CARD "$(shadow 0 "$building")") >= $1))
}

@test "nodes: a server dies, and has a part of what was built, and the lock" {
	server_live rows.csv
	half_built --lease 20s
	comes_back
	run ! has_items 4000
	feed 20000 many.csv
	ends 75
	assert_one_sentence build 'the server was restarted or replaced'
	assert_has "$stderr" 'hint: run '
	server_left_alone
	heals
}

@test "nodes: a server dies behind the last row, and has a part of it" {
	server_live rows.csv
	target=$(forward_url)
	forward_hold "'sealed', '1'"
	half_built --lease 20s
	feed 20000 many.csv
	wait_until forward_held
	comes_back
	forward_to main
	ends 75
	assert_one_sentence build 'the server was restarted or replaced'
	server_left_alone
	heals
}

@test "nodes: a server dies behind a build, and has a part of it" {
	server_live rows.csv
	half_built --lease 20s
	feed 20000 many.csv
	ends 0
	comes_back
	lock_gone || redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	on swap
	assert_failure 83 swap
	server_answers
	heals
}

@test "nodes: a server dies in the middle of a swap, and is as it was before" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	save
	stop_within 1 62 swap --lease 1s
	comes_back
	[[ $(moved "$next") == 0 ]]
	goes_on 84
	assert_one_sentence swap ' of 64 filters, but '
	assert_has "$stderr" 'hint: run the same swap again'
	all_of rows.csv
	wait_until lock_gone
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "nodes: a server dies behind a swap, and is as it was in its middle" {
	cut_swap --lease 20s
	save
	goes_on 0
	[[ $(moved "$next") == 64 ]]
	comes_back
	mixed
	lock_gone || redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	on_ok inspect
	assert_has "$output" 'mixed generations'
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "nodes: a server dies in the middle of a swap and stays away" {
	cut_swap --timeout 1s --lease 1s
	save
	redis_kill main
	goes_on 84
	assert_one_sentence swap ' of 64 filters, but ' 'given up after 1 s'
	on build -q -s file:more.csv
	assert_failure 69 build
	redis_restart main
	mixed
	wait_until lock_gone
	on_ok swap -q
	all_of more.csv
}

# --- a replica takes its place ---------------------------------------------

# live_on_both: $live is on the replica, too; clients use the address.
live_on_both() {
	server_live rows.csv
	target=$(forward_url)
}

@test "nodes: a replica that has all takes over in the middle of a swap" {
	many
	live_on_both
	server_build more.csv
	next=$built
	forward_hold move
	"$BLOOMCTL" swap -q -k cards.keyspec -t "$target" >said.out 2>said.err \
		3>&- &
	pid=$!
	wait_until forward_held
	falls_behind
	fails_over
	ends 0
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
	lock_gone
}

@test "nodes: a replica that got no row takes over before a generation is sealed" {
	live_on_both
	slow_build --lease 20s
	falls_behind
	forward_hold "'sealed', '1'"
	feed 4
	wait_until forward_held
	fails_over
	ends 75
	assert_one_sentence build 'the server was restarted or replaced'
	server_left_alone
	heals
}

@test "nodes: a replica that got no row takes over when the filters are sealed" {
	live_on_both
	slow_build --lease 20s
	falls_behind
	forward_hold '"state": "complete"'
	feed 4
	wait_until forward_held
	fails_over
	ends 75
	assert_one_sentence build 'the server was restarted or replaced'
	server_left_alone
	heals
}

@test "nodes: a replica that got no row takes over when a generation is complete" {
	live_on_both
	slow_build --lease 1s
	falls_behind
	feed 4
	ends 0
	fails_over
	wait_until lock_gone
	on swap
	assert_failure 83 swap
	server_answers
	heals
}

@test "nodes: a replica that got no rename takes over behind the last one" {
	many
	live_on_both
	server_build more.csv
	next=$built
	forward_hold move
	"$BLOOMCTL" swap -q -k cards.keyspec -t "$target" --lease 20s \
		>said.out 2>said.err 3>&- &
	pid=$!
	wait_until forward_held
	falls_behind
	forward_go $'$5\r\nHMGET'
	wait_until forward_held
	[[ $(moved "$next") == 64 ]]
	fails_over
	ends 84
	assert_one_sentence swap 'is live in 0 of 64 filters' 'lost by a failover'
	assert_has "$stderr" 'hint: run the same swap again'
	[[ $(moved "$next") == 0 ]]
	all_of rows.csv
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "nodes: a replica that got some renames takes over behind a swap" {
	need_fault
	many
	live_on_both
	server_build more.csv
	next=$built
	stop_within 1 62 swap
	falls_behind
	goes_on 0
	fails_over
	mixed
	redis_cli second DEL "bloomctl:{$set}:lock" >/dev/null
	on swap
	assert_status 0
	assert_has "$output" 'an earlier swap is finished'
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

# --- replicas --------------------------------------------------------------

@test "nodes: a generation is complete when the replicas asked for have it" {
	server_live rows.csv
	on build -q -s file:more.csv --wait-replicas 2 --timeout 1s
	assert_failure 75 build '1 of 2 replicas have the generation'
	assert_has "$stderr" 'hint: see to its replicas'
	server_left_alone
	on_ok build -q -s file:more.csv --wait-replicas 1
	on_ok swap -q
	all_of more.csv
}

# waits_for_replicas NAME: somebody does.
waits_for_replicas() {
	redis_says "$1" blocked_clients 1
}

@test "nodes: a replica that is behind does not count, also when the connection breaks" {
	server_live rows.csv
	redis_pause second
	"$BLOOMCTL" build -q -k cards.keyspec -t "$target" -s file:more.csv \
		--wait-replicas 1 --timeout 6s >said.out 2>said.err 3>&- &
	pid=$!
	wait_until waits_for_replicas main
	redis_cli main CLIENT KILL TYPE normal >/dev/null
	ends 75
	assert_has "$stderr" '0 of 1 replicas have the generation'
	redis_resume second
	server_left_alone
}

@test "nodes: a replica that is behind does not count" {
	server_live rows.csv
	redis_pause second
	on build -q -s file:more.csv --wait-replicas 1 --timeout 1s
	assert_failure 75 build '0 of 1 replicas have the generation'
	server_left_alone
	redis_resume second
	on_ok build -q -s file:more.csv --wait-replicas 1
	redis_failover second
	wait_until redis_says main connected_slaves 0
	on build -q -s file:more.csv --wait-replicas 1 --timeout 1s
	assert_failure 75 build '0 of 1 replicas have the generation'
}

@test "nodes: a replica can be read, and nothing is written to it" {
	local command
	server_live rows.csv
	server_build more.csv
	in_step
	target=$(redis_url second)
	on_ok verify -q -s file:rows.csv
	on_ok lookup -q 1 m:1
	on_ok inspect --format json
	printf '%s\n' "$output" >inspected.json
	assert_json inspected.json '.nodes[0].replica' '.rows == 2000'
	for command in 'build -q -s file:more.csv' swap 'swap --prune'; do
		# shellcheck disable=SC2086 # words
		on $command --timeout 1s
		assert_failure 75 "${command%% *}" 'it is a replica'
		assert_has "$stderr" 'hint: name the primary'
	done
	server=second
	server_answers
}

@test "nodes: a primary becomes a replica while a generation is built" {
	server_live rows.csv
	redis_failover second
	slow_build --timeout 1s --lease 1s
	redis_cli main REPLICAOF 127.0.0.1 "$(redis_port second)" >/dev/null
	feed 4
	ends 75
	assert_one_sentence build 'redis://'
	wait_until redis_says main master_link_status up
	server_answers
	redis_failover main
	heals
}
