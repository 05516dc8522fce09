#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# How bloomctl comes to a server, what it says where it does not, and what it
# does when a connection is lost.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_file
	redis_start main
	redis_start closed --requirepass right-word
	write_csv rows.csv 1 2000
}

teardown_file() {
	redis_stop main
	redis_stop closed
}

setup() {
	begin
	begin_set
}

# --- passwords ------------------------------------------------------------

# closed: from now on it is about the server that wants a password.
closed() {
	# shellcheck disable=SC2034 # for the helpers
	server=closed redis_auth=right-word
	redis_cli closed FLUSHALL >/dev/null
	target=redis://127.0.0.1:$(redis_port closed)
	place=127.0.0.1:$(redis_port closed)
}

# ways WORD: runs $command with the password WORD, by each way, and calls
# $check behind each.
ways() {
	local -a base=(-k cards.keyspec)
	echo "$1" >password
	# shellcheck disable=SC2086 # words
	{
		REDISCLI_AUTH=$1 bloomctl_run $command "${base[@]}" -t "$target"
		$check
		BLOOMCTL_TARGET=redis://:$1@$place \
			bloomctl_run $command "${base[@]}"
		$check
		bloomctl_run $command "${base[@]}" -t "$target" \
			--password-file password
		$check
		bloomctl_run $command "${base[@]}" -t "$target" \
			--password-command 'cat password'
		$check
		echo "target = redis://default:$1@$place" >a.conf
		bloomctl_run $command "${base[@]}" --config a.conf
		$check
	}
}

@test "connection: a password by every way" {
	closed
	command='build -q -s file:rows.csv'
	check='assert_status 0'
	ways right-word
	assert_stderr_is ''
}

@test "connection: the stronger way wins" {
	closed
	echo right-word >password
	REDISCLI_AUTH=wrong on inspect --password-file password
	assert_status 66
	BLOOMCTL_TARGET=redis://:right-word@$place REDISCLI_AUTH=wrong \
		bloomctl_run inspect -k cards.keyspec
	assert_status 66
}

refused() {
	assert_failure 77 "${command%% *}" "redis://$place" WRONGPASS
	assert_has "$stderr" 'hint: a password comes from'
	assert_lacks "$stderr" wr0ng-word
}

@test "connection: a wrong password is 77 by every way, and not shown" {
	closed
	check=refused
	for command in 'build -q -s file:rows.csv' swap inspect; do
		ways wr0ng-word
	done
	[[ -z $(keys_now) ]]
}

@test "connection: no password where one is wanted is 77" {
	closed
	for command in 'build -q -s file:rows.csv' 'swap --prune' inspect \
		'verify -s file:rows.csv' 'lookup 1 m:1'; do
		# shellcheck disable=SC2086 # words
		on $command
		assert_failure 77 "${command%% *}" "redis://$place" NOAUTH
		assert_has "$stderr" 'hint: a password comes from'
	done
	on doctor
	assert_status 77
}

@test "connection: a user that is not there is 77" {
	closed
	REDISCLI_AUTH=right-word on inspect --user nobody
	assert_failure 77 inspect WRONGPASS
	assert_lacks "$stderr" right-word
}

@test "connection: a password for a server that has none is 77" {
	REDISCLI_AUTH=wr0ng-word on inspect
	assert_failure 77 inspect AUTH
	assert_lacks "$stderr" wr0ng-word
}

# slow_build OPTION...: one that waits for rows from $feed; $pid.
slow_build() {
	rm -f slow
	mkfifo slow
	"$BLOOMCTL" build -k cards.keyspec --keys 5000 --no-trailer \
		--receipt built.json -s - "$@" <slow >said.out 2>said.err 3>&- &
	pid=$!
	exec {feed}>slow
	head -n 3 rows.csv >&"$feed"
	wait_until lock_is building
}

lock_is() {
	[[ $(redis_cli "$server" HGET "bloomctl:{$set}:lock" phase) == "$1" ]]
}

