#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The lock of a set on a server: who holds it, who has lost it, and what a run
# that wakes up late may still do, which is nothing.
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

@test "lock: its owner is stopped past its lease in mid-swap, another finishes, and it wakes up" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 1 63 swap --lease 1s
	wait_until lock_gone
	on swap
	assert_status 0
	assert_has "$output" "an earlier swap is finished"
	[[ $(moved "$next") == 64 ]]
	kill -CONT "$pid"
	ends 82
	# What it notices first: the fence of a filter, or the lock itself.
	[[ $stderr == *'a newer run, with fence'*'has taken the set over'* ||
		$stderr == *'the lock ran out, and another run has had it'* ]]
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
	lock_gone
}

@test "lock: its owner wakes up in mid-swap while another builds: it is not finished" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 1 63 swap --lease 1s
	wait_until lock_gone
	server_build rows.csv
	kill -CONT "$pid"
	ends 84
	assert_has "$stderr" "'$next' is live in $(moved "$next") of 64 filters" \
		'run the same swap again to finish'
	on_ok swap -q -g "$next"
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "lock: its owner wakes up after another has rolled back, and moves nothing" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 1 63 swap --lease 1s
	wait_until lock_gone
	on_ok swap -q --rollback
	[[ $(moved "$live") == 64 ]]
	kill -CONT "$pid"
	ends 82
	[[ $(moved "$live") == 64 ]]
	all_of rows.csv
}

@test "lock: its owner wakes up after a newer generation came, and moves nothing" {
	need_fault
	many
	server_live rows.csv
	server_build rows.csv
	next=$built
	stop_within 1 63 swap --lease 1s
	wait_until lock_gone
	server_build more.csv
	on_ok swap -q
	[[ $(moved "$built") == 64 ]]
	kill -CONT "$pid"
	ends 82
	[[ $(moved "$built") == 64 ]]
	all_of more.csv
}

@test "lock: its owner is stopped before it moved anything, and moves nothing" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 0 0 swap --lease 1s
	wait_until lock_gone
	server_build more.csv
	on_ok swap -q
	kill -CONT "$pid"
	status=0
	wait "$pid" || status=$?
	((status == 82 || status == 83 || status == 75))
	[[ $(moved "$built") == 64 ]]
	all_of more.csv
}

@test "lock: a build that lost its lease changes nothing more" {
	server_live rows.csv
	slow_build --lease 1s
	kill -STOP "$pid"
	wait_until lock_gone
	on build -s file:more.csv --receipt built.json
	assert_status 0
	assert_has "$stderr" 'removed abandoned generation'
	keys_now >before.keys
	kill -CONT "$pid"
	feed 4
	ends 82
	diff before.keys <(keys_now)
	on_ok swap -q
	live=$(json .generation built.json)
	server_answers
}

# shadows: how many filters and states are of no live generation.
shadows() {
	keys_now | grep -c '}:bloomctl:' || :
}

@test "lock: a build that wakes up while it reserves leaves nothing behind" {
	need_fault
	many buckets=1000
	local n
	for ((n = 14; n < 90; n += 4)); do
		redis_cli main FLUSHALL >/dev/null
		LD_PRELOAD=$BUILD/fault.so FAULT=send:$n:stop "$BLOOMCTL" build \
			-q -k cards.keyspec -t "$target" --capacity 100 \
			--lease 1s -s file:rows.csv >said.out 2>said.err 3>&- &
		pid=$!
		wait_until stopped_or_gone "$pid"
		! (($(shadows) > 0)) || break
		kill -KILL "$pid"
		wait "$pid" || :
	done
	(($(shadows) > 0 && $(shadows) < 2000))
	wait_until lock_gone
	on build -q --capacity 100 -s file:rows.csv
	assert_status 0
	keys_now >before.keys
	kill -CONT "$pid"
	ends 82
	diff before.keys <(keys_now)
}

@test "lock: its key is lost, and is taken again, as nobody had it meanwhile" {
	slow_build --lease 2s
	redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	wait_until lock_is phase building
	feed 4
	ends 0
	on_ok swap -q
	on_ok verify -q -s file:rows.csv
}

@test "lock: its key is lost and another takes it: the first changes nothing more" {
	server_live rows.csv
	slow_build --lease 2s
	kill -STOP "$pid"
	redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	on build -s file:rows.csv
	assert_status 0
	kill -CONT "$pid"
	feed 4
	ends 82
	server_answers
}

@test "lock: its key and its fence are lost: the run ends, and a retry may help" {
	server_live rows.csv
	slow_build --lease 2s
	redis_cli main DEL "bloomctl:{$set}:lock" "bloomctl:{$set}:fence" \
		>/dev/null
	ends 75
	feed 999999
	assert_has "$stderr" 'its lock was lost on the server'
	server_answers
}

@test "lock: fences only grow, also when the lock's keys were lost" {
	local last=0 fence b
	for _ in 1 2 3; do
		server_live rows.csv
		fence=$(state_of 0 fence)
		((fence > last)) || fail "$fence after $last"
		# As of a clock that is a day ahead.
		last=$((fence + 86400000))
		for b in 0 1 2 3; do
			redis_cli main HSET "{cards:$b}:bloomctl" fence "$last" \
				>/dev/null
		done
		redis_cli main DEL "bloomctl:{$set}:lock" \
			"bloomctl:{$set}:fence" >/dev/null
	done
}

@test "lock: an owner that lives keeps it past its lease" {
	slow_build --lease 1s
	local end=$((SECONDS + 3))
	while ((SECONDS < end)); do
		on swap
		assert_status 82
	done
	feed 4
	ends 0
}

@test "lock: inspect shows a set in mid-swap, which generations and who is at it" {
	need_fault
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 1 63 swap --lease 1s
	on_ok inspect
	assert_has "$output" "mixed generations" "is still of '$live'" 'swap, pid'
	on_ok inspect --format json
	printf '%s\n' "$output" >inspected.json
	count=$(moved "$next")
	assert_json inspected.json ".generation == \"$next\"" \
		"[.buckets[] | select(.instead == \"$live\")] | length == $((64 - count))"
	wait_until lock_gone
	kill -KILL "$pid"
	wait "$pid" || :
	on inspect --check
	assert_status 1
	on_ok swap -q
	on_ok inspect --check
}

# evict: the server throws away some keys, none of bloomctl's.
evict() {
	local i big
	big=$(printf '%0100000d' 0)
	redis_cli main CONFIG SET maxmemory-policy volatile-ttl >/dev/null
	for i in 1 2 3 4 5 6 7 8; do
		redis_cli main SET "x$i" "$big" EX 100 >/dev/null
	done
	redis_cli main CONFIG SET maxmemory \
		$(($(redis_info main used_memory) - 300000)) >/dev/null
	redis_cli main CONFIG SET maxmemory 0 maxmemory-policy noeviction \
		>/dev/null
}

@test "lock: a build that ends because keys are evicted removes its filters, and the lock" {
	server_live rows.csv
	slow_build --lease 5m
	evict
	ends 73
	feed 999999
	assert_has "$stderr" 'keys since the build began'
	lock_gone
	server_left_alone
}
