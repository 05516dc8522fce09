#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The guards of a swap: what is changed between its checks and its renames is
# found by the script that renames, and said in words of its own.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 500
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

# stop_at N OPTION...: a swap that is stopped before its N-th send; status 1: it
# has ended before.
stop_at() {
	LD_PRELOAD=$BUILD/fault.so FAULT=send:$1:stop \
		"$BLOOMCTL" swap -q -k cards.keyspec -t "$target" "${@:2}" \
		>said.out 2>said.err 3>&- &
	pid=$!
	wait_until stopped_or_gone "$pid"
	kill -0 "$pid" 2>/dev/null && stopped "$pid"
}

# moving GENERATION: its swap has checked everything, and begins.
moving() {
	[[ $(redis_cli main GET "bloomctl:{$set}:moving") == "$1" ]]
}

# claimed: its first filter is claimed.
claimed() {
	[[ $(state_of 0 fence) == "$(redis_cli main HGET \
		"bloomctl:{$set}:lock" fence)" ]]
}

# begin_swap: an empty server with $live, and a swap to $next that is stopped
# behind its checks, before anything is claimed; $pid.  $word is what it shall
# hear, $sends how many sends it took the last time: the lock's thread sends when
# it likes.
begin_swap() {
	local tries
	for ((tries = 0; tries < 60; tries++)); do
		begin_set
		server_live rows.csv
		server_build rows.csv
		next=$built
		# Before the swap: later it would be another one's.
		[[ $word != unknown ]] ||
			redis_cli main DEL "{cards:0}:bloomctl" >/dev/null
		if ! stop_at "$sends"; then
			sends=$((sends - 2))
		elif ! moving "$next"; then
			sends=$((sends + 1))
		elif claimed; then
			sends=$((sends - 1))
		else
			return 0
		fi
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	fail "it never stopped there"
}

# What is done meanwhile, by the word that the script answers: the exit status,
# what is said, and the commands, where F is the live filter of bucket 0, N the
# one that is to come and O the place of the live one when it is old.
guards() {
	cat <<-'END'
		fence	82	a newer run, with fence 9000000000000000	HSET F:bloomctl fence 9000000000000000
		fence	82	a newer run, with fence 9000000000000000	HSET N:state fence 9000000000000000
		keyspec	83	live, of another keyspec, fingerprint 0123abcd	HSET F:bloomctl fingerprint 0123abcd0123abcd
		type	83	a key of type 'string' has its name	SET cards:0 x
		live	83	changed meanwhile: '20200101T000000Z-0000' is live	HSET F:bloomctl generation 20200101T000000Z-0000
		missing	83	live by its state, and missing	HSET F:bloomctl generation ID;DEL cards:0
		unknown	83	live, and not built by bloomctl	TIME
		shadow	83	missing: evicted, expired or deleted since it was built	DEL N
		shadow	83	a key of type 'string' has its name	SET N x
		state	83	its state is missing	DEL N:state
		state	83	of another generation, '20200101T000000Z-0000'	HSET N:state generation 20200101T000000Z-0000
		state	83	its state is missing	HDEL N:state sealed
		ttl	83	somebody gave it a time to live	EXPIRE N 1000
		items	83	fewer than when it was built	HSET N:state items 999999
		old	83	the name it would be kept under	SET O x
	END
}

# change COMMANDS: see guards().
change() {
	local commands=$1 one base='{cards:0}'
	commands=${commands//F:/$base:}
	commands=${commands//N/$base:bloomctl:$next}
	commands=${commands//SET O /SET $base:bloomctl:$live }
	commands=${commands//ID/$next}
	while read -r -d ';' one; do
		# shellcheck disable=SC2086 # words
		redis_cli main $one >/dev/null || return
	done <<<"$commands;"
}

# passes.bats has the horizon, which takes a pass.
@test "guards: each word of the script that promotes is asked for and told" {
	local script
	script=$(sed -n '/\[SCRIPT_PROMOTE\] =/,/\[SCRIPT_DROP\] =/p' \
		"$BATS_TEST_DIRNAME/../../lib/store/script.c")
	grep -o "return {'[a-z]*'" <<<"$script" | cut -d "'" -f 2 |
		grep -vx 'ok\|already\|horizon' | sort -u >words
	[[ -s words ]]
	diff words <(guards | cut -f 1 | sort -u)
}

@test "guards: what changes behind the checks of a swap moves nothing, and is told" {
	need_fault
	local word want said commands b sends=15
	while IFS=$'\t' read -r word want said commands <&4; do
		begin_swap || return
		change "$commands"
		kill -CONT "$pid"
		ends "$want"
		assert_has "$stderr" "filter '" "$said"
		for b in 1 2 3; do
			[[ $(state_of $b generation) == "$live" ]] ||
				fail "$word: bucket $b is moved" || return
		done
	done 4< <(guards)
}
