#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What a folder of filters meets that is no failing call: something else in the
# place of each file, a full disk, no rights, other runs at the same time, lock
# files of the dead, clocks that are wrong.
# shellcheck disable=SC2317,SC2034 # check() and variables are for each()
bats_require_minimum_version 1.5.0

load helpers
load faulty

setup_file() { faulty_file; }

setup() {
	faulty_begin
	live=$(readlink "$BATS_FILE_TMPDIR/ready/${set_folder#t/}/live")
	next=$(<"$BATS_FILE_TMPDIR/next")
	fresh ready
}

teardown() { chmod -R u+rwX .; }

build=(build -k cards.keyspec -t dir:t -s file:more.csv)
swap=(swap -k cards.keyspec -t dir:t)

# ends ARGUMENT...: as bloomctl_run, and it does not hang.
ends() {
	status=0
	timeout -k 5 60 "$BLOOMCTL" "$@" >ends.out 2>ends.err || status=$?
	output=$(<ends.out)
	stderr=$(<ends.err)
	show_run bloomctl "$@"
	((status != 124 && status != 137)) || fail "it hangs: bloomctl $*"
}

# --- something else in its place ------------------------------------------

# put KIND PATH: in the place of what is there, if anything.
put() {
	rm -rf "$2"
	case $1 in
	fifo) mkfifo "$2" ;;
	file) echo x >"$2" ;;
	folder) mkdir "$2" && echo mine >"$2/mine" ;;
	device) ln -s /dev/zero "$2" ;;
	nowhere) ln -s nowhere "$2" ;;
	outside) ln -s "$PWD/outside${2#t}" "$2" ;;
	esac
}

