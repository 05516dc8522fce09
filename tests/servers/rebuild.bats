#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl rebuild on a server: its steps under one lock, and what it finishes
# that an earlier swap left.
# shellcheck disable=SC2016 # hooks are expanded by their own shell
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

# rebuild OPTION...: from a file of which nothing changes.
rebuild() {
	on rebuild --static "$@"
}

@test "server: a rebuild makes a set live, and the next takes its place" {
	rebuild -s file:rows.csv --receipt got.json
	assert_status 0
	live=$(json .generation got.json)
	assert_has "$output" "generation '$live' is live" 'before it: none' \
		'all 2,000 rows asked for are found'
	server_answers
	rebuild -q -s file:more.csv --receipt next.json
	assert_status 0
	assert_json next.json ".previous == \"$live\"" '.sent == 2600' \
		'.acknowledged == 2600' '.missing == 0'
	live=$(json .generation next.json)
	server_answers
}

@test "server: a rebuild has one lock, and a hook sees it" {
	rebuild -q -s file:rows.csv --before-swap "
		redis-cli -p $(redis_port main) --no-auth-warning -c \
			HGETALL 'bloomctl:{$set}:lock' >lock
		$BLOOMCTL build -q -k cards.keyspec -t $target -s file:rows.csv \
			2>said || echo \$? >status"
	assert_status 0
	[[ $(<status) == 82 ]]
	assert_has "$(<said)" 'locked by rebuild' 'before the swap'
	assert_has "$(<lock)" rebuild
	[[ $(redis_cli main EXISTS "bloomctl:{$set}:lock") == 0 ]]
}

@test "server: --before-swap that fails leaves what is live, and the new one to be promoted" {
	server_live rows.csv
	rebuild -s file:more.csv --before-swap 'exit 1' --receipt got.json
	assert_failure 81 rebuild "step 'swap': hook --before-swap" \
		"'$live' stays live"
	server_answers
	built=$(json .generation got.json)
	on_ok swap -q -g "$built" --static
	live=$built
	server_answers
}

# killed_swap: one that is dead in its middle, and its lock gone.
killed_swap() {
	cut_swap
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null || :
	redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	mixed
}

@test "server: a rebuild finishes what a swap has begun, and goes on" {
	killed_swap
	rebuild -s file:more.csv --receipt got.json
	assert_status 0
	assert_has "$stderr" 'an earlier swap is finished'
	# So that is what was live before.
	assert_json got.json ".previous == \"$next\""
	next=$(json .generation got.json)
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "server: what cannot be finished is replaced" {
	killed_swap
	redis_cli main DEL "$(shadow 63)" >/dev/null
	rebuild -s file:more.csv --receipt got.json
	assert_status 0
	assert_has "$stderr" 'an earlier swap cannot be finished, and is replaced'
	next=$(json .generation got.json)
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

@test "server: no room is what doctor or the build says, and nothing is left behind" {
	server_live rows.csv
	redis_cli main CONFIG SET maxmemory 1mb >/dev/null 2>&1 || :
	rebuild -s file:more.csv --capacity 100000000
	redis_cli main CONFIG SET maxmemory 0 >/dev/null 2>&1 || :
	assert_status 73
	assert_has "$stderr" "'$live' stays live"
	server_answers
}

@test "server: rebuilds one after another keep three generations at most" {
	for _ in 1 2 3 4; do
		rebuild -q -s file:rows.csv --receipt got.json
		assert_status 0
	done
	live=$(json .generation got.json)
	server_answers
	[[ $(redis_cli main SCARD "bloomctl:{$set}:generations") == 3 ]]
}

@test "server: a rebuild killed while it holds the lock is followed by another" {
	server_live rows.csv
	"$BLOOMCTL" rebuild -q -k cards.keyspec -t "$target" --static \
		-s file:more.csv --lease 1s \
		--before-swap 'touch there; sleep 1000' 2>/dev/null &
	local pid=$!
	wait_until test -e there
	kill -KILL "$pid"
	wait "$pid" || :
	server_answers
	again() {
		rebuild -q -s file:more.csv --receipt got.json
		((status == 0))
	}
	wait_until again
	live=$(json .generation got.json)
	server_answers
}
