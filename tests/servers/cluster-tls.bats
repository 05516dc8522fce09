#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A cluster of which each node speaks TLS only, and asks for a password: the
# certificate and the password of the target are those of every node.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	local n folder
	begin_file
	write_csv rows.csv 1 2000
	# redis_tls_start makes an authority for each: all use the first one's.
	for n in 1 2 3; do
		redis_tls_start "t$n" --cluster-enabled yes --tls-cluster yes \
			--tls-replication yes --requirepass s3cret-word \
			${folder:+--tls-cert-file "$folder/server.crt"} \
			${folder:+--tls-key-file "$folder/server.key"} \
			${folder:+--tls-ca-cert-file "$folder/ca.crt"}
		: "${folder:=$(redis_folder t1)}"
	done
	export redis_auth=s3cret-word
	redis_cli t1 CLUSTER ADDSLOTSRANGE 0 5461
	redis_cli t2 CLUSTER ADDSLOTSRANGE 5462 10923
	redis_cli t3 CLUSTER ADDSLOTSRANGE 10924 16383
	redis_cli t1 CLUSTER MEET 127.0.0.1 "$(redis_port t2)"
	redis_cli t1 CLUSTER MEET 127.0.0.1 "$(redis_port t3)"
	for n in 1 2 3; do
		wait_until all_slots "t$n"
	done
}

teardown_file() {
	redis_stop t1
	redis_stop t2
	redis_stop t3
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/*.csv .
	for n in 1 2 3; do
		redis_cli "t$n" FLUSHALL >/dev/null
		redis_cli "t$n" CONFIG SET cluster-preferred-endpoint-type ip \
			cluster-announce-hostname '' >/dev/null
	done
	# shellcheck disable=SC2034 # for on()
	target=rediss://localhost:$(redis_port t1)
	many
	echo s3cret-word >password
	safe=(--password-file password --tls-ca "$(redis_folder t1)/ca.crt")
}

all_slots() {
	[[ $(redis_cli "$1" CLUSTER INFO | tr -d '\r') == \
		cluster_state:ok*cluster_slots_assigned:16384*known_nodes:3* ]]
}

# announce NAME: all nodes are called so.
announce() {
	for n in 1 2 3; do
		redis_cli "t$n" CONFIG SET cluster-announce-hostname "$1" \
			cluster-preferred-endpoint-type hostname >/dev/null
	done
	wait_until announced "$1"
}

announced() {
	(($(redis_cli t1 CLUSTER SLOTS | grep -c "^$1\$") == 3))
}

@test "cluster-tls: every node is talked to by TLS, and by its own name" {
	on_ok doctor "${safe[@]}"
	for n in 1 2 3; do
		assert_has "$output" "'rediss://127.0.0.1:$(redis_port "t$n")'"
	done
	announce localhost
	on_ok doctor "${safe[@]}"
	for n in 1 2 3; do
		assert_has "$output" "'rediss://localhost:$(redis_port "t$n")'"
	done
	on_ok build -q -s file:rows.csv "${safe[@]}"
	on_ok swap -q "${safe[@]}"
	on_ok verify -q -s file:rows.csv "${safe[@]}"
	for n in 1 2 3; do
		(($(redis_cli "t$n" DBSIZE) > 20))
	done
}

@test "cluster-tls: a node whose name is not in its certificate is not talked to" {
	announce 127.1
	on build -q -s file:rows.csv "${safe[@]}"
	assert_status 77
	assert_one_sentence build "rediss://127.1:" certificate
	for n in 1 2 3; do
		[[ $(redis_cli "t$n" DBSIZE) == 0 ]]
	done
}
