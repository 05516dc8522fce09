# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# redis: throw-away servers, Redis or Valkey, with a Bloom module for a Bats
# file, after helpers.
#
#	setup_file() { begin_file && redis_start main; }
#	teardown_file() { redis_stop main; }
#
# A server has a name (`main` unless told), a folder of its own in which it
# runs, a unix socket there and a free port of the loopback interface.  It
# saves nothing unless told.  It ends with the shell that started it, however
# that ends: none of what starts one may be called by `run`, in a pipe or in
# $(...).  The others may, and from every test of the file.
#
#	redis_start, redis_replica, redis_tls_start	start one
#	redis_stop					ends it for good
#	redis_kill, redis_restart			and what it had saved
#	redis_pause, redis_resume			it hangs meanwhile
#	redis_failover					makes a replica the primary
#	redis_cli, redis_info, redis_acl		ask and change it
#	redis_socket, redis_port, redis_url, redis_pid, redis_folder, redis_log
#
# $daemon is the program: redis-server unless told, or valkey-server.
# $engine is the module: redisbloom unless told, or valkey-bloom, for which
# tests/engine/ stands in unless BLOOMCTL_TEST_VALKEY_BLOOM is the path of a
# real one.  $engine_args is an array, what the stand-in is told when it is
# loaded (tests/engine/engine.h says what can be).
# $redisbloom is the version of RedisBloom: 2.8.2 unless told, or 2.6.12; or it
# is `none`: no module at all.
#
# $SERVERS sets them, and says what servers_start() starts (tests/cluster.bash):
# redisbloom unless told, or redisbloom-cluster, valkey-bloom or
# valkey-bloom-cluster, and any behind valkey-server: for that daemon.

: "${SERVERS:=redisbloom}"
servers_kind=single
[[ $SERVERS != *-cluster ]] || servers_kind=cluster
[[ $SERVERS != valkey-server:* ]] || : "${daemon:=valkey-server}"
[[ $SERVERS != *valkey-bloom* ]] || : "${engine:=valkey-bloom}"
redis_modules=$(dirname "${BASH_SOURCE[0]}")/../build/modules

# need_redis: $redis_module is the file of the module, $redis_module_args what
# follows it.  Skips where there can be none.
need_redis() {
	local version=${redisbloom:-2.8.2}
	need_daemon || return
	need redis-cli redis-tools || return
	redis_module='' redis_module_args=()
	[[ $version != none ]] || return 0
	if [[ ${engine:-redisbloom} == valkey-bloom ]]; then
		need_valkey_bloom
		return
	fi
	[[ $(uname -m) == x86_64 ]] ||
		skip "RedisBloom is to be had for x86-64 only"
	redis_module=$(realpath -m "$redis_modules/redisbloom-$version.so")
	[[ -f $redis_module ]] ||
		fail "there is no RedisBloom $version:" \
			"run scripts/fetch-modules"
}

need_daemon() {
	if [[ ${daemon:-redis-server} == valkey-server ]]; then
		[[ -n $(type -P valkey-server) ]] ||
			skip "there is no valkey-server:" \
				"scripts/install-deps says where it is to be had"
	else
		need redis-server redis-server
	fi
}

need_valkey_bloom() {
	redis_module=${BLOOMCTL_TEST_VALKEY_BLOOM:-}
	if [[ -z $redis_module ]]; then
		redis_module=$BUILD/engine.so
		redis_module_args=("${engine_args[@]}")
	fi
	[[ -f $redis_module ]] || fail "there is no $redis_module"
}

# --- where it is ----------------------------------------------------------

# redis_folder [NAME]: where it runs and saves.
redis_folder() {
	readlink "$BATS_FILE_TMPDIR/redis.${1:-main}"
}

redis_log() {
	echo "$BATS_FILE_TMPDIR/redis.${1:-main}.log"
}

redis_socket() {
	echo "$(redis_folder "${1:-main}")/s"
}

# redis_port [NAME]: of 127.0.0.1; of one with TLS, the port for that.
redis_port() {
	cat "$(redis_folder "${1:-main}")/port"
}

redis_pid() {
	cat "$(redis_folder "${1:-main}")/pid"
}

# redis_url [NAME [USER:PASSWORD]]
redis_url() {
	local scheme=redis host=127.0.0.1
	if [[ -e $(redis_folder "${1:-main}")/ca.crt ]]; then
		scheme=rediss host=localhost
	fi
	echo "$scheme://${2:+$2@}$host:$(redis_port "${1:-main}")"
}

# --- asking ---------------------------------------------------------------

# redis_cli NAME WORD...: fails on an error, which is on standard error then.
# $redis_auth is the password of a server that asks even its tests for one.
# Of a cluster see cluster_cli().
redis_cli() {
	if is_cluster "$1"; then
		cluster_cli "$@"
		return
	fi
	env -u REDISCLI_AUTH ${redis_auth:+"REDISCLI_AUTH=$redis_auth"} \
		redis-cli -e -s "$(redis_socket "$1")" "${@:2}" </dev/null
}