# Each line: what, where, and the statuses of lookup, build, swap and prune.
@test "store: what is not a file of ours hangs nothing and is never followed or removed" {
	local kinds where statuses kind want command seen=0 expected
	cp -a t outside
	remember_tree outside
	while read -r kinds where statuses; do
		where=${where//LIVE/$live}
		where=$set_folder/${where//NEXT/$next}
		[[ $where != */. ]] || where=$set_folder
		for kind in ${kinds//,/ }; do
			read -ra expected <<<"$statuses"
			for command in 'lookup 1 m:1' 'build -s file:more.csv' \
				swap 'swap --prune'; do
				want=${expected[0]}
				expected=("${expected[@]:1}")
				fresh ready
				put "$kind" "$where"
				# shellcheck disable=SC2086 # words
				ends ${command%% *} -q -k cards.keyspec -t dir:t \
					${command#"${command%% *}"}
				assert_status "$want"
				((want == 0)) || assert_one_sentence "${command%% *}"
				[[ $kind != folder ]] ||
					grep -qr mine t || fail "mine is gone"
				seen=$((seen + 1))
			done
		done
	done <<-'END'
		fifo,file,device . 74 74 74 74
		fifo lock 0 74 74 74
		folder lock 0 74 74 74
		device,outside,nowhere lock 74 74 74 74
		file lock 0 0 0 0
		fifo,file,folder,device,nowhere,outside live 74 74 74 74
		fifo,file,device,nowhere,outside LIVE 74 0 83 0
		fifo,file,device,nowhere,outside NEXT 0 0 83 0
		fifo,file,folder,device,nowhere,outside LIVE/manifest.json 74 0 83 0
		fifo,folder,device,outside NEXT/manifest.json 0 0 83 74
		fifo,file,device,outside NEXT/3.bloom 0 0 74 0
		folder live.tmp 0 0 74 0
		folder live.moving 0 0 74 0
		folder NEXT/manifest.json.tmp 0 0 74 0
		fifo,file,device,outside live.tmp 0 0 0 0
		fifo,file,device,outside live.moving 0 0 0 0
		fifo,device,outside NEXT/manifest.json.tmp 0 0 0 0
		fifo,file,device,nowhere,outside 20200101T000000Z-0000 0 0 0 0
		folder 20200101T000000Z-0000 0 74 0 74
		fifo,file,folder,device,nowhere,outside 20200101T000000Z-0000.gone 0 0 0 0
	END
	assert_tree_unchanged outside
	((seen > 200))
}

@test "store: something else in place of the target is 66, and a link to a folder is one" {
	local kind command
	for kind in fifo file device nowhere; do
		put $kind t
		for command in lookup build swap 'swap --prune' inspect; do
			# shellcheck disable=SC2086 # words
			case $command in
			lookup) ends lookup -k cards.keyspec -t dir:t 1 m:1 ;;
			build) ends "${build[@]}" ;;
			*) ends $command -k cards.keyspec -t dir:t ;;
			esac
			assert_failure 66 "${command%% *}" "target 'dir:t'"
		done
	done
	# Both may lie on another disk.
	fresh ready
	mkdir elsewhere
	mv t elsewhere/t
	mv elsewhere/t/cards-a2bfa51c elsewhere/set
	ln -s elsewhere/t t
	ln -s ../set elsewhere/t/cards-a2bfa51c
	bloomctl_ok "${swap[@]}" -q
	bloomctl_ok "${build[@]}" -q
	bloomctl_ok "${swap[@]}" -q --prune
	answers more.csv
	[[ $(readlink elsewhere/set/live) == "$next" ]]
}

@test "store: a mount point is a target and a set's folder like any other" {
	unshare -rm true 2>/dev/null || skip 'no mounts for this user here'
	# shellcheck disable=SC2016 # expanded inside
	any_run unshare -rm bash -ec '
		mkdir disk other
		mount -t tmpfs -o size=4m x disk
		mount -t tmpfs -o size=4m x other
		cp -a t/. disk/
		mount --bind disk t
		cp -a t/cards-a2bfa51c/. other/
		mount --bind other t/cards-a2bfa51c
		"$@" swap -q -k cards.keyspec -t dir:t
		"$@" build -q -k cards.keyspec -t dir:t -s file:more.csv
		"$@" swap -k cards.keyspec -t dir:t
		"$@" swap -k cards.keyspec -t dir:t --rollback
		"$@" verify -q -k cards.keyspec -t dir:t -s file:rows.csv --absent 0
	' bash "$BLOOMCTL"
	assert_status 0
	assert_stderr_is ''
}

# --- no room, no rights ---------------------------------------------------

# full FAULT-FREE-COMMAND...: on a small file system, see the test.
@test "store: a manifest that is too long, or of another generation or set, is not promoted" {
	local file=$set_folder/$next/manifest.json
	cp "$set_folder/$live/manifest.json" "$file"
	bloomctl_run "${swap[@]}" -g "$next"
	assert_failure 83 swap "of another generation: $live"
	head -c 5000000 /dev/zero >"$file"
	bloomctl_run "${swap[@]}" -g "$next"
	assert_failure 83 swap 'longer than'
	fresh ready
	write_keyspec other.keyspec name=other
	bloomctl_ok build -q -k other.keyspec -t dir:t -s file:more.csv
	cp t/other-*/*-*/manifest.json "$file"
	bloomctl_run "${swap[@]}" -g "$next"
	assert_failure 83 swap 'of another keyspec'
	answers
	bloomctl_run inspect -k cards.keyspec -t dir:t
	assert_status 0
	assert_has "$output" 'broken' 'of another keyspec'
}

@test "store: what has no room from the beginning is 73 before anything is written" {
	unshare -rm true 2>/dev/null || skip 'no mounts for this user here'
	awk 'BEGIN { print "id,scope"; for (i = 1; i < 60000; i++)
		print i ",m:" i % 7 }' >large.csv
	# shellcheck disable=SC2016 # expanded inside
	any_run unshare -rm bash -c '
		for options in size=64k nr_inodes=5; do
			mount -t tmpfs -o $options x t
			for dry in "" -n; do
				"$BLOOMCTL" build -q $dry -k cards.keyspec \
					-t dir:t -s file:large.csv
				echo "status $?"
			done
			find t -type f ! -name lock
			umount t
		done
	' bash
	[[ $output == $'status 73\nstatus 73\nstatus 73\nstatus 73' ]]
	assert_has "$stderr" "target 'dir:t': a generation needs" \
		' of disk, ' '6 files, ' 'are available'
}

