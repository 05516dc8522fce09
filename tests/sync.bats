#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl sync: what comes from a pipe is in the live filters when it is said.
# shellcheck disable=SC2154 # $built is of helpers
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 1000
	make_live rows.csv --capacity 2000
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR/rows.csv" .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	sync=(sync -k cards.keyspec -t dir:t)
}

# feeding ARGUMENT...: a sync whose pipe is descriptor $feed and whose lines
# come from $telling; $pid is its process.
feeding() {
	mkfifo pipe.in pipe.out
	"$BLOOMCTL" "${sync[@]}" -s - "$@" <pipe.in >pipe.out 2>said 3>&- &
	pid=$!
	exec {feed}>pipe.in {telling}<pipe.out
}

# told: the next line.
told() {
	local line
	IFS= read -r -t 20 -u "$telling" line || fail "nothing is told" || return
	echo "$line"
}

# ended: how the sync ended, as $status and $stderr.
ended() {
	status=0
	wait "$pid" || status=$?
	stderr=$(<said)
	output=
	show_run bloomctl "${sync[@]}" -s -
}

# found ID SCOPE: readers find it.
found() {
	"$BLOOMCTL" lookup -q -k cards.keyspec -t dir:t "$@" >/dev/null
}

# lost ID SCOPE: they do not.
lost() {
	! found "$@"
}

@test "sync: what it is not for is 64, and nothing is changed" {
	remember_tree
	while read -r part arguments; do
		# shellcheck disable=SC2086 # words of a line
		bloomctl_run "${sync[@]}" $arguments </dev/null
		assert_failure 64 sync "${part//_/ }"
	done <<-'END'
		--source
		file:rows.csv -s file:rows.csv
		2_sources -s - -s exec:true
		--dry-run -s - -n
		--jobs -s - -j 2
		--catch-up -s - --catch-up xmin
		--allow-scan -s exec:true --allow-scan
		--table -s - --table cards
		--rejects -s service=none --table cards --rejects x
		--catch-up -s service=none --table cards --catch-up none
		--changed-column -s service=none --table cards --catch-up stamp
		--query -s service=none --query SELECT
	END
	assert_tree_unchanged
}

@test "sync: without a live generation no row is read" {
	build_csv rows.csv
	rm "$set/live"
	bloomctl_run "${sync[@]}" -s - <rows.csv
	assert_failure 83 sync
	bloomctl_run sync -k cards.keyspec -t dir:none -s - <rows.csv
	assert_failure 66 sync
}

@test "sync: rows of a pipe are in the live filters, in every format" {
	write_csv more.csv 2001 2100
	write_text more.txt 2101 2200
	write_csv other.csv 2201 2300
	"$BLOOMCTL" export -q -k cards.keyspec -s file:other.csv --canonical \
		--compress none -t file:keys
	bloomctl_ok "${sync[@]}" -s - --receipt got.json <more.csv
	assert_stdout_is $'100\t100'
	assert_json got.json '.status == 0' '.command == "sync"' \
		'.rows == 100' '.keys == 100' '.acknowledged == 100' \
		".generation == \"$live\""
	bloomctl_ok "${sync[@]}" -s - --input-format text --columns id,scope \
		<more.txt
	bloomctl_ok "${sync[@]}" -s 'exec:cat keys.00001.*' \
		--input-format key
	assert_stdout_is $'100\t100'
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:rows.csv \
		-s file:more.csv -s file:other.csv
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:more.txt \
		--input-format text --columns id,scope
	[[ $(live_of) == "$live" ]]
}

@test "sync: a pipe without rows ends well and changes nothing" {
	remember_tree
	bloomctl_ok "${sync[@]}" -s - <<<'id,scope'
	assert_stdout_is ''
	bloomctl_ok "${sync[@]}" -s - --columns id,scope </dev/null
	assert_tree_unchanged
}

@test "sync: each row is found when it is told, and the pipe may be silent" {
	feeding --columns id,scope
	for i in 5001 5002 5003; do
		echo "$i,x" >&"$feed"
		[[ $(told) == $'1\t'$((i - 5000)) ]]
		found $i x
	done
	printf '5004,x\n5005,x\n' >&"$feed"
	[[ $(told) == $'2\t5' ]]
	exec {feed}>&-
	ended
	assert_status 0
	assert_stderr_is ''
}

