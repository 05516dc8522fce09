#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What stands in for valkey-bloom (tests/engine) is as that engine is known to
# be, in redis-server and in valkey-server.  What is known of its bits and sizes
# is tests/golden/valkey-bloom.jsonl, not the stand-in.  A real one takes its
# place by BLOOMCTL_TEST_VALKEY_BLOOM: see tests/engines.bash.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../engines

# What small filters take for present is a matter of luck without it.
seed=abcdefghijklmnopqrstuvwxyz012345

setup_file() {
	begin_file
	both_daemons start main
	[[ -z ${BLOOMCTL_TEST_VALKEY_BLOOM:-} ]] || return 0
	both_daemons start blob order=blob seed=fixed
	both_daemons start whole full=refuse limit=1000
}

teardown_file() {
	local name
	for name in main blob whole; do
		both_daemons stop "$name"
	done
}

setup() {
	begin
	both_daemons ask main FLUSHALL
}

@test "engine: all of this is true in valkey-server, too" {
	[[ -n $(type -P valkey-server) ]] ||
		skip "there is no valkey-server: Debian 12 has it in backports"
	daemon=valkey-server at=valkey answers main bloomfltr EVAL "
		redis.call('BF.ADD', KEYS[1], 'a')
		return redis.call('TYPE', KEYS[1]).ok" 1 f
}

# --- bits and sizes --------------------------------------------------------

# golden NAME ORDER: DUMP has another version in each.
golden() {
	local -A version=([redis]=10 [valkey]=11)
	any_run "$BATS_TEST_DIRNAME/engine_golden.py" \
		"$(redis_socket "$at.$1")" "${@:2}"
	assert_stdout_is "6 of 6 filters agree, version ${version[$at]}"
	assert_status 0
}

@test "engine: filters hold byte for byte what is in tests/golden" {
	both_daemons golden main
}

@test "engine: so they do with the other order of fields in DUMP" {
	of_stand_in
	both_daemons golden blob blob
}

@test "engine: the largest filters fit, those of one item more do not" {
	local error capacity
	local large='ERR operation exceeds bloom object memory limit'
	while read -r error capacity; do
		says OK BF.RESERVE f "$error" "$capacity" NONSCALING
		says "$large" BF.RESERVE g "$error" $((capacity + 1)) NONSCALING
		says "$large" BF.INSERT g ERROR "$error" CAPACITY \
			$((capacity + 1)) NONSCALING ITEMS a
		says 1 UNLINK f
		says 0 EXISTS g
	done <<-'END'
		0.1 224044480
		0.05 172205468
		0.02 131870768
		0.01 112022240
		0.005 97367040
		0.001 74681493
		0.0001 56011120
		0.00001 44808896
	END
}

@test "engine: a size is that of the bytes and 264" {
	says OK BF.RESERVE f 0.01 1000 NONSCALING
	says 1463 BF.INFO f SIZE
	says OK BF.RESERVE g 0.01 112022240 NONSCALING
	says 134217728 BF.INFO g SIZE
}

@test "engine: it grows to what is known of it, and is asked beforehand" {
	local most
	for most in 1000000=63000000 5000000=75000000 20000000=60000000 \
		100=26214300; do
		says OK BF.RESERVE f 0.01 "${most%=*}"
		says "${most#*=}" BF.INFO f MAXSCALEDCAPACITY
		says 1 UNLINK f
	done
	says '' BF.INSERT f CAPACITY 100 VALIDATESCALETO 26214300
	says 'ERR provided VALIDATESCALETO causes bloom object to exceed memory limit' \
		BF.INSERT g CAPACITY 100 VALIDATESCALETO 26214301
	says 'ERR provided VALIDATESCALETO causes false positive to degrade to 0' \
		BF.INSERT g CAPACITY 1 TIGHTENING 1e-200 VALIDATESCALETO 1000
}

# restored NAME KEY: DUMP and COPY have all of it.
restored() {
	local digest name
	redis_cli "$at.$1" EVAL "
		local image = redis.call('DUMP', KEYS[1])
		redis.call('RESTORE', 'again', 0, image)
		redis.call('COPY', KEYS[1], 'copied')" 1 "$2" >/dev/null
	digest=$(redis_cli "$at.$1" DEBUG DIGEST-VALUE "$2")
	for name in again copied; do
		[[ $(redis_cli "$at.$1" DEBUG DIGEST-VALUE "$name") == "$digest" ]]
	done
}

