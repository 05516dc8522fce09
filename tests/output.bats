#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Where answers, errors and progress go, and what is when they cannot: standard
# descriptors that are closed, full, stuck or gone, and terminals of all kinds;
# and what must not change an answer: the environment, the locale, the user.
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	need python3 python3
	write_csv rows.csv 1 100
	write_text rows.txt 1 20000
	make_live rows.csv
	build_csv rows.csv
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/{rows.csv,rows.txt} .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	next=$(json .generation "$BATS_FILE_TMPDIR/built.json")
	remember_tree
}

# The commands that have an answer and change nothing.
readonly_answers() {
	cat <<-'END'
		--help
		--version
		build --help
		size --usage
		size --buckets 1 --keys 5
		size --buckets 1 --keys 5 --format json
		size -k cards.keyspec -s file:rows.csv --format csv
		key -k cards.keyspec 1 m:1
		key -k cards.keyspec 1 m:1 --format json
		key -k cards.keyspec --fingerprint
		key -k cards.keyspec --sentinel
		key -k cards.keyspec --stdin
		key -k cards.keyspec --stdin --format table
		inspect -k cards.keyspec -t dir:t
		inspect -k cards.keyspec -t dir:t --format csv
		inspect -k cards.keyspec -t dir:t --format json
		verify -k cards.keyspec -t dir:t -s file:rows.csv
		lookup -k cards.keyspec -t dir:t 1 m:1
		build -n -k cards.keyspec -t dir:t -s file:rows.csv
		swap -n -k cards.keyspec -t dir:t
		swap -k cards.keyspec -t dir:t --prune -n
	END
}

# ageless: what inspect says without what time alone changes.
ageless() {
	sed -E 's/^(live for +)[^,]*,/\1/'
}

# each_answer COMMAND...: calls it with each of them; rows are on file
# descriptor 0.
each_answer() {
	local line
	while read -r line <&9; do
		# shellcheck disable=SC2086 # words
		"$@" $line <rows.txt || return
	done 9< <(readonly_answers)
	assert_tree_unchanged
}

