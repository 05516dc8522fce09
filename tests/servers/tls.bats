#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Servers over TLS: who is believed, and what is said to who is not.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_file
	redis_start plain
	redis_tls_start tls
	redis_tls_start asks --tls-auth-clients yes
	write_csv rows.csv 1 500
}

teardown_file() {
	redis_stop plain
	redis_stop tls
	redis_stop asks
}

setup() {
	begin
	begin_set tls
	shows server
	ca=$(redis_folder tls)/ca.crt
	target=$(redis_url tls)
	commands=('build -s file:rows.csv' swap inspect)
}

# shows NAME: the certificate that the server shows from now on.
shows() {
	redis_cli tls CONFIG SET tls-cert-file "$1.crt" tls-key-file "$1.key" \
		>/dev/null
}

# all_fail STATUS PART OPTION...: every command does, and nothing is written.
all_fail() {
	local command
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		on $command "${@:3}"
		assert_failure "$1" "${command%% *}" "$target" "$2"
	done
	[[ -z $(keys_now) ]]
}

# all_go OPTION...
all_go() {
	on_ok build -q -s file:rows.csv "$@"
	on_ok swap -q "$@"
	on_ok inspect -q "$@"
	on_ok verify -q -s file:rows.csv "$@"
	on_ok doctor "$@"
	redis_cli "$server" FLUSHALL >/dev/null
}

@test "tls: a server whose authority is given is believed, by name and by address" {
	all_go --tls-ca "$ca"
	target=rediss://127.0.0.1:$(redis_port tls)
	all_go --tls-ca "$ca"
	target=valkeys://localhost:$(redis_port tls)
	BLOOMCTL_TLS_CA=$ca all_go
}

@test "tls: a server signed by nobody who is known is 77" {
	all_fail 77 'certificate is not accepted'
	assert_has "$stderr" 'hint: --tls-ca FILE'
	all_fail 77 'certificate is not accepted' \
		--tls-ca "$(redis_folder tls)/stranger.crt"
	assert_has "$stderr" 'hint: --tls-ca FILE'
}

@test "tls: an expired certificate is 77" {
	shows expired
	all_fail 77 'certificate has expired' --tls-ca "$ca"
	assert_has "$stderr" 'hint: the server needs another one'
}

@test "tls: a certificate of another name is 77, unless that is the name" {
	shows other
	all_fail 77 'certificate is not accepted: hostname mismatch' \
		--tls-ca "$ca"
	assert_has "$stderr" 'hint: --tls-name NAME'
	all_go --tls-ca "$ca" --tls-name other.example
	shows server
	all_fail 77 'hostname mismatch' --tls-ca "$ca" \
		--tls-name other.example
}

@test "tls: --tls-insecure takes any" {
	local name
	for name in server expired other; do
		shows "$name"
		on build -q -s file:rows.csv --tls-insecure
		assert_status 0
		assert_has "$(keys_now)" "bloomctl:{$set}:generations"
	done
}

@test "tls: a client certificate that is required is 77 without, and goes with it" {
	local folder
	begin_set asks
	folder=$(redis_folder asks)
	ca=$folder/ca.crt
	target=$(redis_url asks)
	all_fail 77 'requires a certificate of the client' --tls-ca "$ca"
	assert_has "$stderr" 'hint: --tls-cert FILE'
	all_go --tls-ca "$ca" --tls-cert "$folder/client.crt" \
		--tls-key "$folder/client.key"
	# Both in one file.
	cat "$folder/client.crt" "$folder/client.key" >both.pem
	all_go --tls-ca "$ca" --tls-cert both.pem
	# A certificate that another authority signed.
	all_fail 77 "does not accept the client's certificate" --tls-ca "$ca" \
		--tls-cert "$folder/stranger.crt" \
		--tls-key "$folder/stranger.key"
	all_fail 78 "key" --tls-ca "$ca" --tls-cert "$folder/client.crt" \
		--tls-key "$folder/other.key"
}

@test "tls: files that are not there, or no certificates, are 78" {
	all_fail 78 "'none.crt'" --tls-ca none.crt
	all_fail 78 "'rows.csv'" --tls-ca rows.csv
	all_fail 78 "'none.crt'" --tls-ca "$ca" --tls-cert none.crt
}

@test "tls: TLS to a port without is 69, and no TLS to one with it" {
	begin_set plain
	target=rediss://localhost:$(redis_port plain)
	all_fail 69 '' --tls-insecure --timeout 1s
	assert_has "$stderr" 'hint: '
	begin_set tls
	target=redis://localhost:$(redis_port tls)
	all_fail 69 '' --timeout 1s
	assert_has "$stderr" 'hint: ' rediss://
}

@test "tls: connections that are cut lose nothing" {
	local killer
	awk 'BEGIN { for (i = 1; i <= 200000; i++) print i "\tm:" i % 7 }' \
		>many.txt
	while :; do
		redis_cli tls CLIENT KILL TYPE normal >/dev/null
		# Or, on a busy machine, none comes through its handshake.
		sleep 0.02
	done 3>&- &
	killer=$!
	on build -q --input-format text --columns id,scope --tls-ca "$ca" \
		-s file:many.txt --receipt built.json
	kill "$killer"
	wait "$killer" 2>/dev/null || :
	assert_status 0
	assert_json built.json '.rows == 200000' '.acknowledged == 200000'
	on_ok swap -q --tls-ca "$ca"
	on_ok verify -q --input-format text --columns id,scope \
		--tls-ca "$ca" -s file:many.txt
}