# grown NAME: 1000 items in filters of 10, 20, 40...
grown() {
	seq 1000 | xargs redis-cli -s "$(redis_socket "$at.$1")" \
		BF.MADD f >/dev/null
	(($(redis_cli "$at.$1" BF.INFO f FILTERS) == 7))
	(($(redis_cli "$at.$1" BF.INFO f CAPACITY) == 1270))
	(($(redis_cli "$at.$1" BF.CARD f) > 960))
	[[ $(seq 1000 | xargs redis-cli -s "$(redis_socket "$at.$1")" \
		BF.MEXISTS f | sort -u) == 1 ]]
}

@test "engine: one that grows has all of its items, and is restored" {
	says '' BF.INSERT f CAPACITY 10 SEED $seed
	both_daemons grown main
	both_daemons restored main f
}

# --- answers ---------------------------------------------------------------

@test "engine: INFO is a flat list with more fields if it can grow" {
	says OK BF.RESERVE f 0.01 10 NONSCALING
	says OK BF.RESERVE g 0.001 10 EXPANSION 3
	# A null is an empty line, here the last.
	says $'Capacity\n10\nSize\n276\nNumber of filters\n1\nNumber of items inserted\n0\nError rate\n0.01\nExpansion rate' \
		BF.INFO f
	says 0.01 BF.INFO f error
	says '' BF.INFO f EXPANSION
	says 3 BF.INFO g EXPANSION
	says 0.5 BF.INFO g TIGHTENING
	says 'ERR invalid information value' BF.INFO f TIGHTENING
	says 'ERR invalid information value' BF.INFO f MAXSCALEDCAPACITY
	says 'ERR invalid information value' BF.INFO f color
	says 16 EVAL "return #redis.call('BF.INFO', KEYS[1])" 1 g
	says 12 EVAL "return #redis.call('BF.INFO', KEYS[1])" 1 f
	says Size EVAL "return redis.call('BF.INFO', KEYS[1])[3].ok" 1 f
}

