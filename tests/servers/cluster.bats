#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A target that is a node of a cluster: one that has all slots is as good as any
# server, and one that has not is refused in one sentence.
# servers: cluster
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_file
	redis_start whole --cluster-enabled yes
	redis_start half --cluster-enabled yes
	redis_start rest --cluster-enabled yes
	redis_cli whole CLUSTER ADDSLOTSRANGE 0 16383
	redis_cli half CLUSTER ADDSLOTSRANGE 0 8191
	redis_cli rest CLUSTER ADDSLOTSRANGE 8192 16383
	redis_cli half CLUSTER MEET 127.0.0.1 "$(redis_port rest)"
	for node in whole half rest; do
		wait_until cluster_says "$node" cluster_state ok
		wait_until cluster_says "$node" cluster_slots_assigned 16384
	done
	write_csv rows.csv 1 2000
}

teardown_file() {
	redis_stop whole
	redis_stop half
	redis_stop rest
}

setup() {
	begin
}

# cluster_says NAME FIELD VALUE
cluster_says() {
	[[ $(redis_cli "$1" CLUSTER INFO | tr -d '\r' |
		sed -n "s/^$2://p") == "$3" ]]
}

@test "cluster: a node that has all slots is a server as any other" {
	begin_set whole
	on_ok doctor
	server_live rows.csv
	before=$live
	server_live rows.csv
	server_answers
	on_ok swap -q --rollback
	live=$before
	before=$built
	server_left_alone
	on_ok verify -q -s file:rows.csv
	on_ok inspect --format csv
	[[ ${lines[0]} == *,slot ]]
	for b in 0 1 2 3; do
		assert_has "$output" "cards:$b,$live," \
			",$(redis_cli whole CLUSTER KEYSLOT "cards:$b")"
	done
	on_ok swap -q --prune --keep 0
}

@test "cluster: where slots are elsewhere, nothing is done, and the node is named" {
	begin_set rest
	begin_set half
	for command in "build -s file:rows.csv" swap "swap --rollback" \
		"swap --prune" inspect "verify -s file:rows.csv" "lookup 1 m:1"; do
		# shellcheck disable=SC2086 # words
		on $command
		assert_status 76
		assert_has "$stderr" \
			"is on node 127.0.0.1:$(redis_port rest) of the cluster" \
			'must be on the one server that is the target'
		((${#stderr_lines[@]} == 1))
	done
	on doctor
	assert_status 76
	assert_has "$output" "is on node 127.0.0.1:$(redis_port rest)"
	[[ $(keys_now) == '' ]]
	export server=rest
	[[ $(keys_now) == '' ]]
}
