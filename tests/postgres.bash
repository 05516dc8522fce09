# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# postgres: a throw-away PostgreSQL server for a Bats file, after helpers.
#
#	setup_file() { begin_file && postgres_start; }
#	teardown_file() { postgres_stop; }
#
# A server has a name (`main` unless told), so that a file may have several.
# It listens on a socket only, lets in everyone who may enter the socket's
# folder, which is its user's alone, and speaks UTF-8 in the locale C.  It ends
# with the shell that started it, however that ends.

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
postgres_start() {
	local name=${1:-main} folder log keeper
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
	log=$BATS_FILE_TMPDIR/postgres.$name.log
	((EUID != 0)) || chown nobody "$folder"
	# Bats waits for all who have its descriptor 3.
	# shellcheck disable=SC2016 # expanded by the shell that it runs
	setpriv --pdeathsig TERM bash -c "$postgres_keeper" keeper "$folder" \
		"${as[@]}" setpriv --pdeathsig QUIT bash -c '
		"$0/initdb" -D "$1/data" -U postgres -A trust -E UTF8 \
			--locale=C --no-sync --no-instructions &&
			exec "$0/postgres" -D "$1/data" \
			-c unix_socket_directories="$1" \
			-c listen_addresses= -c fsync=off "${@:2}"' \
		"$postgres_bin" "$folder" "${@:2}" \
		</dev/null >"$log" 2>&1 3>&- &
	keeper=$!
	echo "$keeper" >"$BATS_FILE_TMPDIR/postgres.$name.pid"
	until server=$name psql_run 'SELECT' >/dev/null 2>&1; do
		kill -0 "$keeper" 2>/dev/null ||
			fail "PostgreSQL did not start: $(<"$log")" || return
		sleep 0.05
	done
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
		-p 5432 -U postgres -d postgres "${@:2}" -f - <<<"$1"
}