# fails ERRNO-TEXT: 74, and it is told once what standard output has.
fails() {
	local lines
	assert_status 74
	mapfile -t lines <<<"$stderr"
	((${#lines[@]} == 1)) || fail "more than one line"
	[[ $stderr =~ ^bloomctl[a-z\ ]*:\ standard\ output:\ $1$ ]] ||
		fail "it says: $stderr"
}

# --- standard output that cannot be written ---------------------------------

full() {
	any_run bash -c '"$@" >/dev/full' sh "$BLOOMCTL" "$@"
	fails 'No space left on device'
}

@test "output: an answer that cannot be written is 74, and told once" {
	each_answer full
}

closed_output() {
	any_run bash -c '"$@" >&-' sh "$BLOOMCTL" "$@"
	fails 'Bad file descriptor'
}

@test "output: a closed standard output is 74 where there is an answer" {
	each_answer closed_output
}

# gone_output COMMAND...: with a standard output whose reader is gone.
gone_output() {
	local end out
	rm -f fifo err
	mkfifo fifo
	exec {end}<>fifo
	exec {out}>fifo
	exec {end}<&-
	status=0 output=
	"$BLOOMCTL" "$@" >&"$out" 2>err {out}>&- || status=$?
	exec {out}>&-
	stderr=$(<err)
	show_run bloomctl "$@"
	fails 'Broken pipe'
}

@test "output: a reader that is gone is 74, and no death by a signal" {
	each_answer gone_output
}

@test "output: a socket whose reader is gone is 74, too" {
	cat >reset.py <<-'END'
		import socket, subprocess, sys
		ours, its = socket.socketpair()
		ours.close()
		sys.exit(subprocess.run(sys.argv[1:], stdout=its).returncode)
	END
	any_run python3 reset.py "$BLOOMCTL" size --buckets 1 --keys 5
	fails 'Broken pipe'
	any_run python3 reset.py "$BLOOMCTL" key -k cards.keyspec --stdin \
		<rows.txt
	fails 'Broken pipe'
}

@test "output: what was done is done, and its receipt says 74" {
	any_run bash -c '"$@" >/dev/full' sh "$BLOOMCTL" build \
		-k cards.keyspec -t dir:t -s file:rows.csv --receipt got.json
	fails 'No space left on device'
	assert_json got.json '.status == 74' '.rows == 100' \
		'.message == "standard output: No space left on device"'
	built=$(json .generation got.json)
	assert_json "$set/$built/manifest.json" '.state == "complete"'
	[[ $(live_of) == "$live" ]]
	any_run bash -c '"$@" >/dev/full' sh "$BLOOMCTL" swap \
		-k cards.keyspec -t dir:t --receipt got.json
	fails 'No space left on device'
	assert_json got.json '.status == 74' ".generation == \"$built\""
	[[ $(live_of) == "$built" ]]
	any_run bash -c '"$@" >/dev/full' sh "$BLOOMCTL" verify \
		-k cards.keyspec -t dir:t -s file:rows.csv --receipt got.json
	fails 'No space left on device'
	assert_json got.json '.status == 74' '.missing == 0'
	assert_answers
}

@test "output: of two errors the first is told" {
	printf '5\tm:5\n5\n' >short.txt
	any_run bash -c '"$@" >/dev/full <short.txt' sh "$BLOOMCTL" key \
		-k cards.keyspec --stdin
	assert_failure 65 key 'standard input: row 2'
	any_run bash -c '"$@" >&-' sh "$BLOOMCTL" inspect -k cards.keyspec \
		-t dir:none
	assert_failure 66 inspect
}

@test "output: a fault at any write of an answer is 74, and half a write none" {
	local n fault text
	need_fault
	local key=("$BLOOMCTL" key -k cards.keyspec --stdin)
	"${key[@]}" <rows.txt >want.txt
	while read -r fault text; do
		n=0
		while ((++n < 50)); do
			any_run env LD_PRELOAD="$BUILD/fault.so" \
				FAULT="write:$n:$fault" FAULT_PATH=/got.txt \
				bash -c '"$@" <rows.txt >got.txt' sh "${key[@]}"
			((status != 0)) || break
			fails "$text"
			# In order, and nothing behind the gap.
			cmp -n "$(stat -c %s got.txt)" got.txt want.txt
		done
		((n > 2 && n < 50))
		cmp got.txt want.txt
	done <<-'END'
		EIO Input/output error
		ENOSPC No space left on device
	END
	for n in 1 2 3; do
		any_run env LD_PRELOAD="$BUILD/fault.so" FAULT="write:$n:half" \
			FAULT_PATH=/got.txt \
			bash -c '"$@" <rows.txt >got.txt' sh "${key[@]}"
		assert_status 0
		cmp got.txt want.txt
	done
}

@test "output: a slow reader of a pipe gets every byte" {
	"$BLOOMCTL" key -k cards.keyspec --stdin <rows.txt >want.txt
	"$BLOOMCTL" key -k cards.keyspec --stdin <rows.txt |
		dd bs=777 status=none of=got.txt
	cmp got.txt want.txt
}

@test "output: flags that others share are not changed" {
	cat >flags.py <<-'END'
		import fcntl, os, subprocess, sys, threading
		ours, its = os.pipe()
		got = []
		reader = threading.Thread(target=lambda: got.append(
		    open(ours, "rb").read()))
		for flags in os.O_NONBLOCK, 0:
		    fcntl.fcntl(its, fcntl.F_SETFL, flags)
		    before = fcntl.fcntl(its, fcntl.F_GETFL)
		    process = subprocess.Popen(sys.argv[1:], stdout=its,
		                               stderr=its)
		    if not reader.is_alive():
		        reader.start()
		    while True:
		        same = fcntl.fcntl(its, fcntl.F_GETFL) == before
		        if not same or process.poll() is not None:
		            break
		    assert same and process.wait() == 0
		os.close(its)
		reader.join()
		sys.stdout.buffer.write(got[0])
	END
	"$BLOOMCTL" key -k cards.keyspec --stdin <rows.txt >want.txt
	cat rows.txt rows.txt >twice.txt
	cat want.txt want.txt >want2.txt
	python3 flags.py bash -c '"$@" <rows.txt' sh "$BLOOMCTL" key \
		-k cards.keyspec --stdin >got.txt
	cmp got.txt want2.txt
}

# --- the others --------------------------------------------------------------

# still COMMAND: it answered as before; random non-members are others each time.
still() {
	output=$(ageless <<<"$output")
	[[ $1 == verify ]] || assert_stdout_is "$want"
}

closed_others() {
	local want
	any_run "$BLOOMCTL" "$@"
	assert_status 0
	want=$(ageless <<<"$output")
	any_run bash -c '"$@" 2>&-' sh "$BLOOMCTL" "$@"
	assert_status 0
	still "$1"
	any_run bash -c '"$@" 2>/dev/full' sh "$BLOOMCTL" "$@"
	assert_status 0
	still "$1"
	[[ $* != *--stdin* ]] || return 0
	any_run bash -c '"$@" <&-' sh "$BLOOMCTL" "$@"
	assert_status 0
	still "$1"
	any_run bash -c '"$@" <&- 2>&-' sh "$BLOOMCTL" "$@"
	assert_status 0
	still "$1"
}

@test "output: a standard error that is closed or full changes nothing" {
	each_answer closed_others
	bloomctl_run build -vv -k cards.keyspec -t dir:t -s file:rows.csv
	assert_status 0
	assert_has "$stderr" 'bloomctl build: generation '
	for to in '&-' /dev/full; do
		any_run bash -c "\"\$@\" 2>$to" sh "$BLOOMCTL" build -vv \
			-k cards.keyspec -t dir:t -s file:rows.csv
		assert_status 0
		assert_has "$output" 'is complete'
		any_run bash -c "\"\$@\" 2>$to" sh "$BLOOMCTL" build -vv \
			-k cards.keyspec -t dir:t -s file:none.csv
		assert_status 66
	done
	assert_answers
}

@test "output: no file is ever opened as a standard descriptor" {
	any_run bash -c '"$@" <&- >&- 2>&-' sh "$BLOOMCTL" build -v \
		-k cards.keyspec -t dir:t -s file:rows.csv
	assert_status 74
	any_run bash -c '"$@" <&- >&- 2>&-' sh "$BLOOMCTL" build -q \
		-k cards.keyspec -t dir:t -s file:rows.csv
	assert_status 0
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:rows.csv
	# Rows from a closed standard input are no empty input.
	any_run bash -c '"$@" <&-' sh "$BLOOMCTL" key -k cards.keyspec --stdin
	assert_failure 74 key 'standard input'
}

@test "output: standard input may be a file, a pipe, a socket and a terminal" {
	cat >feed.py <<-'END'
		import os, pty, socket, subprocess, sys, termios
		rows = b"1\tm:1\n2\tm:2\n"
		for kind in "socket", "terminal":
		    if kind == "socket":
		        ours, its = (s.detach() for s in socket.socketpair())
		    else:
		        ours, its = pty.openpty()
		        modes = termios.tcgetattr(its)
		        modes[3] &= ~termios.ECHO
		        termios.tcsetattr(its, termios.TCSANOW, modes)
		    process = subprocess.Popen(sys.argv[1:], stdin=its,
		                               stdout=subprocess.PIPE)
		    os.close(its)
		    os.write(ours, rows)
		    if kind == "socket":
		        os.close(ours)
		    else:
		        os.write(ours, b"\4")
		    sys.stdout.write(process.communicate()[0].decode())
		    assert process.returncode == 0, kind
	END
	printf '1\tm:1\n2\tm:2\n' >two.txt
	want=$("$BLOOMCTL" key -k cards.keyspec --stdin <two.txt)
	any_run bash -c 'cat two.txt | "$@"' sh "$BLOOMCTL" key \
		-k cards.keyspec --stdin
	assert_stdout_is "$want"
	any_run python3 feed.py "$BLOOMCTL" key -k cards.keyspec --stdin
	assert_status 0
	assert_stdout_is "$want"$'\n'"$want"
}

# --- stops -------------------------------------------------------------------

# stuck_pipe: a pipe in $stuck that is full, and that nobody reads.
stuck_pipe() {
	mkfifo stuck
	exec {stuck}<>stuck
	# More than it holds, so that there is no room for a single byte.
	dd if=/dev/zero of=stuck oflag=nonblock bs=1 count=1 status=none
	python3 -c '
import os
fd = os.open("stuck", os.O_WRONLY | os.O_NONBLOCK)
size = 65536
while size:
    try:
        os.write(fd, b"\0" * size)
    except BlockingIOError:
        size //= 2'
}

# waits PID: it has its handlers, and sleeps.
waits() {
	ready "$1" && grep -q '^State:[[:space:]]*S' "/proc/$1/status"
}

ended() {
	[[ ! -e /proc/$1 ]] ||
		grep -qs '^State:[[:space:]]*Z' "/proc/$1/status"
}

# taken PID: it has no signal to come.
taken() {
	ended "$1" || grep -qs '^ShdPnd:[[:space:]]*0*$' "/proc/$1/status"
}

# ends_by SIGNAL... PID: $status is what it ends with.
ends_by() {
	local pid=${*: -1} name
	wait_until waits "$pid"
	kill -"$1" "$pid"
	# Of two that are there at once the system chooses which is first.
	wait_until taken "$pid"
	for name in "${@:2:$#-2}"; do
		kill -"$name" "$pid" 2>/dev/null || :
	done
	wait_until ended "$pid"
	status=0
	wait "$pid" || status=$?
}

@test "output: a stop ends every command whose answer nobody reads" {
	local line name want
	stuck_pipe
	while read -r name want line; do
		# shellcheck disable=SC2086 # words
		"$BLOOMCTL" $line <rows.txt 1>&"$stuck" 2>err {stuck}>&- &
		# The second one changes nothing.
		ends_by "$name" TERM INT $!
		echo "$line: $status, $(<err)"
		assert_status "$want"
		[[ $(<err) == "bloomctl ${line%% *}: stopped by SIG$name" ]]
	done <<-'END'
		TERM 143 key -k cards.keyspec --stdin
		INT 130 key -k cards.keyspec --stdin --format csv
		HUP 143 key -k cards.keyspec 1 m:1
		TERM 143 key -k cards.keyspec --fingerprint
		INT 130 inspect -k cards.keyspec -t dir:t --format json
		HUP 143 inspect -k cards.keyspec -t dir:t
		TERM 143 size --buckets 1 --keys 5
		TERM 143 verify -k cards.keyspec -t dir:t -s file:rows.csv
		INT 130 lookup -k cards.keyspec -t dir:t 1 m:1
		TERM 143 build -n -k cards.keyspec -t dir:t -s file:rows.csv
		INT 130 swap -k cards.keyspec -t dir:t -n
	END
	assert_tree_unchanged
}

@test "output: a stop ends a long answer in the middle, which stays in order" {
	write_keyspec wide.keyspec name=wide buckets=2000
	bloomctl_ok build -q -k wide.keyspec -t dir:w -s file:rows.csv
	bloomctl_ok swap -q -k wide.keyspec -t dir:w
	local inspect=("$BLOOMCTL" inspect -k wide.keyspec -t dir:w --format json)
	"${inspect[@]}" >want
	(($(stat -c %s want) > 200000))
	mkfifo pipe
	exec {stuck}<>pipe
	"${inspect[@]}" 1>&"$stuck" 2>err &
	ends_by TERM $!
	assert_status 143
	[[ $(<err) == 'bloomctl inspect: stopped by SIGTERM' ]]
	dd if=pipe iflag=nonblock bs=4096 status=none >got 2>/dev/null || :
	(($(stat -c %s got) >= 4096))
	cmp -n "$(stat -c %s got)" got want
}

@test "output: a stop ends the removal of many filters, and the next run goes on" {
	need_fault
	local i prune=(swap --prune --keep 0 -k wide.keyspec -t dir:w)
	write_keyspec wide.keyspec name=wide buckets=2000
	for i in 1 2 3; do
		bloomctl_ok build -q -k wide.keyspec -t dir:w -s file:rows.csv
		bloomctl_ok swap -q -k wide.keyspec -t dir:w
	done
	fault_run unlink:10:term /wide- "${prune[@]}"
	assert_failure 143 swap 'stopped by SIGTERM'
	i=$(find w -path '*.gone/*.bloom' | wc -l)
	((i > 0 && i < 1990))
	bloomctl_run "${prune[@]}"
	assert_status 0
	assert_has "$stderr" "removed 'wide-" 'left by a run that died'
	[[ -z $(find w -name '*.gone') ]]
	bloomctl_ok inspect -k wide.keyspec -t dir:w --format csv
}

@test "output: a stop ends a run whose standard error nobody reads" {
	local line name want
	stuck_pipe
	while read -r name want line; do
		# shellcheck disable=SC2086 # words
		"$BLOOMCTL" $line >out 2>&"$stuck" {stuck}>&- &
		ends_by "$name" $!
		assert_status "$want"
		[[ ! -s out ]]
	done <<-'END'
		TERM 143 build -v -k cards.keyspec -t dir:t -s file:rows.csv
		INT 130 build -vv -k cards.keyspec -t dir:t -s file:rows.csv
	END
	[[ $(live_of) == "$live" ]]
	flock -n "$set/lock" true
	assert_answers
	# An error is waited with, until a stop; its own status stays.
	"$BLOOMCTL" size -k none.keyspec --keys 5 >out 2>&"$stuck" {stuck}>&- &
	ends_by TERM $!
	assert_status 78
}

@test "output: a stop ends an answer on a terminal that is stopped" {
	cat >stopped.py <<-'END'
		import os, pty, re, signal, subprocess, sys, termios, time
		ours, its = pty.openpty()
		termios.tcflow(its, termios.TCOOFF)
		process = subprocess.Popen(sys.argv[1:], stdout=its)
		end = time.monotonic() + 20
		while time.monotonic() < end:
		    status = open(f"/proc/{process.pid}/status").read()
		    caught = int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16)
		    if caught & 1 << 14 and "\nState:\tS" in status:
		        break
		process.send_signal(signal.SIGTERM)
		sys.exit(process.wait(20))
	END
	any_run python3 stopped.py "$BLOOMCTL" size --buckets 1 --keys 5
	assert_failure 143 size 'stopped by SIGTERM'
	any_run python3 stopped.py "$BLOOMCTL" inspect -k cards.keyspec \
		-t dir:t --format csv
	assert_failure 143 inspect 'stopped by SIGTERM'
}

@test "output: a stop that comes before the answer lets a reader have it" {
	need_fault
	cp -a t kept
	fault_run any:0 /cards- swap -k cards.keyspec -t dir:t
	assert_status 0
	rm -r t
	mv kept t
	# At its last call, behind which only the answer is.
	fault_run "any:$counted:term" /cards- swap -k cards.keyspec -t dir:t
	assert_status 0
	assert_has "$output" "'$next' is live"
}

# --- deadlines ---------------------------------------------------------------

@test "output: --deadline ends what waits for a reader with 75" {
	stuck_pipe
	"$BLOOMCTL" size --buckets 1 --keys 5 --deadline 1s 1>&"$stuck" 2>err &
	wait_until ended $!
	status=0
	wait $! || status=$?
	assert_status 75
	[[ $(<err) == 'bloomctl size: stopped by the deadline, 1s' ]]
	"$BLOOMCTL" build -v -k cards.keyspec -t dir:t -s file:rows.csv \
		--deadline "$(date -u -d '1 second' +%FT%TZ)" \
		--receipt got.json >out 2>&"$stuck" &
	wait_until ended $!
	status=0
	wait $! || status=$?
	assert_status 75
	[[ $(live_of) == "$live" ]]
	flock -n "$set/lock" true
	assert_answers
}

@test "output: a deadline that is past ends every command before it begins" {
	local line when
	for when in 0s 2001-01-01T00:00:00Z 2026-11-30T00:00:00.5+14:00; do
		while read -r line; do
			# shellcheck disable=SC2086 # words
			bloomctl_run $line --deadline "$when"
			assert_failure 75 "${line%% *}" "deadline '$when': "
		done <<-'END'
			size --buckets 1 --keys 5
			size -k none.keyspec -s file:none.csv
			build -k none.keyspec -t dir:none -s file:none.csv
			build -k cards.keyspec -t dir:t -s file:rows.csv
			swap -k cards.keyspec -t dir:t
			verify -k none.keyspec -t dir:t -s file:none.csv
		END
	done
	assert_tree_unchanged
	[[ ! -e none ]]
}

@test "output: a deadline is read from all places, and one far away stops nothing" {
	local when
	for when in 1d 99999999d 2126-01-01T00:00:00Z; do
		bloomctl_ok size --buckets 1 --keys 5 --deadline "$when"
		bloomctl_ok verify -q -k cards.keyspec -t dir:t \
			-s file:rows.csv --deadline "$when"
	done
	echo 'deadline = 0s' >a.conf
	bloomctl_run size --buckets 1 --keys 5 --config a.conf
	assert_failure 75 size "deadline '0s'"
	BLOOMCTL_DEADLINE=0s bloomctl_run size --buckets 1 --keys 5
	assert_failure 75 size "deadline '0s'"
	# Commands that have none pass over it.
	bloomctl_ok key -k cards.keyspec --config a.conf 5 m:5
}

@test "output: a deadline at any point of a swap moves nothing, or all of it" {
	local n
	need_fault
	cp -a t kept
	for n in {1..18}; do
		fault_run "any:$n:alrm" /cards- swap -q -k cards.keyspec \
			-t dir:t --deadline 1d
		case $status in
		0) [[ $(live_of) == "$next" ]] ;;
		75)
			assert_one_sentence swap 'stopped by the deadline, 1d'
			[[ $(live_of) == "$live" ]]
			;;
		*) fail "status $status" ;;
		esac
		assert_answers
		flock -n "$set/lock" true
		rm -r t
		cp -a kept t
	done
}

