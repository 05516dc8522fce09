#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Filters and the memory they are in: full ones, evicted ones, and a server
# that has none left.  What is live stays as it was, nothing incomplete takes
# its place, and the next build and swap do.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
	write_text rows.txt 1 60000
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/rows.txt .
	redis_cli main CONFIG SET maxmemory 0 maxmemory-policy noeviction \
		maxmemory-samples 64 >/dev/null
	begin_set
}

# room BYTES: so much memory is left from now on.
room() {
	redis_cli main CONFIG SET maxmemory \
		$(($(redis_info main used_memory) + $1)) >/dev/null
}

# enough: memory is no matter any more.
enough() {
	redis_cli main CONFIG SET maxmemory 0 >/dev/null
}

# others N [OPTION...]: keys that are nobody's of ours, of 10 kB each.
others() {
	# shellcheck disable=SC2016 # Lua
	redis_cli main EVAL 'for i = 1, ARGV[1] do
			redis.call("SET", "other:" .. redis.call("INCR", "n"),
				string.rep("x", 10000), unpack(ARGV, 2))
		end' 0 "$@"
}

# --- full ------------------------------------------------------------------

full() {
	server_live rows.csv
	on build "$@"
	assert_failure 80 build "is full: bucket " "with a capacity of 100 took"
	assert_has "$stderr" 'hint: give a larger --capacity'
	server_left_alone
	all_of rows.csv
	heals
}

@test "memory: a filter is full" {
	full -s file:more.csv --capacity 100
}

@test "memory: a filter is full, of two workers" {
	full -s file:rows.txt --input-format text --columns id,scope -j 2 \
		--capacity 100
}

@test "memory: a filter is full, of a source that comes in pieces" {
	write_csv a.csv 1 1000
	write_csv b.csv 1001 2000
	full -s 'file:?.csv' -j 2 --capacity 100
}

@test "memory: a filter is full only by the last row" {
	server_live rows.csv
	most=$("$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		<rows.csv | cut -f 3 | sort | uniq -c | sort -n | tail -n 1 |
		awk '{ print $1 }')
	on_ok build -q -s file:rows.csv --capacity "$((most + 1))"
	on build -q -s file:rows.csv --capacity "$((most - 30))"
	assert_failure 80 build "with a capacity of $((most - 30)) took"
}

# --- evicted ---------------------------------------------------------------

# evict_shadows: under allkeys-lru, by others' keys, until one is gone.
evict_shadows() {
	# What is freed behind its back would have a server evict on and on.
	redis_cli main CONFIG SET maxmemory-policy allkeys-lru \
		lazyfree-lazy-eviction no >/dev/null
	wait_until idle "$(shadow 0 "$building")"
	redis_cli main KEYS '*' | grep -v ":bloomctl:$building\$" |
		xargs redis-cli -s "$(redis_socket main)" TOUCH >/dev/null
	room 30000
	until (($(redis_cli main EXISTS "$(shadow 0 "$building")" \
		"$(shadow 1 "$building")" "$(shadow 2 "$building")" \
		"$(shadow 3 "$building")") < 4)); do
		others 1
	done
}

idle() {
	(($(redis_cli main OBJECT IDLETIME "$1") >= 2))
}

@test "memory: a shadow is evicted while it is built" {
	server_live rows.csv
	keys=500000 slow_build --lease 1s
	evict_shadows
	feed 4
	ends 73
	assert_one_sentence build 'evicted' 'keys since the build began'
	assert_has "$stderr" 'hint: give it more memory'
	enough
	all_of rows.csv
	heals
}

@test "memory: a shadow is evicted while it is built, and evictions are allowed" {
	server_live rows.csv
	keys=500000 slow_build --lease 1s --allow-eviction 1
	evict_shadows
	feed 4
	ends 73
	assert_one_sentence build 'is gone' 'evicted'
	enough
	all_of rows.csv
	on swap
	assert_failure 83 swap
	enough
	heals
}

