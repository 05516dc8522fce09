#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A target that is a cluster: what is different from one server.
# servers: cluster
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_file
	cluster_start main
	redis_start whole --cluster-enabled yes
	redis_cli whole CLUSTER ADDSLOTSRANGE 0 16383
	wait_until cluster_says whole cluster_state ok
	write_csv rows.csv 1 2000
	write_csv more.csv 1 2600
}

teardown_file() {
	redis_stop main
	redis_stop whole
}

setup() {
	begin
	begin_set main
	many
}

# teardown leaves the cluster whole for the next one.
teardown() {
	if [[ -n ${hurt-} ]]; then
		for n in 1 2 3 4 5 6; do
			redis_resume "main$n" || :
			redis_cli "main$n" CONFIG SET maxmemory 0 \
				maxmemory-policy noeviction \
				cluster-require-full-coverage yes \
				cluster-preferred-endpoint-type ip || :
		done >/dev/null
		cluster_mend main
	fi
}

# owner BUCKET: of its filter.
owner() {
	cluster_owner main "$(printf 'cards:%02d' "$1")"
}

# other_primary NODE: one that is not this.
other_primary() {
	cluster_primaries main | grep -v "$1" | head -n 1
}

# elsewhere NODE: another one is the target.
elsewhere() {
	target=redis://127.0.0.1:$(redis_port "$(other_primary "$1")")
}

# set_owner: the node with the lock.
set_owner() {
	cluster_owner main "bloomctl:{$set}:lock"
}

@test "cluster: the only node, which has all slots, is a server as any other" {
	begin_set whole
	many
	for target in "redis://127.0.0.1:$(redis_port whole)" \
		"unix:$(redis_socket whole)"; do
		on_ok doctor
		server_live rows.csv
		server_live more.csv
		on_ok swap -q --rollback
		on_ok verify -q -s file:rows.csv
		on_ok inspect --format csv
		[[ ${lines[0]} == *,slot ]]
		slot=$(redis_cli whole CLUSTER KEYSLOT cards:07)
		assert_has "$output" ",$slot"
		on_ok swap -q --prune --keep 0
	done
}

@test "cluster: any node will do as the target, a replica, too" {
	for node in main1 main3 main5; do
		target=redis://127.0.0.1:$(redis_port "$node")
		on_ok doctor
		for n in 1 2 3; do
			assert_has "$output" ":$(redis_port "main$n")'"
		done
		server_live rows.csv
		all_of rows.csv
		on_ok verify -q -s file:rows.csv
	done
	for b in 0 21 42 63; do
		[[ $(redis_cli "$(owner "$b")" EXISTS \
			"$(printf 'cards:%02d' "$b")") == 1 ]]
	done
}

# endpoints HOW: how all nodes call each other.
endpoints() {
	local n
	for n in 1 2 3 4 5 6; do
		redis_cli "main$n" CONFIG SET cluster-announce-hostname \
			localhost cluster-preferred-endpoint-type "$1"
	done >/dev/null
}

# named COUNT NAME: how often a map has it.
named() {
	(($(redis_cli main1 CLUSTER SLOTS | grep -c -- "^$2\$") == $1))
}

@test "cluster: nodes may be called by names, or not be named at all" {
	hurt=yes
	endpoints hostname
	wait_until named 6 localhost
	on_ok doctor
	assert_has "$output" "'redis://localhost:"
	assert_lacks "$output" "'redis://127.0.0.1:"
	server_live rows.csv
	all_of rows.csv
	endpoints unknown-endpoint
	server_live rows.csv
	on_ok verify -q -s file:rows.csv
	endpoints ip
	all_of rows.csv
}

@test "cluster: each node must have the room for its own filters" {
	server_live rows.csv
	node=$(owner 5)
	used=$(redis_info "$node" used_memory)
	hurt=1
	# What connections take comes and goes; the filters need far more.
	redis_cli "$node" CONFIG SET maxmemory $((used + 100000)) >/dev/null
	on build -q -s file:more.csv --capacity 20000
	assert_status 73
	assert_one_sentence build ":$(redis_port "$node"): the new generation takes "
	redis_cli "$node" CONFIG SET maxmemory 0 >/dev/null
	hurt=
	all_of rows.csv
	[[ $(redis_cli main SMEMBERS "bloomctl:{$set}:generations") == "$live" ]]
	on_ok build -q -s file:more.csv
}

@test "cluster: evictions on any node end a build" {
	server_live rows.csv
	node=$(other_primary "$(set_owner)")
	slow_build
	redis_cli "$node" DEBUG POPULATE 2000 junk 1000 >/dev/null
	used=$(redis_info "$node" used_memory)
	hurt=1
	redis_cli "$node" CONFIG SET maxmemory-policy allkeys-random \
		maxmemory $((used - 100000)) >/dev/null
	wait_until evicts "$node"
	redis_cli "$node" CONFIG SET maxmemory 0 maxmemory-policy noeviction \
		>/dev/null
	hurt=
	feed 4
	ends 73
	assert_has "$stderr" 'evicted'
}

evicts() {
	(($(redis_info "$1" evicted_keys) > 0))
}

