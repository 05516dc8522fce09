# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# engines: valkey-bloom, or what stands in for it (tests/engine), in
# redis-server and in valkey-server, for a Bats file, after redis.
#
# BLOOMCTL_TEST_VALKEY_BLOOM=/path/to/module.so tests a real one instead, in
# valkey-server alone and without what only the stand-in can be told.

# both_daemons FUNCTION: with $daemon, and $at, which is short for it.
both_daemons() {
	local at daemon
	for at in redis valkey; do
		# shellcheck disable=SC2034 # of redis.bash
		daemon=$at-server
		[[ $at != redis || -z ${BLOOMCTL_TEST_VALKEY_BLOOM:-} ]] ||
			continue
		[[ $at != valkey || -n $(type -P valkey-server) ]] || continue
		"$@"
	done
}

# start NAME [ARGUMENT...]: of the module, in each.
start() {
	# shellcheck disable=SC2034 # of redis.bash
	local engine=valkey-bloom engine_args=("${@:2}")
	redis_start "$at.$1"
}

# replicate NAME OF
replicate() {
	# shellcheck disable=SC2034 # of redis.bash
	local engine=valkey-bloom engine_args=()
	redis_replica "$at.$1" "$at.$2"
}

stop() {
	redis_stop "$at.$1"
}

# ask NAME WORD...
ask() {
	redis_cli "$at.$1" "${@:2}" >/dev/null
}

# to NAME WORD...: a command for each, which is done.
to() {
	both_daemons ask "$@"
}

answers() {
	local found
	found=$(redis_cli "$at.$1" "${@:3}" 2>&1) || :
	[[ $found == "$2" ]] ||
		fail "$at.$1: ${*:3}: '$found' is not '$2'"
}

# of NAME WANT WORD...: what each answers, errors and all; a line per element.
of() {
	both_daemons answers "$@"
}

# says WANT WORD...: `main` of each.
says() {
	of main "$@"
}

# of_stand_in: what only it can be told.
of_stand_in() {
	[[ -z ${BLOOMCTL_TEST_VALKEY_BLOOM:-} ]] ||
		skip "BLOOMCTL_TEST_VALKEY_BLOOM is no stand-in"
}
