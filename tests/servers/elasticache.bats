#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Servers that refuse what ElastiCache refuses: `node`, a cluster as its users
# see it, by their rights; `serverless` as that does it itself, where such a
# command is not known, and one node has all slots.  The filters are those of
# the stand-in.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

# What neither kind of it has, and what serverless has not, of what there is.
restricted=(acl\|setuser acl\|deluser bgrewriteaof bgsave config debug migrate
	psync replicaof save shutdown slaveof sync cluster\|addslots
	cluster\|delslots cluster\|failover cluster\|forget cluster\|meet
	cluster\|setslot cluster\|replicate)
serverless=(config debug latency memory migrate monitor object psubscribe
	slowlog wait)

setup_file() {
	local word
	local -a gone=()
	for word in "${serverless[@]}"; do
		gone+=(--rename-command "$word" "")
	done
	# shellcheck disable=SC2034 # what redis_start starts
	engine=valkey-bloom
	# shellcheck disable=SC2034
	! type -P valkey-server >/dev/null || daemon=valkey-server
	begin_file
	write_csv rows.csv 1 2000
	write_csv more.csv 1 2600
	cluster_start node
	redis_start serverless --cluster-enabled yes \
		--maxmemory-policy volatile-lru "${gone[@]}"
	redis_cli serverless CLUSTER ADDSLOTSRANGE 0 16383
	wait_until cluster_says serverless cluster_state ok
}

teardown_file() {
	redis_stop node
	redis_stop serverless
}

setup() {
	begin
}

# everything OPTION...: a set from its beginning to its end.
everything() {
	on_ok doctor "$@"
	assert_has "$output" 'engine: valkey-bloom'
	on_ok build -q -s file:rows.csv "$@"
	on_ok swap -q "$@"
	on_ok build -q -s file:more.csv --jobs 2 "$@"
	on_ok swap -q "$@"
	on_ok verify -q -s file:more.csv "$@"
	on_ok swap -q --rollback "$@"
	on_ok inspect --check "$@"
	on_ok lookup 1 m:1 "$@"
	on_ok swap -q --prune --keep 0 "$@"
	[[ $(redis_cli "$server" SMEMBERS "bloomctl:{$set}:generations") == \
		20* ]]
}

# user RULE...: the target is asked by one with these rights.
user() {
	local name
	for name in node{1..6}; do
		redis_acl "$name" app secret "$@"
	done
	echo secret >password
}

@test "elasticache: a user of a cluster who may not do what is restricted" {
	begin_set node
	many
	user '~*' +@all "${restricted[@]/#/-}"
	everything --user app --password-file password
	all_of rows.csv
}

# documented RULE...: the target is asked by one with the rights of the manual.
documented() {
	# shellcheck disable=SC2046 # words
	user '~cards:*' '~{cards:*' "~bloomctl:{$set}:*" +cluster\|slots +asking \
		$(sed -n '/rights: everything/,/^\.Ed/p' \
			"$BATS_TEST_DIRNAME/../../man/bloomctl.1" |
			grep -o '+[a-z.]*') "$@"
}

@test "elasticache: a user of a cluster with nothing but the documented rights" {
	begin_set node
	many
	documented +info +command\|info
	everything --user app --password-file password
	all_of rows.csv
}

@test "elasticache: the map of the slots may come from CLUSTER SHARDS" {
	begin_set node
	many
	documented +info +command\|info -cluster\|slots +cluster\|shards
	everything --user app --password-file password
	all_of rows.csv
}

@test "elasticache: without INFO a cluster is one all the same" {
	begin_set node
	many
	documented
	for command in "build -q -s file:rows.csv" "swap -q" \
		"verify -q -s file:rows.csv"; do
		# shellcheck disable=SC2086 # words
		on $command --user app --password-file password
		assert_status 0
	done
	all_of rows.csv
}

@test "elasticache: serverless, with one node for all slots, and without CONFIG" {
	begin_set serverless
	many
	everything
}

@test "elasticache: replicas cannot be waited for in serverless, and that is told" {
	begin_set serverless
	on build -q -s file:rows.csv --wait-replicas 1
	assert_status 76
	assert_one_sentence build 'WAIT'
	[[ $(redis_cli serverless KEYS '*:bloomctl:*') == '' ]]
}
