#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# SIGTERM while the server hangs: a run ends within 20 s, whatever it waits for
# and however long it was told to wait.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
}

teardown_file() {
	redis_resume main
	redis_stop main
}

setup() {
	begin
	redis_resume main
	begin_set
}

# ends_soon STATUS: within 20 s of the signal.
ends_soon() {
	local begun=$SECONDS
	kill -TERM "$pid"
	# It may have been stopped, and may be gone.
	kill -CONT "$pid" 2>/dev/null || :
	ends "$1"
	redis_resume main
	((SECONDS - begun < 20)) || fail "it took $((SECONDS - begun)) s"
}

# has_socket PID: it is connected, or about to be.
has_socket() {
	find "/proc/$1/fd" -lname "socket:*" 2>/dev/null | grep -q .
}

@test "stop: of a build, with a lease of minutes, while the server hangs" {
	server_live rows.csv
	slow_build --lease 5m --timeout 5m
	redis_pause main
	ends_soon 143
	feed 999999
	server_answers
}

@test "stop: of a swap in the middle, while the server hangs" {
	need_fault
	many
	server_live rows.csv
	server_build rows.csv
	next=$built
	stop_within 1 63 swap --lease 5m --timeout 5m
	redis_pause main
	ends_soon 84
	assert_has "$stderr" 'run the same swap again to finish'
	redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
}

@test "stop: of a swap before anything moved, while the server hangs" {
	need_fault
	many
	server_live rows.csv
	server_build rows.csv
	next=$built
	stop_within 0 0 swap --lease 5m --timeout 5m
	redis_pause main
	ends_soon 143
	[[ $(moved "$live") == 64 ]]
}

@test "stop: of a command that only looks, while the server hangs, is no finding" {
	local command
	redis_pause main
	for command in doctor inspect; do
		"$BLOOMCTL" "$command" -k cards.keyspec -t "$target" \
			>said.out 2>said.err 3>&- &
		pid=$!
		wait_until has_socket "$pid"
		ends_soon 143
		[[ -z $output ]]
		assert_has "$stderr" "$command: stopped by SIGTERM"
		redis_pause main
	done
}