# all_built: the slow build has gone to its end, and all its rows are there.
all_built() {
	status=0
	tail -n +4 rows.csv >&"$feed"
	exec {feed}>&-
	wait "$pid" || status=$?
	output=$(<said.out) stderr=$(<said.err)
	show_run bloomctl
	assert_status 0
	assert_json built.json '.status == 0' '.rows == 2000' \
		'.acknowledged == 2000' '.sent == 2000'
}

# clients: connections of bloomctl to the server.
clients() {
	redis_cli "$server" CLIENT LIST | grep -c name=bloomctl
}

@test "connection: a command is asked for the password at every connection" {
	echo first-word >now
	redis_acl main u first-word '~*' +@all
	slow_build -t "$target" --user u -q \
		--password-command 'echo x >>asked; cat now'
	asked=$(wc -l <asked)
	echo second-word >now
	redis_cli main ACL SETUSER u resetpass '>second-word' >/dev/null
	redis_cli main CLIENT KILL TYPE normal >/dev/null
	all_built
	assert_stderr_is ''
	(($(wc -l <asked) > asked))
	on_ok swap -q
	on_ok verify -q -s file:rows.csv
}

@test "connection: a password is nowhere but where it must be" {
	closed
	cat >source <<-'END'
		tr '\0' ' ' </proc/$$/cmdline >>argv
		tr '\0' ' ' </proc/$PPID/cmdline >>argv
		cat rows.csv
	END
	# shellcheck disable=SC2016 # expanded by sh
	printf '%s\n' 'tr "\0" " " </proc/$$/cmdline >>argv; cat password' >ask
	echo right-word >password
	bloomctl_run build -vv -k cards.keyspec -t "$target" --keys 3000 \
		--password-command '. ./ask' -s 'exec:. ./source' \
		--receipt a.json
	assert_status 0
	said=$output$stderr
	BLOOMCTL_TARGET=redis://default:right-word@$place bloomctl_run swap \
		-vv -k cards.keyspec --receipt b.json
	assert_status 0
	said+=$output$stderr
	BLOOMCTL_TARGET=redis://default:right-word@$place bloomctl_run inspect \
		-vv -k cards.keyspec --format json
	said+=$output$stderr
	BLOOMCTL_TARGET=redis://default:right-word@$place bloomctl_run doctor \
		-vv -k cards.keyspec
	assert_status 0
	said+=$output$stderr
	# What it failed with.
	REDISCLI_AUTH=right-word on build -vv -s file:none.csv
	said+=$output$stderr
	redis_cli closed SAVE >/dev/null
	assert_lacks "$said$(<argv)$(cat a.json b.json)" right-word
	run ! grep -qa right-word "$(redis_folder closed)/dump.rdb"
	[[ -s argv ]]
}

# --- servers that are none ------------------------------------------------

@test "connection: a server without the module is 76" {
	redisbloom=none redis_start bare
	target=redis://127.0.0.1:$(redis_port bare)
	on build -s file:rows.csv
	assert_failure 76 build 'no module for Bloom filters is loaded'
	assert_has "$stderr" 'hint: load the RedisBloom or valkey-bloom'
	on doctor
	assert_status 76
	# Where INFO is refused, too.
	redis_acl bare u secret '~*' +@all -info
	REDISCLI_AUTH=secret on build -s file:rows.csv --user u
	assert_failure 76 build 'no module for Bloom filters is loaded'
	redis_stop bare
}

@test "connection: a server without EVAL is 76" {
	redis_start less --rename-command EVAL ''
	target=redis://127.0.0.1:$(redis_port less)
	for command in 'build -s file:rows.csv' swap 'swap --prune'; do
		# shellcheck disable=SC2086 # words
		on $command
		assert_failure 76 "${command%% *}" "unknown command 'EVAL'"
		assert_has "$stderr" 'switched off or renamed'
	done
	redis_stop less
}

