# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# helpers: what every Bats file of the program loads.
#
#	load helpers
#	setup() { begin; }
#
# begin() enters $BATS_TEST_TMPDIR, with nothing of the caller's settings left.
# Everything a test makes is named relative to that folder, so that messages
# are the same everywhere.  bloomctl_run() runs the program, and what it did
# is shown when the test fails.  A file whose tests share something costly
# makes it in setup_file(), after begin_file(), and copies it.

: "${BLOOMCTL:=$(dirname "${BASH_SOURCE[0]}")/../build/plain/bloomctl}"
: "${BUILD:=$(dirname "$BLOOMCTL")}"
: "${VARIANT:=plain}"

# A file of the caller's must not be read; an empty name is passed over.
settings() {
	local name
	for name in $(compgen -e); do
		case $name in
		BLOOMCTL_TEST_VALKEY_BLOOM) ;;
		BLOOMCTL_*) unset "$name" ;;
		esac
	done
	unset ARGP_HELP_FMT FAULT FAULT_THEN FAULT_PATH FAULT_COUNT \
		FAULT_CLOCK FAULT_RANDOM
	export LC_ALL=C
}

# begin: an empty folder, the keyspec `cards` of 4 buckets, and no settings.
begin() {
	settings
	cd "$BATS_TEST_TMPDIR" || return
	write_keyspec cards.keyspec
}

# begin_vectors: the same, for a test of what checks writers.
# shellcheck disable=SC2034 # for the test
begin_vectors() {
	begin
	top=$BATS_TEST_DIRNAME/..
	vectors=$top/lib/bloomkey/vectors
	model=$top/scripts/bloomkey_model.py
	verify=$top/scripts/verify-writer
	export PYTHONDONTWRITEBYTECODE=1 model
}

# begin_file: the same for setup_file().
begin_file() {
	settings
	export BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR # each test sets its own
	cd "$BATS_FILE_TMPDIR" || return
	write_keyspec cards.keyspec
}

# --- running --------------------------------------------------------------

# shellcheck disable=SC2154 # set by run
show_run() {
	printf '$ %s\n' "${*@Q}"
	printf 'status %s\n' "$status"
	[[ -z $output ]] || printf '%s\n' "$output" | sed 's/^/  | /'
	[[ -z $stderr ]] || printf '%s\n' "$stderr" | sed 's/^/  ! /'
}

# bloomctl_run ARGUMENT...: sets $status, $output and $stderr.
bloomctl_run() {
	run --separate-stderr "$BLOOMCTL" "$@"
	show_run bloomctl "$@"
}

# bloomctl_ok ARGUMENT...: it succeeds, and says nothing on standard error.
bloomctl_ok() {
	bloomctl_run "$@"
	assert_status 0
	assert_stderr_is ''
}

# any_run COMMAND...: the same for another program, such as env or bash.
any_run() {
	run --separate-stderr "$@"
	show_run "$@"
}

# need PROGRAM PACKAGE: fails where a program is missing that is installed for
# the tests; a skip is for a machine that cannot have a thing.
need() {
	[[ -n $(type -P "$1") ]] ||
		fail "there is no $1: scripts/install-deps installs Debian's $2"
}

# hex TEXT: its bytes in hexadecimal.
hex() {
	printf %s "$1" | od -An -v -tx1 | tr -d ' \n'
}

# verified PROGRAM...: it answers every vector (SPEC.md section 10).
verified() {
	any_run "$BATS_TEST_DIRNAME/../scripts/verify-writer" "$@"
	assert_status 0
	[[ $output =~ ^verify-writer:\ [0-9]+\ rows\ of\ [0-9]+\ keyspecs\ agree$ ]] ||
		fail "the answers are not those of the vectors"
}

# need_xxhash: python is an interpreter that has the package xxhash.
need_xxhash() {
	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import xxhash' 2>/dev/null || return 0
	done
	fail "no Python has xxhash: scripts/install-deps installs Debian's" \
		python3-xxhash
}

