#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The proof that nothing committed is missing: short runs of tests/proof/proof.
# `make proof` does $PROOF_RUNS of them, of $PROOF_SECONDS each, from the seed
# $PROOF_SEED on.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../postgres

setup_file() {
	begin_file
	redis_start single
	cluster_start cluster
	engine=valkey-bloom redis_start stand-in
	postgres_start main -c max_prepared_transactions=20
	postgres_standby copy -c max_prepared_transactions=20 \
		-c max_standby_streaming_delay=-1
}

teardown_file() {
	postgres_stop copy
	postgres_stop
	redis_stop stand-in
	redis_stop cluster
	redis_stop single
}

setup() {
	begin
	postgres_bin
	: "${PROOF_RUNS:=5}" "${PROOF_SECONDS:=5}" "${PROOF_SEED:=$RANDOM}"
}

# proof SEED SECONDS [OPTION...]: one run; what it says is in proof.out, and
# what was wrong in proof.err.
proof() {
	local server
	local -a places=()
	for server in single cluster stand-in; do
		redis_cli "$server" FLUSHALL >/dev/null
		places+=(--place "$server=127.0.0.1:$(redis_port "$server")")
	done
	# shellcheck disable=SC2154 # of postgres_bin()
	python3 "$BATS_TEST_DIRNAME/../proof/proof" "$@" \
		--build "$BUILD" --psql "$postgres_bin/psql" \
		--primary "$(postgres_word main)" \
		--standby "$(postgres_word copy)" "${places[@]}" \
		>proof.out 2>proof.err 3>&-
}

# tell TEXT: whoever started `make proof` reads it at once.
tell() {
	[[ -z ${PROOF_TELLS-} ]] || echo "# $1" >&3
}

@test "proof: no row is missing at any moment, whatever is drawn" {
	local seed
	: >exposures
	for ((seed = PROOF_SEED; seed < PROOF_SEED + PROOF_RUNS; seed++)); do
		proof "$seed" "$PROOF_SECONDS" || {
			cat proof.out proof.err
			fail "seed $seed is not proved"
		}
		tell "$(cat proof.out)"
		cat proof.out
		sed -n 's/^proof: \({.*"exposures".*}\)$/\1/p' proof.out >>runs
	done
	tell "$(jq -s -r '[.[].exposures[]] | sort | "\(length) runs of bloomctl,"
		+ " exposure min \(.[0]) median \(.[length / 2 | floor])"
		+ " p95 \(.[length * 95 / 100 | floor]) max \(.[-1]) s"' runs)"
	# It was not a proof of nothing.
	(($(jq -s 'map(.asked.filter + .asked.recent) | add' runs) > 1000))
	(($(jq -s 'map(.rebuild + .sync) | add' runs) >= PROOF_RUNS))
}

@test "proof: writers that leave recent-writes out are caught" {
	local target
	for target in single dir; do
		if proof 1 20 --only "$target" --forget; then
			fail "$target: nothing was missed: $(<proof.out)"
		fi
		grep -q 'is not found at ' proof.err ||
			fail "$target: $(<proof.err)"
	done
}
