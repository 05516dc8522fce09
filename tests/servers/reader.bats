#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# tests/readers/reader.c sees what it is there to see: a proof by a reader that
# overlooks a lost key is none.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	begin_file
	redis_start main
}

teardown_file() {
	redis_stop main
}

# The filters f0, f1 and f2, the keys a and b, and a sentinel in each.
setup() {
	local filter key
	begin
	redis_cli main FLUSHALL >/dev/null
	for filter in f0 f1 f2; do
		redis_cli main BF.RESERVE $filter 0.0001 100 NONSCALING
		redis_cli main BF.MADD $filter s a b
		for key in a b; do
			printf '%s\ts\t%s\n' "$filter" "$(hex "$key")"
		done
	done >asks.all
	grep $'\t' asks.all >asks
}

# reader_begin PLACE: it ends with the test.
reader_begin() {
	setpriv --pdeathsig KILL "$BUILD/reader" "$1" asks >said 2>noise 3>&- &
	reader=$!
}

# reader_start [PLACE]: it reads when this returns.
reader_start() {
	reader_begin "${1-$(redis_socket)}"
	wait_until ready "$reader"
}

# read_more: it has made a pass over all the filters since.
read_more() {
	local before
	before=$(redis_calls)
	wait_until reads_since $((before + 1000))
}

redis_calls() {
	redis_cli main INFO commandstats |
		sed -n 's/^cmdstat_bf\.mexists:calls=\([0-9]*\).*/\1/Ip'
}

reads_since() {
	(($(redis_calls) > $1))
}

# reader_says STATUS PATTERN: how it ended, and with what line.
reader_says() {
	kill "$reader" || :
	status=0
	wait "$reader" || status=$?
	cat said noise
	assert_status "$1"
	# shellcheck disable=SC2053 # a pattern
	[[ $(<said) == $2 ]] || fail "it did not say $2"
}

@test "reader: without fault it counts reads and nothing else" {
	for place in "$(redis_socket)" "127.0.0.1:$(redis_port)" \
		"localhost:$(redis_port)"; do
		reader_start "$place"
		read_more
		reader_says 0 'reads=[1-9]* errors=0 missing=0 sentinel=0'
		[[ ! -s noise ]]
	done
}

@test "reader: it reads until it is told, and counts every answer" {
	redis_cli main CONFIG RESETSTAT
	reader_start
	read_more
	reader_says 0 'reads=*'
	[[ $(<said) == "reads=$(redis_calls) "* ]]
}

@test "reader: a key that is lost is missing" {
	printf 'f1\ts\t%s\n' "$(hex lost)" >>asks
	reader_start
	reader_says 1 'reads=[1-9]* errors=0 missing=[1-9]* sentinel=0'
}

@test "reader: a filter that is gone for a moment is missing with its sentinel" {
	reader_start
	redis_cli main RENAME f1 away
	read_more
	redis_cli main RENAME away f1
	reader_says 1 'reads=[1-9]* errors=0 missing=[1-9]* sentinel=[1-9]*'
}

@test "reader: a filter without sentinel is no filter of ours" {
	redis_cli main DEL f2
	redis_cli main BF.MADD f2 a b
	reader_start
	reader_says 1 'reads=[1-9]* errors=0 missing=0 sentinel=[1-9]*'
}

@test "reader: a refused read is an error" {
	reader_start
	redis_cli main ACL SETUSER default -bf.mexists
	wait_until grep -q NOPERM noise
	redis_cli main ACL SETUSER default +bf.mexists
	reader_says 1 'reads=[1-9]* errors=[1-9]* missing=0 sentinel=0'
	grep -q '^reader: the first error: -NOPERM' noise
}

@test "reader: a connection that breaks is an error and ends it" {
	redis_start short
	printf 'none\ts\t00\n' >asks
	reader_start "$(redis_socket short)"
	redis_kill short
	wait_until test -s said
	reader_says 1 'reads=[1-9]* errors=[1-9]* *'
	grep -q '^reader: the connection broke' noise
}

@test "reader: a place where nobody is is an error" {
	reader_begin "$PWD/none"
	wait_until test -s said
	reader_says 1 'reads=0 errors=1 missing=0 sentinel=0'
}

@test "reader: any bytes of a key are asked for" {
	redis_cli main BF.ADD f0 '' >/dev/null
	printf 'a\0\r\nb\xff' | redis-cli -s "$(redis_socket)" -x BF.ADD f0
	printf 'f0\ts\t\nf0\ts\t61000d0a62ff\n' >asks
	reader_start
	read_more
	reader_says 0 'reads=[1-9]* errors=0 missing=0 sentinel=0'
}

@test "reader: a file that asks nothing, or not so, is status 2" {
	: >asks
	any_run "$BUILD/reader" "$(redis_socket)" asks
	assert_status 2
	printf 'f0\ts\t0\n' >asks
	any_run "$BUILD/reader" "$(redis_socket)" asks
	assert_status 2
	any_run "$BUILD/reader" "$(redis_socket)" none
	assert_status 2
}
