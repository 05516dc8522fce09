#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# How the engine of a server is told: what each kind of server answers is
# played, as none of them can be had here.
#
# shellcheck disable=SC2016,SC2028,SC2086 # what is sent, and words
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 10
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR/rows.csv" .
}

# play COMMAND OPTION...: against the script on standard input.
play() {
	local fake
	cat >script
	"$BUILD/fake_redis" s script 2>played 3>&- &
	fake=$!
	wait_until test -e s
	bloomctl_run "$1" -k cards.keyspec -t unix:s --timeout 1s "${@:2}"
	wait "$fake" || fail "$(<played)"
}

# bulk TEXT: the line that sends it; \r and \n are one byte each.
bulk() {
	local text=${1//\\r\\n/--}
	echo "SEND \"\$${#text}\\r\\n$1\\r\\n\""
}

# says MODULES SERVER COMMAND...: a server that has these commands.
says() {
	local command answer='*7\r\n'
	echo 'LOGIN "0123 master"'
	echo 'EXPECT "INFO modules"'
	bulk "# Modules\\r\\n$1"
	echo 'EXPECT "INFO server"'
	bulk "# Server\\r\\n$2"
	echo 'EXPECT "COMMAND INFO BF.RESERVE"'
	for command in RESERVE INSERT MEXISTS INFO CARD LOAD LOADCHUNK; do
		case " ${*:3} " in
		*" $command "*) answer+='*1\r\n$3\r\nbf.\r\n' ;;
		*) answer+='*-1\r\n' ;;
		esac
	done
	echo "SEND \"$answer\""
}

# type_is TYPE: of the first live filter.
type_is() {
	echo 'EXPECT "TYPE cards:0"'
	echo "SEND \"+$1\\r\\n\""
}

rest='REST "-ERR no more\r\n"'
needed='RESERVE INSERT MEXISTS INFO CARD'
aws='os:Amazon ElastiCache\r\n'

# engine_is NAME, of the server on standard input, for doctor.
engine_is() {
	{ cat && echo "$rest"; } >order
	play doctor <order
	assert_has "$output" "engine: $1"
}

@test "detect: ElastiCache lists no module and has neither engine's own commands" {
	{ says '' "$aws" $needed && type_is none; } | engine_is elasticache
}

@test "detect: ElastiCache that lists the module is ElastiCache, too" {
	says 'module:name=bf,ver=10001,api=1\r\n' "$aws" $needed LOAD |
		engine_is elasticache
}

@test "detect: its limit is known without a question" {
	{
		says 'module:name=bf,ver=10001,api=1\r\n' '' $needed LOAD
		echo 'EXPECT "CONFIG GET bf.bloom-memory-usage-limit"'
		echo 'SEND "-ERR unknown command '\''config'\''\r\n"'
	} | engine_is valkey-bloom
}

@test "detect: the commands tell the engine, whatever the module's version is" {
	{
		says 'module:name=bf,ver=20001,api=1\r\n' '' $needed LOAD
		echo 'EXPECT "CONFIG GET"'
		echo 'SEND "*0\r\n"'
	} | engine_is valkey-bloom
	says 'module:name=bf,ver=10101,api=1\r\n' '' $needed LOADCHUNK |
		engine_is redisbloom
	says 'module:name=bf,ver=80200,api=1\r\n' '' $needed LOADCHUNK |
		engine_is redis8
}

@test "detect: the type of what is live tells it where nothing else does" {
	{ says '' '' $needed && type_is MBbloom--; } | engine_is redisbloom
}

@test "detect: a server that nothing tells of is not known to who only reads" {
	{ says '' '' $needed && type_is string; } | engine_is 'not known'
}

@test "detect: who writes asks with a filter, and a type that is not known is 76" {
	local type
	for type in bloomfltr MBbloom--; do
		{
			says '' "$aws" $needed
			type_is none
			echo 'EXPECT "bloomctl:{cards-a2bfa51c}:probe:"'
			echo "SEND \"*1\\r\\n\$9\\r\\n$type\\r\\n\""
			echo "$rest"
		} >order
		play build -s file:rows.csv --engine redis8 <order
		assert_failure 64 build 'are of'
	done
	assert_has "$stderr" 'are of redisbloom'
	sed 's/MBbloom--/otherones/' order >other
	play build -s file:rows.csv <other
	assert_failure 76 build "unix:s: its Bloom filters are of type 'otherones'"
}

@test "detect: a command that is missing is 76 before anything is begun, and named" {
	local command
	for command in $needed; do
		{ says '' '' ${needed/$command/} LOADCHUNK && echo "$rest"; } >order
		play build -s file:rows.csv <order
		assert_failure 76 build "unix:s: it has Bloom filters, but not" \
			"the command BF.$command"
		assert_has "$stderr" 'hint: RedisBloom 2.4.4'
	done
	{ says '' '' RESERVE MEXISTS && echo "$rest"; } >order
	play doctor <order
	assert_status 76
	assert_has "$output" 'the commands BF.INSERT, BF.INFO, BF.CARD'
}

@test "detect: a lower limit that the server tells is 73, with how many buckets are enough" {
	{
		says 'module:name=bf,ver=10001,api=1\r\n' '' $needed LOAD
		echo 'EXPECT "CONFIG GET bf.bloom-memory-usage-limit"'
		echo 'SEND "*2\r\n$27\r\nbf.bloom-memory-usage-limit\r\n$4\r\n1000\r\n"'
		echo 'EXPECT "HGETALL"'
		echo 'SEND "*0\r\n"'
		echo "$rest"
	} >order
	play build -n -s file:rows.csv --keys 10000 <order
	assert_failure 73 build 'valkey-bloom allows 1000'
	assert_has "$stderr" "over $("$BLOOMCTL" size --buckets 4 --keys 10000 \
		--limit 1000 --engine valkey-bloom --format json |
		jq .fewest_buckets) buckets or more"
}
