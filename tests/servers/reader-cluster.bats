#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/readers/reader.c in a cluster: it follows slots that move and replicas
# that take over, and still sees what is really missing.
# servers: cluster
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	begin_file
	cluster_start here
}

teardown_file() {
	redis_stop here
}

# Sixty filters, the key `a` and a sentinel in each.
setup() {
	local filter
	begin
	redis_cli here FLUSHALL
	for filter in f{1..60}; do
		redis_cli here BF.RESERVE "$filter" 0.0001 100 NONSCALING
		redis_cli here BF.MADD "$filter" s a
		printf '%s\ts\t%s\n' "$filter" "$(hex a)" >>asks
	done >made
	cluster_quiet here
}

# reader_start: it reads when this returns.
reader_start() {
	setpriv --pdeathsig KILL "$BUILD/reader" \
		"cluster:127.0.0.1:$(redis_port here)" asks >said 2>noise 3>&- &
	reader=$!
	wait_until ready "$reader"
}

# read_more: it has made some passes over all the filters since.
read_more() {
	local owner before
	owner=$(cluster_owner here f1)
	before=$(calls_of "$owner")
	wait_until has_calls "$owner" $((before + 2000))
}

calls_of() {
	redis_cli "$1" INFO commandstats |
		sed -n 's/^cmdstat_bf\.mexists:calls=\([0-9]*\).*/\1/Ip'
}

has_calls() {
	(($(calls_of "$1") > $2))
}

# reader_says STATUS REGEX
reader_says() {
	kill "$reader"
	status=0
	wait "$reader" || status=$?
	cat said noise
	assert_status "$1"
	[[ $(<said) =~ ^$2$ ]] || fail "it did not say $2"
}

@test "reader: in a cluster it finds all, and is sent nowhere else" {
	reader_start
	read_more
	reader_says 0 \
		'reads=[1-9][0-9]{3,} errors=0 missing=0 sentinel=0 redirected=0'
	[[ ! -s noise ]]
}

@test "reader: slots that move back and forth are followed" {
	local from to
	from=$(cluster_owner here f1)
	to=$(cluster_primaries here | grep -vx "$from" | sed -n '1p')
	reader_start
	for _ in 1 2 3; do
		cluster_migrate here f1 "$to" half
		cluster_migrate here f1 "$to"
		cluster_migrate here f1 "$from"
	done
	reader_says 0 \
		'reads=[1-9].* errors=0 missing=0 sentinel=0 redirected=[1-9].*'
}

@test "reader: a slot of which only half has moved is asked with ASKING" {
	local from to i
	from=$(cluster_owner here f1)
	to=$(cluster_primaries here | grep -vx "$from" | sed -n '1p')
	for i in 1 2 3 4; do
		redis_cli here BF.MADD "{f1}$i" s a >/dev/null
		printf '{f1}%s\ts\t%s\n' "$i" "$(hex a)" >>asks
	done
	cluster_migrate here f1 "$to" half
	reader_start
	reader_says 0 \
		'reads=[1-9].* errors=0 missing=0 sentinel=0 redirected=[1-9].*'
	cluster_migrate here f1 "$to"
}

@test "reader: replicas that take over are followed, however they come to it" {
	local first
	first=$(cluster_owner here f1)
	reader_start
	cluster_failover "$(cluster_replica "$first")"
	cluster_quiet here
	first=$(cluster_owner here f1)
	cluster_kill "$first"
	cluster_mend here
	cluster_hang "$(cluster_owner here f1)"
	cluster_mend here
	reader_says 0 \
		'reads=[1-9].* errors=0 missing=0 sentinel=0 redirected=[1-9].*'
}

@test "reader: a filter that a failover has lost is missing" {
	local owner
	owner=$(cluster_owner here f1)
	cluster_falls_behind "$owner"
	redis_cli here BF.MADD f1 late >/dev/null
	printf 'f1\ts\t%s\n' "$(hex late)" >>asks
	reader_start
	cluster_kill "$owner"
	wait_until reads_on
	cluster_mend here
	reader_says 1 'reads=[1-9].* errors=0 missing=[1-9].* sentinel=0 .*'
}

# reads_on: a replica that took over is asked.
reads_on() {
	[[ $(calls_of "$behind") == [1-9]* ]]
}

@test "reader: a filter that is gone for a moment is missing with its sentinel" {
	reader_start
	redis_cli here RENAME f1 '{f1}away' >/dev/null
	read_more
	redis_cli here RENAME '{f1}away' f1 >/dev/null
	reader_says 1 'reads=[1-9].* errors=0 missing=[1-9].* sentinel=[1-9].*'
}

@test "reader: a refused read in a cluster is an error" {
	reader_start
	redis_cli here ACL SETUSER default -bf.mexists >/dev/null
	wait_until grep -q NOPERM noise
	redis_cli here ACL SETUSER default +bf.mexists >/dev/null
	reader_says 1 'reads=[1-9].* errors=[1-9].* missing=0 sentinel=0 .*'
}