@test "store: a disk that is really full, or has no inode left, is 73 and nothing is lost" {
	unshare -rm true 2>/dev/null || skip 'no mounts for this user here'
	awk 'BEGIN { print "id,scope"; for (i = 1; i < 60000; i++)
		print i ",m:" i % 7 }' >large.csv
	# It fits beforehand, and then others take the room while it is built.
	# shellcheck disable=SC2016 # expanded inside
	any_run unshare -rm bash -c '
		shopt -s nullglob
		try() {
			local options=$1 said; shift
			umount t 2>/dev/null
			mount -t tmpfs -o "$options" x t && cp -a keep/. t/ ||
				exit 90
			LD_PRELOAD=$BUILD/fault.so FAULT=write:4:stop \
				FAULT_PATH=/cards- "$BLOOMCTL" "$@" \
				>full.out 2>full.log &
			until grep -q "^State:.T" /proc/$!/status; do
				kill -0 $! || exit 91
			done
			eat
			kill -CONT $!
			wait $!
			echo "status $?: $(<full.log)"
			free
			# What it left does no harm.
			"$BLOOMCTL" verify -q -k cards.keyspec -t dir:t \
				-s file:rows.csv --absent 0 || exit 92
			"$BLOOMCTL" build -q -k cards.keyspec -t dir:t \
				-s file:more.csv || exit 93
			"$BLOOMCTL" swap -q -k cards.keyspec -t dir:t &&
				"$BLOOMCTL" verify -q -k cards.keyspec -t dir:t \
				-s file:more.csv --absent 0 || exit 94
		}
		free() { rm -f t/eaten*; }
		eat() { head -c 8m /dev/zero >t/eaten 2>/dev/null; }
		cp -a t keep
		try size=1m build -q -k cards.keyspec -t dir:t -s file:large.csv
		eat() { for ((i = 0; i < 99; i++)); do : >t/eaten$i || break; done
			} 2>/dev/null
		try nr_inodes=40 build -q -k cards.keyspec -t dir:t \
			-s file:more.csv
	' bash
	assert_status 0
	mapfile -t lines <<<"$output"
	[[ ${lines[0]} == "status 73: bloomctl build: "*"No space left on device" ]]
	[[ ${lines[1]} == "status 73: bloomctl build: "*"No space left on device" ]]
}

@test "store: a limit of a file's size is 73, and nothing is lost" {
	local limit
	write_csv large.csv 1 60000
	for limit in 1 4 8; do
		fresh one
		# GCOV_PREFIX: what tests/coverage counts is not limited.
		# shellcheck disable=SC2016 # expanded inside
		GCOV_PREFIX=/dev/null any_run bash -c 'ulimit -f "$1"; shift; exec "$@"' bash \
			$limit "$BLOOMCTL" build -q -k cards.keyspec -t dir:t \
			-s file:large.csv
		assert_failure 73 build 'File too large'
		answers
		bloomctl_run "${swap[@]}" -q
		assert_failure 83 swap
		next_says "${build[@]}"
	done
}

