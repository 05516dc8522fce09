#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# swap --adopt: filters that something else has made become a generation.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

# foreign FILE [OPTION...]: filters as a script makes them, with BF.RESERVE's
# options, capacity 1000 and rate 0.01.
foreign() {
	local bucket
	for bucket in 0 1 2 3; do
		redis_cli main BF.RESERVE "cards:$bucket" 0.01 1000 "${@:2}" \
			>/dev/null
	done
	paste -d ' ' <("$BLOOMCTL" key -k cards.keyspec --stdin \
		--input-format csv <"$1" | cut -f 4) \
		<(tail -n +2 "$1" | sed 's/\(.*\),\(.*\)/card:\1:\2/') |
		sed 's/^/BF.ADD /' | redis_feed main >/dev/null
	keys_now >before.keys
}

# adopt OPTION...
adopt() {
	on swap --adopt "$@"
}

@test "adopt: a set of another's making, then swap, rollback and verify as of any" {
	foreign rows.csv NONSCALING
	adopt -s file:rows.csv --receipt adopted.json
	assert_status 0
	assert_stderr_is ''
	assert_has "$output" 'is live: 4 filters of capacity 1000 at error rate 0.01' \
		'2,000 rows'
	live=$(json .generation adopted.json)
	server_answers
	on_ok verify -q -s file:rows.csv
	on_ok inspect --format json
	server_build more.csv
	on_ok swap -q
	before=$live live=$built
	server_left_alone
	on_ok verify -q -s file:more.csv
	on_ok swap -q --rollback
	live=$before before=$built
	server_left_alone
	on_ok verify -q -s file:rows.csv
}

@test "adopt: filters that could grow, but have not" {
	foreign rows.csv
	adopt -q -s file:rows.csv
	assert_status 0
	on_ok verify -q -s file:rows.csv
	server_build more.csv
	on_ok swap -q
	on_ok swap -q --rollback
}

@test "adopt: few rows that are missing are told, many are refused with 81 and undone" {
	foreign rows.csv NONSCALING
	write_csv some.csv 1 2001
	adopt -q -s file:more.csv
	assert_failure 81 swap "set '$set': only" 'of 2600 rows are found'
	diff before.keys <(keys_now | grep -v '^bloomctl:')
	[[ -z $(redis_cli main SMEMBERS "bloomctl:{$set}:generations") ]]
	adopt -q -s file:some.csv
	assert_status 0
	[[ -z $stderr || $stderr == *'1 of the rows are not in the live filters'* ]]
}

@test "adopt: another keyspec than the writers' is refused with 81" {
	foreign rows.csv NONSCALING
	write_keyspec cards.keyspec key='other:{id}:{scope}'
	adopt -q -s file:rows.csv
	assert_failure 81 swap 'derive other keys or buckets'
	diff before.keys <(keys_now | grep -v '^bloomctl:')
}

@test "adopt: what is not whole is refused with 83, and left as it is" {
	local case
	for case in 'DEL cards:2|missing' 'SET cards:2 x|a key of type' \
		'EXPIRE cards:1 1000|it has a time to live'; do
		redis_cli main FLUSHALL >/dev/null
		foreign rows.csv NONSCALING
		# shellcheck disable=SC2086 # words
		redis_cli main ${case%|*} >/dev/null
		keys_now >before.keys
		adopt -q -s file:rows.csv
		assert_failure 83 swap "filter 'cards:" "${case#*|}"
		diff before.keys <(keys_now | grep -v '^bloomctl:')
	done
	redis_cli main FLUSHALL >/dev/null
	foreign rows.csv NONSCALING
	adopt -q -s file:rows.csv --error 0.001
	assert_failure 83 swap 'which an error rate of 0.001 does not make'
	redis_cli main DEL cards:3 >/dev/null
	redis_cli main BF.RESERVE cards:3 0.01 2000 NONSCALING >/dev/null
	adopt -q -s file:rows.csv
	assert_failure 83 swap "filter 'cards:3': its capacity is 2000"
}

@test "adopt: filters that have grown are refused with 83" {
	local bucket
	foreign rows.csv
	for ((i = 0; i < 2000; i++)); do
		echo "BF.ADD cards:0 grow$i"
	done | redis_feed main >/dev/null
	adopt -q -s file:rows.csv
	assert_failure 83 swap "filter 'cards:0': it has grown to 2 filters"
}

@test "adopt: what bloomctl has built is no other's" {
	server_live rows.csv
	adopt -q -s file:rows.csv
	assert_failure 83 swap "generation '$live' is live" 'nothing to adopt'
	server_left_alone
	write_keyspec cards.keyspec key='{id}'
	cut -d , -f 1 rows.csv >ids.csv
	adopt -q -s file:ids.csv --columns id --header
	assert_failure 83 swap "filter 'cards:0': bloomctl's own already"
}

@test "adopt: one that was killed is adopted by the next" {
	need_fault
	local n
	foreign rows.csv NONSCALING
	for ((n = 1; n < 90; n++)); do
		status=0
		LD_PRELOAD=$BUILD/fault.so FAULT=send:$n:kill "$BLOOMCTL" swap \
			-q --adopt -k cards.keyspec -t "$target" \
			-s file:rows.csv 2>said || status=$?
		redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
		((status != 0)) || break
		# All was done, but for the lock.
		! grep -q "there is nothing to adopt" said || break
		((status == 137)) || fail "status $status: $(<said)"
	done
	((n > 5 && n < 90))
	on_ok verify -q -s file:rows.csv
	server_build more.csv
	on_ok swap -q
}

@test "adopt: a folder has no filters but bloomctl's own" {
	bloomctl_run swap --adopt -k cards.keyspec -t dir:t -s file:rows.csv
	assert_failure 66 swap
	make_live rows.csv
	bloomctl_run swap --adopt -k cards.keyspec -t dir:t -s file:rows.csv
	assert_failure 64 swap '--adopt'
	bloomctl_run swap --adopt -k cards.keyspec -t dir:t
	assert_failure 64 swap '--source'
	bloomctl_run swap -k cards.keyspec -t dir:t -s file:rows.csv
	assert_failure 64 swap '--source: a swap catches up from a database'
}