@test "connection: a server without RENAME is 76 at the swap, and what is live stays" {
	redis_start less --rename-command RENAME ''
	begin_set less
	on_ok build -q -s file:rows.csv
	on swap
	assert_failure 76 swap "unknown command 'RENAME'"
	assert_has "$stderr" 'switched off or renamed'
	[[ $(redis_cli less EXISTS cards:0 cards:1 cards:2 cards:3) == 0 ]]
	redis_stop less
}

@test "connection: a server without INFO does" {
	redis_start less --rename-command INFO '' --rename-command ROLE ''
	begin_set less
	server_live rows.csv
	server_answers
	on_ok verify -q -s file:rows.csv
	redis_stop less
}

# proxy ORDER...: $target is the server behind one (tests/proxy.py).
proxy() {
	echo "$*" >order
	# shellcheck disable=SC2034 # for the helpers
	exec {proxy}> >(exec python3 "$BATS_TEST_DIRNAME/../proxy.py" p \
		"$(redis_socket main)" order 3>&-)
	wait_until test -e p
	target=unix:p
}

@test "connection: an item is not shown where BF.INSERT is not known" {
	proxy swap BF.INSERT BF.INSERX
	redis_acl main u secret '~*' +@all -command
	REDISCLI_AUTH=secret on build -q -s file:rows.csv --user u
	assert_failure 76 build "unknown command 'BF.INSERX'"
	assert_has "$stderr" 'hint: load the RedisBloom'
	assert_lacks "$stderr" NOCREATE card:
	[[ -z $(keys_now | sed '/fence/d; /manifest/d; /generations/d') ]]
}

@test "connection: filters of another type than the server's commands tell are 76, and none stays" {
	[[ ${engine:-redisbloom} == redisbloom ]] ||
		skip "no other command is as long as BF.LOADCHUNK"
	proxy swap BF.LOAD BF.MADD
	on build -q -s file:rows.csv
	assert_failure 76 build "type 'MBbloom--', where valkey-bloom makes"
	assert_has "$stderr" 'INFO modules'
	[[ -z $(keys_now | sed '/fence/d; /manifest/d; /generations/d') ]]
}

@test "connection: a server that says nothing of itself is asked with a filter, and none stays" {
	local ours=${engine:-redisbloom} other=valkey-bloom
	[[ $ours != "$other" ]] || other=redisbloom
	redis_acl main u secret '~*' +@all -command -info
	export REDISCLI_AUTH=secret
	on build -q -s file:rows.csv --user u --engine "$other"
	assert_failure 64 build "'$target' are of $ours"
	[[ -z $(REDISCLI_AUTH='' keys_now) ]]
	redis_cli main CONFIG SET maxmemory 1 >/dev/null
	on build -q -s file:rows.csv --user u --engine "$other"
	redis_cli main CONFIG SET maxmemory 0 >/dev/null
	assert_failure 64 build "'$target' are of $ours"
	# A dry run writes nothing and so cannot know it.
	on build -n -s file:rows.csv --user u
	assert_status 0
	assert_has "$stderr" 'not known before the first build'
	on doctor --user u
	assert_has "$output" 'engine: not known before the first build'
	[[ -z $(REDISCLI_AUTH='' keys_now) ]]
	# What is live tells.
	REDISCLI_AUTH='' server_live rows.csv
	on doctor --user u
	assert_has "$output" "engine: $ours"
}

@test "connection: a port where nobody listens, and a name that nobody has, are 69" {
	for target in redis://127.0.0.1:1 redis://nobody.invalid \
		rediss://127.0.0.1:1 unix:none; do
		for command in 'build -s file:rows.csv' inspect; do
			# shellcheck disable=SC2086 # words
			on $command --timeout 1s
			assert_failure 69 "${command%% *}" "$target"
		done
	done
}

@test "connection: a server that is silent is 69, and 75 where it was there before" {
	local began=$SECONDS
	redis_start silent
	redis_pause silent
	target=redis://127.0.0.1:$(redis_port silent)
	on inspect --timeout 1s
	assert_failure 69 inspect 'no answer for 1 s'
	((SECONDS - began < 6))
	slow_build -t "redis://127.0.0.1:$(redis_port main)" --timeout 1s -q
	redis_pause main
	tail -n +4 rows.csv >&"$feed"
	exec {feed}>&-
	status=0
	wait "$pid" || status=$?
	redis_resume main
	assert_status 75
	grep -q 'given up after 1 s' said.err
	redis_stop silent
}