# need_fault: skips where the faulty calls cannot be preloaded.
need_fault() {
	local said
	[[ -f $BUILD/fault.so ]] || skip "there is no fault.so in $BUILD"
	said=$(LD_PRELOAD=$BUILD/fault.so FAULT=open:0 "$BLOOMCTL" --version \
		2>&1) || skip "preloading does not work here ($VARIANT): $said"
}

# fault_run FAULT PATH ARGUMENT...: runs with that fault (tests/fault.c) on
# files whose path holds PATH, or on all with ''; $counted is the number of
# calls of its kind, or empty where the process was killed.  A second fault is
# in FAULT_THEN, and then $counted_then is the number of its calls.
# shellcheck disable=SC2034 # which is for the caller
fault_run() {
	local fault=$1 path=$2
	shift 2
	# Without run, which takes longer than the program.
	local said=$BATS_TEST_TMPDIR/said
	: >"$said.counted"
	status=0
	LD_PRELOAD=$BUILD/fault.so FAULT=$fault FAULT_PATH=$path \
		FAULT_COUNT=$said.counted "$BLOOMCTL" "$@" \
		>"$said.out" 2>"$said.err" || status=$?
	output=$(<"$said.out")
	stderr=$(<"$said.err")
	show_run "FAULT=$fault" bloomctl "$@"
	counted='' counted_then=''
	[[ ! -s $said.counted ]] || {
		read -r counted
		read -r counted_then
	} <"$said.counted"
}

