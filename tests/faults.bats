#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that can fail on the way to the disk fails once in a build, and in
# readers: each call in turn, n rising until the run passes, or the process is
# killed there (tests/fault.c, tests/faulty.bash).
# shellcheck disable=SC2317,SC2034 # check() and variables are for each()
bats_require_minimum_version 1.5.0

load helpers
load faulty

setup_file() { faulty_file; }

setup() { faulty_begin; }

build=(build -q -k cards.keyspec -t dir:t -s file:more.csv)

# --- build ----------------------------------------------------------------

@test "faults: build: every write, sync, rename, open and mkdir fails once" {
	state=one
	check() { check_build; }
	each 'write fsync rename open mkdir' EIO "${build[@]}"
	each write ENOSPC "${build[@]}"
	each 'rename mkdir' EDQUOT "${build[@]}"
	each mkdir EROFS "${build[@]}"
	report 'build, EIO, ENOSPC, EDQUOT and EROFS' 60
}

@test "faults: build: every read, stat, lock, close and the like fails once" {
	state=one
	check() { check_build; }
	each 'read truncate lock readlink' EIO "${build[@]}"
	# The file system is asked for its room by the target's folder.
	path=$PWD/t
	each stat EIO "${build[@]}"
	path=/cards-
	step=3
	each 'readdir close' EIO "${build[@]}"
	each mmap ENOMEM "${build[@]}"
	report 'build, reads and the rest' 50
}

@test "faults: build: killed at every call" {
	state=one
	check() { check_build; }
	each any kill "${build[@]}"
	report 'build, killed' 40
}

@test "faults: build: a call that a signal cuts short, and half a transfer, change nothing" {
	state=one
	check() { changes_nothing; }
	each 'write fsync open truncate lock read close' EINTR "${build[@]}"
	each read half "${build[@]}"
	# But the lock's: who reads that sees the whole of it.
	path=cards-a2bfa51c/20
	each write half "${build[@]}"
	report 'build, EINTR and half' 100
	check_build
}

@test "faults: build: what cleans up behind a fault can fail, too" {
	local second
	state=one
	check() { check_build; }
	for second in 'unlink:*' 'unlink:1' 'rename:1' 'write:1' 'open:1' 'fsync:1'; do
		export FAULT_THEN=$second:EIO
		step=3
		each write ENOSPC "${build[@]}"
	done
	FAULT_THEN='any:*:EROFS'
	each 'write fsync rename' EROFS "${build[@]}"
	FAULT_THEN='any:2:kill'
	each write ENOSPC "${build[@]}"
	unset FAULT_THEN
	report 'build, and its cleaning up' 30
}

@test "faults: build: many files are synced with their file system, and that fails, too" {
	local n seen=0
	write_keyspec many.keyspec name=many buckets=600
	for n in {1..20}; do
		fault_run "fsync:$n:EIO" /many- build -q -k many.keyspec \
			-t dir:t -s file:more.csv
		((status != 0)) || break
		assert_failure 74 build 'Input/output error'
		[[ $stderr != "bloomctl build: generation '"*"': sync: "* ]] ||
			seen=$((seen + 1))
		bloomctl_run swap -k many.keyspec -t dir:t
		((status == 66 || status == 83)) || fail "it was promoted"
	done
	((status == 0 && seen > 0))
	fault_run 'fsync:3:EINTR' /many- build -q -k many.keyspec -t dir:t \
		-s file:more.csv
	assert_status 0
}

@test "faults: build: the first into an empty folder, and its folder" {
	check() {
		[[ $status == 0 ]] || quiet build -q \
			-k cards.keyspec -t dir:t -s file:rows.csv || return
		quiet swap -q -k cards.keyspec -t dir:t || return
		answers
	}
	state=''
	each mkdir 'EIO kill EROFS' build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	step=2
	each open 'EIO kill' build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	report 'first build' 20
}

# --- readers, and memory --------------------------------------------------

@test "faults: a reader whose open or map fails gives no answer" {
	state=one
	check() {
		[[ $status != 0 ]] || return 0
		((status == 74 || status == 77 || status == 66)) ||
			fail "status $status"
	}
	each 'open mmap read readlink lock' 'EIO EACCES' lookup -q -k cards.keyspec -t dir:t 1 m:1
	report 'lookup' 4
	check() { return 0; }
	step=3
	each 'open mmap stat readdir' 'EIO ENOMEM' verify -q -k cards.keyspec \
		-t dir:t -s file:rows.csv --absent 0
	report 'lookup and verify' 20
}

@test "faults: a reader is not disturbed by EINTR, half reads or a failing close" {
	state=one
	check() { changes_nothing; }
	each 'open read lock close' EINTR lookup -q -k cards.keyspec -t dir:t \
		1 m:1
	each read half lookup -q -k cards.keyspec -t dir:t 1 m:1
	each close EIO lookup -q -k cards.keyspec -t dir:t 1 m:1
	report 'lookup, EINTR and half' 30
}

@test "faults: an allocation that fails is 70 with one sentence, or changes nothing" {
	local -a command
	local n total=0
	[[ $VARIANT == plain ]] || skip "a sanitizer allocates, too ($VARIANT)"
	fresh one
	while read -ra command; do
		"$BLOOMCTL" "${command[@]}" >want || :
		for ((n = 1; n < 2000; n++)); do
			fault_run "alloc:$n:ENOMEM" '' "${command[@]}" \
				>faulty.log
			[[ -n $counted ]] || fail "$n: $(<faulty.log)"
			((counted >= n)) || break
			total=$((total + 1))
			case $status in
			0) [[ $output == "$(<want)" ]] ||
				fail "$n: another answer: $(<faulty.log)" ;;
			70) assert_one_sentence "${command[0]}" ||
				fail "$n: $(<faulty.log)" ;;
			*) fail "$n: $(<faulty.log)" ;;
			esac
		done
	done <<-'END'
		key -k cards.keyspec --format csv 5 m:5
		size -k cards.keyspec -s file:rows.csv --format json
		lookup -k cards.keyspec -t dir:t 1 m:1
		inspect -k cards.keyspec -t dir:t --format csv
	END
	injected=$total
	report 'allocations' 100
	answers
}