# redis_feed NAME: does the commands on standard input, one a line.
redis_feed() {
	if is_cluster "$1"; then
		redis-cli -c -p "$(redis_port "$1")"
	else
		redis-cli -s "$(redis_socket "$1")"
	fi
}

# redis_info NAME FIELD: what INFO says of it; fails where that is nothing.
redis_info() {
	redis_cli "$1" INFO everything | tr -d '\r' | sed -n "s/^$2://p" |
		grep .
}

# redis_says NAME FIELD VALUE
redis_says() {
	[[ $(redis_info "$1" "$2") == "$3" ]]
}

# redis_answers NAME: it is up, and has loaded what it had saved.
redis_answers() {
	case $(redis_cli "$1" PING 2>&1) in
	PONG | NOAUTH* | NOPERM* | MASTERDOWN*) ;;
	*) return 1 ;;
	esac
}

# redis_acl NAME USER PASSWORD RULE...: the user has these rules and no others.
redis_acl() {
	redis_cli "$1" ACL SETUSER "$2" reset on ">$3" "${@:4}" >/dev/null
}

# --- starting -------------------------------------------------------------

# Runs a server in the folder $1, on the port that is in the file `port` there,
# and once more at each SIGUSR1; removes the folder when it is told to end.
# The server and what it forks to save are a process group.
# shellcheck disable=SC2016 # expanded by the keeper
redis_keeper='
	begin() {
		setpriv --pdeathsig KILL setsid sh -c "
			echo \$\$ >pid.new && mv pid.new pid
			exec $daemon \"\$@\"" sh "$@" "$(<port)" &
	}
	end() {
		trap "" TERM INT HUP USR1
		kill -KILL $(jobs -p) "-$(<pid)"
		wait
		rm -rf "$PWD"
		exit
	} 2>/dev/null
	cd "$1" || exit
	shift
	trap end TERM INT HUP
	trap "begin \"\$@\"" USR1
	setpriv --pdeathsig KILL sleep infinity &
	begin "$@"
	while :; do
		wait
	done
'

# redis_make NAME: its folder.  The path of a socket has at most 107 bytes.
redis_make() {
	local folder
	need_redis && redis_stop "$1" || return
	folder=$(mktemp -d /tmp/redis.XXXXXX) || return
	ln -sfn "$folder" "$BATS_FILE_TMPDIR/redis.$1"
}

# redis_is_gone NAME: no process of it is left.
redis_is_gone() {
	! kill -0 -- "-$(redis_pid "$1")" 2>/dev/null
}

# redis_await NAME: until it answers; status 1: its port was taken.
redis_await() {
	local folder log
	folder=$(redis_folder "$1")
	log=$(redis_log "$1")
	until redis_answers "$1"; do
		if [[ ! -d $folder ]]; then
			fail "Redis did not start: $(<"$log")"
			return 2
		fi
		if [[ -e $folder/pid ]] && redis_is_gone "$1"; then
			! tail -n 5 "$log" | grep -q 'Failed listening' ||
				return 1
			fail "Redis did not start: $(<"$log")"
			return 2
		fi
		sleep 0.02
	done
}

# redis_begin NAME: once more; a port that is taken stays the one.
redis_begin() {
	local folder
	folder=$(redis_folder "$1") || return
	rm -f "$folder/pid"
	kill -USR1 "$(<"$BATS_FILE_TMPDIR/redis.$1.pid")"
}

# redis_launch NAME OPTION... PORT-OPTION: in the folder that is there.
redis_launch() {
	local name=$1 folder status=0
	folder=$(redis_folder "$name")
	# Below those that the kernel gives to who asks for any.
	echo $((10000 + RANDOM % 20000)) >"$folder/port"
	# Bats waits for all who have its descriptor 3.
	daemon=${daemon:-redis-server} setpriv --pdeathsig TERM \
		bash -c "$redis_keeper" keeper "$folder" \
		--bind 127.0.0.1 -::1 --unixsocket s --save '' \
		--repl-diskless-sync-delay 0 --enable-debug-command local \
		${redis_module:+--loadmodule "$redis_module"} \
		"${redis_module_args[@]}" "${@:2}" \
		</dev/null >"$(redis_log "$name")" 2>&1 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/redis.$name.pid"
	until
		redis_await "$name" || status=$?
		((status != 1))
	do
		status=0
		echo $((10000 + RANDOM % 20000)) >"$folder/port"
		redis_begin "$name"
	done
	return "$status"
}

# redis_start [NAME [OPTION...]]: OPTIONs are for redis-server(1), and win.
redis_start() {
	redis_make "${1:-main}" &&
		redis_launch "${1:-main}" "${@:2}" --port
}

