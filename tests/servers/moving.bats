#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Slots move and primaries are replaced at random points of builds, swaps and
# prunes, under the eyes of a reader.  MOVES_RUNS is how many runs there are (6
# unless told), SEED the first one's seed; each prints its own, and
#
#	SEED=N MOVES_RUNS=1
#
# does the same again, as far as what runs at once can.
# servers: cluster
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_file
	cluster_start main
	write_csv rows.csv 1 2000
	write_csv more.csv 1 2600
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	need_fault
	begin_set
	many
}

# prepare WORK: an empty cluster, but for what WORK needs; $command is it.  Any
# node does as the target.
prepare() {
	target=$(redis_url "main$((1 + RANDOM % 6))")
	redis_cli main FLUSHALL >/dev/null
	server_live rows.csv
	command=(build -q -s file:more.csv --receipt built.json)
	next=none
	case $1 in
	swap)
		server_build more.csv
		next=$built
		command=(swap -q -g "$next")
		;;
	prune)
		server_live rows.csv
		server_live rows.csv
		command=(swap -q --prune --keep 0)
		;;
	esac
	command+=(-k cards.keyspec -t "$target" --lease 10s)
}

# count_sends WORK: $sends is how many it takes.
count_sends() {
	prepare "$1"
	fault_run send:0 '' "${command[@]}"
	assert_status 0
	sends=$counted
}

# wrote_since NODE OFFSET: something was written there, or nobody writes more.
wrote_since() {
	! kill -0 "$pid" 2>/dev/null ||
		(($(redis_info "$1" master_repl_offset) > $2))
}

# disturb HOW BUCKET OTHER: $lossy if writes that were acknowledged may be gone.
disturb() {
	local key=cards:$2 owner other offset
	owner=$(cluster_owner main "$key")
	other=$(cluster_owner main "cards:$3")
	[[ $other != "$owner" ]] ||
		other=$(cluster_primaries main | grep -vx "$owner" |
			sed -n '1p')
	case $1 in
	migrate)
		cluster_migrate main "$key" "$other"
		;;
	half)
		cluster_migrate main "$key" "$other" half
		half=$key:$other
		;;
	failover)
		cluster_failover "$(cluster_replica "$owner")"
		;;
	kill)
		cluster_kill "$owner"
		;;
	hang)
		cluster_hang "$owner"
		;;
	lose)
		cluster_falls_behind "$owner"
		offset=$(redis_info "$owner" master_repl_offset)
		kill -CONT "$pid" 2>/dev/null || :
		wait_until wrote_since "$owner" "$offset"
		cluster_kill "$owner"
		;;
	esac
}

# live_ones: the generations that are live in any bucket.
live_ones() {
	local b
	for ((b = 0; b < 64; b++)); do
		state_of "$(printf %02d "$b")" generation
	done | sort | uniq -c
}

# only_live ID...: no other generation is, in any bucket.
only_live() {
	local n id sum=0
	while read -r n id; do
		[[ " $* " == *" $id "* ]] ||
			fail "'$id' is live in $n filters" || return
		sum=$((sum + n))
	done < <(live_ones)
	((sum == 64)) || fail "$sum of 64 filters have a state"
}

reader_start() {
	setpriv --pdeathsig KILL "$BUILD/reader" \
		"$(reader_place main)" members >read.out 2>read.err 3>&- &
	reader=$!
	wait_until ready "$reader"
}

# reader_ends: it has seen nothing wrong.
reader_ends() {
	local result=0
	kill "$reader"
	wait "$reader" || result=$?
	echo "reader: $(<read.out) $(<read.err)"
	[[ $result == 0 && $(<read.out) == *' errors=0 missing=0 sentinel=0 '* ]]
}

# one_run SEED
one_run() {
	local works=(build swap prune) work how at go_first bucket other lossy=no
	local hows=(migrate half failover kill hang lose) half=''
	RANDOM=$1
	work=${works[RANDOM % 3]}
	how=${hows[RANDOM % 6]}
	go_first=$((RANDOM % 2))
	bucket=$(printf %02d $((RANDOM % 64)))
	other=$(printf %02d $((RANDOM % 64)))
	at=$((1 + RANDOM * ${most[$work]} / 32768))
	echo "SEED=$1: $work, $how at send $at of ${most[$work]}," \
		"bucket $bucket, goes on first: $go_first"
	prepare "$work"
	cluster_quiet main
	reader_start
	LD_PRELOAD=$BUILD/fault.so FAULT=send:$at:stop \
		setpriv --pdeathsig KILL "$BLOOMCTL" \
		"${command[@]}" >said.out 2>said.err 3>&- &
	pid=$!
	wait_until stopped_or_gone "$pid"
	((go_first == 0)) || kill -CONT "$pid" 2>/dev/null || :
	disturb "$how" "$bucket" "$other"
	kill -CONT "$pid" 2>/dev/null || :
	case $how:$go_first in
	lose:* | kill:1 | hang:1) lossy=yes ;;
	esac
	status=0
	[[ -z $half ]] || cluster_migrate main "${half%:*}" "${half##*:}"
	wait "$pid" || status=$?
	echo "it ends with $status: $(<said.err)"
	case $status in
	0 | 69 | 74 | 75 | 84) ;;
	*) fail "no status for this" || return ;;
	esac
	cluster_mend main
	only_live "$live" "$next" || return
	all_of rows.csv || return
	ends_well "$work" || return
	reader_ends
}

# ends_well WORK: what was done is as it was said; done again it is whole.
ends_well() {
	local first=$status
	! redis_cli main PTTL "bloomctl:{$set}:lock" | grep -qx -- -1 ||
		fail "the lock is held for ever" || return
	redis_cli main DEL "bloomctl:{$set}:lock" >/dev/null
	if [[ $1 == swap && $first == 0 && $lossy == no ]]; then
		[[ $(moved "$next") == 64 ]] ||
			fail "it ended with 0, and $(moved "$next") are live" ||
			return
	fi
	if [[ $1 == build && $first == 0 ]]; then
		on swap -q
		# Filters or records of what is complete may be lost behind it.
		[[ $status == 0 || ($status =~ ^(74|83)$ && $lossy == yes) ]] ||
			fail "what was built is not promoted" || return
		((status != 0)) || all_of more.csv || return
	fi
	bloomctl_run "${command[@]}"
	assert_status 0 || return
	case $1 in
	build)
		on swap -q
		assert_status 0 && all_of more.csv
		;;
	swap)
		[[ $(moved "$next") == 64 ]] && all_of more.csv
		;;
	prune)
		all_of rows.csv
		;;
	esac
}

@test "moving: slots and primaries move at random points, and nothing is lost" {
	local seed=${SEED:-$((RANDOM * 32768 + RANDOM))} run bad=0 work
	local -A most=()
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		<rows.csv | cut -f 1,4 | questions >members
	for work in build swap prune; do
		count_sends "$work"
		most[$work]=$sends
	done
	for ((run = 0; run < ${MOVES_RUNS:-6}; run++)); do
		# Not in a condition, where failures end nothing.
		(one_run $((seed + run))) >run.log 2>&1 3>&- &
		if ! wait $!; then
			bad=$((bad + 1))
			sed 's/^/  /' run.log
			cluster_mend main
		fi
		echo "# $(sed -n 1p run.log)" >&3
	done
	((bad == 0)) || fail "$bad of $run runs are wrong"
}
