#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl rebuild: one command for a schedule.  It does what its steps do,
# under one lock, and whatever fails before the swap leaves what is live.
# shellcheck disable=SC2016 # hooks are expanded by their own shell
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 1000
	write_csv more.csv 1 1010
	bloomctl_ok rebuild -q -k cards.keyspec -t dir:t -s file:rows.csv --static
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/*.csv .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	rebuild=(rebuild -k cards.keyspec -t dir:t --static)
}

# states: of all generations, oldest first, one word each.
states() {
	"$BLOOMCTL" inspect -k cards.keyspec -t dir:t --format json |
		jq -r '[.generations[].state] | reverse | join(" ")'
}

# assert_live_is ID: readers get it, and find what they should.
assert_live_is() {
	[[ $(live_of) == "$1" ]] || fail "live is $(live_of) and not $1"
	assert_answers
	flock -n "$set/lock" true || fail "the lock is held"
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

@test "rebuild: the first makes the set and its folder, and says so in one line" {
	rm -r t
	bloomctl_ok "${rebuild[@]}" -s file:rows.csv --receipt got.json
	[[ $(wc -l <<<"$output") == 1 ]]
	live=$(live_of)
	assert_has "$output" "set 'cards-a2bfa51c': generation '$live' is live" \
		'1,000 rows in 4 filters' 'before it: none' \
		'all 1,000 rows asked for are found'
	assert_json got.json '.command == "rebuild"' '.status == 0' \
		'.message == null' '.step == null' ".generation == \"$live\"" \
		'.previous == null' '.rows == 1000' '.keys == 1000' \
		'.sent == 1000' '.acknowledged == 1000' '.missing == 0' \
		'.absent == 100000' '.source.names == "file:rows.csv"' \
		'.dry_run == false'
	assert_live_is "$live"
}

@test "rebuild: the next takes its place, and the one before stays" {
	bloomctl_ok "${rebuild[@]}" -q -s file:more.csv --receipt got.json
	assert_stdout_is ''
	assert_json got.json ".previous == \"$live\"" '.rows == 1010'
	[[ $(states) == 'old live' ]]
	assert_live_is "$(json .generation got.json)"
	assert_answers -g "$live"
}

@test "rebuild: it removes what nobody needs, and never the one before the live one" {
	local first=$live second
	bloomctl_ok "${rebuild[@]}" -q -s file:more.csv
	second=$(live_of)
	# A third is aborted, and a fourth is live; --keep 0 spares the second.
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv --capacity 9
	assert_status 80
	[[ $(states) == 'old live aborted' ]]
	bloomctl_ok "${rebuild[@]}" -q -s file:rows.csv --keep 0
	# The first was the one before the live one when it was pruned.
	[[ $(states) == 'old old live' && -d $set/$first ]]
	bloomctl_ok "${rebuild[@]}" -q -s file:rows.csv --keep 0
	[[ $(states) == 'old old live' && ! -d $set/$first && -d $set/$second ]]
}

@test "rebuild: without a word on what is committed meanwhile it is 64, before a row is read" {
	remember_tree
	bloomctl_run rebuild -k cards.keyspec -t dir:t -s 'exec:touch ran'
	assert_failure 64 rebuild 'no database'
	assert_has "$stderr" '--static' '--horizon'
	bloomctl_run "${rebuild[@]}" -s file:rows.csv \
		--horizon 2026-01-01T00:00:00Z
	assert_failure 64 rebuild '--static and --horizon'
	[[ ! -e ran ]]
	assert_tree_unchanged
}

@test "rebuild: a step that fails is named, and so is what stays live" {
	remember_tree
	bloomctl_run "${rebuild[@]}" -s 'exec:cat rows.csv; exit 3' --keys 2000 \
		--receipt got.json
	assert_failure 74 rebuild "step 'build': command" "'$live' stays live"
	assert_json got.json '.status == 74' '.step == "build"' \
		'.message | startswith("step ")'
	assert_live_is "$live"
	[[ $(states) == 'live aborted' ]]
	# With far fewer rows it is complete, and not promoted.
	write_csv few.csv 1 100
	bloomctl_run "${rebuild[@]}" -s file:few.csv --receipt got.json
	assert_failure 83 rebuild "step 'swap': generation" \
		"'$(json .generation got.json)' is complete" "'$live' stays live"
	assert_json got.json '.step == "swap"' '.rows == 100'
	[[ $(states) == 'live complete' ]]
	assert_live_is "$live"
	bloomctl_ok "${rebuild[@]}" -q -s file:few.csv --allow-shrink
	[[ $(states) == 'old complete live' ]]
}

@test "rebuild: where nothing is live a failure says so" {
	rm -r t
	bloomctl_run "${rebuild[@]}" -s 'exec:exit 3' --keys 10
	assert_failure 74 rebuild "step 'build'" 'nothing is live'
}

@test "rebuild: a broken record of the live generation is what it mends" {
	echo broken >"$set/$live/manifest.json"
	bloomctl_run "${rebuild[@]}" -q -s file:rows.csv --allow-shrink
	assert_status 0
	[[ $(live_of) != "$live" ]]
	assert_live_is "$(live_of)"
}

@test "rebuild: it finishes a swap that was cut short behind its rename" {
	build_csv more.csv
	# Readers have the new one, and both manifests are behind.
	ln -sfn "$built" "$set/live"
	bloomctl_run "${rebuild[@]}" -s file:more.csv
	assert_status 0
	assert_has "$stderr" 'an earlier swap is finished'
	[[ $(states) == 'old old live' ]]
	assert_json "$set/$built/manifest.json" '.state == "old"' \
		'.promoted != null' '.retired != null'
	assert_live_is "$(live_of)"
}

@test "rebuild: another run is 82, and one sentence" {
	hold_lock "$set"
	bloomctl_run "${rebuild[@]}" -s file:rows.csv
	assert_failure 82 rebuild
	bloomctl_run "${rebuild[@]}" -s file:rows.csv -n
	assert_failure 82 rebuild
	release_lock
	assert_live_is "$live"
}

@test "rebuild: others see that it holds the lock from the first step to the last" {
	# shellcheck disable=SC2031 # in the hook
	bloomctl_run "${rebuild[@]}" -q -s file:rows.csv --before-swap "
		echo \$PPID >pid
		$BLOOMCTL build -q -k cards.keyspec -t dir:t -s file:rows.csv \
			2>said || echo \$? >status
		$BLOOMCTL inspect -k cards.keyspec -t dir:t >seen"
	assert_status 0
	[[ $(<status) == 82 ]]
	assert_has "$(<said)" "locked by rebuild, pid $(<pid)"
	# What only reads needs no lock.
	[[ -s seen ]]
	[[ $(live_of) != "$live" ]]
	assert_live_is "$(live_of)"
}

@test "rebuild: a dry run looks at both ends, runs no hook and writes nothing" {
	remember_tree
	bloomctl_ok "${rebuild[@]}" -s file:rows.csv -n --before-swap 'touch ran' \
		--after 'touch ran' --receipt got.json
	assert_has "$output" 'would build 4 filters' 'nothing was written'
	assert_json got.json '.dry_run' '.sent == 0'
	[[ ! -e ran ]]
	bloomctl_run "${rebuild[@]}" -s file:rows.csv -n --capacity 10
	assert_failure 80 rebuild "step 'build'" "'$live' stays live"
	assert_tree_unchanged
	bloomctl_ok rebuild -k cards.keyspec -t dir:none -s file:rows.csv -n --static
	assert_has "$output" 'in a target that would be made'
	[[ ! -e none ]]
}

@test "rebuild: rows that can be read only once are not asked for again" {
	bloomctl_run "${rebuild[@]}" -s 'exec:cat rows.csv' --keys 1000
	assert_status 0
	assert_has "$stderr" 'read only once'
	assert_lacks "$output" 'asked for'
	bloomctl_run "${rebuild[@]}" -s 'exec:cat rows.csv'
	assert_failure 64 rebuild "step 'build'" '--capacity auto'
}

# --- hooks ------------------------------------------------------------------

@test "rebuild: hooks read the receipt, of what is done by then" {
	bloomctl_run "${rebuild[@]}" -q -s file:more.csv --receipt got.json \
		--before-swap 'cat >before.json; echo out; echo err >&2' \
		--after 'cat >after.json; cp got.json had.json'
	assert_status 0
	# What they print is no answer of ours.
	assert_stdout_is ''
	[[ $stderr == *out*err* ]]
	assert_json before.json '.command == "rebuild"' '.status == 0' \
		'.step == "swap"' '.rows == 1010' ".previous == \"$live\""
	assert_json after.json '.status == 0' '.step == null' '.absent == 100000'
	# The receipt is there when --after runs, and is the same but for the end.
	diff <(jq 'del(.ended)' after.json) <(jq 'del(.ended)' got.json)
	diff had.json got.json
	[[ $(json .generation before.json) == $(live_of) ]]
}

@test "rebuild: before --before-swap says yes nothing has moved, and the new one can be asked" {
	bloomctl_run "${rebuild[@]}" -q -s file:more.csv --before-swap '
		id=$(jq -r .generation)
		readlink t/*/live >was
		'"$BLOOMCTL"' verify -q -k cards.keyspec -t dir:t \
			-s file:more.csv -g "$id"
		echo asked >asked'
	assert_status 0
	[[ $(<was) == "$live" && $(<asked) == asked ]]
	[[ $(live_of) != "$live" ]]
}