# redis_replica NAME OF [OPTION...]: a replica that has all of the server OF.
redis_replica() {
	redis_start "$1" --replicaof 127.0.0.1 "$(redis_port "$2")" \
		"${@:3}" || return
	wait_until redis_says "$1" master_link_status up
}

# redis_failover NAME: the replica is a primary from now on.
redis_failover() {
	redis_cli "$1" REPLICAOF NO ONE >/dev/null
	wait_until redis_says "$1" role master
}

# --- TLS ------------------------------------------------------------------

# redis_certificate CA NAME SUBJECT-ALT-NAME [FROM TO]: NAME.crt and NAME.key,
# signed by CA.crt; FROM and TO are times as openssl-ca(1) takes them.
redis_certificate() {
	local -a days=(-days 2)
	(($# == 3)) || days=(-startdate "$4" -enddate "$5")
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-subj "/CN=$2" -keyout "$2.key" -out "$2.csr" &&
		openssl ca -batch -notext -md sha256 -cert "$1.crt" \
			-keyfile "$1.key" -in "$2.csr" -out "$2.crt" \
			"${days[@]}" -config <(
				cat <<-END
					[ca]
					default_ca = this
					[this]
					database = index
					unique_subject = no
					new_certs_dir = .
					rand_serial = yes
					policy = any
					x509_extensions = leaf
					[any]
					commonName = supplied
					[leaf]
					basicConstraints = critical,CA:FALSE
					subjectAltName = $3
				END
			)
}

# redis_certificates: into the folder we are in; see redis_tls_start().
redis_certificates() {
	local ca
	: >index
	for ca in ca stranger; do
		openssl req -x509 -newkey ec -nodes -days 2 \
			-pkeyopt ec_paramgen_curve:P-256 -subj "/CN=$ca" \
			-addext keyUsage=critical,keyCertSign \
			-keyout "$ca.key" -out "$ca.crt" || return
	done
	redis_certificate ca server 'DNS:localhost,IP:127.0.0.1' &&
		redis_certificate ca client 'DNS:client' &&
		redis_certificate ca other 'DNS:other.example' &&
		redis_certificate ca expired 'DNS:localhost,IP:127.0.0.1' \
			20200101000000Z 20200201000000Z
}

# redis_tls_start [NAME [OPTION...]]: its port speaks TLS only.  In its folder
# are, each as X.crt and X.key, an authority `ca`, signed by it a `server` for
# localhost and 127.0.0.1, a `client`, an `expired` server and one of an
# `other` name; and a `stranger`, an authority who signed nothing.  It shows
# `server`, and asks for no certificate of its clients unless told by
#	--tls-auth-clients yes
# It shows another one after
#	redis_cli NAME CONFIG SET tls-cert-file X.crt tls-key-file X.key
redis_tls_start() {
	local name=${1:-main} folder said
	need openssl openssl && redis_make "$name" || return
	folder=$(redis_folder "$name")
	if ! said=$(cd "$folder" && redis_certificates 2>&1); then
		rm -r "$folder"
		fail "no certificates: $said"
		return
	fi
	redis_launch "$name" --port 0 --tls-cert-file server.crt \
		--tls-key-file server.key --tls-ca-cert-file ca.crt \
		--tls-auth-clients no "${@:2}" --tls-port
}

# --- ending ---------------------------------------------------------------

# redis_stop [NAME]: nothing is left of it.  One that is not there is well.
redis_stop() {
	local name=${1:-main} folder
	if is_cluster "$name"; then
		cluster_stop "$name"
		return
	fi
	folder=$(redis_folder "$name") || return 0
	kill "$(<"$BATS_FILE_TMPDIR/redis.$name.pid")" 2>/dev/null || :
	wait_until test ! -e "$folder"
	rm -f "$BATS_FILE_TMPDIR/redis.$name" \
		"$BATS_FILE_TMPDIR/redis.$name".*
}

# redis_kill [NAME]: as by SIGKILL; redis_restart() starts it again.
redis_kill() {
	kill -KILL -- "-$(redis_pid "${1:-main}")"
	wait_until redis_is_gone "${1:-main}"
}

# redis_restart [NAME]: it saves what it holds, ends, and starts again in its
# folder, on its port, with its options.  One that was killed has what it had
# saved before.
redis_restart() {
	local name=${1:-main}
	if ! redis_is_gone "$name"; then
		redis_cli "$name" SHUTDOWN SAVE || return
		wait_until redis_is_gone "$name"
	fi
	if ! redis_begin "$name" || ! redis_await "$name"; then
		fail "$name did not come back: $(<"$(redis_log "$name")")"
	fi
}

# redis_pause [NAME]: it answers nothing until redis_resume().
redis_pause() {
	local pid
	pid=$(redis_pid "${1:-main}") && kill -STOP "$pid" &&
		wait_until stopped "$pid"
}

redis_resume() {
	kill -CONT "$(redis_pid "${1:-main}")"
}

# shellcheck source=tests/cluster.bash
source "$(dirname "${BASH_SOURCE[0]}")/cluster.bash"
