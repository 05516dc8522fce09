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
	begin_file
	redis_start main
	write_csv rows.csv 1 2000
}

teardown_file() {
	redis_resume main
	redis_stop main
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/*.csv .
	redis_resume main
	begin_set
}

# lock_says PHASE: what the owner of the lock does.
lock_says() {
	[[ $(redis_cli main HGET "bloomctl:{$set}:lock" phase) == "$1" ]]
}

# ends_soon STATUS: within 20 s of the signal.
ends_soon() {
	local begun=$SECONDS
	kill -TERM "$pid"
	kill -CONT "$pid"
	status=0
	wait "$pid" || status=$?
	output=$(<said.out) stderr=$(<said.err)
	show_run bloomctl
	redis_resume main
	assert_status "$1"
	((SECONDS - begun < 20)) || fail "it took $((SECONDS - begun)) s"
}

@test "stop: of a build, with a lease of minutes, while the server hangs" {
	server_live rows.csv
	mkfifo slow
	"$BLOOMCTL" build -q -k cards.keyspec -t "$target" --keys 5000 \
		--lease 5m --timeout 5m --no-trailer -s - <slow \
		>said.out 2>said.err 3>&- &
	pid=$!
	exec {feed}>slow
	head -n 3 rows.csv >&"$feed"
	wait_until lock_says building
	redis_pause main
	ends_soon 143
	exec {feed}>&-
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
