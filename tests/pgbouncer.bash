# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pgbouncer: a pooler of connections in front of PostgreSQL servers, for Bats
# files, after helpers and postgres.
#
#	pgbouncer_start "postgres = host=... port=..." "pool_mode = ..."
#
# It runs in $pooler, a folder of its own, where its socket is; $pooled is what
# -s takes for it.  It ends with the shell that started it, or by
# pgbouncer_stop.

# need_pgbouncer: skips where there is none.
need_pgbouncer() {
	PATH=$PATH:/usr/sbin
	[[ -n $(type -P pgbouncer) ]] ||
		skip "there is no pgbouncer: scripts/install-deps installs it"
}

# shellcheck disable=SC2016 # expanded by the keeper
pgbouncer_keeper='
	cd "$1" || exit
	"${@:2}" -q pgbouncer.ini >log 2>&1 &
	trap "kill -KILL $!; wait; rm -rf \"$1\"; exit" TERM INT HUP
	wait
	# Until it is told to, what it said stays.
	sleep infinity &
	wait
'

# pgbouncer_start DATABASE [SETTING...]: DATABASE is a line of [databases].  It
# lets in `postgres` and `locked`, whose password is "right horse", and asks for
# none unless told.
pgbouncer_start() {
	local as=()
	need_pgbouncer
	((EUID != 0)) || as=(setpriv --reuid nobody --regid "$(id -g nobody)"
		--clear-groups --)
	pooler=$(mktemp -d /tmp/pgbouncer.XXXXXX) || return
	printf '%s\n' '"postgres" "x"' '"locked" "right horse"' \
		>"$pooler/users"
	printf '%s\n' '[databases]' "$1" '[pgbouncer]' 'listen_addr =' \
		"unix_socket_dir = $pooler" 'listen_port = 6432' \
		'auth_type = trust' "auth_file = $pooler/users" \
		"${@:2}" >"$pooler/pgbouncer.ini"
	((EUID != 0)) || chown -R nobody "$pooler"
	# Bats waits for all who have its descriptor 3.
	setpriv --pdeathsig TERM bash -c "$pgbouncer_keeper" keeper "$pooler" \
		"${as[@]}" setpriv --pdeathsig KILL pgbouncer \
		</dev/null >/dev/null 2>&1 3>&- &
	pooler_pid=$!
	# shellcheck disable=SC2034 # for the test
	pooled="host=$pooler port=6432 dbname=postgres user=postgres"
	wait_until test -S "$pooler/.s.PGSQL.6432" ||
		fail "pgbouncer did not start: $(<"$pooler/log")"
}

# pgbouncer_stop: nothing is left of it.
pgbouncer_stop() {
	[[ -n ${pooler_pid-} ]] || return 0
	kill "$pooler_pid" 2>/dev/null || :
	wait_until test ! -e "$pooler"
	pooler_pid=
}
