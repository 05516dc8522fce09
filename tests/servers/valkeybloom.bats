#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A set on one server with valkey-bloom, from the first build to the last
# prune.  The claims about sizes are those of tests/golden/valkey-bloom.jsonl.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

# shellcheck disable=SC2034 # for redis.bash
engine=valkey-bloom

setup_file() {
	begin_set_file
	# shellcheck disable=SC2034 # for redis.bash
	engine_args=(full=refuse)
	redis_start whole
}

teardown_file() {
	redis_stop main
	redis_stop whole
}

setup() {
	begin && begin_set
}

# limit BYTES: of a filter, on the server.
limit() {
	redis_cli "$server" CONFIG SET bf.bloom-memory-usage-limit "$1" \
		>/dev/null
}

# nothing_kept: no filters, no states and no lock.
nothing_kept() {
	[[ -z $(keys_now | sed '/fence/d; /manifest/d; /generations/d') ]]
}

@test "valkey-bloom: the whole life of a set" {
	on_ok doctor
	assert_has "$output" 'engine: valkey-bloom'
	server_live rows.csv
	before=$live
	server_answers
	on_ok verify -q -s file:rows.csv
	on inspect --format json
	assert_status 0
	jq -e '.engine == "valkey-bloom" and .bytes == 4 * (.buckets[0].bytes)' \
		<<<"$output" >/dev/null
	[[ $(state_of 0 type) == bloomfltr ]]
	[[ $(state_of 0 engine) == valkey-bloom ]]
	server_live more.csv
	server_answers
	IFS=, read -r id scope < <(tail -n 1 more.csv)
	on_ok lookup -q "$id" "$scope"
	on_ok swap -q --rollback
	on_ok verify -q -s file:rows.csv -g "$before"
	live=$before
	server_answers
	server_live more.csv
	on_ok swap -q --prune --keep 0
	# That one is the way back.
	server_left_alone
	on_ok doctor
	assert_has "$output" 'engine: valkey-bloom' 'is live'
}

@test "valkey-bloom: the manifest has no seed, for only the server knows it" {
	server_live rows.csv
	redis_cli main GET "bloomctl:{$set}:manifest:$live" >manifest
	assert_json manifest '.seed == ""' '.engine == "valkey-bloom"'
}

@test "valkey-bloom: filters are as large as those of tests/golden" {
	local capacity error size at=0
	while read -r capacity error size; do
		redis_cli main BF.RESERVE "f$at" "$error" "$capacity" \
			NONSCALING >/dev/null
		[[ $(redis_cli main BF.INFO "f$at" |
			sed -n '/^Size$/{n;p}') == "$size" ]] ||
			fail "$capacity at $error is not $size" || return
		((++at))
	done < <(jq -r '[.capacity, .error, .info[3]] | @tsv' \
		"$BATS_TEST_DIRNAME/../golden/valkey-bloom.jsonl")
	((at >= 6))
}

@test "valkey-bloom: a filter that is full is 80, and which and how full is said" {
	local name
	for name in main whole; do
		begin_set "$name"
		server_live rows.csv
		on build -q -s file:more.csv --capacity 400
		assert_failure 80 build 'it is full: bucket' \
			'capacity of 400' 'items, after'
		assert_has "$stderr" 'hint: give a larger --capacity'
		server_left_alone
	done
}

@test "valkey-bloom: a filter larger than 128 MiB is 73 before anything is written" {
	on build -q -s file:rows.csv --capacity 112022241
	assert_failure 73 build 'capacity 112022241' \
		'valkey-bloom allows 134217728'
	nothing_kept
	on build -q -s file:rows.csv --keys 500000000
	assert_failure 73 build 'valkey-bloom allows 134217728'
	assert_has "$stderr" 'spread the keys over 6 buckets or more'
	nothing_kept
}

@test "valkey-bloom: a lower limit that the server tells is planned for" {
	limit 1000
	on build -q -s file:rows.csv
	limit 134217728
	assert_failure 73 build 'valkey-bloom allows 1000'
	assert_has "$stderr" 'hint: spread the keys over' 'buckets or more'
	nothing_kept
}

@test "valkey-bloom: a lower limit that it does not tell is 73 at the first filter" {
	redis_acl main u secret '~*' +@all -config
	limit 800
	REDISCLI_AUTH=secret on build -q -s file:rows.csv --user u
	limit 134217728
	assert_failure 73 build ':bloomctl:' 'the server allows a filter less'
	assert_has "$stderr" bf.bloom-memory-usage-limit
	nothing_kept
}

@test "valkey-bloom: the engine is told without INFO and COMMAND, too" {
	redis_acl main u secret '~*' +@all -info -command
	export REDISCLI_AUTH=secret
	on build -q -s file:rows.csv --user u --engine redisbloom
	assert_failure 64 build "'$target' are of valkey-bloom"
	on build -q -s file:rows.csv --user u
	assert_status 0
	on swap -q --user u
	assert_status 0
}

@test "valkey-bloom: a set of another's making is adopted, and can be read" {
	local b
	for b in 0 1 2 3; do
		redis_cli main BF.RESERVE "cards:$b" 0.01 1000 NONSCALING
	done >/dev/null
	paste -d ' ' <("$BLOOMCTL" key -k cards.keyspec --stdin \
		--input-format csv <rows.csv | cut -f 4) \
		<(tail -n +2 rows.csv | sed 's/\(.*\),\(.*\)/card:\1:\2/') |
		sed 's/^/BF.ADD /' | redis-cli -s "$(redis_socket main)" \
		>/dev/null
	on swap --adopt -q -s file:rows.csv --error 0.001
	assert_failure 83 swap 'which an error rate of 0.001 does not make'
	on_ok swap --adopt -q -s file:rows.csv --receipt adopted.json
	live=$(json .generation adopted.json)
	server_answers
	on_ok verify -q -s file:rows.csv
	before=$live
	server_live more.csv
	on_ok swap -q --rollback
	live=$before
	server_answers
}
