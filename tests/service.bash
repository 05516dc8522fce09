# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# service: the writers and readers of tests/writers/service, for Bats files
# after helpers.  $place is where their filters and recent-writes are, $keyspec
# the file of their keyspec (cards.keyspec unless told).
#
#	service WORD...		runs one of them to its end
#	start NAME WORD...	starts one beside the test
#	stop_one NAME		ends it again
#	stop_all		ends all of them
#	logged N		so many lines are in the log
#	services_teardown	for teardown(): nothing is left of these

# Of the whole file, although Bats loads this within a function.
# shellcheck disable=SC2154 # $place is of the test
declare -gA pids=()

# service WORD...: what it says is $output, and $stderr.
service() {
	any_run "$BUILD/service" "$1" -k "${keyspec:-cards.keyspec}" \
		-t "$place" "${@:2}"
}

# start NAME WORD...: NAME.out is what it says.
start() {
	setpriv --pdeathsig KILL "$BUILD/service" "$2" \
		-k "${keyspec:-cards.keyspec}" -t "$place" "${@:3}" \
		>"$1.out" 2>"$1.err" 3>&- &
	pids[$1]=$!
}

# stop_one NAME: it is told to end, and has found nothing wrong.
stop_one() {
	local result=0
	kill "${pids[$1]}" 2>/dev/null || :
	wait "${pids[$1]}" || result=$?
	unset "pids[$1]"
	tail -n 3 "$1".out "$1".err
	((result == 0)) || fail "$1 ended with $result"
}

stop_all() {
	local name
	# All at once, so that none of them sees what the others leave undone.
	kill "${pids[@]}" 2>/dev/null || :
	for name in "${!pids[@]}"; do
		stop_one "$name"
	done
}

logged() {
	[[ -e log ]] && (($(wc -l <log) >= $1))
}

services_teardown() {
	local pid
	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null || :
	done
}
