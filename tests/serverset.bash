# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# serverset: the set `cards` on a Redis server, for Bats files, after helpers
# and redis.
#
#	setup_file() { begin_file && redis_start main; }
#	setup() { begin && begin_set; }
#
# Each test has the server to itself: begin_set() empties it.  $target is the
# server as bloomctl names it, $set the name of the set.

# begin_set [NAME]: an empty server, and what tests name it by.
begin_set() {
	server=${1:-main}
	redis_cli "$server" FLUSHALL >/dev/null
	target=redis://127.0.0.1:$(redis_port "$server")
	set=cards-$("$BLOOMCTL" key -k cards.keyspec --fingerprint | cut -c 1-8)
}

# on COMMAND OPTION...: bloomctl COMMAND on the set.
on() {
	bloomctl_run "$1" -k cards.keyspec -t "$target" "${@:2}"
}

# on_ok COMMAND OPTION...: it succeeds and has no complaint.
on_ok() {
	on "$@"
	assert_status 0
	assert_stderr_is ''
}

# server_build FILE [OPTION...]: a generation of `cards`; $built is its id.
server_build() {
	on_ok build -q -s "file:$1" --receipt built.json "${@:2}"
	built=$(json .generation built.json)
}

# server_live FILE [OPTION...]: the same, promoted; $live is its id.
server_live() {
	server_build "$@"
	on_ok swap -q -g "$built" --allow-shrink
	live=$built
}

# state_of BUCKET FIELD: of the live filter's state.
state_of() {
	redis_cli "$server" HGET "{cards:$1}:bloomctl" "$2"
}

# keys_now: all keys of the server, sorted.
keys_now() {
	redis_cli "$server" KEYS '*' | sort
}

# server_answers: readers find 1 and 100, and not 999999; $live is what they
# get, in all filters.
server_answers() {
	local b found
	for b in 0 1 2 3; do
		[[ $(state_of "$b" generation) == "$live" ]] ||
			fail "bucket $b is not of $live" || return
	done
	for found in "1 1 m:1" "1 100 m:2" "0 999999 nobody"; do
		read -r want id scope <<<"$found"
		filter=$("$BLOOMCTL" key -k cards.keyspec --format json \
			"$id" "$scope" | jq -r .filter)
		[[ $(redis_cli "$server" BF.EXISTS "$filter" \
			"card:$id:$scope") == "$want" ]] ||
			fail "$id $scope is not answered by $want" || return
	done
}

# server_left_alone: what is live answers, nobody holds the lock, and there are
# no filters but its own and those of $next.
server_left_alone() {
	local stray
	server_answers || return
	[[ $(redis_cli "$server" EXISTS "bloomctl:{$set}:lock") == 0 ]] ||
		fail "the lock is held" || return
	stray=$(keys_now | grep '}:bloomctl:' | grep -v "${next:-none}" |
		grep -v "${before:-none}" || :)
	[[ -z $stray ]] || fail "left behind: $stray"
}
