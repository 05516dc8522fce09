# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
#
# server: a Redis server with RedisBloom for the benchmarks servers and
# postgres, and what others than bloomctl need to fill the same filters.
#
#	bench_begin		a folder of its own, with the server `main`
#	bench_filters ROWS	how large bloomctl would make the filters
#	bench_reserve		makes them
#	bench_adds <ROWS	what fills them

bench=$(realpath "$(dirname "${BASH_SOURCE[0]}")")

# What helpers say of a machine that cannot have a server.
skip() {
	echo "no figures of servers: $*"
	exit 0
}

# $target is what -t takes for the server, $socket its socket.
bench_begin() {
	local tests=${bench%/*}
	work=$(mktemp -d "${TMPDIR:-/tmp}/bloomctl-bench.XXXXXX")
	export BATS_FILE_TMPDIR=$work BATS_TEST_TMPDIR=$work
	# shellcheck source=tests/helpers.bash
	. "$tests/helpers.bash"
	# shellcheck source=tests/redis.bash
	. "$tests/redis.bash"
	# shellcheck source=tests/postgres.bash
	. "$tests/postgres.bash"
	trap 'bench_end' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	settings
	need_redis
	redis_start main --maxmemory 0
	socket=$(redis_socket main)
	# shellcheck disable=SC2034 # for whoever sources this
	target=unix:$socket
	cd "$work" || exit
}

bench_end() {
	local name
	for name in copy main; do
		postgres_stop "$name"
	done
	redis_stop main
	rm -rf "$work"
}

# bench_keyspec BUCKETS
bench_keyspec() {
	write_keyspec cards.keyspec buckets="$1" \
		key='card:{entity_id}:{scope}'
}

# bench_filters ROWS: $capacity, of 200 filters.
bench_filters() {
	capacity=$("$BLOOMCTL" size -k cards.keyspec --keys "$1" \
		--format csv | awk -F, '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				if ($i == "capacity") at = i
		}
		NR == 2 { print $at }')
}

bench_reserve() {
	local b
	for b in {000..199}; do
		echo "BF.RESERVE cards:$b 0.01 $capacity NONSCALING"
	done | redis-cli -s "$socket" >/dev/null
}

# bench_adds <ROWS >COMMANDS: for redis-cli, by the same keyspec, rows being
# COPY text of entity_id and scope.
bench_adds() {
	"$BLOOMCTL" key -k cards.keyspec --stdin |
		LC_ALL=C awk -f "$bench/adds.awk"
}