# --- what must not matter ----------------------------------------------------

# outputs TO: the answers of size, inspect and key in every format.
outputs() {
	local format
	for format in table json csv; do
		"$BLOOMCTL" size --buckets 3 --keys 123456 --error 0.001 \
			--format $format
		"$BLOOMCTL" inspect -k cards.keyspec -t dir:t --format $format
		"$BLOOMCTL" key -k title.keyspec --format $format II m:I
		"$BLOOMCTL" key -k title.keyspec --stdin --format $format <rows.txt
	done | ageless >"$1"
}

@test "output: no locale changes a byte" {
	local name
	write_keyspec title.keyspec - <<-'END'
		[field id]
		transform = lower
	END
	outputs want
	grep -q 'card:ii:m:I' want
	for name in de_DE tr_TR; do
		[[ -d ${LOCPATH-}/$name.UTF-8 ]] ||
			skip "localedef makes no $name here"
		LC_ALL=$name.UTF-8 LANG=$name.UTF-8 outputs got
		cmp got want
	done
	LC_ALL=xx_YY.UTF-8 outputs got
	cmp got want
}

@test "output: with nothing in the environment it works the same" {
	write_keyspec title.keyspec
	outputs want
	(
		program=$BLOOMCTL
		printf '#!/bin/sh\nexec env -i %q "$@"\n' "$program" >bare
		chmod +x bare
		BLOOMCTL=./bare outputs got
	)
	cmp got want
	any_run env -i "$BLOOMCTL" build -q -k cards.keyspec -t dir:u \
		-s file:rows.csv
	assert_status 0
	assert_stderr_is ''
	any_run env -i HOME=/nonexistent PATH= LC_ALL=xx_YY.UTF-8 \
		TZ=:/nonexistent "$BLOOMCTL" swap -q -k cards.keyspec -t dir:u
	assert_status 0
	assert_stderr_is ''
}

