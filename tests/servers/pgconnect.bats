#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# How a connection to PostgreSQL comes about, or does not: words, files and
# settings of libpq, passwords, TLS, and several servers by one word.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../postgres

setup_file() {
	begin_file
	# Below those that the kernel gives to who asks for any.
	port=$((10000 + RANDOM % 10000))
	postgres_listens main
	postgres_start
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=30
	psql_run "
		CREATE USER locked PASSWORD 'right horse';
		CREATE USER client;
		CREATE USER crowded CONNECTION LIMIT 0;
		CREATE USER alone CONNECTION LIMIT 1;
		CREATE TABLE more WITH (fillfactor = 10) AS
			SELECT c.* FROM cards c, generate_series(1, 1000);
		GRANT SELECT ON ALL TABLES IN SCHEMA public
			TO locked, client, crowded, alone;
	"
	certificates
	lets_in
	port=$((port + 10000))
	postgres_listens copy
	postgres_standby copy
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	cat >c.keyspec <<-'END'
		[keyspec]
		version = 1
		name = cards
		key = card:{entity_id}:{scope}
		buckets = 4
		filter = {name}:{bucket}
	END
	certs=$BATS_FILE_TMPDIR/certs
	at="hostaddr=$(postgres_address main) port=$(postgres_port) dbname=postgres"
	tcp="host=localhost $at"
	# A file of the caller's is not to help.
	export PGPASSFILE=$PWD/none PGSERVICEFILE=$PWD/services HOME=$PWD
}

teardown() {
	if [[ -n ${silent-} ]]; then
		kill "$silent" || :
	fi 2>/dev/null
}

# certificates: as redis_tls_start() says, and `main` shows one of them.
certificates() {
	local file folder
	folder=$(postgres_socket)
	need openssl openssl
	mkdir certs
	(cd certs && redis_certificates) >certs.log 2>&1 ||
		fail "no certificates: $(<certs.log)"
	for file in ca.crt server.crt server.key; do
		install -m 600 "certs/$file" "$folder/$file"
		((EUID != 0)) || chown nobody "$folder/$file"
	done
	psql_run "ALTER SYSTEM SET ssl_cert_file = '$folder/server.crt'"
	psql_run "ALTER SYSTEM SET ssl_key_file = '$folder/server.key'"
	psql_run "ALTER SYSTEM SET ssl_ca_file = '$folder/ca.crt'"
	psql_run 'ALTER SYSTEM SET ssl = on'
}

# lets_in: who has to show what, at `main` and at what follows it.
lets_in() {
	local hba
	hba=$(postgres_socket)/data/pg_hba.conf
	cp "$hba" hba.theirs
	{
		echo 'local all locked scram-sha-256'
		echo 'host all locked all scram-sha-256'
		echo 'hostssl all client all cert'
		echo 'host all client all reject'
		echo 'host all all all trust'
		cat hba.theirs
	} >"$hba"
	psql_run 'SELECT pg_reload_conf()' >reloaded
	wait_until speaks_tls
}

speaks_tls() {
	[[ $(psql_run 'SHOW ssl') == on ]]
}

# from WORD [OPTION...]: a build of its rows, with all that can be told.
from() {
	bloomctl_run build -vv -k c.keyspec -t dir:t --receipt r.json \
		--table "${table:-cards}" -s "$1" "${@:2}"
}

# reads WORD: it is all 30 rows.
reads() {
	rm -rf t r.json
	from "$1"
	assert_status 0
	assert_json r.json '.rows == 30'
}

# shares WORD: two sessions read what is large enough for that.
shares() {
	rm -rf t r.json
	table='more' from "$1" -j 2
	assert_status 0
	assert_json r.json '.rows == 30000'
}

# place_is TEXT: what the records say the server was.
place_is() {
	assert_json r.json ".source.origin.place == \"$1\""
}

# says STATUS WORD TEXT...: the build fails, in one sentence that has TEXT.
says() {
	rm -rf t
	bloomctl_run build -k c.keyspec -t dir:t --table cards -s "$2"
	assert_failure "$1" build 'source: ' "${@:3}"
	[[ ! -e t ]] || fail "it left something"
}

# --- words ----------------------------------------------------------------

@test "pgconnect: a word is a URI, keywords, or a service with files and settings" {
	local address port
	address=$(postgres_address main) port=$(postgres_port)
	reads "postgresql://postgres@$address:$port/postgres"
	place_is "$address:$port"
	reads "postgres://postgres@$address:$port/postgres?sslmode=disable"
	reads "postgresql:///postgres?host=$(postgres_socket)&port=$port&user=postgres"
	place_is "$(postgres_socket)/.s.PGSQL.$port"
	reads "host=$address port=$port user='postgres' dbname = postgres"
	cat >services <<-END
		[other]
		host=192.0.2.1
		[cards]
		host=$address
		port=$port
		dbname=postgres
		user=postgres
	END
	reads service=cards
	place_is "$address:$port"
	reads 'postgresql://?service=cards'
	PGHOST=$address PGPORT=$port PGUSER=postgres \
		reads postgresql:///postgres
	place_is "$address:$port"
}