@test "store: no rights on the target, the set, a generation or the lock is 77 and changes nothing" {
	local where mode was command want
	[[ $(id -u) != 0 ]] || skip 'root may everything'
	while read -r where mode want; do
		where=${where//NEXT/$next}
		where=$set_folder/${where//LIVE/$live}
		[[ $where != */.. ]] || where=t
		fresh ready
		was=$(stat -c %a "$where")
		remember_tree
		chmod "$mode" "${where%/.}"
		for command in ${want//,/ }; do
			case $command in
			build) ends "${build[@]}" ;;
			*) ends "${swap[@]}" -g "$next" ;;
			esac
			assert_failure 77 "$command" 'Permission denied'
		done
		chmod "$was" "${where%/.}"
		answers
		# A swap says in the manifest first what was live before it.
		[[ $mode == 500 ]] || assert_tree_unchanged
	done <<-'END'
		. 000 build,swap
		. 500 build,swap
		.. 000 build,swap
		lock 000 build,swap
		lock 400 build,swap
		NEXT 500 swap
	END
	# What cannot be read is not taken for broken, and stays.
	fresh ready
	chmod 000 "$set_folder/$next"
	bloomctl_run "${swap[@]}" --prune
	assert_status 0
	chmod 755 "$set_folder/$next"
	bloomctl_ok "${swap[@]}" -q
	answers more.csv
}

# --- runs at the same time ------------------------------------------------

# stopped_run FAULT ARGUMENT...: a run in the background that stands still
# there; $pid, its output in first.log.
stopped_run() {
	local fault=$1
	shift
	# shellcheck disable=SC2153 # from the makefile
	LD_PRELOAD=$BUILD/fault.so FAULT=$fault FAULT_PATH=/cards- \
		"$BLOOMCTL" "$@" >first.log 2>&1 &
	pid=$!
	wait_until stopped $pid
}

# go_on: the run goes on and ends with $first and what it said in $said.
go_on() {
	first=0
	kill -CONT "$pid"
	wait "$pid" || first=$?
	said=$(<first.log)
	printf 'the first run: %s: %s\n' $first "$said"
}

@test "store: while one run changes the set, build, swap and prune of another are 82" {
	local one two
	for one in "${build[*]}" "${swap[*]}" "${swap[*]} --rollback" \
		"${swap[*]} --prune"; do
		state=ready
		[[ $one != *--rollback ]] || state=two
		[[ $one != *--prune ]] || state=pruned
		fresh $state
		# shellcheck disable=SC2086 # words
		stopped_run any:9:stop $one
		remember_tree
		for two in "${build[*]}" "${swap[*]}" "${swap[*]} --rollback" \
			"${swap[*]} --prune" "${swap[*]} --prune -n" "${swap[*]} -n"; do
			# shellcheck disable=SC2086 # words
			bloomctl_run $two
			[[ $status == 82 ]] || kill -KILL $pid
			assert_failure 82 "${two%% *}" \
				"set 'cards-a2bfa51c': locked by ${one%% *}" \
				"pid $pid on "
		done
		bloomctl_run lookup -q -k cards.keyspec -t dir:t 1 m:1
		assert_status 0
		assert_tree_unchanged
		go_on
		((first == 0))
	done
}

@test "store: many builds and swaps at once, and each one is done, or 82 or 83" {
	local i pids=() rc done=0
	fresh one
	for i in {1..12}; do
		if ((i % 3)); then
			"$BLOOMCTL" "${build[@]}" -q 2>"run.$i" &
		else
			"$BLOOMCTL" "${swap[@]}" -q 2>"run.$i" &
		fi
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		rc=0
		wait "$i" || rc=$?
		case $rc in
		0) done=$((done + 1)) ;;
		82 | 83) ;;
		*) fail "status $rc: $(cat run.*)" ;;
		esac
	done
	((done > 0))
	answers
	quiet build -q -k cards.keyspec -t dir:t -s file:more.csv
	quiet swap -q -k cards.keyspec -t dir:t
	answers more.csv
	tidy
}

# --- the lock -------------------------------------------------------------

@test "store: what a dead run, another host or nobody wrote into the lock keeps nobody out" {
	local text since=2026-11-30T19:56:54.123Z owner n=0
	sleep 0 &
	wait $!
	owner='"command":"build","since":"'$since'"'
	for text in '' x '{}' '[]' '{"fence":-1}' "{$owner}" \
		"{$owner,\"host\":\"$(hostname)\",\"pid\":$!,\"fence\":7}" \
		"{$owner,\"host\":\"$(hostname)\",\"pid\":1,\"fence\":7}" \
		"{$owner,\"host\":\"$(hostname)\",\"pid\":$$,\"fence\":7}" \
		"{$owner,\"host\":\"elsewhere\",\"pid\":7,\"fence\":7}" \
		"{\"command\":\"swap\",\"host\":\"h\",\"pid\":1,\"since\":\"2999-01-01T00:00:00.000Z\",\"fence\":32472144000000}" \
		"$(head -c 3000 /dev/zero | tr '\0' x)"; do
		fresh one
		printf '%s' "$text" >"$set_folder/lock"
		bloomctl_run inspect -k cards.keyspec -t dir:t
		assert_status 0
		assert_lacks "$output" 'lock  '
		bloomctl_ok "${build[@]}" -q
		bloomctl_ok "${swap[@]}" -q
		answers more.csv
		assert_json "$set_folder/lock" '.command == "swap"' '.fence > 7'
		n=$((n + 1))
	done
	((n == 12))
}