@test "engine: it is flat in RESP3, too, with numbers and a null" {
	says OK BF.RESERVE f 0.01 10 NONSCALING
	# Lua does not count a null at the end.
	says $'11\ndouble\nnil' EVAL "
		redis.setresp(3)
		local info = redis.call('BF.INFO', KEYS[1])
		return {#info, (next(info[10])), type(info[12])}" 1 f
}

@test "engine: a filter that is not there has nothing, and says no error" {
	says 0 BF.EXISTS f a
	says $'0\n0' BF.MEXISTS f a b
	says 0 BF.CARD f
	says 'ERR not found' BF.INFO f
	says 'ERR not found' BF.INSERT f NOCREATE ITEMS a
	says none TYPE f
}

@test "engine: MADD makes a small filter that grows, its type has a name" {
	says $'1\n0' BF.MADD f a a
	says 100 BF.INFO f CAPACITY
	says 2 BF.INFO f EXPANSION
	says bloomfltr TYPE f
}

@test "engine: a full filter answers a short array, an error at its end" {
	says '' BF.INSERT f CAPACITY 3 NONSCALING SEED $seed
	says $'1\n1\n1\nERR non scaling filter is full' \
		BF.INSERT f NOCREATE ITEMS a b c d e f
	says 3 BF.CARD f
	says $'0\n0\nERR non scaling filter is full' BF.MADD f a b x c
	says 'ERR non scaling filter is full' BF.ADD f x
	# What it holds already is no error.
	says $'0\n0' BF.MADD f c a
	says 0 BF.ADD f a
}

@test "engine: or a full filter refuses the whole, and nothing is added" {
	local full='ERR non scaling filter is full' digest
	of_stand_in
	to whole FLUSHALL
	of whole '' BF.INSERT f CAPACITY 3 NONSCALING SEED $seed
	of whole $'1\n1' BF.MADD f a b
	for at in redis valkey; do
		[[ -n $(type -P $at-server) ]] || continue
		digest=$(redis_cli $at.whole DEBUG DIGEST-VALUE f)
		daemon=$at-server answers whole "$full" BF.MADD f a c d e
		[[ $(redis_cli $at.whole DEBUG DIGEST-VALUE f) == "$digest" ]]
	done
	of whole 2 BF.CARD f
	of whole $'1\n0' BF.MADD f c a
	of whole "$full" BF.INSERT g CAPACITY 1 NONSCALING \
		SEED $seed ITEMS a b
	of whole 0 EXISTS g
	# Filters that were begun go, too: 1000 bytes are little.
	of whole OK BF.RESERVE h 0.01 100
	to whole BF.ADD h a
	of whole 'ERR operation exceeds bloom object memory limit' \
		BF.MADD h $(seq 1000)
	of whole 1 BF.CARD h
	of whole 1 BF.INFO h FILTERS
}

@test "engine: every error has its words" {
	local wrong
	says OK SET text t
	says OK BF.RESERVE f 0.01 10 NONSCALING
	says 'ERR item exists' BF.RESERVE f 0.01 10
	wrong='WRONGTYPE Operation against a key holding the wrong kind of value'
	says "$wrong" BF.CARD text
	says "$wrong" BF.ADD text a
	says "$wrong" BF.RESERVE text 0.01 10
	says ERROR BF.RESERVE g 0.01 10 NONSCALED
	while IFS='|' read -r wrong words; do
		# shellcheck disable=SC2086 # words
		says "ERR $wrong" $words
	done <<-'END'
		bad error rate|BF.RESERVE g x 10
		(0 < error rate range < 1)|BF.RESERVE g 1 10
		(0 < error rate range < 1)|BF.INSERT g ERROR 0 ITEMS a
		bad capacity|BF.RESERVE g 0.01 1.5
		(capacity should be larger than 0)|BF.RESERVE g 0.01 0
		bad expansion|BF.RESERVE g 0.01 10 EXPANSION 0
		bad tightening ratio|BF.INSERT g TIGHTENING x ITEMS a
		(0 < tightening ratio range < 1)|BF.INSERT g TIGHTENING 1 ITEMS a
		invalid seed|BF.INSERT g SEED short ITEMS a
		unknown argument received|BF.INSERT g ELEMENTS a
		cannot use NONSCALING and VALIDATESCALETO options together|BF.INSERT g NONSCALING VALIDATESCALETO 100
		bloom object decoding failed. Unsupported version|BF.LOAD g xyz
		wrong number of arguments for 'BF.ADD' command|BF.ADD g
		wrong number of arguments for 'BF.INSERT' command|BF.INSERT g ITEMS
	END
	says 'BUSYKEY Target key name already exists.' BF.LOAD f x
	says 'ERR bloom object decoding failed' BF.LOAD g $'\1'
	says 'ERR false positive degrades to 0 on scale out' EVAL "
		return redis.pcall('BF.INSERT', KEYS[1], 'CAPACITY', 1,
			'SEED', '$seed', 'TIGHTENING', '1e-320', 'ITEMS', 'a', 'b', 'c')[2]" 1 h
	says 0 EXISTS g
}

@test "engine: it is bf 1.0.1 to INFO, which counts what it holds" {
	says OK BF.RESERVE f 0.01 10 NONSCALING
	says 1 BF.ADD f a
	both_daemons counted
}

counted() {
	assert_has "$(redis_cli "$at.main" INFO modules)" 'name=bf,ver=10001,'
	redis_says "$at.main" bf_bloom_num_objects 1
	redis_says "$at.main" bf_bloom_total_memory_bytes 276
	redis_says "$at.main" bf_bloom_num_items_across_objects 1
	# What is freed in the background is counted a moment later.
	redis_cli "$at.main" UNLINK f >/dev/null
	wait_until redis_says "$at.main" bf_bloom_num_objects 0
	redis_says "$at.main" bf_bloom_total_memory_bytes 0
}

@test "engine: a large filter is freed in the background" {
	says OK BF.RESERVE f 0.01 100000000 NONSCALING
	both_daemons freed_behind
}

freed_behind() {
	redis_cli "$at.main" CONFIG RESETSTAT >/dev/null
	redis_cli "$at.main" UNLINK f >/dev/null
	wait_until redis_says "$at.main" lazyfreed_objects 1
}

@test "engine: without memory, adding is OOM and reading is not" {
	local oom="OOM command not allowed when used memory > 'maxmemory'."
	says OK BF.RESERVE f 0.01 10 NONSCALING
	says 1 BF.ADD f a
	to main CONFIG SET maxmemory 1
	says "$oom" BF.INSERT f NOCREATE ITEMS b
	says "$oom" BF.RESERVE g 0.01 10
	says "$oom" BF.LOAD g x
	says 1 BF.EXISTS f a
	to main CONFIG SET maxmemory 0
}

@test "engine: where modules may have categories of rights, it has @bloom" {
	both_daemons rights
}

rights() {
	local user="$at.main"
	if [[ $at == redis ]]; then
		run ! redis_cli "$user" ACL SETUSER app +@bloom
		return
	fi
	redis_acl "$user" app secret '~bf:*' +@bloom
	[[ $(redis-cli -s "$(redis_socket "$user")" --user app --pass secret \
		--no-auth-warning BF.ADD bf:f a) == 1 ]]
	[[ $(redis-cli -s "$(redis_socket "$user")" --user app --pass secret \
		--no-auth-warning GET bf:f 2>&1) == NOPERM* ]]
}

@test "engine: no argument is ignored" {
	of_stand_in
	run -1 redis-server --port 0 --unixsocket s --loadmodule "$BUILD/engine.so" order=any
	assert_has "$output" "there is no argument 'order=any'"
}
