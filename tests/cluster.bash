# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cluster: throw-away clusters of three primaries with a replica each, which
# redis.bash loads.
#
#	setup_file() { begin_file && cluster_start main; }
#	teardown_file() { redis_stop main; }
#
# The cluster NAME is the servers NAME1 to NAME6, each as redis_start() makes
# them; in the beginning NAME1 to NAME3 are the primaries, each with a third of
# the slots, and NAME4 to NAME6 their replicas.  redis_cli() and others take the
# name of a cluster, too: see cluster_cli().
#
#	servers_start			one server or a cluster, by $SERVERS
#	cluster_start, cluster_stop
#	cluster_owner, cluster_primaries, cluster_replica	who is what now
#	cluster_quiet			until all agree, and nothing moves
#	cluster_migrate			moves a slot, whole or by half
#	cluster_failover		a replica takes over, nothing is lost
#	cluster_kill			a primary dies, and its replica takes over
#	cluster_hang			it hangs, and wakes up too late
#	cluster_falls_behind		its replica gets nothing more

# servers_start NAME [OPTION...]: what $SERVERS says: see redis.bash.
servers_start() {
	# shellcheck disable=SC2154 # redis.bash sets it
	if [[ $servers_kind == cluster ]]; then
		cluster_start "$@"
	else
		redis_start "$@"
	fi
}

is_cluster() {
	[[ -e $BATS_FILE_TMPDIR/cluster.$1 ]]
}

# --- asking ---------------------------------------------------------------

# Much is asked of clusters, and often: without a process for each file.

# cluster_lives NODE: it is there, and does not hang.
cluster_lives() {
	local pid stat
	read -r pid <"$BATS_FILE_TMPDIR/redis.$1/pid" &&
		read -r stat <"/proc/$pid/stat" &&
		[[ ${stat##*) } != [TtZX]* ]]
} 2>/dev/null

# cluster_living NAME: its servers that do.
cluster_living() {
	local name
	for name in "$1"{1..6}; do
		! cluster_lives "$name" || echo "$name"
	done
}

# cluster_first NAME: $first is one of them.
cluster_first() {
	for first in "$1"{1..6}; do
		! cluster_lives "$first" || return 0
	done
	fail "all of $1 are gone"
}

# cluster_ask NODE WORD...: as redis_cli(), without its detours.
cluster_ask() {
	local port
	read -r port <"$BATS_FILE_TMPDIR/redis.$1/port" &&
		env -u REDISCLI_AUTH \
			${redis_auth:+"REDISCLI_AUTH=$redis_auth"} \
			redis-cli -e -p "$port" "${@:2}" </dev/null
}

# cluster_cli NAME WORD...: what is about keys is asked where they are.  What
# is about no key is asked of all primaries, or of all servers where it is a
# setting, and the answers are those of all.
cluster_cli() {
	local node first status=0
	local -a nodes=()
	case ${2^^}:${4-} in
	KEYS:* | DBSIZE:* | FLUSHALL:* | EVAL:0)
		mapfile -t nodes < <(cluster_primaries "$1")
		;;
	CONFIG:* | SCRIPT:* | ACL:* | CLIENT:* | DEBUG:*)
		mapfile -t nodes < <(cluster_living "$1")
		;;
	*)
		cluster_first "$1" && cluster_ask "$first" -c "${@:2}"
		return
		;;
	esac
	for node in "${nodes[@]}"; do
		cluster_ask "$node" "${@:2}" || status=$?
	done
	return "$status"
}

# cluster_nodes NODE: lines of NAME, ID, `master` or `slave`, the ID of its
# primary or -, and slots, of all that NODE does not think failed.
cluster_nodes() {
	local cluster=${1%[1-6]} name id place flags primary port slots
	local -A names
	for name in "$cluster"{1..6}; do
		read -r port <"$BATS_FILE_TMPDIR/redis.$name/port"
		names[$port]=$name
	done
	while read -r id place flags primary _ _ _ _ slots; do
		place=${place%@*}
		[[ $flags != *fail* && $flags =~ master|slave ]] || continue
		echo "${names[${place##*:}]}" "$id" "${BASH_REMATCH[0]}" \
			"$primary" "$slots"
	done < <(cluster_ask "$1" CLUSTER NODES)
}

# cluster_view NODE: who has which slots, and whose replica who is.
cluster_view() {
	cluster_nodes "$1" | sort
}

# cluster_primaries NAME: the servers that have slots.
cluster_primaries() {
	local first name role slots
	cluster_first "$1" || return
	while read -r name _ role _ slots; do
		[[ $role != master || -z $slots ]] || echo "$name"
	done < <(cluster_nodes "$first")
}

# cluster_replica NODE: the replica of a primary.
cluster_replica() {
	cluster_nodes "$1" | awk -v "id=$(cluster_ask "$1" CLUSTER MYID)" \
		'$4 == id { print $1; exit }' | grep .
}

# cluster_slot NAME SLOT|KEY
cluster_slot() {
	if [[ $2 =~ ^[0-9]+$ ]]; then
		echo "$2"
	else
		cluster_cli "$1" CLUSTER KEYSLOT "$2"
	fi
}

