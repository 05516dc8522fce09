#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The users of bloomctl(1), RIGHTS: what stands there is enough, and nothing of
# it can be left out.
# servers: single
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis
load ../serverset

setup_file() {
	begin_set_file 300
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
	begin_set
	page=$BATS_TEST_DIRNAME/../../man/bloomctl.1
	echo secret >password
}

# rules KIND: the words of that user in the page, from its patterns on.
rules() {
	sed -n "/^\\.\\\\\" rights: $1\$/,/^\\.Ed/p" "$page" | sed '1,3d; $d' |
		sed 's/\\(ti/~/g' | xargs -n 1 | grep .
}

# user KIND [RULE...]: a user of the page, here called u, with these rules on
# top.
user() {
	local -a words
	mapfile -t words < <(rules "$1")
	((${#words[@]} > 10)) || fail "there is no such user in the page"
	redis_acl main u secret "${words[@]}" "${@:2}"
}

# as COMMAND OPTION...: on(), as this user.
as() {
	on "$1" --user u --password-file password "${@:2}"
}

as_ok() {
	as "$@"
	assert_status 0
	assert_stderr_is ''
}

live_now() {
	redis_cli main HGET "{cards:0}:bloomctl" generation
}

# job: all that the user is for, one after the other, until something fails;
# $live is what was live before that.
job() {
	local step
	for step in 'build -q -s file:rows.csv' 'swap -q' 'inspect -q' \
		'verify -q -s file:rows.csv' 'lookup -q 1 m:1' \
		'build -q -s file:rows.csv' 'swap -q' \
		'swap -q --rollback' 'build -q -s file:rows.csv' 'swap -q' \
		'swap -q --prune --keep 0'; do
		live=$(live_now)
		# shellcheck disable=SC2086 # words
		as $step
		((status == 0)) || return 0
	done
}

@test "rights: both users of the page are in sorts that the test knows" {
	[[ $(rules everything | grep -c '^~') == 3 ]]
	[[ $(rules reading | grep -c '^~') == 3 ]]
	[[ $(rules everything | grep -cv '^[~+]') == 0 ]]
	[[ $(rules everything | grep -c '^+') -gt 20 ]]
	[[ -z $(comm -13 <(rules everything | sort) <(rules reading | sort)) ]]
	assert_has "$(rules everything)" "~bloomctl:{$set}:*"
}

@test "rights: the user of the page can do the whole job" {
	user everything
	job
	assert_status 0
	# shellcheck disable=SC2034 # for the helpers
	live=$(live_now)
	server_answers
	as doctor
	assert_status 0
	assert_has "$output" 'let this user call INFO' \
		'warning  room: whether there is any is not known'
	[[ $output != *'rights'* ]]
}

@test "rights: the reader of the page can read" {
	server_live rows.csv
	user reading
	as_ok inspect -q
	as_ok verify -q -s file:rows.csv
	as_ok lookup -q 1 m:1
	as doctor
	assert_status 0
	assert_has "$output" 'let this user call INFO'
	for command in "build -s file:rows.csv" swap "swap --rollback" \
		"swap --prune"; do
		keys_now >before.keys
		# shellcheck disable=SC2086 # words
		as $command
		assert_failure 77 "${command%% *}" NOPERM
		diff before.keys <(keys_now)
	done
	server_left_alone
}

@test "rights: each command of the page is needed, and the one that is missing is named" {
	local rule name
	for rule in $(rules everything | grep '^+'); do
		name=${rule#+}
		redis_cli main FLUSHALL >/dev/null
		server_live rows.csv
		user everything "-$name"
		job
		((status != 0)) || fail "nothing needs $name"
		assert_failure 77 "$(cut -d ' ' -f 2 <<<"${stderr%%:*}")"
		[[ ${stderr,,} == "bloomctl "*"'$name'"* ]] ||
			fail "$name is not named"
		assert_has "$stderr" 'hint: bloomctl(1), RIGHTS'
		server_answers
	done
}

@test "rights: each command of the reader is needed, and the one that is missing is named" {
	local rule name step failed
	server_live rows.csv
	for rule in $(rules reading | grep '^+'); do
		name=${rule#+}
		user reading "-$name"
		failed=''
		for step in 'inspect -q' 'verify -q -s file:rows.csv' \
			'lookup -q 1 m:1'; do
			# shellcheck disable=SC2086 # words
			as $step
			((status != 0)) || continue
			failed+=" ${step%% *}"
			assert_failure 77 "${step%% *}"
			[[ ${stderr,,} == *"'$name'"* ]] ||
				fail "$name is not named"
		done
		[[ -n $failed ]] || fail "nothing needs $name"
	done
	server_left_alone
}

@test "rights: a pattern of keys that is missing is 77, and live stays as it was" {
	local -a all
	local pattern step
	mapfile -t all < <(rules everything | grep '^~')
	server_live rows.csv
	server_live rows.csv
	server_build rows.csv
	next=$built
	# shellcheck disable=SC2034 # for the helpers
	before=$(redis_cli main KEYS '{cards:0}:bloomctl:*:state' |
		grep -v "$next" | cut -d : -f 4)
	for pattern in "${all[@]}"; do
		mapfile -t rest < <(printf '%s\n' "${all[@]}" |
			grep -vxF "$pattern")
		user everything resetkeys "${rest[@]}"
		for step in 'build -q -s file:rows.csv' swap 'swap --rollback' \
			'swap --prune --keep 0' inspect \
			'verify -s file:rows.csv' 'lookup 1 m:1'; do
			# Which needs to know what is live by its state only.
			[[ $pattern$step != '~cards:*swap --prune'* ]] ||
				continue
			# shellcheck disable=SC2086 # words
			as $step
			assert_failure 77 "${step%% *}" NOPERM
			assert_has "$stderr" 'hint: bloomctl(1), RIGHTS'
			case $pattern in
			"~bloomctl"*) assert_has "$stderr" "set '$set': " ;;
			*) [[ $stderr == *': bucket 0: '* || $stderr == *"'{cards:0}:bloomctl'"* ]] ;;
			esac
		done
		server_left_alone
	done
}

@test "rights: names of one generation only are refused at its first filter" {
	local -a rest
	server_live rows.csv
	mapfile -t rest < <(rules everything | grep '^~' | grep -v '^~{')
	# What is live may be read and written, and new names may not be used.
	user everything resetkeys "${rest[@]}" '~{cards:?}:bloomctl'
	keys_now >before.keys
	as build -q -s file:rows.csv
	assert_failure 77 build "filter '{cards:0}:bloomctl:" NOPERM
	diff <(grep -v -e fence -e manifest before.keys) \
		<(keys_now | grep -v -e fence -e manifest)
	server_left_alone
}

@test "rights: what may be refused without harm is asked for and not needed" {
	user everything +info +role '+client|setname' '+command|info'
	job
	assert_status 0
	as doctor
	assert_status 0
	assert_lacks "$output" 'let this user'
	user everything +info
	job
	assert_status 0
}

@test "rights: a database needs select, and is refused without" {
	target=$target/2
	user everything
	as build -s file:rows.csv
	assert_failure 77 build SELECT NOPERM
	user everything +select
	as_ok build -q -s file:rows.csv
	redis_cli main -n 2 FLUSHDB >/dev/null
}

@test "rights: waiting for replicas needs wait, and is refused without" {
	user everything
	as build -q -s file:rows.csv --wait-replicas 1
	assert_failure 77 build WAIT NOPERM
}