@test "rebuild: --before-swap that fails is 81, nothing moves, and the generation can be promoted" {
	bloomctl_run "${rebuild[@]}" -s file:more.csv --receipt got.json \
		--before-swap 'exit 3' --after 'cat >after.json'
	local id
	id=$(json .generation got.json)
	assert_failure 81 rebuild "step 'swap': hook --before-swap: it failed with status 3" \
		"'$id' is complete" "'$live' stays live"
	assert_has "$stderr" "swap -g $id"
	assert_json after.json '.status == 81' '.step == "swap"'
	assert_live_is "$live"
	[[ $(states) == 'live complete' ]]
	bloomctl_ok swap -q -k cards.keyspec -t dir:t -g "$id" --static
	assert_live_is "$id"
}

@test "rebuild: --before-swap is not run where a check has failed" {
	write_csv few.csv 1 100
	bloomctl_run "${rebuild[@]}" -s file:few.csv --before-swap 'touch ran'
	assert_failure 83 rebuild
	[[ ! -e ran ]]
}

@test "rebuild: --after is run after a failure, too, and changes no status of one" {
	bloomctl_run "${rebuild[@]}" -s file:none.csv --after 'cat >after.json; exit 9'
	assert_status 66
	assert_has "$stderr" 'warning: hook --after: it failed with status 9'
	assert_json after.json '.status == 66' '.message | contains("none.csv")'
	rm after.json
	hold_lock "$set"
	bloomctl_run "${rebuild[@]}" -s file:rows.csv --after 'cat >after.json'
	assert_failure 82 rebuild
	assert_json after.json '.status == 82'
	release_lock
	# A wrong line is nobody's news.
	bloomctl_run "${rebuild[@]}" --after 'touch ran'
	assert_failure 64 rebuild
	[[ ! -e ran ]]
}