@test "sync: a signal leaves what was whole added and told" {
	feeding --columns id,scope --receipt got.json
	echo 5001,x >&"$feed"
	[[ $(told) == $'1\t1' ]]
	kill -TERM "$pid"
	ended
	assert_failure 143 sync
	found 5001 x
	assert_json got.json '.status == 143' '.rows == 1'
}

@test "sync: a row that is cut off is 74, behind those that are whole" {
	bloomctl_run "${sync[@]}" -s - < <(printf 'id,scope\n5001,x\n5002,y')
	assert_status 74
	assert_stdout_is $'1\t1'
	assert_has "$stderr" 'standard input: row 2' 'cut off'
	found 5001 x
	lost 5002 y
	bloomctl_run "${sync[@]}" -s 'exec:echo id,scope; echo 5003,x; exit 3'
	assert_status 74
	assert_stdout_is $'1\t1'
	assert_has "$stderr" "command 'echo" 'status 3'
	found 5003 x
}

@test "sync: rows without a key end it unless they may be passed over" {
	printf '%s\n' id,scope 5001,x 'a:b,x' 5002,x 'c:d,x' 5003,x >odd.csv
	bloomctl_run "${sync[@]}" -s - <odd.csv
	assert_status 65
	assert_stdout_is $'1\t1'
	assert_has "$stderr" 'standard input: row 2' "'id'" delimiter
	assert_lacks "$stderr" a:b
	bloomctl_run "${sync[@]}" -s - --max-rejects 2 --rejects r \
		--receipt got.json <odd.csv
	assert_status 0
	assert_stdout_is $'5\t5'
	assert_has "$stderr" '2 rows have no key'
	assert_json got.json '.rows == 5' '.keys == 3' '.rejects.delimiter == 2'
	(($(wc -l <r) == 3))
	found 5003 x
}

@test "sync: what is no rows is named" {
	bloomctl_run "${sync[@]}" -s - < <(gzip <rows.csv)
	assert_failure 66 sync 'standard input' packed
	bloomctl_run "${sync[@]}" -s - < <(printf 'PAR1 and so on\n')
	assert_failure 66 sync 'standard input'
}

@test "sync: from a fill on it warns, and what is full is 80 and not told" {
	write_csv few.csv 1 40
	make_live few.csv --capacity 100
	write_csv more.csv 3001 3240
	bloomctl_run "${sync[@]}" -s - --warn 50 <more.csv
	assert_status 0
	assert_has "$stderr" "filter 'cards:" '% full' --capacity
	write_csv more.csv 4001 4400
	bloomctl_run "${sync[@]}" -s - -q --receipt got.json <more.csv
	assert_failure 80 sync
	assert_json got.json '.status == 80' '.rows == 0'
}

@test "sync: after a swap rows go into what is live then" {
	local next
	feeding --columns id,scope
	echo 5001,x >&"$feed"
	[[ $(told) == $'1\t1' ]]
	build_csv rows.csv --capacity 2000
	next=$built
	bloomctl_run swap -k cards.keyspec -t dir:t -g "$next"
	assert_failure 83 swap
	bloomctl_ok swap -q -k cards.keyspec -t dir:t -g "$next" --static
	[[ $(live_of) == "$next" ]]
	for i in {6001..6020}; do
		echo "$i,x" >&"$feed"
		[[ $(told) == $'1\t'$((i - 5999)) ]]
		found "$i" x
	done
	exec {feed}>&-
	ended
	assert_status 0
}

@test "sync: it is killed while rows flow, and lacks nothing that was told" {
	local line i
	make_live rows.csv --capacity 100000
	feeding --columns id,scope
	awk 'BEGIN { for (i = 10001; i < 200000; i++) print i ",x" }' \
		>&"$feed" 3>&- &
	line=$(told)
	kill -KILL "$pid"
	wait "$pid" || :
	exec {feed}>&-
	line=${line#*$'\t'}
	((line > 0))
	{
		echo id,scope
		for ((i = 1; i <= line; i++)); do
			echo "$((i + 10000)),x"
		done
	} >told.csv
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:told.csv \
		--absent 0
}
