# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# forward: an address that leads to one server now and to another one later,
# as after a failover, for Bats files after helpers and redis.
#
#	setup_file() { ...; forward_start; }
#	teardown_file() { forward_stop; ...; }
#
#	forward_to NAME		cuts all connections; new ones lead to that server
#	forward_hold TEXT	what would send TEXT next waits before that
#	forward_held		whether somebody does
#	forward_go [TEXT]	lets it go on; TEXT is the next one to wait at
#	forward_url		what clients are told

forward_start() {
	local folder=$BATS_FILE_TMPDIR/forward
	mkdir "$folder" || return
	setpriv --pdeathsig KILL python3 \
		"$(dirname "${BASH_SOURCE[0]}")/forward.py" "$folder" \
		</dev/null >"$folder/log" 2>&1 3>&- &
	echo $! >"$folder/pid"
	wait_until test -s "$folder/port"
}

forward_stop() {
	kill "$(<"$BATS_FILE_TMPDIR/forward/pid")"
}

forward_url() {
	echo "redis://127.0.0.1:$(<"$BATS_FILE_TMPDIR/forward/port")"
}

# forward_tell SIGNAL: and it has done that.
forward_tell() {
	rm -f "$BATS_FILE_TMPDIR/forward/"{now,held}
	kill -s "$1" "$(<"$BATS_FILE_TMPDIR/forward/pid")"
	wait_until test -e "$BATS_FILE_TMPDIR/forward/now"
}

forward_to() {
	rm -f "$BATS_FILE_TMPDIR/forward/hold"
	redis_port "$1" >"$BATS_FILE_TMPDIR/forward/to"
	forward_tell USR1
}

forward_hold() {
	rm -f "$BATS_FILE_TMPDIR/forward/held"
	printf '%s' "$1" >"$BATS_FILE_TMPDIR/forward/hold.new"
	mv "$BATS_FILE_TMPDIR/forward/"{hold.new,hold}
}

forward_held() {
	[[ -e $BATS_FILE_TMPDIR/forward/held ]]
}

forward_go() {
	rm "$BATS_FILE_TMPDIR/forward/hold"
	[[ -z ${1-} ]] || forward_hold "$1"
	forward_tell USR2
}