@test "output: nobody's name, home or entry is asked for" {
	if [[ $VARIANT == plain ]]; then
		any_run nm -D --undefined-only "$BLOOMCTL"
		assert_status 0
		assert_has "$output" poll
		[[ ! $output =~ (getpw|getgr|getlogin|cuserid|getspnam) ]] ||
			fail "it asks for ${BASH_REMATCH[0]}"
	fi
	write_keyspec title.keyspec
	outputs want
	if ((EUID == 0)); then
		as=(setpriv --reuid=54321 --regid=54321 --clear-groups)
	else
		as=(unshare --user --map-user=54321)
	fi
	run "${as[@]}" true
	((status == 0)) || skip "no other user can be had here"
	any_run "${as[@]}" id -un
	((status != 0))
	chmod -R a+rX . ..
	any_run "${as[@]}" "$BLOOMCTL" inspect -k cards.keyspec -t dir:t \
		--format csv
	assert_status 0
	assert_stdout_is "$("$BLOOMCTL" inspect -k cards.keyspec -t dir:t \
		--format csv)"
}

# A terminal of so many columns and rows, which is standard output and error;
# what it got, without the CR of its newlines.
terminal() {
	cat >terminal.py <<-'END'
		import fcntl, os, pty, struct, subprocess, sys, termios, threading
		size = [int(n) for n in sys.argv[1:3]]
		ours, its = pty.openpty()
		fcntl.ioctl(its, termios.TIOCSWINSZ,
		            struct.pack("HHHH", size[1], size[0], 0, 0))
		process = subprocess.Popen(sys.argv[3:], stdout=its, stderr=its)
		os.close(its)
		got = b""
		while True:
		    try:
		        part = os.read(ours, 65536)
		    except OSError:
		        break
		    if not part:
		        break
		    got += part
		sys.stdout.buffer.write(got.replace(b"\r\n", b"\n"))
		sys.exit(process.wait())
	END
	any_run env TERM=xterm python3 terminal.py "$@"
}

