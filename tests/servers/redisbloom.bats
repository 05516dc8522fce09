#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What bloomctl relies on of RedisBloom and of Redis around it, asked of the
# servers themselves: `new` and `old` have two versions of the module.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	# Whatever the others are run against.
	# shellcheck disable=SC2034 # for redis_start
	engine=redisbloom
	begin_file
	redis_start new
	redisbloom=2.6.12 redis_start old
}

teardown_file() {
	redis_stop new
	redis_stop old
}

setup() {
	begin
	both CONFIG SET maxmemory 0 maxmemory-policy noeviction >/dev/null
	both FLUSHALL >/dev/null
}

# both WORD...: a command for each.
both() {
	local name
	for name in new old; do
		redis_cli "$name" "$@"
	done
}

# says WANT WORD...: what both answer, errors and all; a line per element.
says() {
	local name found
	for name in new old; do
		found=$(redis_cli "$name" "${@:2}" 2>&1) || :
		[[ $found == "$1" ]] ||
			fail "$name: ${*:2}: '$found' is not '$1'" || return
	done
}

# as_app NAME WORD...: a command of the user `app`.
as_app() {
	redis-cli -s "$(redis_socket "$1")" --user app --pass secret \
		--no-auth-warning "${@:2}"
}

# --- filters --------------------------------------------------------------

@test "redisbloom: filters hold bit for bit what is in tests/golden" {
	for name in new old; do
		any_run "$BATS_TEST_DIRNAME/golden.py" "$(redis_socket $name)"
		assert_status 0
		assert_stdout_is '6 of 6 filters agree'
	done
}

@test "redisbloom: its version is in INFO modules, its type a name" {
	assert_has "$(redis_cli new INFO modules)" 'name=bf,ver=20802,'
	assert_has "$(redis_cli old INFO modules)" 'name=bf,ver=20612,'
	both BF.RESERVE f 0.01 10 NONSCALING
	says MBbloom-- TYPE f
}

@test "redisbloom: INSERT NOCREATE makes no filter, MADD makes a small one" {
	says 'ERR not found' BF.INSERT f NOCREATE ITEMS a
	says 0 EXISTS f
	says 1 BF.MADD f a
	says 100 BF.INFO f CAPACITY
}

@test "redisbloom: a full filter answers a short array, an error at its end" {
	both BF.RESERVE f 0.01 3 NONSCALING
	says $'1\n1\n1\nERR non scaling filter is full' \
		BF.INSERT f NOCREATE ITEMS a b c d e f
	says 3 BF.CARD f
	# What it holds already is no error.
	says $'0\n0\nERR non scaling filter is full' BF.MADD f a b x c
	says $'0\n0' BF.MADD f c a
}

@test "redisbloom: a filter that is not there has nothing, and says no error" {
	says 0 BF.EXISTS f a
	says $'0\n0' BF.MEXISTS f a b
	says 0 BF.CARD f
	says 'ERR not found' BF.INFO f
	says none TYPE f
}

@test "redisbloom: another type is WRONGTYPE to writers, nothing to readers" {
	both SET f text
	local wrong='WRONGTYPE Operation against a key holding the wrong kind of value'
	says "$wrong" BF.CARD f
	says "$wrong" BF.INFO f
	says "$wrong" BF.INSERT f NOCREATE ITEMS a
	says "$wrong" BF.RESERVE f 0.01 10 NONSCALING
	says 0 BF.EXISTS f a
	says $'0\n0' BF.MEXISTS f a b
}

@test "redisbloom: a name is reserved once" {
	both BF.RESERVE f 0.01 10 NONSCALING
	says 'ERR item exists' BF.RESERVE f 0.01 10 NONSCALING
}

