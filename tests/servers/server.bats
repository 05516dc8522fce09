#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that works on dir:, on a server.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
	write_csv few.csv 1 100
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

@test "server: the first build, swap, inspect, verify and lookup" {
	on_ok build -s file:rows.csv --receipt built.json
	assert_has "$output" "generation '" 'is complete: 2,000 rows in 4 filters'
	assert_json built.json '.status == 0' '.sent == 2000' \
		'.acknowledged == 2000' '.rows == 2000'
	[[ $(redis_cli main EXISTS cards:0) == 0 ]]
	on_ok inspect
	assert_has "$output" 'none is live'
	on_ok swap
	assert_has "$output" 'is live, 2,000 rows; before it: none'
	live=$(json .generation built.json)
	server_answers
	on_ok inspect --format json
	printf '%s\n' "$output" >inspected.json
	assert_json inspected.json '.rows == 2000' '(.buckets | length) == 4' \
		'[.buckets[].items] | add > 1990' ".engine == \"${engine:-redisbloom}\""
	on_ok verify -s file:rows.csv
	assert_has "$output" '2,000 rows are found'
	on lookup -q 1 m:1
	assert_status 0
	on lookup -q 999999 nobody
	assert_status 1
	on verify -q -s file:more.csv
	assert_status 81
}

@test "server: names are those of the protocol, and nothing else is there" {
	server_build rows.csv
	diff <(keys_now) - <<-END
		bloomctl:{$set}:fence
		bloomctl:{$set}:generations
		bloomctl:{$set}:manifest:$built
		{cards:0}:bloomctl:$built
		{cards:0}:bloomctl:$built:state
		{cards:1}:bloomctl:$built
		{cards:1}:bloomctl:$built:state
		{cards:2}:bloomctl:$built
		{cards:2}:bloomctl:$built:state
		{cards:3}:bloomctl:$built
		{cards:3}:bloomctl:$built:state
	END
	on_ok swap -q
	diff <(keys_now) - <<-END
		bloomctl:{$set}:fence
		bloomctl:{$set}:generations
		bloomctl:{$set}:manifest:$built
		cards:0
		cards:1
		cards:2
		cards:3
		{cards:0}:bloomctl
		{cards:1}:bloomctl
		{cards:2}:bloomctl
		{cards:3}:bloomctl
	END
}

@test "server: swap keeps the generation before, rollback returns to it" {
	server_live rows.csv
	first=$live
	server_live more.csv
	before=$first
	server_left_alone
	[[ $(redis_cli main EXISTS "{cards:0}:bloomctl:$first") == 1 ]]
	on_ok verify -q -s file:more.csv
	on_ok swap --rollback
	assert_has "$output" "generation '$first' is live"
	live=$first before=$built
	server_left_alone
	on verify -q -s file:more.csv
	assert_status 81
	on_ok swap -q --rollback -g "$built"
	live=$built before=$first
	server_left_alone
}

@test "server: prune removes what nobody needs, filters and records" {
	server_live rows.csv
	first=$live
	server_live rows.csv
	second=$live
	server_live rows.csv
	on_ok swap --prune
	assert_has "$output" "generation '$first' (old) is removed"
	no_key_has "$first"
	export before=$second
	server_left_alone
	on_ok swap --prune --keep 0
	assert_stdout_is 'nothing to remove'
}

@test "server: an empty bucket has a filter with the sentinel" {
	head -n 2 rows.csv >one.csv
	server_live one.csv
	for b in 0 1 2 3; do
		[[ $(redis_cli main BF.EXISTS "cards:$b" \
			"$("$BLOOMCTL" key -k cards.keyspec --sentinel)") == 1 ]]
	done
	on_ok verify -q -s file:one.csv
}

@test "server: fewer rows than are plausible are not promoted" {
	server_live rows.csv
	server_build few.csv
	next=$built
	on swap
	assert_failure 83 swap '100 rows, less than 80 %'
	server_left_alone
	on_ok swap -q --allow-shrink
}

@test "server: a dry run changes nothing" {
	server_live rows.csv
	keys_now >before.keys
	on_ok build -q -n -s file:more.csv
	on_ok build -n -s file:more.csv --keys 3000
	assert_has "$output" 'nothing was written'
	diff before.keys <(keys_now)
	server_build more.csv
	keys_now >before.keys
	on_ok swap -n
	assert_has "$output" 'would be live' 'nothing was moved'
	on_ok swap --prune -n
	diff before.keys <(keys_now)
}

@test "server: another run holds the lock, and who that is" {
	server_live rows.csv
	slow_build
	for command in "build -s file:rows.csv" swap "swap --prune" \
		"swap -n" "build -n -s file:rows.csv"; do
		# shellcheck disable=SC2086 # words
		on $command
		assert_failure 82 "${command%% *}" \
			"set '$set': locked by build, pid"
	done
	on_ok inspect
	assert_has "$output" 'build, pid' building
	on_ok verify -q -s file:rows.csv
	feed 4
	ends 0
	export next
	next=$(other_than "$live")
	server_left_alone
}

@test "server: an owner with a long name is cut between characters" {
	local x host
	server_live rows.csv
	host=$(printf '\303\251%.0s' {1..200})
	for x in '' x; do
		redis_cli main HSET "bloomctl:{$set}:lock" token t command build \
			host "$x$host" >/dev/null
		on inspect --format json
		assert_status 0
		printf '%s\n' "$output" >inspected.json
		assert_json inspected.json '.lock.held | startswith("build, pid")'
	done
}

