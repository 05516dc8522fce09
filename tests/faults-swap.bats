#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that can fail on the way to the disk fails once in a swap, a
# rollback and a prune: each call in turn, n rising until the run passes, or the
# process is killed there (tests/fault.c, tests/faulty.bash).
# shellcheck disable=SC2317,SC2034 # check() and variables are for each()
bats_require_minimum_version 1.5.0

load helpers
load faulty

setup_file() { faulty_file; }

setup() { faulty_begin; }

swap=(swap -q -k cards.keyspec -t dir:t)

# --- swap and rollback ----------------------------------------------------

@test "faults: swap: every write, sync, rename, open, unlink and symlink fails once, or kills" {
	swap_names swap
	check() {
		check_swap "$from" "$to" swap -k cards.keyspec -t dir:t \
			-g "$to"
	}
	each 'write fsync rename open unlink symlink' EIO "${swap[@]}"
	each 'write rename symlink' ENOSPC "${swap[@]}"
	each 'write fsync rename unlink symlink' kill "${swap[@]}"
	report 'swap' 50
}

@test "faults: swap: every read, stat, lock, close and the like fails once" {
	swap_names swap
	check() {
		check_swap "$from" "$to" swap -k cards.keyspec -t dir:t \
			-g "$to"
	}
	each 'truncate lock readlink' EIO "${swap[@]}"
	step=3
	each 'read stat readdir close' EIO "${swap[@]}"
	report 'swap, reads and the rest' 30
}

@test "faults: swap: a call that a signal cuts short, and half a transfer, change nothing" {
	swap_names swap
	check() { changes_nothing; }
	each 'write fsync truncate lock' EINTR "${swap[@]}"
	step=3
	each 'read close open' EINTR "${swap[@]}"
	each read half "${swap[@]}"
	report 'swap, EINTR and half' 40
	check_swap "$from" "$to" "${swap[@]}" -g "$to"
}

@test "faults: swap: what cleans up behind a fault can fail, too" {
	local second
	swap_names swap
	check() {
		check_swap "$from" "$to" swap -k cards.keyspec -t dir:t \
			-g "$to"
	}
	for second in 'unlink:*:EIO' 'any:1:kill' 'any:*:EROFS'; do
		export FAULT_THEN=$second
		each 'write rename symlink' ENOSPC "${swap[@]}"
	done
	unset FAULT_THEN
	report 'swap, and its cleaning up' 20
}

@test "faults: rollback: every write, sync, rename, open, unlink and symlink fails once, or kills" {
	swap_names rollback
	check() {
		check_swap "$from" "$to" swap -k cards.keyspec -t dir:t \
			--rollback -g "$to"
	}
	each 'write fsync rename unlink symlink' 'EIO kill' "${swap[@]}" \
		--rollback
	step=3
	each 'open read stat readlink' EIO "${swap[@]}" --rollback
	report 'rollback' 40
}

# --- prune ----------------------------------------------------------------

@test "faults: prune: every write, sync, rename, open and unlink fails once, or kills" {
	state=pruned
	check() { check_prune; }
	each 'write fsync rename open unlink' 'EIO kill' "${swap[@]}" --prune
	report 'prune' 20
}

@test "faults: prune: every read, stat, lock, close and the like fails once" {
	state=pruned
	check() { check_prune; }
	each 'truncate lock readlink' EIO "${swap[@]}" --prune
	step=3
	each 'read stat readdir close' EIO "${swap[@]}" --prune
	report 'prune, reads and the rest' 20
}

# --- memory ---------------------------------------------------------------

@test "faults: build and swap: an allocation that fails leaves the set whole" {
	local n
	[[ $VARIANT == plain ]] || skip "a sanitizer allocates, too ($VARIANT)"
	state=one
	for ((n = 1; n < 2000; n += 17)); do
		fresh one
		fault_run "alloc:$n:ENOMEM" '' build -q -k cards.keyspec \
			-t dir:t -s file:more.csv >faulty.log
		[[ -n $counted ]] || fail "$n: $(<faulty.log)"
		((counted >= n)) || break
		injected=$((injected + 1))
		[[ $status == 0 || $status == 70 ]] || fail "$n: $(<faulty.log)"
		check_build || fail "$n: $(<faulty.log)"
	done
	swap_names swap
	for ((n = 1; n < 2000; n += 17)); do
		fresh ready
		fault_run "alloc:$n:ENOMEM" '' swap -q -k cards.keyspec \
			-t dir:t >faulty.log
		[[ -n $counted ]] || fail "$n: $(<faulty.log)"
		((counted >= n)) || break
		injected=$((injected + 1))
		case $status in
		0 | 70 | 84) ;;
		*) fail "$n: $(<faulty.log)" ;;
		esac
		check_swap "$from" "$to" swap -k cards.keyspec -t dir:t \
			-g "$to" || fail "$n: $(<faulty.log)"
	done
	report 'allocations of build and swap' 20
}
