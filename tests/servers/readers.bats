#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Readers never see a missing filter or a lost row, not for a microsecond: a
# program that is not bloomctl's asks for every member at full rate, all the
# while.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 20000
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

# commands: how many the servers have done.
commands() {
	local node
	if is_cluster main; then
		for node in $(cluster_living main); do
			redis_info "$node" total_commands_processed
		done | paste -sd +
	else
		redis_info main total_commands_processed
	fi
}

@test "readers: millions of reads through ten builds, swaps and a rollback, and none is wrong" {
	local from rounds=0 most=10
	many
	server_live rows.csv
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <rows.csv |
		cut -f 1,4 | questions >members
	[[ $(wc -l <members) == 20000 ]]
	# In a cluster it is moving.bats that has more to show.
	! is_cluster main || most=2
	from=$(($(commands)))
	"$BUILD/reader" "$(reader_place main)" members >said 3>&- &
	pid=$!
	wait_until ready "$pid"
	until ((rounds >= 10 && $(commands) - from > most * 1050000)); do
		server_live rows.csv
		rounds=$((rounds + 1))
		((rounds != 5)) || on_ok swap -q --rollback
		((rounds % 3)) || on_ok swap -q --prune
	done
	on_ok swap -q --rollback
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	output=$(<said)
	echo "$rounds rounds: $output"
	assert_status 0
	[[ $output =~ ^reads=([0-9]+)\ errors=0\ missing=0\ sentinel=0(\ |$) ]]
	((BASH_REMATCH[1] >= most * 1000000))
}

@test "readers: they would see a filter that is gone, for a moment only" {
	server_live rows.csv
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <rows.csv |
		cut -f 1,4 | questions >members
	"$BUILD/reader" "$(reader_place main)" members >said 3>&- &
	pid=$!
	wait_until ready "$pid"
	# As a swap would that is no script.
	redis_cli main EVAL 'redis.call("RENAME", KEYS[1], KEYS[2])' 2 \
		cards:1 '{cards:1}away' >/dev/null
	redis_cli main RENAME '{cards:1}away' cards:1 >/dev/null
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 1
	! grep -q 'missing=0 ' said || fail "$(<said)"
}
