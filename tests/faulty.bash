# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# faulty: for the Bats files that let things fail (tests/fault.c).  After each
# fault, whatever it was: readers get what they got, or the whole new
# generation; nothing half made can be promoted; the next run works, cleans up
# and says so.
#
#	setup_file() { faulty_file; }
#	setup() { faulty_begin; }
#
# shellcheck disable=SC2034,SC2154 # of and for the tests

set_folder=t/cards-a2bfa51c

# faulty_file: the states that tests begin with, each a copy of t.
#	one    the first generation is live
#	ready  and a second is complete
#	two    and promoted
#	pruned and a broken third one lies beside it
faulty_file() {
	local dead
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
	dead=$(set_of)/20200101T000000Z-0000
	cp -a "$(set_of)/$(live_of)" "$dead"
	rm "$dead/manifest.json"
	mv t pruned
}

faulty_begin() {
	begin
	need_fault
	cp "$BATS_FILE_TMPDIR"/*.csv .
	injected=0
}

# fresh NAME: t is again what faulty_file() made.
fresh() {
	rm -rf t
	[[ -z $1 ]] || cp -a "$BATS_FILE_TMPDIR/$1" t
}

# quiet ARGUMENT...: the program without a log and without a fault, but also
# without syncing, which would take most of the time.
quiet() {
	LD_PRELOAD=$BUILD/fault.so FAULT=fsync:0 "$BLOOMCTL" "$@" \
		>quiet.log 2>&1 ||
		fail "status $?: bloomctl $* said: $(<quiet.log)"
}

# answers [FILE]: a reader finds every row of the live generation's source.
answers() {
	quiet verify -q -k cards.keyspec -t dir:t --absent 0 \
		-s "file:${1:-rows.csv}"
}

# leftovers: what a run left that died is still there.
leftovers() {
	compgen -G "$set_folder/*.tmp" || compgen -G "$set_folder/*.gone" ||
		compgen -G "$set_folder/*/*.tmp"
}

# tidy: nothing is left of what was under way.
tidy() {
	! leftovers || fail "left behind: $(find t)"
}

# next_says COMMAND...: the next run works, and where one that died has left
# something it names that on standard error.
next_says() {
	local what name left=()
	mapfile -t left < <(leftovers)
	LD_PRELOAD=$BUILD/fault.so FAULT=fsync:0 "$BLOOMCTL" "$@" \
		>next.log 2>&1 ||
		fail "status $?: bloomctl $* said: $(<next.log)" || return
	what=$(<next.log)
	for name in "${left[@]}"; do
		[[ $what == *"removed '"*"${name##*/}"* ||
			$what == *"removed abandoned"* ]] ||
			fail "$name is not named: $what" || return
	done
	tidy
}

# faulty FAULT ARGUMENT...: the command with a fault in the target; true while
# the fault was met.
faulty() {
	local fault=$1 n
	n=${fault#*:}
	n=${n%%:*}
	shift
	fault_run "$fault" "${path-/cards-}" "$@" >faulty.log
	if ((status == 137)); then
		injected=$((injected + 1))
		return 0
	fi
	[[ -n $counted ]] || fail "$fault: status $status, and no count: $stderr"
	[[ $n == '*' ]] || ((counted >= n)) || return 1
	injected=$((injected + 1))
	# A message is one sentence, and its status one of these.
	case $status in
	0) ;;
	70 | 73 | 74 | 77 | 82 | 83 | 84)
		assert_one_sentence "$1" || fail "$fault: $(<faulty.log)"
		;;
	*) fail "$fault: $(<faulty.log)" ;;
	esac
}

# each KINDS WHATS COMMAND...: calls `check FAULT` after each faulty run, n
# rising by $step until the run meets no fault.
each() {
	local kinds=$1 whats=$2 kind what n
	shift 2
	for what in $whats; do
		for kind in $kinds; do
			for ((n = 1; n < 200; n += ${step:-1})); do
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

# report TEXT LEAST: prints the number of faults, which is more than LEAST.
report() {
	echo "# $injected faults injected: $1" >&3
	((injected > $2))
}

# changes_nothing FAULT: for check: what was done was done in full.
changes_nothing() {
	[[ $status == 0 ]] || fail "status $status"
}

# check_build: after a build of more.csv beside rows.csv, which is live.
check_build() {
	local first=$status folders
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
	next_says build -k cards.keyspec -t dir:t -s file:more.csv || return
	folders=("$set_folder"/*-*/)
	((${#folders[@]} == 2)) ||
		fail "the dead build is still there" || return
	quiet swap -q -k cards.keyspec -t dir:t || return
	answers more.csv
}

# check_swap FROM TO COMMAND...: what is live is the one or the other, whole,
# and the same command again makes it the other.
check_swap() {
	local was=$1 is=$2 first=$status now
	shift 2
	now=$(readlink "$set_folder/live")
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
	next_says "$@" || return
	[[ $(readlink "$set_folder/live") == "$is" ]] ||
		fail 'it is not live' || return
	answers "$is_rows" || return
	[[ ! -L $set_folder/live.moving &&
		$(<"$set_folder/$is/manifest.json") == *'"state": "live"'* &&
		$(<"$set_folder/$was/manifest.json") == *'"state": "old"'* ]] ||
		fail 'the manifests say otherwise'
}

# swap_names swap|rollback: which is from and to, and the state to begin with.
swap_names() {
	local one next
	one=$(readlink "$BATS_FILE_TMPDIR/one/${set_folder#t/}/live")
	next=$(<"$BATS_FILE_TMPDIR/next")
	state=ready from=$one to=$next was_rows=rows.csv is_rows=more.csv
	[[ $1 == swap ]] ||
		state=two from=$next to=$one was_rows=more.csv is_rows=rows.csv
}

# check_prune: after a prune of what is beside the live one and the one before.
check_prune() {
	answers more.csv || return
	next_says swap -k cards.keyspec -t dir:t --prune || return
	[[ ! -e $set_folder/20200101T000000Z-0000 ]] ||
		fail 'not removed' || return
	answers more.csv || return
	quiet swap -q -k cards.keyspec -t dir:t --rollback || return
	answers
}
