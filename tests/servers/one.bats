#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What one server has and a cluster has not: a socket and databases; and the
# bits of its filters.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
}

@test "server: filters hold bit for bit what a folder's hold" {
	local b
	# shellcheck disable=SC2154 # redis.bash may set it
	[[ ${engine:-redisbloom} == redisbloom ]] ||
		skip "filters of valkey-bloom have a seed of their own"
	server_live rows.csv --capacity 1000
	bloomctl_ok build -q -k cards.keyspec -t dir:t -s file:rows.csv \
		--capacity 1000
	for b in 0 1 2 3; do
		python3 - "$(redis_socket main)" "cards:$b" >"bits.$b" <<-'END'
			import socket, sys
			s = socket.socket(socket.AF_UNIX)
			s.connect(sys.argv[1])
			f = s.makefile("rwb")
			def ask(*words):
			    f.write(b"*%d\r\n" % len(words))
			    for w in words:
			        f.write(b"$%d\r\n%s\r\n" % (len(w), w))
			    f.flush()
			    return reply()
			def reply():
			    line = f.readline()
			    if line[:1] == b"*":
			        return [reply() for _ in range(int(line[1:]))]
			    if line[:1] == b"$":
			        data = f.read(int(line[1:]) + 2)
			        return data[:-2]
			    return int(line[1:]) if line[:1] == b":" else line
			key, at = sys.argv[2].encode(), 0
			while True:
			    at, data = ask(b"BF.SCANDUMP", key, b"%d" % at)
			    if at == 0:
			        break
			    if at > 1:
			        sys.stdout.buffer.write(data)
		END
		tail -c +4097 "$(set_of)"/*/"$b.bloom" | cmp - "bits.$b"
	done
}

@test "server: unix:PATH is the same server" {
	server_live rows.csv
	target=unix:$(redis_socket main)
	on_ok verify -q -s file:rows.csv
	server_live more.csv
	on_ok verify -q -s file:more.csv
}

@test "server: databases are told apart" {
	server_live rows.csv
	target=$target/3
	on inspect
	assert_failure 66 inspect
	on_ok build -q -s file:rows.csv
	on_ok swap -q
	[[ $(redis_cli main -n 3 EXISTS cards:0) == 1 ]]
	redis_cli main -n 3 FLUSHDB >/dev/null
	server_answers
}

@test "server: filters that are asked in any order are each looked at about once" {
	local n
	write_keyspec cards.keyspec buckets=1000
	redis_cli main CONFIG RESETSTAT >/dev/null
	on_ok build -q -s file:rows.csv --capacity 100
	# For each filter: reserved, sealed, looked at before members and before
	# what is absent are asked for; in some hundreds, at times one again.
	n=$(redis_info main cmdstat_eval | sed 's/calls=\([0-9]*\).*/\1/')
	((n >= 4000 && n < 5200)) || fail "$n scripts for 1000 filters"
}