# --- others' keys are evicted ----------------------------------------------

# evict_others: under volatile-lru, of keys that may go.
evict_others() {
	redis_cli main CONFIG SET maxmemory-policy volatile-lru >/dev/null
	room 60000
	until (($(redis_info main evicted_keys) > evicted)); do
		others 1 EX 1000
	done
}

@test "memory: others' keys are evicted while it is built" {
	server_live rows.csv
	evicted=$(redis_info main evicted_keys)
	slow_build --lease 1s
	evict_others
	feed 4
	ends 73
	assert_one_sentence build 'keys since the build began'
	assert_has "$stderr" '--allow-eviction if what it evicts may go'
	server_left_alone
	enough
	heals
}

@test "memory: others' keys may be evicted while it is built" {
	server_live rows.csv
	evicted=$(redis_info main evicted_keys)
	slow_build --lease 1s --allow-eviction 1
	evict_others
	feed 4
	ends 0
	next=$building
	server_left_alone
	on_ok swap -q
	live=$next
	server_answers
	all_of rows.csv
}

@test "memory: others' keys count as room if they may be evicted" {
	server_live rows.csv
	redis_cli main CONFIG SET maxmemory-policy volatile-lru >/dev/null
	others 50 EX 1000
	room 60000
	on build -q -s file:more.csv --keys 100000
	assert_failure 73 build 'the new generation takes'
	server_left_alone
	on_ok build -q -s file:more.csv --keys 100000 --allow-eviction 1
	on_ok swap -q
	all_of more.csv
}

# --- no memory -------------------------------------------------------------

@test "memory: there is not enough for a new generation, and nothing is written" {
	server_live rows.csv
	keys_now >before.keys
	room 5000
	for dry in '' -n; do
		# shellcheck disable=SC2086 # none or one
		on build $dry -q -s file:more.csv --keys 100000
		assert_failure 73 build 'the new generation takes' 'are left'
		assert_has "$stderr" 'hint: give it more memory'
		diff before.keys <(keys_now)
	done
	server_left_alone
	enough
	heals
}

evals() {
	redis_info main cmdstat_eval | sed 's/calls=\([0-9]*\).*/\1/'
}

evals_are() {
	(($(evals) >= $1))
}

@test "memory: it is used up while a generation is built" {
	server_live rows.csv
	slow_build --lease 1s
	redis_cli main CONFIG SET maxmemory 1 >/dev/null
	# The lock is kept meanwhile, far behind its lease.
	wait_until evals_are "$(($(evals) + 6))"
	lock_is phase building
	feed 4
	ends 73
	assert_one_sentence build "filter '{cards:" 'OOM'
	assert_has "$stderr" "hint: the server's maxmemory is used up"
	server_left_alone
	on build -q -s file:rows.csv
	assert_failure 73 build 'the new generation takes'
	enough
	heals
}

@test "memory: it is used up before a swap, and pruning makes room" {
	server_live rows.csv
	before=$live
	server_live rows.csv
	server_live rows.csv
	server_build more.csv
	next=$built
	redis_cli main CONFIG SET maxmemory 1 >/dev/null
	on swap
	assert_failure 73 swap 'OOM'
	redis_cli main KEYS '*' | grep -q "$before"
	on_ok swap -q --prune
	no_key_has "$before"
	server_answers
	enough
	on_ok swap -q
	all_of more.csv
}

@test "memory: it is used up in the middle of a swap" {
	cut_swap
	redis_cli main CONFIG SET maxmemory 1 >/dev/null
	goes_on 84
	assert_one_sentence swap ' of 64 filters, but ' 'OOM'
	assert_has "$stderr" 'hint: ' '; then run the same swap again'
	mixed
	on swap
	assert_failure 84 swap OOM
	mixed
	enough
	on swap
	assert_status 0
	assert_has "$output" 'an earlier swap is finished'
	all_of more.csv
}
