#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Filters that somebody deletes, replaces or lets expire: shadows while they
# are built, before they are promoted and between, and what is live.  Nothing
# incomplete takes its place, and the next build and swap do.
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

# --- deleted, replaced, expiring -------------------------------------------

# spoils STATUS TEXT COMMAND...: done to a build that is under way, it ends so.
spoils() {
	slow_build --lease 1s
	"${@:3}" >/dev/null
	feed 4
	ends "$1"
	assert_one_sentence build "$2"
	assert_has "$stderr" 'hint: '
	server_left_alone
}

to_shadow() {
	redis_cli main "$1" "$(shadow 1 "$building")${suffix-}" "${@:2}"
}

anew() {
	to_shadow DEL
	to_shadow BF.RESERVE 0.01 "$1" NONSCALING
}

@test "lost: a shadow is not what it was, while it is built" {
	server_live rows.csv
	spoils 74 "it is gone: deleted" to_shadow DEL
	spoils 74 'gave it a time to live' to_shadow EXPIRE 1000
	spoils 74 'it is gone: deleted' to_shadow PEXPIRE 1
	spoils 74 'WRONGTYPE' to_shadow SET mine
	spoils 81 'items' anew 5000
	suffix=:state
	spoils 74 'its state is gone: deleted' to_shadow DEL
	spoils 74 "of another generation, 'mine'" to_shadow HSET generation mine
	heals
}

# unfit STATUS TEXT COMMAND...: done to a generation that is complete, it is
# not promoted.
unfit() {
	server_build more.csv --capacity 2000
	next=$built building=$built
	"${@:3}" >/dev/null
	on swap
	assert_failure "$1" swap "$2"
	assert_has "$stderr" 'hint: '
	on swap -n
	assert_status "$1"
	server_answers
	all_of rows.csv
}

another() {
	redis_cli main RENAME "$(shadow 1 "$other")" "$(shadow 1)"
}

@test "lost: a shadow is not what it was, before it is promoted" {
	server_live rows.csv
	unfit 74 'it is missing' to_shadow DEL
	unfit 83 'it has a TTL' to_shadow EXPIRE 1000
	redis_cli main PERSIST "$(shadow 1)" >/dev/null
	on_ok swap -q -g "$built" -n
	unfit 74 "a key of type 'string'" to_shadow SET mine
	unfit 74 'capacity' anew 5000
	unfit 74 'items, fewer than' anew 2000
	server_build rows.csv --capacity 2000
	other=$built
	unfit 74 'items, fewer than' another
	server_build more.csv --capacity 3000
	other=$built
	unfit 74 'capacity' another
	suffix=:state
	unfit 74 'state is missing' to_shadow DEL
	unfit 74 'of another generation' to_shadow HSET generation mine
	unfit 74 'not finished' to_shadow HDEL sealed
	heals
}

@test "lost: a shadow expires, or is lost, in the middle of a swap" {
	cut_swap
	key=$(shadow 63)
	redis_cli main EXPIRE "$key" 1000 >/dev/null
	goes_on 84
	assert_one_sentence swap 'a time to live'
	assert_has "$stderr" 'hint: take the TTL away (PERSIST)'
	mixed
	redis_cli main PERSIST "$key" >/dev/null
	redis_cli main RENAME "$key" "$key:away" >/dev/null
	on swap
	assert_failure 84 swap ' of 64 filters, but ' 'missing: evicted'
	assert_has "$stderr" 'hint: build and swap a new generation'
	mixed
	redis_cli main RENAME "$key:away" "$key" >/dev/null
	on_ok swap -q
	[[ $(moved "$next") == 64 ]]
	all_of more.csv
}

lose_in_swap() {
	cut_swap
	redis_cli main DEL "$(shadow 63)" >/dev/null
	goes_on 84
	mixed
	on inspect
	assert_status 74
}

@test "lost: a shadow is lost in the middle of a swap, a new generation heals it" {
	lose_in_swap
	server_build more.csv
	on_ok swap -q
	[[ $(moved "$built") == 64 ]]
	all_of more.csv
	on_ok verify -q -s file:more.csv
	on_ok inspect -q
}