@test "rebuild: --after alone that fails is 75, and the new generation is live" {
	bloomctl_run "${rebuild[@]}" -q -s file:more.csv --after 'exit 9' \
		--receipt got.json
	assert_failure 75 rebuild 'hook --after: it failed with status 9'
	[[ $(live_of) != "$live" ]]
	assert_has "$stderr" "'$(live_of)' is live"
	assert_json got.json '.status == 75' '.generation != null'
}

@test "rebuild: when --after runs the lock is free" {
	bloomctl_run "${rebuild[@]}" -q -s file:more.csv \
		--after "$BLOOMCTL swap -q -k cards.keyspec -t dir:t --rollback --static"
	assert_status 0
	assert_live_is "$live"
}

@test "rebuild: hooks need not read, however much there is to read" {
	bloomctl_ok "${rebuild[@]}" -q -s file:rows.csv --before-swap true \
		--after 'exec <&-; true'
	bloomctl_ok "${rebuild[@]}" -q -s file:rows.csv --before-swap '
		test "$(jq -r .set)" = cards-a2bfa51c'
}

@test "rebuild: a stop ends a hook and what it started, and --after is run all the same" {
	"$BLOOMCTL" "${rebuild[@]}" -q -s file:more.csv --receipt got.json \
		--before-swap 'sleep 1000 & echo $! >child; wait' \
		--after 'cat >after.json' 2>said &
	local pid=$! child
	wait_until test -s child
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 143
	child=$(<child)
	wait_until gone "$child"
	assert_json after.json '.status == 143' '.step == "swap"'
	assert_has "$(<said)" 'SIGTERM' "'$live' stays live"
	assert_live_is "$live"
}

@test "rebuild: the deadline is that of all steps, hooks too" {
	bloomctl_run "${rebuild[@]}" -q -s file:more.csv --deadline 1s \
		--before-swap 'sleep 1000'
	assert_failure 75 rebuild "step 'swap': hook --before-swap" 'deadline' \
		"'$live' stays live"
	bloomctl_run "${rebuild[@]}" -q -s 'exec:sleep 1000' --keys 10 --deadline 1s \
		--after 'cat >after.json'
	assert_failure 75 rebuild "step 'build'" 'deadline' "'$live' stays live"
	assert_json after.json '.status == 75' '.step == "build"'
	[[ $(states) == *aborted ]]
	assert_live_is "$live"
}

@test "rebuild: a file that others can write names no hook" {
	local name
	for name in before-swap after; do
		echo "$name = touch ran" >c.conf
		chmod 666 c.conf
		bloomctl_run "${rebuild[@]}" -s file:rows.csv --config c.conf
		assert_failure 78 rebuild "$name" 'others may write'
		[[ ! -e ran ]]
		chmod 600 c.conf
		bloomctl_ok "${rebuild[@]}" -q -s file:rows.csv --config c.conf
		[[ -e ran ]]
		rm ran
	done
}
