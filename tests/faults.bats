#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Everything that can fail on the way to the disk fails once: each write,
# sync, rename, open and allocation in turn, n rising until the run passes, or
# the process is killed there (tests/fault.c).  After each, whatever it was:
# readers get what they got, or the whole new generation; nothing half made can
# be promoted; the next run works and cleans up.
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 120
	write_csv more.csv 1 125
	make_live rows.csv
	cp -a t one
	build_csv more.csv
	echo "$built" >next
	cp -a t ready
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	cp -a t two
	rm -r t
}

setup() {
	begin
	need_fault
	cp "$BATS_FILE_TMPDIR"/*.csv .
	injected=0
}

# fresh NAME: t is again what setup_file() made.
fresh() {
	rm -rf t
	cp -a "$BATS_FILE_TMPDIR/$1" t
}

# quiet ARGUMENT...: the program without a log and without a fault, but also
# without syncing, which would take most of the time.
quiet() {
	local said
	said=$(LD_PRELOAD=$BUILD/fault.so FAULT=fsync:0 "$BLOOMCTL" "$@" 2>&1) ||
		fail "status $?: bloomctl $* said: $said"
}

# answers: a reader finds every row of the live generation's source.
answers() {
	quiet verify -q -k cards.keyspec -t dir:t --absent 0 \
		-s "file:${1:-rows.csv}"
}

# tidy: nothing is left of what was under way.
tidy() {
	[[ -z $(find t -name '*.tmp' -o -name '*.gone') ]] ||
		fail "left behind: $(find t)"
}

# faulty FAULT ARGUMENT...: the command with a fault in the target; true while
# the fault was met.
faulty() {
	local fault=$1 n
	n=${fault#*:}
	shift
	fault_run "$fault" "${path:-/cards-}" "$@" >faulty.log
	if ((status == 137)); then
		injected=$((injected + 1))
		return 0
	fi
	[[ -n $counted ]] || fail "$fault: status $status, and no count: $stderr"
	((counted >= ${n%%:*})) || return 1
	injected=$((injected + 1))
	# A message is one sentence, and its status one of these.
	case $status in
	0) ;;
	70 | 73 | 74 | 77 | 83 | 84)
		assert_one_sentence "$1" || fail "$fault: $(<faulty.log)"
		;;
	*) fail "$fault: $(<faulty.log)" ;;
	esac
}

# each KINDS WHATS COMMAND...: calls `check FAULT` after each faulty run.
each() {
	local kinds=$1 whats=$2 kind what n
	shift 2
	for what in $whats; do
		for kind in $kinds; do
			for ((n = 1; n < 200; n++)); do
				fresh "$state"
				faulty "$kind:$n:$what" "$@" || break
				check "$kind:$n:$what" ||
					fail "$kind:$n:$what: $(<faulty.log)"
			done
			((n < 200)) || fail "$kind:$what does not end"
			((status == 0)) || fail "without a fault: $(<faulty.log)"
		done
	done
}

report() {
	echo "# $injected faults injected: $1" >&3
	((injected > $2))
}

# --- build ----------------------------------------------------------------

check_build() {
	local first=$status
	answers || return
	if [[ $first == 0 ]]; then
		quiet swap -q -k cards.keyspec -t dir:t || return
		answers more.csv
		return
	fi
	# What was not finished is not promoted, whatever state it is in.
	quiet swap -q -k cards.keyspec -t dir:t >/dev/null && {
		# Only killed or failed behind its very last step.
		answers more.csv || return
		quiet swap -q -k cards.keyspec -t dir:t --rollback ||
			return
		answers
		return
	}
	quiet build -q -k cards.keyspec -t dir:t -s file:more.csv ||
		return
	tidy || return
	(($(find "$(set_of)" -mindepth 1 -maxdepth 1 -type d | wc -l) == 2)) ||
		fail "the dead build is still there" || return
	quiet swap -q -k cards.keyspec -t dir:t || return
	answers more.csv
}

@test "faults: build: every write, sync, rename, open and mkdir fails once" {
	state=one
	check() { check_build; }
	each 'write fsync rename open mkdir' EIO build -q \
		-k cards.keyspec -t dir:t -s file:more.csv
	each 'write rename mkdir' ENOSPC build -q \
		-k cards.keyspec -t dir:t -s file:more.csv
	report 'build, EIO and ENOSPC' 60
}

@test "faults: build: killed at every call" {
	state=one
	check() { check_build; }
	each any kill build -q -k cards.keyspec -t dir:t -s file:more.csv
	report 'build, killed' 40
}

@test "faults: build: half a write is no failure" {
	state=one
	# But the lock's: who reads that sees the whole of it.
	path=cards-a2bfa51c/20
	check() {
		[[ $status == 0 ]] || fail "status $status" || return
		check_build
	}
	each write half build -q -k cards.keyspec -t dir:t -s file:more.csv
	report 'build, half writes' 5
}

@test "faults: build: the first into an empty folder, and its folder" {
	check() {
		[[ $status == 0 ]] || quiet build -q \
			-k cards.keyspec -t dir:t -s file:rows.csv || return
		quiet swap -q -k cards.keyspec -t dir:t || return
		answers
	}
	fresh() { rm -rf t; }
	each 'mkdir open' 'EIO kill' build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	report 'first build' 20
}

# --- swap, rollback, prune ------------------------------------------------

# check_swap FROM TO COMMAND...: what is live is the one or the other, whole,
# and the same command again makes it the other.
check_swap() {
	local was=$1 is=$2 first=$status now
	shift 2
	now=$(live_of)
	case $now in
	"$was")
		[[ $first != 0 && $first != 84 ]] ||
			fail "status $first, and nothing moved" || return
		answers "$was_rows" || return
		;;
	"$is")
		[[ $first == 0 || $first == 84 || $first == 137 ]] ||
			fail "status $first, and it moved" || return
		answers "$is_rows" || return
		;;
	*) fail "live is '$now'" || return ;;
	esac
	quiet "$@" || return
	[[ $(live_of) == "$is" ]] || fail 'it is not live' || return
	answers "$is_rows" || return
	tidy || return
	[[ $(json .state "$(set_of)/$is/manifest.json") == live &&
		$(json .state "$(set_of)/$was/manifest.json") == old ]] ||
		fail 'the manifests say otherwise'
}

swap_names() {
	local one next
	one=$(live_of "$BATS_FILE_TMPDIR/one")
	next=$(<"$BATS_FILE_TMPDIR/next")
	state=ready from=$one to=$next was_rows=rows.csv is_rows=more.csv
	[[ $1 == swap ]] ||
		state=two from=$next to=$one was_rows=more.csv is_rows=rows.csv
}

@test "faults: swap: every write, sync, rename, open, unlink and symlink fails once, or kills" {
	swap_names swap
	check() {
		check_swap "$from" "$to" swap -q -k cards.keyspec -t dir:t \
			-g "$to"
	}
	each 'write fsync rename open unlink symlink' EIO swap -q \
		-k cards.keyspec -t dir:t
	each 'write rename symlink' ENOSPC swap -q -k cards.keyspec -t dir:t
	each 'write fsync rename unlink symlink' kill swap -q \
		-k cards.keyspec -t dir:t
	report 'swap' 50
}

@test "faults: rollback: every write, sync, rename, open, unlink and symlink fails once, or kills" {
	swap_names rollback
	check() {
		check_swap "$from" "$to" swap -q -k cards.keyspec -t dir:t \
			--rollback -g "$to"
	}
	each 'write fsync rename open unlink symlink' EIO swap -q \
		-k cards.keyspec -t dir:t --rollback
	each 'write fsync rename unlink symlink' kill swap -q \
		-k cards.keyspec -t dir:t --rollback
	report 'rollback' 40
}

@test "faults: prune: every write, sync, rename, open and unlink fails once, or kills" {
	local dead
	# A broken generation beside the live one and the one before.
	state=pruned
	[[ -d $BATS_FILE_TMPDIR/pruned ]] || {
		fresh two
		dead=$(set_of)/20200101T000000Z-0000
		cp -a "$(set_of)/$(live_of)" "$dead"
		rm "$dead/manifest.json"
		cp -a t "$BATS_FILE_TMPDIR/pruned"
	}
	check() {
		answers more.csv || return
		quiet swap -q -k cards.keyspec -t dir:t --prune ||
			return
		tidy || return
		[[ ! -e $(set_of)/20200101T000000Z-0000 ]] ||
			fail 'not removed' || return
		answers more.csv || return
		quiet swap -q -k cards.keyspec -t dir:t --rollback ||
			return
		answers
	}
	each 'write fsync rename open unlink' 'EIO kill' swap -q \
		-k cards.keyspec -t dir:t --prune
	report 'prune' 20
}

# --- readers, and memory --------------------------------------------------

@test "faults: a reader whose open or map fails gives no answer" {
	state=one
	check() {
		[[ $status != 0 ]] || return 0
		((status == 74 || status == 77 || status == 66)) ||
			fail "status $status"
	}
	each 'open mmap' 'EIO EACCES' lookup -q -k cards.keyspec -t dir:t 1 m:1
	report 'lookup' 4
	check() { return 0; }
	each 'open mmap' 'EIO ENOMEM' verify -q -k cards.keyspec -t dir:t \
		-s file:rows.csv --absent 0
	report 'lookup and verify' 20
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

@test "faults: build and swap: an allocation that fails leaves the set whole" {
	local n
	[[ $VARIANT == plain ]] || skip "a sanitizer allocates, too ($VARIANT)"
	state=one
	for ((n = 1; n < 2000; n += 7)); do
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
	for ((n = 1; n < 2000; n += 7)); do
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
		check_swap "$from" "$to" swap -q -k cards.keyspec -t dir:t \
			-g "$to" || fail "$n: $(<faulty.log)"
	done
	report 'allocations of build and swap' 20
}