@test "output: the width of a terminal changes no answer" {
	local size line want
	for size in '0 0' '1 1' '1 0' '0 1' '80 24' '65535 65535'; do
		while read -r line; do
			# shellcheck disable=SC2086 # words
			want=$("$BLOOMCTL" $line | ageless)
			# shellcheck disable=SC2086 # words
			terminal $size "$BLOOMCTL" $line
			assert_status 0
			output=$(ageless <<<"$output")
			assert_stdout_is "$want"
		done <<-'END'
			--help
			build --help
			size --usage
			size --buckets 1 --keys 5
			inspect -k cards.keyspec -t dir:t
			key -k cards.keyspec 1 m:1
		END
	done
}

@test "output: progress stands on one line of a terminal of any width, and goes" {
	local size line cr=$'\r' clear=$'\033\\[K'
	need_fault
	for size in '0 0' '1 1' '80 24'; do
		# It is held up before its first row, for longer than it waits
		# with progress.
		cat >held.py <<-'END'
			import os, re, signal, subprocess, sys, time
			process = subprocess.Popen(sys.argv[1:])
			end = time.monotonic() + 20
			while "\nState:\tT" not in open(
			        f"/proc/{process.pid}/status").read():
			    assert time.monotonic() < end
			since = time.monotonic()
			while time.monotonic() < since + 0.3:
			    pass
			process.send_signal(signal.SIGCONT)
			sys.exit(process.wait())
		END
		# shellcheck disable=SC2086 # words
		terminal $size python3 held.py env \
			LD_PRELOAD="$BUILD/fault.so" FAULT=open:2:stop \
			FAULT_PATH=rows.csv "$BLOOMCTL" build -k cards.keyspec \
			-t dir:t -s file:rows.csv
		assert_status 0
		line="^${cr}[a-z]+: [0-9,]+ rows[^$cr]*$clear$cr${clear}set .* complete"
		[[ $output =~ $line ]] || fail "it got: ${output@Q}"
		(($(wc -l <<<"$output") == 1))
	done
}