@test "store: a build whose lock file is removed notices, and leaves the next one alone" {
	local how at
	for how in removed replaced folder; do
		for at in write:4 write:8 fsync:8 rename:2; do
			fresh one
			stopped_run $at:stop "${build[@]}"
			rm "$set_folder/lock"
			[[ $how != replaced ]] || : >"$set_folder/lock"
			[[ $how != folder ]] || mkdir "$set_folder/lock"
			[[ $how == folder ]] || bloomctl_run "${build[@]}" -q \
				--receipt second.json
			[[ $how == folder ]] || assert_status 0
			go_on
			# At its last rename it has looked for the last time.
			[[ $at == rename:2 && $first == 0 ]] || {
				((first == 82)) || fail "status $first"
				assert_has "$said" 'lost its lock' 'hint: '
			}
			answers
			[[ $how != folder ]] || rmdir "$set_folder/lock"
			next_says "${build[@]}"
			bloomctl_ok "${swap[@]}" -q
			answers more.csv
		done
	done
}

@test "store: a swap whose lock file is removed moves nothing any more" {
	stopped_run write:2:stop "${swap[@]}"
	rm "$set_folder/lock"
	go_on
	((first == 82))
	assert_has "$said" 'lost its lock' 'hint: '
	[[ $(readlink "$set_folder/live") == "$live" ]]
	answers
	bloomctl_run "${swap[@]}" -q
	assert_status 0
	answers more.csv
}

