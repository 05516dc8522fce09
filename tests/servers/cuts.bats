#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# A connection that is cut in the middle of any answer, and a run that is
# killed before any of its commands (tests/cuts.py says what is looked at).
# With CUTS=all it is every byte, which takes many minutes, else some.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 60 70
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
	server_live rows.csv
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		<rows.csv | awk '{ print $4, $1 }' >members
	[[ $(wc -l <members) == 60 ]]
	echo pass >order
	export BLOOMCTL BUILD SET=$set
}

# wrong_everywhere KIND STRIDE LEAST COMMAND OPTION...: at least LEAST runs.
wrong_everywhere() {
	local kind=$1 stride=$2 least=$3
	shift 3
	[[ ${CUTS-} != all ]] || ((stride > 1000)) || stride=1
	if [[ $kind == cut ]]; then
		# shellcheck disable=SC2034 # open until the test ends
		exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" \
			p "$(redis_socket main)" order 3>&-)
		wait_until test -e p
	else
		need_fault
	fi
	any_run python3 "$BATS_TEST_DIRNAME/../cuts.py" \
		"$(redis_socket main)" "$kind" "$stride" \
		"$1" -k cards.keyspec "${@:2}"
	assert_status 0
	read -r runs good <<<"$output"
	((runs >= least)) || fail "only $runs runs"
}

# not_lost: what is cut is asked again, over another connection.
not_lost() {
	((good == runs)) || fail "only $good of $runs went on"
}

@test "cuts: a build, cut in any answer" {
	wrong_everywhere cut 307 50 build -s file:more.csv
	not_lost
}

@test "cuts: a swap, cut in any answer" {
	server_build more.csv
	wrong_everywhere cut 67 100 swap -g "$built"
	not_lost
}

@test "cuts: a rollback, cut in any answer" {
	server_live more.csv
	wrong_everywhere cut 67 100 swap --rollback -g "$(redis_cli main \
		SMEMBERS "bloomctl:{$set}:generations" | grep -v "$live")"
	not_lost
}

@test "cuts: a prune, cut in any answer" {
	server_live rows.csv
	server_live rows.csv
	wrong_everywhere cut 67 60 swap --prune --keep 0
	not_lost
}

@test "cuts: inspect, cut in any answer" {
	wrong_everywhere cut 41 50 inspect
	not_lost
}

@test "cuts: verify, cut in any answer" {
	# Its answers are many and all the same.
	wrong_everywhere cut 5003 50 verify -s file:rows.csv
	not_lost
}

@test "cuts: a build, killed at any command" {
	wrong_everywhere kill 1 20 build -s file:more.csv
}

@test "cuts: a swap, killed at any command" {
	server_build more.csv
	wrong_everywhere kill 1 15 swap -g "$built"
}

@test "cuts: a rollback, killed at any command" {
	server_live more.csv
	wrong_everywhere kill 1 15 swap --rollback -g "$(redis_cli main \
		SMEMBERS "bloomctl:{$set}:generations" | grep -v "$live")"
}

@test "cuts: a prune, killed at any command" {
	server_live rows.csv
	server_live rows.csv
	wrong_everywhere kill 1 15 swap --prune --keep 0
}
