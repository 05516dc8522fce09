#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl verify --replicas: those that answer readers in place of a primary
# have what it has, or that is told.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 2000
	is_cluster main || redis_replica second main
}

teardown_file() {
	is_cluster main || redis_stop second
	redis_stop main
}

setup() {
	begin
	begin_set
	server_live rows.csv
	wait_until asks_well
	! is_cluster main ||
		return 0
	replica=redis://127.0.0.1:$(redis_port second)
	redis_cli second CONFIG SET replica-read-only no >/dev/null
}

# asks_well: the replicas have it all.
asks_well() {
	replicas --grace 0s && [[ $status == 0 ]]
}

# replicas OPTION...: verify, with them.
replicas() {
	on verify -s file:rows.csv --absent 0 --replicas --receipt got.json "$@"
}

# single: skips in a cluster, where a replica cannot be made to lack something.
single() {
	! is_cluster main || skip "its replicas take no writes"
}

@test "replicas: each is asked for the keys of its primary" {
	local count=1 named=0
	! is_cluster main || count=3
	replicas
	assert_status 0
	assert_stderr_is ''
	named=$(grep -c '^replica redis://.* of redis://.*: all [0-9,]* keys are found$' \
		<<<"$output")
	((named == count))
	assert_json got.json ".replicas | length == $count" \
		'[.replicas[].asked] | add == 2000' \
		'[.replicas[].missing] | add == 0' \
		'[.replicas[].name] - [.replicas[].primary] | length > 0'
	replicas --sample 100
	assert_status 0
	assert_json got.json '[.replicas[].asked] | add == 100'
	# Without the option nobody asks them.
	on_ok verify -s file:rows.csv --absent 0 --receipt got.json
	assert_lacks "$output" replica
	assert_json got.json '.replicas == []'
}

@test "replicas: one that lacks a filter is 81, and named with its distance" {
	single
	redis_cli second DEL cards:2 >/dev/null
	replicas --grace 0s
	assert_failure 81 verify "replica $replica: " \
		'of 2000 keys that its primary has are missing' 'bytes behind'
	assert_json got.json '.missing == 0' '.replicas[0].missing > 400' \
		'.replicas[0].asked == 2000'
	# Without its sentinel it is another one, whatever is in it.
	redis_cli second BF.RESERVE cards:2 0.01 5000 >/dev/null
	mapfile -t keys < <(tail -n +2 rows.csv | sed 's/^/card:/; s/,/:/')
	redis_cli second BF.MADD cards:2 "${keys[@]}" >/dev/null
	replicas --grace 0s
	assert_failure 81 verify "replica $replica: "
}

@test "replicas: what has come within the grace is not missing" {
	single
	redis_cli second RENAME cards:2 hidden >/dev/null
	redis_cli second CONFIG RESETSTAT >/dev/null
	replicas --grace 5s >said &
	pid=$!
	wait_until asked
	redis_cli second RENAME hidden cards:2 >/dev/null
	wait "$pid"
	grep -q 'status 0' said
	assert_json got.json '.status == 0' '.replicas[0].missing == 0' \
		'.replicas[0].asked == 2000'
}

# asked: the replica was, for keys of each of the four filters.
asked() {
	redis_cli second INFO commandstats |
		grep -qi 'cmdstat_bf.mexists:calls=\([4-9]\|[0-9][0-9]\)'
}

@test "replicas: of a row that has gone or is in recent-writes none is asked for" {
	single
	cp rows.csv more.csv
	echo late,x >>more.csv
	redis_cli main SET recent:card:late:x '' EX 60 >/dev/null
	on verify -s file:more.csv --absent 0 --replicas --grace 0s \
		--recent 'recent:{key}' --receipt got.json
	assert_status 0
	assert_json got.json '.replicas[0].asked == 2000' '.missed.recent == 1'
}

@test "replicas: a server without any is told, a folder is 64" {
	single
	redis_start alone
	on_ok build -q -s file:rows.csv -t "redis://127.0.0.1:$(redis_port alone)"
	on_ok swap -q -t "redis://127.0.0.1:$(redis_port alone)"
	replicas -t "redis://127.0.0.1:$(redis_port alone)"
	redis_stop alone
	assert_status 0
	assert_has "$output" 'no server of the target has a replica'
	bloomctl_run verify -k cards.keyspec -t dir:t -s file:rows.csv --replicas
	assert_failure 64 verify 'option --replicas: it is for a server'
}

@test "replicas: a user without the right to ROLE is told" {
	single
	redis_cli main ACL SETUSER asker on '>pass' '~*' +@all -role >/dev/null
	REDISCLI_AUTH=pass replicas --user asker
	assert_failure 77 verify 'ROLE' "permissions to run the 'role' command"
}
