# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# serverset: the set `cards` on a Redis server, for Bats files, after helpers
# and redis.
#
#	setup_file() { begin_set_file; }
#	teardown_file() { redis_stop main; }
#	setup() { begin && begin_set; }
#
# The server is a cluster where $SERVERS says so, see redis; a file of which
# that makes no sense has a line "# servers: single", and is not run then.
# Each test has the server to itself: begin_set() empties it.  $target is the
# server as bloomctl names it, $set the name of the set.

# begin_set_file [ROWS [MORE]]: the server `main`, and so many rows in rows.csv
# and in more.csv.
begin_set_file() {
	begin_file && servers_start main || return
	write_csv rows.csv 1 "${1:-2000}"
	write_csv more.csv 1 "${2:-2600}"
}

# begin_set [NAME]: an empty server, and what tests name it by; the rows of the
# file are here.
begin_set() {
	server=${1:-main}
	cp "$BATS_FILE_TMPDIR"/*.csv .
	redis_cli "$server" FLUSHALL >/dev/null
	target=redis://127.0.0.1:$(redis_port "$server")
	set=cards-$("$BLOOMCTL" key -k cards.keyspec --fingerprint | cut -c 1-8)
}

# on COMMAND OPTION...: bloomctl COMMAND on the set.
on() {
	bloomctl_run "$1" -k cards.keyspec -t "$target" "${@:2}"
}

# on_ok COMMAND OPTION...: it succeeds and has no complaint.
on_ok() {
	on "$@"
	assert_status 0
	assert_stderr_is ''
}

# server_build FILE [OPTION...]: a generation of `cards`; $built is its id.
server_build() {
	on_ok build -q -s "file:$1" --receipt built.json "${@:2}"
	built=$(json .generation built.json)
}

# server_live FILE [OPTION...]: the same, promoted; $live is its id.
server_live() {
	server_build "$@"
	on_ok swap -q -g "$built" --allow-shrink
	live=$built
}

# state_of BUCKET FIELD: of the live filter's state.
state_of() {
	redis_cli "$server" HGET "{cards:$1}:bloomctl" "$2"
}

# keys_now: all keys of the server, sorted.
keys_now() {
	redis_cli "$server" KEYS '*' | sort
}

# no_key_has TEXT: no key of the server.
no_key_has() {
	! keys_now | grep -F -- "$1"
}

# other_than ID: the one generation on record that is not this one.
other_than() {
	redis_cli "$server" SMEMBERS "bloomctl:{$set}:generations" |
		grep -v -- "$1"
}

# server_answers: readers find 1 and 100, and not 999999; $live is what they
# get, in all filters.
server_answers() {
	local b found
	for b in 0 1 2 3; do
		[[ $(state_of "$b" generation) == "$live" ]] ||
			fail "bucket $b is not of $live" || return
	done
	for found in "1 m:1" "100 m:2"; do
		# shellcheck disable=SC2086 # words
		server_has $found || fail "$found is not found" || return
	done
	# One that is not there may be found, and where bits are drawn anew each
	# time, sometimes is.
	for found in 999997 999998 999999; do
		server_has "$found" nobody || return 0
	done
	fail "what is not there is found"
}

# server_has ID SCOPE: readers find it.
server_has() {
	local filter
	filter=$("$BLOOMCTL" key -k cards.keyspec --format json "$@" |
		jq -r .filter)
	[[ $(redis_cli "$server" BF.EXISTS "$filter" "card:$1:$2") == 1 ]]
}

# server_left_alone: what is live answers, nobody holds the lock, and there are
# no filters but its own and those of $next.
server_left_alone() {
	local stray
	server_answers || return
	[[ $(redis_cli "$server" EXISTS "bloomctl:{$set}:lock") == 0 ]] ||
		fail "the lock is held" || return
	stray=$(keys_now | grep '}:bloomctl:' | grep -v "${next:-none}" |
		grep -v "${before:-none}" || :)
	[[ -z $stray ]] || fail "left behind: $stray"
}

# many: the set has 64 buckets, so that a swap has a middle.
many() {
	write_keyspec cards.keyspec buckets=64
	set=cards-$("$BLOOMCTL" key -k cards.keyspec --fingerprint | cut -c 1-8)
}

# moved GENERATION: how many of the 64 live filters are of it.  In a cluster a
# primary counts those that are its own.
moved() {
	# shellcheck disable=SC2016 # Lua
	redis_cli "$server" EVAL 'local n = 0
		for b = 0, 63 do
			local s = string.format("{cards:%02d}:bloomctl", b)
			local t = redis.pcall("TYPE", string.format("cards:%02d", b))
			if redis.pcall("HGET", s, "generation") == ARGV[1] and
			    (t.ok == "MBbloom--" or t.ok == "bloomfltr") then
				n = n + 1
			end
		end
		return n' 0 "$1" | awk '{ n += $1 } END { print n + 0 }'
}

# all_of FILE: every row of it is found, in whatever is live.
all_of() {
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <"$1" |
		cut -f 1,4 >asked
	[[ -s asked ]]
	if is_cluster "$server"; then
		questions <asked >asked.members
		"$BUILD/reader" --once "$(reader_place "$server")" \
			asked.members || fail "rows are lost"
		return
	fi
	python3 - "$(redis_socket "$server")" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		f = s.makefile("rwb")
		asked = [l.rstrip("\n").split("\t") for l in open("asked")]
		lost = 0
		for i in range(0, len(asked), 500):
		    some = asked[i:i + 500]
		    for key, name in some:
		        k, n = bytes.fromhex(key), name.encode()
		        f.write(b"*3\r\n$9\r\nBF.EXISTS\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n"
		                % (len(n), n, len(k), k))
		    f.flush()
		    lost += sum(f.readline() != b":1\r\n" for _ in some)
		assert asked
		sys.exit(f"{lost} of {len(asked)} rows are lost" if lost else 0)
	END
}

# questions: of lines of KEY and FILTER makes what the reader asks for.
questions() {
	awk -F '\t' -v OFS='\t' '{ print $2, s, $1 }' \
		"s=$("$BLOOMCTL" key -k cards.keyspec --sentinel)" -
}

# reader_place NAME: as the reader calls it.
reader_place() {
	if is_cluster "$1"; then
		local first
		cluster_first "$1" &&
			echo "cluster:127.0.0.1:$(redis_port "$first")"
	else
		redis_socket "$1"
	fi
}

# lock_is FIELD VALUE
lock_is() {
	[[ $(redis_cli "$server" HGET "bloomctl:{$set}:lock" "$1") == "$2" ]]
}

lock_gone() {
	[[ $(redis_cli "$server" EXISTS "bloomctl:{$set}:lock") == 0 ]]
}

# slow_build [OPTION...]: one that waits for rows from $feed; $pid is the
# process, $building the id of its generation.
# shellcheck disable=SC2034 # which is for the test
slow_build() {
	rm -f slow
	mkfifo slow
	"$BLOOMCTL" build -q -k cards.keyspec -t "$target" --no-trailer \
		--keys "${keys:-5000}" -s - "$@" <slow >said.out 2>said.err 3>&- &
	pid=$!
	exec {feed}>slow
	head -n 3 rows.csv >&"$feed"
	wait_until lock_is phase building
	building=$(redis_cli "$server" SMEMBERS "bloomctl:{$set}:generations" |
		sort | tail -n 1)
}

# feed FROM [FILE]: the rows from that line on, and the end of the pipe.
feed() {
	tail -n "+$1" "${2:-rows.csv}" >&"$feed" || :
	exec {feed}>&-
}

# ends STATUS: the process $pid does; what it said is $stderr.
# shellcheck disable=SC2034 # which is for the test
ends() {
	status=0
	wait "$pid" || status=$?
	output=$(<said.out) stderr=$(<said.err)
	show_run bloomctl
	assert_status "$1"
}

# stopped_or_gone PID
stopped_or_gone() {
	! kill -0 "$1" 2>/dev/null || stopped "$1"
}

# stop_within FROM TO COMMAND OPTION...: runs it until it is stopped with FROM
# to TO live filters of the generation $next; $pid is the process.
stop_within() {
	local from=$1 to=$2 n count
	shift 2
	for ((n = 3; n < 200; n++)); do
		LD_PRELOAD=$BUILD/fault.so FAULT=send:$n:stop \
			"$BLOOMCTL" "$1" -q -k cards.keyspec -t "$target" \
			"${@:2}" >said.out 2>said.err 3>&- &
		pid=$!
		wait_until stopped_or_gone "$pid"
		count=$(moved "$next")
		! ((from <= count && count <= to)) || return 0
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
		redis_cli "$server" DEL "bloomctl:{$set}:lock" >/dev/null
		((count <= to)) || break
	done
	fail "never stopped with $from to $to filters moved"
}

# shadow BUCKET [ID]: the key of a filter that is not live.
shadow() {
	echo "{cards:$1}:bloomctl:${2:-$built}"
}

# heals: a new build and swap work, whatever is there now.
heals() {
	wait_until lock_gone
	on build -q -s file:more.csv --receipt built.json
	assert_status 0
	built=$(json .generation built.json)
	on_ok swap -q
	live=$built
	server_answers
	lock_gone
	all_of more.csv
}

# cut_swap [OPTION...]: `swap` of $next is stopped in its middle.
cut_swap() {
	need_fault || return
	many
	server_live rows.csv
	server_build more.csv
	next=$built
	stop_within 1 62 swap "$@"
}

# goes_on STATUS: and then it ends so.
goes_on() {
	kill -CONT "$pid"
	ends "$1"
}

# mixed: each filter is of one generation or the other, and answers.
mixed() {
	local n
	n=$(moved "$next")
	((0 < n && n < 64)) || fail "$n have moved"
	all_of rows.csv
}