@test "store: no file that it opens is passed on to a child" {
	local n fd flags seen=0
	for n in open:12 write:1 write:4 fsync:5 fsync:9 rename:2; do
		fresh one
		stopped_run $n:stop "${build[@]}"
		for fd in "/proc/$pid/fd"/*; do
			((${fd##*/} > 2)) || continue
			# What was open before it began is the caller's.
			case $(readlink "$fd") in
			*/t | */cards-a2bfa51c* | pipe:* | *.csv) ;;
			*) continue ;;
			esac
			flags=$(sed -n 's/^flags:[[:space:]]*//p' \
				"/proc/$pid/fdinfo/${fd##*/}")
			[[ -e /proc/$$/fd/${fd##*/} ]] ||
				((flags & 02000000)) || {
				ls -l "/proc/$pid/fd"
				kill -KILL $pid
				fail "$(readlink "$fd") would be passed on"
			}
			seen=$((seen + 1))
		done
		go_on
	done
	((seen > 20))
}

# --- clocks and ids -------------------------------------------------------

# at SECONDS ARGUMENT...: a run whose clock is so far off.
at() {
	local seconds=$1
	shift
	any_run env LD_PRELOAD="$BUILD/fault.so" FAULT_CLOCK="$seconds" \
		"$BLOOMCTL" "$@"
	assert_status 0
	assert_stderr_is ''
}

@test "store: a clock set back or forth by years changes no order and no fence" {
	local year=31557600 offset before=0 fence id last
	fresh one
	last=$(readlink "$set_folder/live")
	for offset in $((20 * year)) $((-20 * year)) 0 -$year:3 $((50 * year)):4 \
		-$((30 * year)); do
		at "$offset" "${build[@]}" -q --receipt got.json
		id=$(json .generation got.json)
		[[ $id > $last ]] || fail "$id is not behind $last"
		at "$offset" "${swap[@]}" -q
		[[ $(readlink "$set_folder/live") == "$id" ]]
		answers more.csv
		fence=$(json .fence "$set_folder/lock")
		((fence > before)) || fail "fence $fence after $before"
		before=$fence last=$id
	done
	# The last six, and the first: what retired last is what is kept.
	bloomctl_ok "${swap[@]}" -q --rollback
	answers more.csv
	at -$((9 * year)) "${swap[@]}" --prune
	answers more.csv
}

@test "store: builds of one second that draw the same digits are two generations" {
	local i folders
	fresh one
	for i in 1 2 3; do
		any_run env LD_PRELOAD="$BUILD/fault.so" FAULT_RANDOM=7 \
			FAULT_CLOCK=-$EPOCHSECONDS "$BLOOMCTL" "${build[@]}" -q
		assert_status 0
	done
	folders=("$set_folder"/*-0707/)
	((${#folders[@]} == 3))
	bloomctl_ok "${swap[@]}" -q
	answers more.csv
}

@test "store: an id of the future is the newest, and none follows the last second" {
	local id=29991231T235959Z-0000
	cp -a "$set_folder/$next" "$set_folder/$id"
	bloomctl_ok "${build[@]}" -q --receipt got.json
	[[ $(json .generation got.json) == 30000101T000000Z-* ]]
	bloomctl_ok "${swap[@]}" -q
	answers more.csv
	id=99991231T235959Z-ffff
	mkdir "$set_folder/$id"
	bloomctl_run "${build[@]}"
	assert_failure 83 build "no id follows that of generation '$id'"
	assert_has "$stderr" 'hint: '
	bloomctl_run "${swap[@]}" --prune
	assert_status 0
	assert_has "$output" "$id"
	bloomctl_ok "${build[@]}" -q
}

# --- killed, looked at, pruned, built again -------------------------------

@test "store: after a kill at any point inspect names what is left, prune removes it and says so" {
	local n dead left
	for n in {1..60..2}; do
		fresh one
		faulty "any:$n:kill" "${build[@]}" -q || break
		dead=''
		for left in "$set_folder"/*-*/; do
			left=${left%/}
			[[ ${left##*/} == "$live" ]] || dead=${left##*/}
		done
		quiet inspect -k cards.keyspec -t dir:t
		[[ -z $dead ]] || grep -q "^$dead  *\(aborted\|complete\)" \
			quiet.log || fail "$n: $dead: $(<quiet.log)"
		if [[ -n $dead ]] && ! grep -q "^$dead  *complete" quiet.log; then
			next_says "${swap[@]}" --prune
			grep -q "$dead" next.log || fail "$n: $(<next.log)"
			[[ ! -e $set_folder/$dead ]] || fail "$dead is there"
		fi
		next_says "${build[@]}"
		answers
	done
	report 'build, killed, inspected and pruned' 15
}

@test "store: after a kill at any point of a swap inspect says whether it is finished" {
	local fault said unfinished=0
	for fault in {write,fsync,rename,symlink,unlink}:{1..9}; do
		fresh ready
		faulty "$fault:kill" "${swap[@]}" -q || continue
		quiet inspect -k cards.keyspec -t dir:t
		said=$(<quiet.log)
		if [[ $(readlink "$set_folder/live") == "$next" ]]; then
			[[ ! -L $set_folder/live.moving ||
				$said == *'its swap is not finished'* ]] ||
				fail "$fault: $said"
			[[ $said != *'not finished'* ]] ||
				unfinished=$((unfinished + 1))
		else
			[[ $said != *'not finished'* ]] || fail "$fault: $said"
		fi
		next_says "${swap[@]}" --prune
		next_says "${swap[@]}" -g "$next"
		answers more.csv
		[[ ! -L $set_folder/live.moving ]]
		quiet inspect -k cards.keyspec -t dir:t
		[[ $(<quiet.log) != *'not finished'* ]]
	done
	((unfinished > 3))
	report 'swap, killed, inspected and pruned' 15
}