# readme_block HEADING KIND: the code of that kind below a heading of README.md.
readme_block() {
	awk -v heading="## $1" -v fence="\`\`\`$2" '
		/^## / { within = $0 == heading }
		/^```$/ { inside = 0 }
		inside { print }
		within && $0 == fence { inside = 1 }' "$(dirname "${BASH_SOURCE[0]}")/../README.md"
}

# ready PID: whether it has a handler for SIGTERM, so that it ends by it.
ready() {
	local caught
	# Bats' shell has one for a moment, before it becomes the program.
	[[ ! /proc/$1/exe -ef /proc/$$/exe ]] || return
	caught=$(sed -n 's/^SigCgt:\t0*/0x/p' "/proc/$1/status")
	((${caught:-0} & 1 << 14))
}

# stopped PID: whether it was stopped by a signal.
stopped() {
	grep -q '^State:[[:space:]]*T' "/proc/$1/status"
}

# wait_until COMMAND...: until it succeeds, 20 seconds at most.
wait_until() {
	local end=$((SECONDS + 20))
	until "$@"; do
		((SECONDS < end)) || fail "waited in vain for: $*"
		sleep 0.01
	done
}

# --- assertions -----------------------------------------------------------

fail() {
	printf 'FAILED: %s\n' "$*"
	return 1
}

assert_status() {
	[[ $status == "$1" ]] || fail "status is $status and not $1"
}

assert_stdout_is() {
	[[ $output == "$1" ]] || fail "standard output is not: $1"
}

assert_stderr_is() {
	[[ $stderr == "$1" ]] || fail "standard error is not: $1"
}

# assert_has TEXT PART...: each PART is in TEXT.
assert_has() {
	local text=$1 part
	shift
	for part in "$@"; do
		[[ $text == *"$part"* ]] || fail "'$part' is not in: $text" ||
			return
	done
}

assert_lacks() {
	local text=$1 part
	shift
	for part in "$@"; do
		[[ $text != *"$part"* ]] || fail "'$part' is in: $text" ||
			return
	done
}

# assert_one_sentence COMMAND [PART...]: an error and nothing else: one line
# "bloomctl COMMAND: object: what", perhaps a second one "hint: ...", and
# nothing on standard output.  The first line holds each PART.
assert_one_sentence() {
	local command=$1 lines line
	shift
	[[ -z $output ]] || fail "there is something on standard output" ||
		return
	mapfile -t lines <<<"$stderr"
	((${#lines[@]} <= 2)) || fail "more than an error and a hint" || return
	line=${lines[0]}
	[[ $line == "bloomctl $command: "?* ]] ||
		fail "does not begin with 'bloomctl $command: '" || return
	[[ $line != *. && $line != *$'\r'* && $line != *'  '* ]] ||
		fail "ends in a full stop, or holds a CR or two spaces" ||
		return
	if ((${#lines[@]} == 2)); then
		[[ ${lines[1]} == 'hint: '?* && ${lines[1]} != *. ]] ||
			fail "the second line is no hint" || return
	fi
	assert_has "$line" "$@"
}

# assert_failure STATUS COMMAND [PART...]: both of it.
assert_failure() {
	assert_status "$1" || return
	shift
	assert_one_sentence "$@"
}

# tree_state FOLDER: names, modes, links and contents of all that is in it,
# with times; without the lock, which every run may write.
tree_state() {
	[[ -e $1 ]] || {
		echo none
		return
	}
	find "$1" -printf '%P %y %m %l\n' | sort
	find "$1" -type f ! -name lock -printf '%P %T@\n' | sort
	find "$1" -type f ! -name lock -exec sha256sum {} + | sort -k 2
}

# remember_tree [FOLDER]; assert_tree_unchanged [FOLDER]
remember_tree() {
	tree_state "${1:-t}" >"$BATS_TEST_TMPDIR/remembered"
}

assert_tree_unchanged() {
	tree_state "${1:-t}" >"$BATS_TEST_TMPDIR/found"
	diff "$BATS_TEST_TMPDIR/remembered" "$BATS_TEST_TMPDIR/found" ||
		fail "${1:-t} has changed"
}

# json FILTER FILE [JQ-OPTION...]: what jq makes of it; a failure of jq fails.
json() {
	local filter=$1 file=$2
	shift 2
	jq -r "$@" "$filter" "$file"
}

# assert_json FILE FILTER...: each is true of it.
assert_json() {
	local file=$1 all filter
	shift
	printf -v all '(%s) and ' "$@"
	! jq -e "$all true" "$file" >/dev/null || return 0
	for filter in "$@"; do
		jq -e "$filter" "$file" >/dev/null || {
			cat "$file"
			fail "not so: $filter"
		}
	done
	fail "not so: $all"
}

# --- fixtures -------------------------------------------------------------

# write_keyspec FILE [NAME=VALUE...]: that of the set `cards`; lines after it
# from standard input if the last argument is "-".
write_keyspec() {
	local file=$1 more=no word name
	declare -A value=([version]=1 [name]=cards
		[key]='card:{id}:{scope}' [buckets]=4
		[filter]='{name}:{bucket}')
	local order=(version name key buckets filter)
	shift
	for word in "$@"; do
		if [[ $word == - ]]; then
			more=yes
			continue
		fi
		name=${word%%=*}
		[[ -v value[$name] ]] || order+=("$name")
		value[$name]=${word#*=}
	done
	{
		echo '[keyspec]'
		for name in "${order[@]}"; do
			printf '%s = %s\n' "$name" "${value[$name]}"
		done
		[[ $more == no ]] || cat
	} >"$file"
}

# write_csv FILE FROM TO: rows of the set `cards`, with a header.
write_csv() {
	awk -v from="$2" -v to="$3" 'BEGIN {
		print "id,scope"
		for (i = from; i <= to; i++)
			print i ",m:" i % 7
	}' >"$1"
}

# write_text FILE FROM TO: the same rows as COPY text, without a header.
write_text() {
	awk -v from="$2" -v to="$3" 'BEGIN {
		for (i = from; i <= to; i++)
			print i "\tm:" i % 7
	}' >"$1"
}

# The set's folder in a target that holds one set.
set_of() {
	local found
	found=("${1:-t}"/*-????????/)
	((${#found[@]} == 1)) || fail "not one set in ${1:-t}: ${found[*]}"
	echo "${found[0]%/}"
}

# The generation that readers get, or nothing.
# shellcheck disable=SC2120 # tests give it another target
live_of() {
	readlink "$(set_of "${1:-t}")/live" || :
}

# build_csv FILE [OPTION...]: a generation of `cards` in t; $built is its id.
build_csv() {
	local file=$1
	shift
	bloomctl_ok build -q -k cards.keyspec -t dir:t -s "file:$file" \
		--receipt built.json "$@"
	built=$(json .generation built.json)
}

# make_live FILE [OPTION...]: the same, promoted.
make_live() {
	build_csv "$@"
	bloomctl_ok swap -q -k cards.keyspec -t dir:t -g "$built" \
		--allow-shrink
}

# bits FOLDER OUT: the bits of all filters of a generation, in order.
bits() {
	local file
	: >"$2"
	for file in "$1"/*.bloom; do
		tail -c +4097 "$file" >>"$2"
	done
	[[ -s $2 ]] || fail "no bits in $1"
}

# assert_same_bits FOLDER FOLDER
assert_same_bits() {
	bits "$1" bits.one
	bits "$2" bits.two
	cmp bits.one bits.two || fail "the bits of $1 and $2 differ"
}

# flip FILE OFFSET: changes one bit of a file, and neither size nor times.
flip() {
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\x$(printf %x $((byte ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# assert_answers [OPTION...]: readers of t find 1 and 100, and not 999999.
# shellcheck disable=SC2120 # tests give it options
assert_answers() {
	bloomctl_run lookup -q -k cards.keyspec -t dir:t "$@" 1 m:1
	assert_status 0
	bloomctl_run lookup -q -k cards.keyspec -t dir:t "$@" 100 m:2
	assert_status 0
	bloomctl_run lookup -q -k cards.keyspec -t dir:t "$@" 999999 nobody
	assert_status 1
}

# left_alone: what is live answers ($live, of the set in the folder $set), no
# filter is there but its own and those of $next, and the lock is free.
# shellcheck disable=SC2154 # for the test to set
left_alone() {
	# shellcheck disable=SC2119 # not those of this function
	assert_answers
	# shellcheck disable=SC2119
	[[ $(live_of) == "$live" ]] || fail "another generation is live"
	[[ -z $(find "$set" -name '*.bloom' ! -path "*/$live/*" \
		! -path "*/${next-none}/*") ]] ||
		fail "a filter is left behind"
	flock -n "$set/lock" true || fail "the lock is held"
}

# --- tables of cases ------------------------------------------------------
#
# A table runs all of its cases and then says which were wrong, each with what
# the program did:
#
#	table FUNCTION <<'END'
#	74 what it says :: code that makes the case
#	END
#	no_wrong 1

# quick ARGUMENT...: bloomctl_run without what it costs; reads our input.
quick() {
	ran=("$@")
	status=0
	"$BLOOMCTL" "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" ||
		status=$?
	output=$(tr -d '\0' <"$BATS_TEST_TMPDIR/out")
	stderr=$(<"$BATS_TEST_TMPDIR/err")
}

# wrong TEXT...: the case $case is; the next one is run all the same.
wrong() {
	printf 'WRONG: %s\n  %s\n' "$case" "$*"
	show_run bloomctl "${ran[@]}"
	wrong=$((${wrong-0} + 1))
}

# table FUNCTION: calls it with WANT, the text before "::" and that behind it
# for each line of input.
table() {
	local lines line rest text
	mapfile -t lines
	for line in "${lines[@]}"; do
		case=$line
		rest=${line#* }
		text=${rest%%::*}
		"$1" "${line%% *}" "${text% }" "${rest#*:: }"
		cases=$((${cases-0} + 1))
	done
}

# no_wrong N: no case was wrong, and there were N or more.
no_wrong() {
	((${wrong-0} == 0)) || fail "$wrong things are wrong in ${cases-0} cases"
	((${cases-0} >= $1)) || fail "only ${cases-0} cases were run"
}

# hold_lock FOLDER: takes the lock of a set from outside; release_lock ends it.
hold_lock() {
	exec {lock_fd}<>"$1/lock"
	flock -n "$lock_fd" || fail "cannot lock $1"
}

release_lock() {
	exec {lock_fd}>&-
}