# --- passwords ------------------------------------------------------------

# nowhere SECRET: it is in nothing that was said or kept.
nowhere() {
	assert_lacks "$output$stderr" "$1"
	[[ ! -e t ]] || ! grep -r -F -e "$1" t || fail "it is in the target"
	[[ ! -e r.json ]] || ! grep -F -e "$1" r.json ||
		fail "it is in the receipt"
}

@test "pgconnect: a password comes from PGPASSWORD, a PGPASSFILE or a service" {
	for word in "user=locked $tcp" "user=locked dbname=postgres
		host=$(postgres_socket) port=$(postgres_port)"; do
		PGPASSWORD='right horse' reads "$word"
		nowhere 'right horse'
		echo '*:*:postgres:locked:right horse' >pass
		chmod 600 pass
		PGPASSFILE=$PWD/pass reads "$word"
		nowhere 'right horse'
		reads "$word passfile=$PWD/pass"
		nowhere 'right horse'
		BLOOMCTL_SOURCE="$word password='right horse'" \
			bloomctl_run build -k c.keyspec -t dir:t --table cards
		assert_status 0
		nowhere 'right horse'
	done
	printf '%s\n' '[cards]' "host=$(postgres_socket)" "port=$(postgres_port)" \
		dbname=postgres user=locked 'password=right horse' >services
	reads service=cards
	nowhere 'right horse'
}

@test "pgconnect: a wrong password is 77, none is too, and it is never shown" {
	local word="user=locked $tcp"
	export PGPASSWORD=wronghorse
	says 77 "$word" 'password authentication failed for user "locked"'
	assert_has "$stderr" 'hint: ' PGPASSFILE
	nowhere wronghorse
	from "$word"
	assert_status 77
	nowhere wronghorse
	unset PGPASSWORD
	echo '*:*:*:*:wronghorse' >pass
	chmod 600 pass
	export PGPASSFILE=$PWD/pass
	# libpq adds a line that says from where it had the password.
	says 77 "$word" 'password authentication failed for user "locked"'
	nowhere wronghorse
	from "$word"
	assert_status 77
	nowhere wronghorse
	rm pass
	says 77 "$word" 'no password supplied'
	assert_has "$stderr" 'hint: ' PGPASSFILE
}

# --- TLS ------------------------------------------------------------------

@test "pgconnect: with verify-full a server of that authority and name is believed" {
	reads "user=postgres $tcp sslmode=verify-full sslrootcert=$certs/ca.crt"
	place_is "localhost:$(postgres_port)"
	PGSSLMODE=verify-full PGSSLROOTCERT=$certs/ca.crt \
		reads "user=postgres $tcp"
	mkdir .postgresql
	cp "$certs/ca.crt" .postgresql/root.crt
	reads "user=postgres $tcp sslmode=verify-full"
	# Each of several sessions.
	shares "user=postgres $tcp sslmode=verify-full"
}

@test "pgconnect: another authority or name is 77, files that are not there 78" {
	local full="user=postgres sslmode=verify-full"
	# libpq calls it by the address that was given.
	says 77 "$full $tcp sslrootcert=$certs/stranger.crt" \
		'certificate verify failed'
	assert_has "$stderr" 'hint: ' sslrootcert
	says 77 "$full host=elsewhere.example $at sslrootcert=$certs/ca.crt" \
		'"elsewhere.example"' certificate
	says 78 "$full $tcp sslrootcert=$PWD/none" \
		'root certificate file' 'does not exist'
	assert_has "$stderr" 'hint: ' sslrootcert
	says 78 "$full $tcp sslrootcert=$certs/ca.key" 'root certificate file'
	says 78 "$full $tcp sslrootcert=$certs/ca.crt sslcert=$certs/ca.key" \
		'could not read certificate file'
	says 78 "$full $tcp sslrootcert=$certs/ca.crt sslcert=$certs/client.crt \
		sslkey=$PWD/none" 'private key file'
	install -m 644 "$certs/client.key" open.key
	says 78 "$full $tcp sslrootcert=$certs/ca.crt sslcert=$certs/client.crt \
		sslkey=$PWD/open.key" 'private key file'
}