@test "server: SIGTERM ends a build with 143, and leaves nothing" {
	server_live rows.csv
	slow_build
	kill -TERM "$pid"
	ends 143
	feed 999999
	server_left_alone
	on_ok inspect
	assert_has "$output" aborted
}

@test "server: a killed build is removed by the next one" {
	server_live rows.csv
	slow_build --lease 1s
	kill -KILL "$pid"
	wait "$pid" || :
	feed 999999
	dead=$(other_than "$live")
	wait_until lock_gone
	on_ok inspect
	assert_has "$output" "$dead" aborted
	on build -s file:rows.csv
	assert_status 0
	assert_has "$stderr" "removed abandoned generation '$dead'"
	no_key_has "$dead"
}

@test "server: a keyspec of another meaning may not take the names" {
	server_live rows.csv
	write_keyspec cards.keyspec buckets=4 key='card:{id}'
	cut -d , -f 1 rows.csv >ids.csv
	on_ok build -q -s file:ids.csv --columns id --header
	on swap
	assert_failure 83 swap "filter 'cards:" ': live, of another keyspec'
	write_keyspec cards.keyspec
	server_answers
}

@test "server: filters that bloomctl did not build are not replaced" {
	redis_cli main BF.RESERVE cards:2 0.01 100 >/dev/null
	on_ok build -q -s file:rows.csv
	on swap
	assert_failure 83 swap "filter 'cards:2': live, and not built by bloomctl"
	[[ $(keys_now | grep -x 'cards:.') == cards:2 ]]
}

@test "server: a key of another type under a live name is not replaced" {
	redis_cli main SET cards:1 mine >/dev/null
	on_ok build -q -s file:rows.csv
	on swap
	assert_failure 83 swap "filter 'cards:1': a key of type 'string' has its name"
	[[ $(redis_cli main GET cards:1) == mine ]]
	[[ $(keys_now | grep -x 'cards:.') == cards:1 ]]
}

@test "server: an engine that the server is not is refused" {
	local ours=${engine:-redisbloom} other=valkey-bloom
	[[ $ours != "$other" ]] || other=redisbloom
	on build -s file:rows.csv --engine "$other"
	assert_failure 64 build "are of $ours"
	on_ok build -q -s file:rows.csv --engine "$ours"
}

@test "server: ten thousand filters" {
	write_keyspec cards.keyspec buckets=10000
	on_ok build -q -s file:rows.csv
	on_ok swap
	on_ok verify -q -s file:rows.csv
	on_ok inspect --format csv
	((${#lines[@]} == 10001))
}

@test "server: workers share the rows, and nothing is lost" {
	write_text rows.txt 1 20000
	on_ok build -q -j 4 --input-format text --columns id,scope \
		-s file:rows.txt --receipt built.json
	assert_json built.json '.acknowledged == 20000'
	on_ok swap -q
	on_ok verify -q -j 4 --input-format text --columns id,scope \
		-s file:rows.txt
}

# asked: something was asked of a filter.
asked() {
	redis_cli main INFO commandstats | grep -qi '^cmdstat_bf.mexists:'
}

@test "server: a swap in the middle of a verification ends that with 75" {
	server_live more.csv
	before=$live
	server_build rows.csv
	next=$built
	redis_cli main CONFIG RESETSTAT >/dev/null
	mkfifo slow
	"$BLOOMCTL" verify -q -k cards.keyspec -t "$target" --no-trailer -s - \
		<slow >said.out 2>said.err 3>&- &
	pid=$!
	exec {feed}>slow
	# More than a batch has room for.
	{ echo id,scope; for _ in {1..20}; do tail -n +2 more.csv; done; } \
		>&"$feed"
	wait_until asked
	on_ok swap -q --allow-shrink
	tail -n +2 more.csv >&"$feed"
	exec {feed}>&-
	ends 75
	assert_has "$stderr" "generation '$before': a swap moved its filters" \
		'hint: run it again'
	on_ok verify -q -s file:rows.csv
	on_ok verify -q -s file:more.csv -g "$before"
}

@test "server: the list of generations is lost, and the way back is not" {
	server_live rows.csv
	before=$live
	server_live more.csv
	redis_cli main DEL "bloomctl:{$set}:generations" >/dev/null
	on_ok inspect
	assert_has "$output" "$before" "$live"
	on_ok swap -q --rollback
	live=$before before=$built
	export before
	server_left_alone
	on_ok verify -q -s file:rows.csv
}

@test "server: states have the fields that the manual lists" {
	server_live rows.csv
	before=$live
	server_live rows.csv
	sed -n '/^\.Ss States/,/^\.Ss Lock/s/^\.It Va //p' \
		"$BATS_TEST_DIRNAME/../../man/bloomctl-protocol.7" |
		sed 's/ , /\n/g' | sort >listed
	[[ $(wc -l <listed) == 13 ]]
	# A file has no horizon; pgrows.bats has filters that have one.
	redis_cli main HKEYS "{cards:0}:bloomctl:$before:state" | sort |
		diff <(grep -vx horizon listed) -
	# Which says when it ceased to be live, as this one has not.
	redis_cli main HKEYS '{cards:0}:bloomctl' | sort |
		diff <(grep -vx -e horizon -e retired listed) -
}