@test "redisbloom: a header makes a filter that looks full and has nothing" {
	local header
	both BF.RESERVE f 0.01 10 NONSCALING
	both BF.MADD f a b
	for name in new old; do
		header=$(redis_cli $name EVAL "
			local dump = redis.call('BF.SCANDUMP', 'f', 0)
			redis.call('BF.LOADCHUNK', 'half', dump[1], dump[2])
			return #dump[2]" 0)
		[[ $header == 73 ]]
	done
	says 2 BF.CARD half
	says $'0\n0' BF.MEXISTS half a b
}

# --- keys around them -----------------------------------------------------

@test "redisbloom: RENAME carries the time to live, and drops the other's" {
	both BF.RESERVE shadow 0.01 10 NONSCALING
	both BF.RESERVE live 0.01 10 NONSCALING
	both PEXPIREAT shadow 99999999999999
	both RENAME shadow live
	says 99999999999999 PEXPIRETIME live
	both BF.RESERVE shadow 0.01 10 NONSCALING
	both RENAME shadow live
	says -1 PTTL live
}

@test "redisbloom: a script may ask of filters and rename them" {
	both BF.RESERVE shadow 0.01 10 NONSCALING
	both BF.MADD shadow a b
	both PEXPIREAT shadow 99999999999999
	says $'2\n10\nMBbloom--\nredis_version\nOK\n0\n2' EVAL "
		local info = redis.call('BF.INFO', KEYS[1])
		local about = redis.call('INFO', 'server')
		if redis.call('PTTL', KEYS[1]) <= 0 then
			return 'no time to live'
		end
		return {redis.call('BF.CARD', KEYS[1]), info[2],
			redis.call('TYPE', KEYS[1]).ok,
			about:match('redis_version'),
			redis.call('RENAME', KEYS[1], KEYS[2]),
			redis.call('EXISTS', KEYS[1]),
			redis.call('BF.CARD', KEYS[2])}" 2 shadow live
}

@test "redisbloom: an error of RedisBloom is one that a script can catch" {
	both SET text t
	says 'WRONGTYPE Operation against a key holding the wrong kind of value' \
		EVAL "return redis.pcall('BF.CARD', KEYS[1])" 1 text
	says 'ERR not found' EVAL "return redis.pcall('BF.INFO', KEYS[1])" 1 f
}

# --- rights ---------------------------------------------------------------

# denied NAME WANT WORD...
denied() {
	run as_app "$1" "${@:3}"
	[[ $output == "$2"* ]] ||
		fail "$1: ${*:3}: '$output' does not begin with '$2'"
}

@test "redisbloom: a user of some keys and commands gets NOPERM elsewhere" {
	for name in new old; do
		redis_acl $name app secret '~bf:*' +bf.reserve +bf.insert \
			+bf.card
		as_app $name BF.RESERVE bf:f 0.01 10 NONSCALING
		[[ $(as_app $name BF.INSERT bf:f NOCREATE ITEMS a) == 1 ]]
		[[ $(as_app $name BF.CARD bf:f) == 1 ]]
		denied $name NOPERM BF.CARD f
		denied $name NOPERM BF.INSERT f NOCREATE ITEMS a
		denied $name NOPERM BF.MADD bf:f a
		denied $name NOPERM EVAL 'return 1' 0
	done
}

@test "redisbloom: a script may do no more than its user" {
	local no="ERR The user executing the script can't"
	for name in new old; do
		redis_acl $name app secret '~bf:*' +eval +bf.card +rename
		as_app $name EVAL "return redis.call('BF.CARD', KEYS[1])" 1 bf:f
		# A key that it names is looked at before, with other words.
		denied $name NOPERM EVAL 'return 1' 1 f
		denied $name "$no access at least one of the keys" \
			EVAL "return redis.call('BF.CARD', 'f')" 0
		denied $name "$no access at least one of the keys" \
			EVAL "return redis.call('RENAME', 'bf:f', 'f')" 0
		denied $name "$no run this command" \
			EVAL "return redis.call('BF.INFO', 'bf:f')" 0
	done
}

@test "redisbloom: its commands are in no category, all but the dangerous do" {
	for name in new old; do
		run ! redis_cli $name ACL SETUSER app +@bloom
		redis_acl $name app secret '~*' +@write +@read
		denied $name NOPERM BF.CARD f
		redis_acl $name app secret '~*' +@all -@dangerous
		[[ $(as_app $name BF.CARD f) == 0 ]]
		denied $name NOPERM INFO server
	done
}

# --- memory ---------------------------------------------------------------

@test "redisbloom: without memory, adding is OOM and reading is not" {
	both BF.RESERVE f 0.01 10 NONSCALING
	both BF.MADD f a
	both CONFIG SET maxmemory 1
	local oom="OOM command not allowed when used memory > 'maxmemory'."
	says "$oom" BF.INSERT f NOCREATE ITEMS b
	says "$oom" BF.RESERVE g 0.01 10 NONSCALING
	says "$oom" BF.LOADCHUNK g 1 x
	says 1 BF.EXISTS f a
	says OK RENAME f g
	says 1 DEL g
}

@test "redisbloom: a filter larger than what is left is made all the same" {
	for name in new old; do
		redis_cli $name CONFIG SET maxmemory \
			$(($(redis_info $name used_memory) + 1000000))
		redis_cli $name BF.RESERVE f 0.01 10000000 NONSCALING
		run ! redis_cli $name BF.INSERT f NOCREATE ITEMS a
		assert_has "$output" OOM
	done
}

# evicted NAME: it has thrown away a key.
evicted() {
	(($(redis_info "$1" evicted_keys) > 0))
}

@test "redisbloom: with allkeys-lru a filter goes as any key does" {
	for name in new old; do
		redis_cli $name CONFIG RESETSTAT
		for i in 0 1 2 3 4 5 6 7 8 9; do
			redis_cli $name BF.RESERVE "f$i" 0.01 1000000 NONSCALING
		done
		redis_cli $name CONFIG SET maxmemory-policy allkeys-lru \
			maxmemory $(($(redis_info $name used_memory) - 100000))
		wait_until evicted $name
		(($(redis_cli $name DBSIZE) < 10))
	done
}

# --- replicas -------------------------------------------------------------

@test "redisbloom: a replica has the filters, answers reads and refuses adds" {
	local no="READONLY You can't write against a read only replica."
	for name in new old; do
		redis_cli $name BF.RESERVE f 0.01 10 NONSCALING
		redis_cli $name BF.MADD f a b
	done
	redis_replica copy new
	[[ $(redis_cli copy BF.MEXISTS f a b c) == $'1\n1\n0' ]]
	[[ $(redis_cli copy BF.CARD f) == 2 ]]
	for command in 'BF.INSERT f NOCREATE ITEMS c' 'RENAME f g' \
		'BF.RESERVE g 0.01 10 NONSCALING' 'BF.LOADCHUNK g 1 x'; do
		# shellcheck disable=SC2086 # words
		run redis_cli copy $command
		[[ $status == 1 && $output == "$no"* ]]
	done
	# What is added later comes, too.
	redis_cli new BF.MADD f c
	wait_until copy_has c
}

# copy_has ITEM: the replica's filter.
copy_has() {
	[[ $(redis_cli copy BF.EXISTS f "$1") == 1 ]]
}
