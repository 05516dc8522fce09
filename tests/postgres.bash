# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# postgres: a throw-away PostgreSQL server for a Bats file, after helpers.
#
#	setup_file() { begin_file && postgres_start && postgres_standby copy; }
#	teardown_file() { postgres_stop copy; postgres_stop; }
#
# A server has a name (`main` unless told), so that a file may have several;
# one may be a standby of `main`.
# It listens on a socket only, lets in everyone who may enter the socket's
# folder, which is its user's alone, and speaks UTF-8 in the locale C.  It ends
# with the shell that started it, however that ends.  $port is in the name of
# its socket; options or postgres_listens can have it listen there, too.

# postgres_bin: $postgres_bin is the folder of the newest programs.
postgres_bin() {
	postgres_bin=$(find /usr/lib/postgresql -path '*/bin/initdb' \
		2>/dev/null | sort -V | tail -n 1)
	: "${postgres_bin:=$(type -P initdb)}"
	[[ -n $postgres_bin ]] ||
		fail "there is no initdb: scripts/install-deps installs" \
			"Debian's postgresql"
	postgres_bin=${postgres_bin%/*}
}

# postgres_socket [NAME]: the folder of the server's socket.
postgres_socket() {
	readlink "$BATS_FILE_TMPDIR/postgres.${1:-main}"
}

# postgres_port [NAME]: the server's.
postgres_port() {
	cat "$BATS_FILE_TMPDIR/postgres.${1:-main}.port"
}

# postgres_listens NAME: it will, at an address of the loopback interface that
# nobody else has.
postgres_listens() {
	echo "127.$((RANDOM % 255 + 1)).$((RANDOM % 255)).$((RANDOM % 254 + 1))" \
		>"$BATS_FILE_TMPDIR/postgres.$1.address"
}

# postgres_address NAME: that, or nothing.
postgres_address() {
	cat "$BATS_FILE_TMPDIR/postgres.$1.address" 2>/dev/null || :
}

# It runs a server and removes its folder when that has ended, or when itself
# is told to end.  The server is told again and again: before it is up it does
# not hear the signal of a fast shutdown.
# shellcheck disable=SC2016 # expanded by the keeper
postgres_keeper='
	server= told=
	trap "told=yes" TERM INT HUP
	cd "$1" || exit
	shift
	"$@" &
	server=$!
	until [[ -n $told ]] || ! kill -0 "$server" 2>/dev/null; do
		wait "$server"
	done
	while kill -INT "$server" 2>/dev/null; do
		sleep 0.05
	done
	rm -rf "$PWD"
'

# postgres_start [NAME [OPTION...]]: OPTIONs are for postgres(1).  Skips where
# root has no user `nobody`, as whom to run it.
# shellcheck disable=SC2016 # expanded by the shell that runs it
postgres_start() {
	postgres_run "${1:-main}" '"$0/initdb" -D "$1/data" -U postgres \
		-A trust -E UTF8 --locale=C --no-sync --no-instructions' \
		"${@:2}"
}

# postgres_standby NAME [OPTION...]: a copy of `main` that follows it.
# shellcheck disable=SC2016 # expanded by the shell that runs it
postgres_standby() {
	local primary
	primary=$(postgres_socket main) || return
	postgres_run "$1" '"$0/pg_basebackup" -D "$1/data" -U postgres -R \
		-h '"$primary"' -p '"$(postgres_port main)"' \
		-c fast --no-sync -X stream' \
		"${@:2}"
}

# postgres_run NAME SCRIPT [OPTION...]: SCRIPT makes the folder $1/data with the
# programs of $0.
postgres_run() {
	local name=$1 folder log keeper
	local as=()
	postgres_bin || return
	if ((EUID == 0)); then
		id nobody >/dev/null 2>&1 ||
			skip "PostgreSQL does not run as root"
		as=(setpriv --reuid nobody --regid "$(id -g nobody)"
			--clear-groups --)
	fi
	# The path of a socket has at most 107 bytes.
	folder=$(mktemp -d /tmp/postgres.XXXXXX) || return
	ln -s "$folder" "$BATS_FILE_TMPDIR/postgres.$name"
	echo "${port:-5432}" >"$BATS_FILE_TMPDIR/postgres.$name.port"
	log=$BATS_FILE_TMPDIR/postgres.$name.log
	((EUID != 0)) || chown nobody "$folder"
	# Bats waits for all who have its descriptor 3.
	# shellcheck disable=SC2016 # expanded by the shell that it runs
	setpriv --pdeathsig TERM bash -c "$postgres_keeper" keeper "$folder" \
		"${as[@]}" setpriv --pdeathsig QUIT bash -c "$2"' &&
			exec "$0/postgres" -D "$1/data" \
			-c unix_socket_directories="$1" -c port='"${port:-5432}"' \
			-c listen_addresses='"$(postgres_address "$name")"' \
			-c fsync=off "${@:2}"' \
		"$postgres_bin" "$folder" "${@:3}" \
		</dev/null >"$log" 2>&1 3>&- &
	keeper=$!
	echo "$keeper" >"$BATS_FILE_TMPDIR/postgres.$name.pid"
	until server=$name psql_run 'SELECT' >/dev/null 2>&1; do
		kill -0 "$keeper" 2>/dev/null ||
			fail "PostgreSQL did not start: $(<"$log")" || return
		sleep 0.05
	done
}

# postgres_follows NAME: it has replayed all that `main` has written by now.
postgres_follows() {
	local lsn
	lsn=$(server=main psql_run 'SELECT pg_current_wal_insert_lsn()') &&
		wait_until postgres_replayed "$1" "$lsn"
}

# postgres_replayed NAME LSN
postgres_replayed() {
	[[ $(server=$1 psql_run "SELECT pg_last_wal_replay_lsn() >= '$2'") == t ]]
}

# postgres_word NAME [WORD...]: what -s takes for it.
postgres_word() {
	echo "host=$(postgres_socket "$1") port=$(postgres_port "$1")" \
		"dbname=postgres user=postgres ${*:2}"
}

# postgres_kill NAME: at once, as by a crash.
postgres_kill() {
	kill -QUIT "$(head -n 1 "$(postgres_socket "$1")/data/postmaster.pid")"
}

# postgres_stop [NAME]: nothing is left of it.  One that is not there is well.
postgres_stop() {
	local name=${1:-main} folder
	folder=$(postgres_socket "$name") || return 0
	kill "$(<"$BATS_FILE_TMPDIR/postgres.$name.pid")" 2>/dev/null || :
	wait_until test ! -e "$folder"
	rm "$BATS_FILE_TMPDIR/postgres.$name"*
}

# psql_run SQL [PSQL-OPTION...]: a script, at the server $server or `main`;
# what it prints is data and nothing else.
psql_run() {
	postgres_bin || return
	env -u PGOPTIONS -u PGCLIENTENCODING "$postgres_bin/psql" -X -q -A -t \
		-v ON_ERROR_STOP=1 -h "$(postgres_socket "${server:-main}")" \
		-p "$(postgres_port "${server:-main}")" -U postgres \
		-d postgres "${@:2}" -f - <<<"$1"
}

# spec NAME KEY [LINE...]: NAME.keyspec of that template, with what is on
# standard input behind its section.
spec() {
	write_keyspec "$1.keyspec" name=odd "key=$2" "${@:3}" -
}