@test "cluster: a slot that is half moved is waited for" {
	server_live rows.csv
	server_build more.csv
	hurt=yes
	from=$(owner 9)
	to=$(other_primary "$from")
	cluster_migrate main cards:09 "$to" half
	# Its keys are on two nodes, which no script can change in one step.
	for command in "swap -q -g $built" "build -q -s file:rows.csv" inspect; do
		# shellcheck disable=SC2086 # words
		on $command --timeout 1s
		assert_status 75
		assert_one_sentence "${command%% *}" "slot $(redis_cli main1 \
			CLUSTER KEYSLOT cards:09) is being moved" \
			'given up after 1 s'
	done
	all_of rows.csv
	"$BLOOMCTL" swap -q -k cards.keyspec -t "$target" -g "$built" \
		>said.out 2>said.err 3>&- &
	# shellcheck disable=SC2034 # for ends()
	pid=$!
	wait_until lock_is phase checking
	cluster_migrate main cards:09 "$to"
	ends 0
	all_of more.csv
	on_ok verify -q -s file:more.csv
}

@test "cluster: slots that move in the middle of a build take all with them" {
	server_live rows.csv
	slow_build
	sed -n 4,800p rows.csv >&"$feed"
	for b in 3 9 27 41 63; do
		from=$(owner "$b")
		cluster_migrate main "$(printf 'cards:%02d' "$b")" \
			"$(other_primary "$from")"
	done
	cluster_migrate main "bloomctl:{$set}:lock" \
		"$(other_primary "$(set_owner)")"
	feed 801
	ends 0
	on_ok swap -q -g "$building"
	on_ok verify -q -s file:rows.csv
	all_of rows.csv
}

@test "cluster: a primary that is replaced in the middle of a build ends it with 75" {
	server_live rows.csv
	hurt=yes
	node=$(owner 9)
	slow_build --timeout 5s
	sed -n 4,800p rows.csv >&"$feed"
	cluster_failover "$(cluster_replica "$node")"
	feed 801
	ends 75
	assert_one_sentence build 'restarted or replaced'
	assert_has "$stderr" 'hint: run '
	all_of rows.csv
	[[ $(redis_cli main EXISTS "bloomctl:{$set}:lock") == 0 ]]
	server_live more.csv
	all_of more.csv
}

@test "cluster: adds that a failover loses are not sealed" {
	server_live rows.csv
	hurt=yes
	node=$(owner 9)
	slow_build --timeout 10s --lease 30s
	sed -n 4,400p rows.csv >&"$feed"
	cluster_falls_behind "$node"
	sed -n 401,1000p rows.csv >&"$feed"
	cluster_kill "$node"
	feed 1001
	ends 75
	assert_one_sentence build
	all_of rows.csv
	cluster_mend main
	server_live more.csv
	all_of more.csv
}

# taken_for_failed NODE: by the one with the lock.
taken_for_failed() {
	cluster_ask "$holder" CLUSTER NODES |
		grep ":$(redis_port "$1")@" | grep -q fail
}

@test "cluster: a node that hangs elsewhere does not cost the lock" {
	hurt=yes
	cluster_all main CONFIG SET cluster-require-full-coverage no >/dev/null
	holder=$(set_owner)
	node=$(other_primary "$holder")
	redis_pause "$(cluster_replica "$node")"
	slow_build --lease 1s --timeout 20s
	redis_pause "$node"
	# That takes longer than two leases.
	wait_until taken_for_failed "$node"
	[[ $(cluster_ask "$holder" EXISTS "bloomctl:{$set}:lock") == 1 ]]
	redis_resume "$node"
	feed 4
	ends 0
	on_ok swap -q -g "$building"
	all_of rows.csv
}

@test "cluster: a failover between build and swap changes nothing" {
	server_live rows.csv
	server_build more.csv
	hurt=yes
	wait_until cluster_synced main
	node=$(owner 9)
	elsewhere "$node"
	cluster_kill "$node"
	on_ok swap -q -g "$built"
	all_of more.csv
	on_ok verify -q -s file:more.csv
}

@test "cluster: a generation that a failover lost a part of is not promoted" {
	server_live rows.csv
	hurt=yes
	node=$(owner 9)
	elsewhere "$node"
	cluster_falls_behind "$node"
	server_build more.csv
	cluster_kill "$node"
	on swap -q -g "$built"
	[[ $status == 74 || $status == 83 ]] ||
		fail "status $status: $stderr"
	assert_one_sentence swap
	all_of rows.csv
	(($(moved "$built") == 0))
	cluster_mend main
	server_live more.csv
}

@test "cluster: without a node that has its slots, nothing is done, and that is told" {
	server_live rows.csv
	hurt=yes
	node=$(owner 9)
	redis_kill "$(cluster_replica "$node")"
	redis_kill "$node"
	elsewhere "$node"
	for command in "build -q -s file:more.csv" "swap -q" inspect \
		"verify -q -s file:rows.csv"; do
		# shellcheck disable=SC2086 # words
		on $command --timeout 1s
		[[ $status == 75 || $status == 69 ]] ||
			fail "$command: status $status: $stderr"
		assert_has "$stderr" "given up after 1 s"
	done
	cluster_mend main
	all_of rows.csv
	server_live more.csv
}

@test "cluster: replicas of every node are waited for" {
	hurt=yes
	on_ok build -q -s file:rows.csv --wait-replicas 1
	replica=$(cluster_replica "$(owner 9)")
	redis_pause "$replica"
	on build -q -s file:rows.csv --wait-replicas 1 --timeout 1s
	assert_status 75
	assert_one_sentence build ' of 1 replicas have the generation'
	redis_resume "$replica"
	on_ok build -q -s file:rows.csv --wait-replicas 1
}
