#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What stands in for valkey-bloom saves, loads and replicates as that engine is
# known to: see engine.bats.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../engines

setup_file() {
	begin_file
	both_daemons start main
	both_daemons replicate copy main
	[[ -n ${BLOOMCTL_TEST_VALKEY_BLOOM:-} ]] ||
		both_daemons start blob order=blob seed=fixed
}

teardown_file() {
	local name
	for name in copy main blob; do
		both_daemons stop "$name"
	done
}

setup() {
	begin
	both_daemons ask main FLUSHALL
}

# survives NAME: a save and a restart.
survives() {
	local digest
	redis_cli "$at.$1" BF.RESERVE f 0.01 100 >/dev/null
	seq 300 | xargs redis-cli -s "$(redis_socket "$at.$1")" BF.MADD f \
		>/dev/null
	digest=$(redis_cli "$at.$1" DEBUG DIGEST-VALUE f)
	redis_restart "$at.$1"
	[[ $(redis_cli "$at.$1" DEBUG DIGEST-VALUE f) == "$digest" ]]
	[[ $(redis_cli "$at.$1" BF.EXISTS f 300) == 1 ]]
}

@test "engine: a save brings it back, with either order of fields" {
	both_daemons survives main
	[[ -n ${BLOOMCTL_TEST_VALKEY_BLOOM:-} ]] || {
		to blob FLUSHALL
		both_daemons survives blob
	}
}

@test "engine: seeds are random unless told, and an image tells" {
	says OK BF.RESERVE f 0.01 10 NONSCALING
	says OK BF.RESERVE g 0.01 10 NONSCALING
	says 1 EVAL "return redis.call('DUMP', 'f') ~= redis.call('DUMP', 'g')
		and 1" 0
	of_stand_in
	to blob FLUSHALL
	of blob OK BF.RESERVE f 0.01 10 NONSCALING
	of blob OK BF.RESERVE g 0.01 10 NONSCALING
	of blob 1 EVAL "return redis.call('DUMP', 'f') == redis.call('DUMP', 'g')
		and 1" 0
}

same_everywhere() {
	local key
	redis_cli "$at.main" INCR step >/dev/null
	wait_until same_step
	for key in f g h i; do
		[[ $(redis_cli "$at.main" DEBUG DIGEST-VALUE $key) == \
			"$(redis_cli "$at.copy" DEBUG DIGEST-VALUE $key)" ]] ||
			fail "$at: $key is another one"
	done
}

same_step() {
	[[ $(redis_cli "$at.main" GET step) == \
		"$(redis_cli "$at.copy" GET step)" ]]
}

replicates() {
	wait_until same_step
	redis_cli "$at.main" BF.RESERVE f 0.013 100 NONSCALING >/dev/null
	redis_cli "$at.main" BF.ADD g a >/dev/null
	redis_cli "$at.main" BF.INSERT h CAPACITY 3 EXPANSION 3 TIGHTENING 0.7 \
		ITEMS a b c d e >/dev/null
	redis_cli "$at.main" BF.MADD f a b c >/dev/null
	# Up to the first that it has no room for.
	redis_cli "$at.main" BF.INSERT i CAPACITY 2 NONSCALING \
		ITEMS a b c 2>/dev/null >&2 || :
	same_everywhere
	offset=$(redis_info "$at.main" master_repl_offset)
	# Nothing new, nothing told.
	redis_cli "$at.main" BF.MADD f a b c >/dev/null
	[[ $(redis_info "$at.main" master_repl_offset) == "$offset" ]]
	redis_cli "$at.main" BF.MADD f c d >/dev/null
	redis_cli "$at.main" RENAME f g >/dev/null
	redis_cli "$at.main" BF.RESERVE f 0.01 10 >/dev/null
	same_everywhere
}

@test "engine: a replica has the same, seed and all" {
	both_daemons replicates
}

loads_wrongly() {
	wait_until same_step
	# An image of one filter for 10 items, made of what DUMP has.
	redis_cli "$at.main" EVAL "
		redis.call('BF.INSERT', 'made', 'CAPACITY', 10, 'NONSCALING',
			'ITEMS', 'a', 'b')
		local dump = redis.call('DUMP', 'made')
		local blob = dump:sub(-10 - 1 - 57, -10 - 2)
		redis.call('BF.LOAD', KEYS[1], string.char(1) ..
			struct.pack('<I4ddBI8I8', 0, 0.01, 0.5, 1, 1, 57) ..
			blob .. struct.pack('<i8i8', 2, 10))" 1 loaded >/dev/null
	[[ $(redis_cli "$at.main" BF.MEXISTS loaded a b) == $'1\n1' ]]
	redis_cli "$at.main" INCR step >/dev/null
	wait_until same_step
	[[ $(redis_cli "$at.copy" BF.MEXISTS loaded a b) == $'0\n0' ]]
	[[ $(redis_cli "$at.copy" BF.CARD loaded) == 1 ]]
}

@test "engine: what BF.LOAD loads, a replica has not" {
	both_daemons loads_wrongly
}

rewritten() {
	local digest
	redis_cli "$at.main" BF.MADD f a b c >/dev/null
	digest=$(redis_cli "$at.main" DEBUG DIGEST-VALUE f)
	redis_cli "$at.main" CONFIG SET aof-use-rdb-preamble no >/dev/null
	redis_cli "$at.main" CONFIG SET appendonly yes >/dev/null
	wait_until redis_says "$at.main" aof_rewrite_in_progress 0
	redis_cli "$at.main" DEBUG LOADAOF >/dev/null
	[[ $(redis_cli "$at.main" DEBUG DIGEST-VALUE f) == "$digest" ]]
	redis_cli "$at.main" CONFIG SET appendonly no >/dev/null
}

@test "engine: a log that was rewritten by commands brings it back" {
	both_daemons rewritten
}