@test "lost: a shadow is lost in the middle of a swap, a rollback heals it" {
	lose_in_swap
	on_ok swap -q --rollback
	[[ $(moved "$live") == 64 ]]
	all_of rows.csv
	on_ok inspect -q
	server_build more.csv
	on_ok swap -q
	all_of more.csv
}

# --- what is live ----------------------------------------------------------

# blind TEXT: readers of a filter are told that its answers mean nothing, and
# which it is.
blind() {
	local row
	on inspect
	assert_status 74
	assert_has "$stderr" "$1"
	on inspect --format json
	printf '%s\n' "$output" >inspected.json
	on verify -q -s file:rows.csv
	assert_failure 74 verify "filter 'cards:2'"
	row=$("$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		<rows.csv | awk '$3 == 2 { print NR + 1; exit }')
	mapfile -t -d , row < <(sed -n "${row}p" rows.csv | tr -d '\n')
	on lookup -q "${row[@]}"
	assert_failure 74 lookup "filter 'cards:2'"
	assert_has "$stderr" 'hint: readers of it must pass through'
}

@test "lost: a live filter is lost, and a new generation heals it" {
	server_live rows.csv
	redis_cli main DEL cards:2 >/dev/null
	blind "filter 'cards:2': it is missing"
	assert_json inspected.json '.missing == [2]'
	heals
}

@test "lost: a live filter is lost with its state, and a new generation heals it" {
	server_live rows.csv
	redis_cli main DEL cards:2 '{cards:2}:bloomctl' >/dev/null
	blind "filter 'cards:2': it is missing"
	assert_json inspected.json '.missing == [2]'
	heals
}

@test "lost: all live filters are lost, and a new generation heals them" {
	server_live rows.csv
	local b
	for b in 0 1 2 3; do
		redis_cli main DEL "cards:$b" "{cards:$b}:bloomctl"
	done
	on lookup -q 1 m:1
	assert_failure 83 lookup 'no live generation'
	heals
}

@test "lost: a live filter is made anew by a writer, and a new generation heals it" {
	server_live rows.csv
	redis_cli main DEL cards:2 >/dev/null
	redis_cli main BF.ADD cards:2 mine >/dev/null
	blind "filter 'cards:2': a filter of capacity 100"
	assert_json inspected.json '.foreign == [2]'
	heals
}

@test "lost: the state of a live filter is lost: it is not taken for ours" {
	server_live rows.csv
	redis_cli main DEL '{cards:2}:bloomctl' >/dev/null
	blind "filter 'cards:2': its state is missing"
	server_build more.csv
	on swap
	assert_failure 83 swap "filter 'cards:2': live, and not built by bloomctl"
	assert_has "$stderr" 'hint: let its readers pass through'
	redis_cli main RENAME cards:2 '{cards:2}:mine' >/dev/null
	heals
}

@test "lost: another key has the name of a live filter, or of its state" {
	server_live rows.csv
	redis_cli main SET cards:2 mine >/dev/null
	blind "a key of type 'string'"
	server_build more.csv
	on swap
	assert_failure 83 swap "filter 'cards:2': a key of type 'string'"
	[[ $(redis_cli main GET cards:2) == mine ]]
	redis_cli main DEL cards:2 >/dev/null
	redis_cli main SET '{cards:2}:bloomctl' mine >/dev/null
	for command in inspect swap 'build -s file:more.csv'; do
		# shellcheck disable=SC2086 # words
		on $command
		assert_failure 74 "${command%% *}" \
			"state '{cards:2}:bloomctl': WRONGTYPE"
		assert_has "$stderr" 'hint: somebody has made another key'
	done
	redis_cli main DEL '{cards:2}:bloomctl' >/dev/null
	heals
}

# --- all is lost -----------------------------------------------------------

@test "lost: all is flushed while a generation is built" {
	server_live rows.csv
	slow_build --lease 1s
	redis_cli main FLUSHALL >/dev/null
	feed 4
	ends 75
	assert_one_sentence build 'its lock was lost on the server'
	assert_has "$stderr" 'hint: '
	on inspect
	assert_failure 66 inspect
	heals
}

@test "lost: all is flushed before a swap" {
	server_build rows.csv
	redis_cli main FLUSHALL >/dev/null
	on swap
	assert_failure 66 swap "set '$set': not there"
	heals
}