@test "pgconnect: a client's certificate lets in, and without it is 77" {
	local word="user=client $tcp sslmode=verify-full sslrootcert=$certs/ca.crt"
	reads "$word sslcert=$certs/client.crt sslkey=$certs/client.key"
	says 77 "$word" 'valid client certificate'
	says 77 "$word sslcert=$certs/other.crt sslkey=$certs/other.key" \
		'certificate authentication failed for user "client"'
	says 77 "user=client $tcp sslmode=disable" pg_hba.conf
}

@test "pgconnect: TLS that a server does not speak is 69" {
	server=copy psql_run 'ALTER SYSTEM SET ssl = off;
		SELECT pg_reload_conf()' >/dev/null
	wait_until copy_speaks_none
	says 69 "user=postgres host=$(postgres_address copy) dbname=postgres
		port=$(postgres_port copy) sslmode=require" \
		'server does not support SSL'
	assert_has "$stderr" 'hint: ' sslmode
}

copy_speaks_none() {
	[[ $(server=copy psql_run 'SHOW ssl') == off ]]
}

# --- who is not there, or does not let in ---------------------------------

@test "pgconnect: nobody there is 69, no database 66, no connection left 75" {
	says 69 'postgresql://postgres@127.0.0.1:1/postgres' 'port 1 failed' \
		'Connection refused'
	assert_has "$stderr" 'hint: '
	says 69 "host=$PWD dbname=postgres user=postgres" 'No such file'
	says 66 "user=postgres host=localhost hostaddr=$(postgres_address main)
		port=$(postgres_port) dbname=none" 'database "none" does not exist'
	says 75 "user=crowded $tcp" 'too many connections for role "crowded"'
	assert_has "$stderr" 'hint: ' --jobs
}

@test "pgconnect: with fewer connections than jobs it is 75, and says so" {
	bloomctl_run build -k c.keyspec -t dir:t --table more -j 2 \
		-s "user=alone $tcp"
	assert_failure 75 build 'too many connections for role "alone"'
	assert_has "$stderr" 'hint: ' --jobs
	bloomctl_run build -q -k c.keyspec -t dir:t --table more \
		-s "user=alone $tcp" -j 1
	assert_status 0
}

# is_silent: a server at $silent_port takes connections and says nothing.
is_silent() {
	python3 -c 'import signal, socket
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
signal.pause()' >silent.port 3>&- &
	silent=$!
	wait_until test -s silent.port
	silent_port=$(<silent.port)
}

@test "pgconnect: a server that is silent is 69 after connect_timeout, or a stop" {
	is_silent
	says 69 "host=127.0.0.1 port=$silent_port dbname=x connect_timeout=2" \
		"'127.0.0.1'" connect_timeout
	PGCONNECT_TIMEOUT=2 says 69 \
		"host=127.0.0.1 port=$silent_port dbname=x" connect_timeout
	"$BLOOMCTL" build -q -k c.keyspec -t dir:t --table cards -s \
		"host=127.0.0.1 port=$silent_port dbname=x connect_timeout=0" \
		>said.out 2>said.err 3>&- &
	pid=$!
	wait_until ready "$pid"
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 143
}

# --- several servers ------------------------------------------------------

@test "pgconnect: of several servers the one that is asked for is taken" {
	local main copy both address
	main=$(postgres_address main):$(postgres_port)
	copy=$(postgres_address copy):$(postgres_port copy)
	for both in "$main,$copy" "$copy,$main"; do
		both=postgresql://postgres@$both/postgres
		reads "$both?target_session_attrs=standby"
		place_is "$copy"
		assert_json r.json .source.origin.standby
		shares "$both?target_session_attrs=prefer-standby"
		place_is "$copy"
		shares "$both?target_session_attrs=primary"
		place_is "$main"
		assert_json r.json '.source.origin.standby == false'
	done
	reads "postgresql://postgres@127.0.0.1:1,$copy/postgres"
	place_is "$copy"
	# By their sockets and by keywords.
	shares "host=$(postgres_socket),$(postgres_socket copy) user=postgres
		port=$(postgres_port),$(postgres_port copy) dbname=postgres
		target_session_attrs=standby"
	place_is "$(postgres_socket copy)/.s.PGSQL.$(postgres_port copy)"
	says 69 "postgresql://postgres@$main/postgres?target_session_attrs=standby" \
		'server is not in hot standby mode'
	assert_has "$stderr" 'hint: target_session_attrs'
	address=$(postgres_address main)
	reads "host=localhost,localhost user=postgres dbname=postgres
		hostaddr=127.0.0.1,$address port=1,$(postgres_port)"
}

@test "pgconnect: one of several that is silent is passed over" {
	local copy
	is_silent
	copy=$(postgres_address copy):$(postgres_port copy)
	reads "postgresql://postgres@127.0.0.1:$silent_port,$copy/postgres?connect_timeout=2"
	place_is "$copy"
}
