#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The servers of tests/redis.bash are what tests take them for.  What they say
# of filters is in redisbloom.bats.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	# Whatever the others are run against.
	# shellcheck disable=SC2034 # for redis_start
	engine=redisbloom
	begin_file
	redis_start main
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
}

@test "redis: a server has a port and a socket, and both are its own" {
	local me
	me=process_id:$(redis_pid main)
	redis_says main process_id "$(redis_pid main)"
	assert_has "$(redis-cli -p "$(redis_port main)" INFO server)" "$me"
	[[ $(redis_socket main) == "$(redis_folder main)/s" ]]
	[[ $(redis_url main) == "redis://127.0.0.1:$(redis_port main)" ]]
	[[ $(redis_url main u:p) == redis://u:p@127.0.0.1:* ]]
}

@test "redis: a port that is taken is left for another one" {
	local taken
	RANDOM=$$
	taken=$((10000 + RANDOM % 20000))
	RANDOM=$$
	redis_start one
	RANDOM=$$
	redis_start two
	[[ $(redis_port one) == "$taken" ]] || skip "somebody has port $taken"
	[[ $(redis_port two) != "$taken" ]]
	redis_says two process_id "$(redis_pid two)"
}

@test "redis: a server that cannot start is a failure with its reason" {
	run redis_start bad --nonsense 1
	[[ $status != 0 && $output == *'Bad directive'* ]]
	redis_stop bad
}

@test "redis: an error is a failure, of a user without password, too" {
	any_run redis_cli main NOSUCH
	assert_status 1
	assert_has "$stderr" 'ERR unknown command'
	redis_start closed --requirepass secret
	any_run redis_cli closed PING
	assert_status 1
	[[ $(redis_auth=secret redis_cli closed PING) == PONG ]]
}

@test "redis: a server has the module that was chosen" {
	redisbloom=2.6.12 redis_start old
	assert_has "$(redis_cli old INFO modules)" 'name=bf,ver=20612,'
	assert_has "$(redis_cli main INFO modules)" 'name=bf,ver=20802,'
}

@test "redis: a restarted server has its port, its folder and its data" {
	local port pid
	redis_start again
	port=$(redis_port again) pid=$(redis_pid again)
	redis_cli again BF.ADD f saved
	redis_restart again
	[[ $(redis_port again) == "$port" && $(redis_pid again) != "$pid" ]]
	[[ $(redis-cli -p "$port" BF.EXISTS f saved) == 1 ]]
	redis_stop again
	run ! redis_folder again
	run ! redis-cli -p "$port" PING
}

@test "redis: a killed server has what it had saved before" {
	redis_start again
	redis_cli again BF.ADD f saved
	redis_cli again SAVE
	redis_cli again BF.ADD f lost
	redis_kill again
	run ! redis_answers again
	redis_restart again
	[[ $(redis_cli again BF.MEXISTS f saved lost) == $'1\n0' ]]
}

@test "redis: a server that has saved nothing comes back empty" {
	redis_start again
	redis_cli again SET key value
	redis_kill again
	redis_restart again
	[[ $(redis_cli again DBSIZE) == 0 ]]
}

@test "redis: a paused server answers when it is resumed, and can be killed" {
	redis_start slow
	redis_pause slow
	any_run timeout 0.2 redis-cli -s "$(redis_socket slow)" PING
	assert_status 124
	redis_resume slow
	redis_answers slow
	redis_pause slow
	redis_kill slow
}

# copy_has KEY VALUE: the replica.
copy_has() {
	[[ $(redis_cli copy GET "$1") == "$2" ]]
}

@test "redis: a replica has all, follows, refuses writes, and takes over" {
	redis_cli main SET before 1
	redis_replica copy main
	[[ $(redis_cli copy GET before) == 1 ]]
	redis_cli main SET after 2
	wait_until copy_has after 2
	run ! redis_cli copy SET x 1
	assert_has "$output" READONLY
	redis_failover copy
	redis_cli copy SET x 1
}

# shown AUTHORITY: what who trusts that says of the server `tls`.
shown() {
	openssl s_client -connect "127.0.0.1:$(redis_port tls)" -CAfile \
		"$1.crt" -verify_hostname localhost </dev/null 2>&1 |
		sed -n 's/^Verification\( error\)*: //p'
}

@test "redis: a server with TLS shows the certificate that it is told to" {
	local name trusts want
	redis_tls_start tls
	[[ $(redis_url tls) == "rediss://localhost:$(redis_port tls)" ]]
	cd "$(redis_folder tls)"
	[[ $(redis-cli --tls -h localhost -p "$(redis_port tls)" \
		--cacert ca.crt PING) == PONG ]]
	run ! redis-cli -p "$(redis_port tls)" PING # in the clear
	while read -r name trusts want; do
		redis_cli tls CONFIG SET tls-cert-file "$name.crt" \
			tls-key-file "$name.key"
		run shown "$trusts"
		[[ $output == "$want" ]]
	done <<-'END'
		server ca OK
		expired ca certificate has expired
		other ca hostname mismatch
		server stranger self-signed certificate in certificate chain
	END
}

@test "redis: a server with TLS can ask for a certificate" {
	local with=()
	redis_tls_start tls --tls-auth-clients yes
	cd "$(redis_folder tls)"
	with=(redis-cli --tls -h localhost -p "$(redis_port tls)"
		--cacert ca.crt)
	run ! "${with[@]}" PING
	[[ $("${with[@]}" --cert client.crt --key client.key PING) == PONG ]]
}

@test "redis: a user may do what its rules say and nothing else" {
	local as=(redis-cli -e -s "$(redis_socket main)" --user app
		--pass secret --no-auth-warning)
	redis_acl main app secret '~app:*' +get
	[[ -z $("${as[@]}" GET app:x) ]]
	run ! "${as[@]}" GET x
	assert_has "$output" NOPERM
	redis_acl main app secret '~*' +set
	run ! "${as[@]}" GET app:x
}