# play COMMAND OPTION...: against the script on standard input.
play() {
	cat >script
	"$BUILD/fake_redis" f script 2>played 3>&- &
	fake=$!
	wait_until test -e f
	target=unix:f
	on "$1" --timeout 1s "${@:2}"
}

@test "connection: a server that is loading is waited for" {
	play build -s file:rows.csv <<-'END'
		ANY
		SEND "-LOADING Redis is loading the dataset in memory\r\n"
		CLOSE
		ANY
		SEND "-LOADING Redis is loading the dataset in memory\r\n"
		CLOSE
		LOGIN "0123 master"
		EXPECT "INFO modules"
		SEND "$11\r\n# Modules\r\n\r\n"
		EXPECT "INFO server"
		SEND "$10\r\n# Server\r\n\r\n"
		EXPECT "COMMAND INFO BF.RESERVE"
		SEND "*7\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n"
	END
	assert_failure 76 build 'no module'
	wait "$fake"
}

@test "connection: a server that goes on loading is 75" {
	redis_start heavy --key-load-delay 1000 --save '3600 1' \
		--loading-process-events-interval-bytes 1024
	begin_set heavy
	redis_cli heavy DEBUG POPULATE 20000 x 1000 >/dev/null
	redis_cli heavy SAVE >/dev/null
	redis_kill heavy
	redis_begin heavy
	# shellcheck disable=SC2016 # expanded by eval
	wait_until eval '[[ $(redis_cli heavy PING 2>&1) == LOADING* ]]'
	on inspect --timeout 1s
	assert_failure 75 inspect LOADING 'given up after 1 s'
	redis_kill heavy
	redis_stop heavy
}

@test "connection: what is no Redis is 74, and nothing of it is taken for an answer" {
	play inspect <<-'END'
		ANY
		SEND "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
		CLOSE
	END
	assert_failure 74 inspect unix:f
	play inspect <<-'END'
		SEND "SSH-2.0-OpenSSH_9.2\r\n"
	END
	assert_failure 74 inspect unix:f
	play inspect <<-'END'
		ANY
		SEND "\r\n\r\n"
	END
	assert_failure 74 inspect unix:f
}

# --- connections that are lost --------------------------------------------

@test "connection: one that is cut again and again loses nothing" {
	slow_build -t "$target" -j 2 -q
	local i
	for ((i = 4; i <= 1900; i += 100)); do
		sed -n "$i,$((i + 99))p" rows.csv >&"$feed"
		redis_cli main CLIENT KILL TYPE normal >/dev/null
	done
	sed -n "$i,\$p" rows.csv >rest.csv
	cat rest.csv >&"$feed"
	: >empty
	exec {feed}>&-
	status=0
	wait "$pid" || status=$?
	stderr=$(<said.err) output=''
	show_run bloomctl
	assert_status 0
	assert_json built.json '.rows == 2000' '.acknowledged == 2000'
	on_ok swap -q
	on_ok verify -q -s file:rows.csv
	all_of rows.csv
}

@test "connection: they are cut all the time, and a build, a swap and a check go on" {
	local killer
	write_text many.txt 1 300000
	while :; do
		redis_cli main CLIENT KILL TYPE normal >/dev/null
	done 3>&- &
	killer=$!
	on build -q -j 2 --input-format text --columns id,scope \
		-s file:many.txt --receipt built.json
	kill "$killer"
	wait "$killer" 2>/dev/null || :
	assert_status 0
	assert_json built.json '.rows == 300000' '.acknowledged == 300000'
	(($(redis_info main total_connections_received) > 50))
	on_ok swap -q
	on_ok verify -q --input-format text --columns id,scope \
		-s file:many.txt
}
