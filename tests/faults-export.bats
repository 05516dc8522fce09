#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that can fail on the way to the disk fails once in an export: each
# call in turn, n rising until the run passes, or the process is killed there
# (tests/fault.c, tests/faulty.bash).  Whatever it was: who reads the export
# gets the earlier one, the new one, or a refusal, and the next export works.
# shellcheck disable=SC2317,SC2034 # check() and variables are for each()
bats_require_minimum_version 1.5.0

load helpers
load faulty

# out is an export of two parts, 240 rows; a new one has 125 in one.
setup_file() {
	begin_file
	write_csv rows.csv 1 120
	write_csv again.csv 121 240
	write_csv more.csv 1 125
	bloomctl_ok export -q -t file:out -s file:rows.csv -s file:again.csv
}

setup() {
	faulty_begin
	path=/out.
	part=1
	# With sanitizers a sample of them.
	[[ $VARIANT == plain ]] || step=4 part=8
}

export=(export -q -t file:out -s file:more.csv --compress none)

# fresh STATE: "old" is with the earlier export, "died" with half of one.
fresh() {
	rm -f out.*
	[[ $1 == none ]] || cp "$BATS_FILE_TMPDIR"/out.* .
	[[ $1 != died ]] || LD_PRELOAD=$BUILD/fault.so FAULT=rename:2:kill \
		FAULT_PATH=/out. "$BLOOMCTL" "${export[@]}" 2>/dev/null || :
}

# rows WORD: how many rows of the one export or the other are there, or none.
rows() {
	local status=0
	LD_PRELOAD=$BUILD/fault.so FAULT=fsync:0 "$BLOOMCTL" size \
		-k cards.keyspec -s "file:$1" --format json >got.json \
		2>got.err || status=$?
	if ((status == 0)); then
		json .keys got.json
	else
		((status == 66 || status == 74)) ||
			fail "status $status: $(<got.err)" || return
		echo none
	fi
}

# whole: what is read is an export, or nothing.
whole() {
	local word n
	for word in out 'out.*' 'out.0*'; do
		n=$(rows "$word") || return
		[[ $n == none || $n == 125 || ($n == 240 && $state == old) ]] ||
			fail "file:$word has $n rows: $(ls out.*)" || return
		[[ $first != 0 || $n == 125 ]] ||
			fail "it succeeded, and file:$word has $n rows" ||
			return
	done
}

check() {
	local first=$status
	whole || return
	quiet "${export[@]}" || return
	[[ $(rows out) == 125 &&
		$(echo out.*) == 'out.00001.csv out.export.json' ]] ||
		fail "the next one left $(echo out.*)"
}

@test "faults: export: every write, sync, rename, open and unlink fails once" {
	for state in none old died; do
		each 'write fsync rename open unlink' EIO "${export[@]}"
		each write ENOSPC "${export[@]}"
		each 'rename open' EDQUOT "${export[@]}"
		each open EACCES "${export[@]}"
	done
	report 'export, EIO, ENOSPC, EDQUOT and EACCES' $((60 / part))
}

@test "faults: export: every read, stat, lock, close and the like fails once" {
	for state in none old died; do
		each 'read truncate lock readdir close' EIO "${export[@]}"
		each stat EIO "${export[@]}"
	done
	report 'export, reads and the rest' $((20 / part))
}

@test "faults: export: killed at every call" {
	for state in none old died; do
		each any kill "${export[@]}"
	done
	report 'export, killed' $((20 / part))
}

@test "faults: export: a call that a signal cuts short, and half a transfer, change nothing" {
	check() { changes_nothing; }
	for state in none old; do
		each 'write fsync open read' EINTR "${export[@]}"
		each 'read write' half "${export[@]}"
	done
	report 'export, EINTR and half' $((10 / part))
}

@test "faults: export: what cleans up behind a fault can fail, too" {
	local second
	for second in 'unlink:*' 'unlink:1' 'close:1' 'any:*'; do
		export FAULT_THEN=$second:EIO
		for state in none old died; do
			each 'write rename fsync' EIO "${export[@]}"
		done
	done
	FAULT_THEN='any:1:kill'
	for state in none old; do
		each 'write rename' ENOSPC "${export[@]}"
	done
	unset FAULT_THEN
	report 'export, and its cleaning up' $((30 / part))
}

@test "faults: export: an allocation that fails is 70, and leaves no export" {
	local n
	[[ $VARIANT == plain ]] || skip "a sanitizer allocates, too ($VARIANT)"
	state=old
	for ((n = 1; n < 3000; n++)); do
		fresh old
		fault_run "alloc:$n:ENOMEM" '' "${export[@]}" >faulty.log
		[[ -n $counted ]] || fail "$n: $(<faulty.log)"
		((counted >= n)) || break
		injected=$((injected + 1))
		((status == 0)) || assert_failure 70 export ||
			fail "$n: $(<faulty.log)"
		((n % 7 != 0)) || check || fail "$n: $(<faulty.log)"
	done
	report 'export, allocations' $((100 / part))
}
