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

# commands: how many the server has done.
commands() {
	redis_info main total_commands_processed
}

@test "readers: ten million reads through ten builds, swaps and a rollback, and none is wrong" {
	local sentinel from rounds=0
	many
	server_live rows.csv
	sentinel=$("$BLOOMCTL" key -k cards.keyspec --sentinel)
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <rows.csv |
		awk -F '\t' -v OFS='\t' -v s="$sentinel" \
			'{ print $4, s, $1 }' >members
	[[ $(wc -l <members) == 20000 ]]
	from=$(commands)
	"$BUILD/reader" "$(redis_socket main)" members >said 3>&- &
	pid=$!
	wait_until ready "$pid"
	until ((rounds >= 10 && $(commands) - from > 10500000)); do
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
	[[ $output =~ ^reads=([0-9]+)\ errors=0\ missing=0\ sentinel=0$ ]]
	((BASH_REMATCH[1] >= 10000000))
}

@test "readers: they would see a filter that is gone, for a moment only" {
	local sentinel
	server_live rows.csv
	sentinel=$("$BLOOMCTL" key -k cards.keyspec --sentinel)
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <rows.csv |
		awk -F '\t' -v OFS='\t' -v s="$sentinel" \
			'{ print $4, s, $1 }' >members
	"$BUILD/reader" "$(redis_socket main)" members >said 3>&- &
	pid=$!
	wait_until ready "$pid"
	# As a swap would that is no script.
	redis_cli main EVAL 'redis.call("RENAME", "cards:1", "away")' 0 \
		>/dev/null
	redis_cli main RENAME away cards:1 >/dev/null
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 1
	! grep -q 'missing=0 ' said || fail "$(<said)"
}