# cluster_owner NAME SLOT|KEY: the primary that has the slot, or the key's.
cluster_owner() {
	local first
	cluster_first "$1" && cluster_nodes "$first" |
		awk -v "slot=$(cluster_slot "$1" "$2")" '
		{ for (i = 5; i <= NF; i++) {
			split($i, ends, "-")
			to = ends[2] == "" ? ends[1] : ends[2]
			if ($i !~ /^\[/ && ends[1] <= slot && slot <= to + 0)
				print $1
		} }' | grep .
}

# cluster_all NAME WORD...: every primary is told.
cluster_all() {
	local node
	for node in $(cluster_primaries "$1"); do
		cluster_ask "$node" "${@:2}" || return
	done
}

# cluster_says NODE FIELD VALUE
cluster_says() {
	[[ $(cluster_ask "$1" CLUSTER INFO | tr -d '\r' |
		sed -n "s/^$2://p") == "$3" ]]
}

# cluster_agrees NAME: all that live have the same view, in which there are six
# servers, all slots are served, and none moves.
cluster_agrees() {
	local node view first=''
	for node in $(cluster_living "$1"); do
		cluster_says "$node" cluster_state ok || return
		view=$(cluster_view "$node" | sed 's/ \[.*//')
		: "${first:=$view}"
		[[ $view == "$first" ]] || return
		! cluster_ask "$node" CLUSTER NODES | grep -q ' \[' || return
	done
	[[ $(wc -l <<<"$first") == 6 &&
		$(grep -c ' slave ' <<<"$first") == 3 ]]
}

# cluster_synced NAME: and each replica has what its primary has.
cluster_synced() {
	local first name id role primary
	local -A offsets=()
	cluster_first "$1" || return
	while read -r name id role primary _; do
		cluster_lives "$name" || continue
		offsets[$id]=$(cluster_ask "$name" INFO replication |
			tr -d '\r' | sed -n 's/^master_repl_offset://p
				/^master_link_status:down/d')
		[[ $role != slave ]] || offsets[$id]+=" $primary"
	done < <(cluster_nodes "$first")
	for id in "${!offsets[@]}"; do
		read -r name primary <<<"${offsets[$id]}"
		[[ -z $primary || $name == "${offsets[$primary]-}" ]] || return
	done
}

# cluster_quiet NAME: waits for both.
cluster_quiet() {
	wait_until cluster_agrees "$1"
	wait_until cluster_synced "$1"
}

# --- starting and ending --------------------------------------------------

# cluster_start NAME [OPTION...]: all slots are served, replicas have all.
# A server that starts with slots serves none for two seconds: the replicas
# come meanwhile.
cluster_start() {
	local cluster=$1 i node
	local -a options=(--cluster-enabled yes --cluster-node-timeout 2000
		--cluster-allow-replica-migration no
		--cluster-replica-validity-factor 0)
	shift
	for i in 1 2 3 4 5 6; do
		redis_start "$cluster$i" "${options[@]}" "$@" || return
		cluster_ask "$cluster$i" CLUSTER SET-CONFIG-EPOCH "$i"
		((i > 3)) || cluster_ask "$cluster$i" CLUSTER ADDSLOTSRANGE \
			$(((i - 1) * 5462)) \
			$((i < 3 ? i * 5462 - 1 : 16383))
		((i == 1)) || cluster_ask "${cluster}1" CLUSTER MEET 127.0.0.1 \
			"$(redis_port "$cluster$i")"
	done >"$BATS_FILE_TMPDIR/cluster.said"
	for i in 1 2 3; do
		node=$(cluster_ask "$cluster$i" CLUSTER MYID)
		# Once it has heard of it.
		wait_until cluster_replicates "$cluster$((i + 3))" "$node"
	done
	ln -sfn "$(redis_folder "${cluster}1")" \
		"$BATS_FILE_TMPDIR/redis.$cluster"
	: >"$BATS_FILE_TMPDIR/cluster.$cluster"
	cluster_quiet "$cluster"
}

# cluster_replicates NODE ID
cluster_replicates() {
	cluster_ask "$1" CLUSTER REPLICATE "$2" >/dev/null 2>&1
}

# cluster_stop NAME
cluster_stop() {
	local name
	rm -f "$BATS_FILE_TMPDIR/cluster.$1" "$BATS_FILE_TMPDIR/redis.$1"
	for name in "$1"{1..6}; do
		kill "$(<"$BATS_FILE_TMPDIR/redis.$name.pid")" 2>/dev/null || :
	done
	for name in "$1"{1..6}; do
		redis_stop "$name"
	done
}

# cluster_mend NAME: those that hang go on, those that were killed come back,
# and slots that were left half moved are whole again.
cluster_mend() {
	local name slot
	for name in "$1"{1..6}; do
		if redis_is_gone "$name"; then
			redis_restart "$name"
		else
			redis_resume "$name"
		fi
	done
	wait_until cluster_serves "$1"
	for slot in $(cluster_open_slots "$1"); do
		cluster_migrate "$1" "$slot" "$(cluster_target "$1" "$slot")"
	done
	cluster_quiet "$1"
}

# cluster_serves NAME: all slots, as all of it say.
cluster_serves() {
	local name
	for name in "$1"{1..6}; do
		cluster_says "$name" cluster_state ok || return
		[[ $(cluster_nodes "$name" | wc -l) == 6 ]] || return
	done
}

# --- slots that move ------------------------------------------------------

# cluster_open_slots NAME: those that are being moved.
cluster_open_slots() {
	local node
	for node in $(cluster_primaries "$1"); do
		cluster_ask "$node" CLUSTER NODES
	done | grep -o '\[[0-9]*-[<>]-' | tr -dc '0-9\n' | sort -nu
}

# cluster_target NAME SLOT: where to; its owner, if nobody knows any more.
cluster_target() {
	local node
	for node in $(cluster_primaries "$1"); do
		! cluster_ask "$node" CLUSTER NODES |
			grep -q "myself.* \[$2-<-" || {
			echo "$node"
			return
		}
	done
	cluster_owner "$1" "$2"
}

# cluster_migrate NAME SLOT|KEY TO [half]: the slot and its keys are moved to
# the primary TO.  With `half`, half of its keys are, and the slot is being
# moved from then on; called again it is finished.
cluster_migrate() {
	local slot from to=$3 count
	slot=$(cluster_slot "$1" "$2")
	from=$(cluster_owner "$1" "$slot") || return
	if [[ $from != "$to" ]]; then
		cluster_ask "$to" CLUSTER SETSLOT "$slot" IMPORTING \
			"$(cluster_ask "$from" CLUSTER MYID)" >/dev/null &&
			cluster_ask "$from" CLUSTER SETSLOT "$slot" MIGRATING \
				"$(cluster_ask "$to" CLUSTER MYID)" \
				>/dev/null || return
		count=$(cluster_ask "$from" CLUSTER COUNTKEYSINSLOT "$slot")
		if [[ ${4-} == half ]]; then
			cluster_move_keys "$from" "$to" "$slot" $((count / 2))
			return
		fi
		# Some may come meanwhile.
		while ((count > 0)); do
			cluster_move_keys "$from" "$to" "$slot" "$count" ||
				return
			count=$(cluster_ask "$from" CLUSTER COUNTKEYSINSLOT \
				"$slot")
		done
	fi
	cluster_settle "$1" "$slot" "$to" "$from"
}

# cluster_move_keys FROM TO SLOT COUNT: a few at a time.
cluster_move_keys() {
	local left=$4 some
	local -a keys
	while ((left > 0)); do
		some=$((left < 3 ? left : 3))
		mapfile -t keys < <(cluster_ask "$1" CLUSTER GETKEYSINSLOT \
			"$3" "$some")
		((${#keys[@]} > 0)) || return 0
		cluster_ask "$1" MIGRATE 127.0.0.1 "$(redis_port "$2")" '' 0 \
			10000 KEYS "${keys[@]}" >/dev/null || return
		left=$((left - ${#keys[@]}))
	done
}

# cluster_settle NAME SLOT TO FROM: the new owner is told before the old one.
cluster_settle() {
	local node id
	id=$(cluster_ask "$3" CLUSTER MYID)
	for node in "$3" "$4" $(cluster_primaries "$1"); do
		cluster_ask "$node" CLUSTER SETSLOT "$2" NODE "$id" >/dev/null ||
			return
	done
}

# --- failovers ------------------------------------------------------------

# cluster_took_over NODE: it is the primary, and all that live know.
cluster_took_over() {
	local node
	for node in $(cluster_living "${1%[1-6]}"); do
		cluster_says "$node" cluster_state ok || return
		cluster_nodes "$node" | grep -q "^$1 [0-9a-f]* master - [0-9]" ||
			return
	done
}

# cluster_failover NODE: the replica takes its primary's place.
cluster_failover() {
	cluster_ask "$1" CLUSTER FAILOVER >/dev/null || return
	wait_until cluster_took_over "$1"
}

# cluster_falls_behind NODE: the primary's replica has what there is, and gets
# nothing more; it hangs until the primary is killed.  $behind is its name.
cluster_falls_behind() {
	behind=$(cluster_replica "$1") || return
	wait_until cluster_synced "${1%[1-6]}"
	redis_pause "$behind"
	# What the kernel holds for it would be read later.
	cluster_ask "$1" CLIENT KILL TYPE replica >/dev/null
}

# cluster_kill NODE: the primary dies, and its replica takes over; what one
# that fell behind had not got is lost.  redis_restart() makes it a replica.
cluster_kill() {
	local replica
	replica=$(cluster_replica "$1" || echo "$behind")
	redis_kill "$1"
	redis_resume "$replica"
	wait_until cluster_took_over "$replica"
}

# cluster_hang NODE: the primary hangs, its replica takes over, and then it goes
# on, and takes itself for the primary for a moment.
cluster_hang() {
	local replica
	replica=$(cluster_replica "$1") || return
	redis_pause "$1"
	wait_until cluster_took_over "$replica"
	redis_resume "$1"
}
