#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that can fail on the way to the disk fails once while rows are
# added to live filters, or the process is killed there (tests/fault.c,
# tests/faulty.bash): readers find what was there, and what was told, and the
# next sync works.
# shellcheck disable=SC2317,SC2034 # check() and variables are for each()
bats_require_minimum_version 1.5.0

load helpers
load faulty

setup_file() { faulty_file; }

setup() {
	faulty_begin
	write_csv new.csv 121 125
	state=one
}

sync=(sync -k cards.keyspec -t dir:t -s 'exec:cat new.csv')

# states: the state in the header of each live filter.
states() {
	local file
	for file in "$set_folder/live"/*.bloom; do
		od -An -tu4 -j 16 -N 4 "$file"
	done | sort -u | tr -d ' '
}

check_sync() {
	local first=$status told=$output
	answers || return
	if [[ -n $told || $first == 0 ]]; then
		[[ $told == *$'\t5' ]] || fail "told: $told" || return
		answers more.csv || return
	fi
	quiet inspect -k cards.keyspec -t dir:t || return
	quiet "${sync[@]}" || return
	answers more.csv || return
	[[ $(states) == 2 ]] || fail "states: $(states)" || return
	! leftovers || fail "left behind: $(find t)"
}

@test "faults: sync: every write, sync, open, lock and truncation fails once, or kills" {
	check() { check_sync; }
	each 'write fsync open lock truncate' EIO "${sync[@]}"
	each 'write fsync' 'ENOSPC kill' "${sync[@]}"
	report 'sync' 100
}

@test "faults: sync: every read, stat, link, close and allocation fails once" {
	check() { check_sync; }
	each 'readlink readdir' EIO "${sync[@]}"
	step=3
	each 'read stat close' EIO "${sync[@]}"
	step=5
	path='' each alloc ENOMEM "${sync[@]}"
	report 'sync, reads and the rest' 60
}

@test "faults: sync: a call that a signal cuts short, and half a transfer, change nothing" {
	check() { changes_nothing; }
	each 'write fsync lock' EINTR "${sync[@]}"
	step=3
	each 'read close open' EINTR "${sync[@]}"
	each read half "${sync[@]}"
	report 'sync, EINTR and half' 60
	check_sync
}

@test "faults: sync: a file that others have by a link is copied, or nothing is changed" {
	local sums
	fresh one
	state=linked
	cp -al t "$BATS_FILE_TMPDIR/linked" 2>/dev/null ||
		skip 'no hard links here'
	sums=$(cd "$BATS_FILE_TMPDIR/linked" && sha256sum ./*/*-*/*.bloom)
	fresh() {
		rm -rf t
		cp -al "$BATS_FILE_TMPDIR/linked" t
	}
	check() {
		[[ $(cd "$BATS_FILE_TMPDIR/linked" &&
			sha256sum ./*/*-*/*.bloom) == "$sums" ]] ||
			fail 'written through a link' || return
		check_sync
	}
	each 'write fsync rename open unlink' 'EIO kill' "${sync[@]}"
	report 'sync, links' 100
}

# moved: rows of those filters that have the horizon that the pass gives, to
# moved.csv.
moved() {
	local bucket
	echo id,scope >moved.csv
	for bucket in 0 1 2 3; do
		[[ $(od -An -tu8 -j 216 -N 8 \
			"$set_folder/live/$bucket.bloom") -ne 100 ]] ||
			awk -v b="$bucket" '$1 == b { print $2 }' new.buckets \
				>>moved.csv
	done
}

# a_pass FAULT: one with a horizon, on files of the set; $counted as fault_run.
a_pass() {
	local said=$BATS_TEST_TMPDIR/said.counted
	: >"$said"
	printf '%s\n' begin 'add 121 m:2' 'add 122 m:3' 'add 123 m:4' \
		'add 124 m:5' 'add 125 m:6' 'end 1000 0 100 0/0 0 0 0' |
		LD_PRELOAD=$BUILD/fault.so FAULT=$1 FAULT_PATH=/cards- \
			FAULT_COUNT=$said "$BUILD/pass" cards.keyspec dir:t \
			>pass.log 2>&1 || [[ $? =~ ^(1|137)$ ]] ||
		fail "$1: $(<pass.log)" || return
	counted=
	[[ ! -s $said ]] || read -r counted <"$said"
}

# What moved has all that came; what did not is caught up by the next pass.
check_pass() {
	answers || return
	moved
	[[ $(wc -l <moved.csv) == 1 ]] || answers moved.csv || return
	a_pass fsync:0 || return
	[[ $(<pass.log) == *' moved=4 changed=0 failed=0 '* ]] ||
		fail "then: $(<pass.log)" || return
	answers more.csv || return
	[[ $(states) == 2 ]] || fail "states: $(states)"
}

@test "faults: a pass: no horizon is newer than what is in, whatever fails once, or kills" {
	local kind what n step
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <new.csv |
		cut -f 3 >buckets
	tail -n +2 new.csv | paste -d ' ' buckets - >new.buckets
	for what in EIO ENOSPC kill; do
		for kind in write fsync open read; do
			step=1
			[[ $kind != read ]] || step=5
			for ((n = 1; n < 200; n += step)); do
				fresh one
				a_pass "$kind:$n:$what" || return
				[[ -z $counted ]] || ((counted >= n)) || break
				injected=$((injected + 1))
				check_pass || fail "$kind:$n:$what" || return
			done
			((n < 200)) || fail "$kind:$what does not end"
			moved
			[[ $(wc -l <moved.csv) == 6 ]] ||
				fail 'without a fault not all moved'
		done
	done
	report 'a pass' 150
}
