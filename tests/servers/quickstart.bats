#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/quickstart, with filters on servers.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	begin_file
	redis_start main
	redis_tls_start tls --requirepass adm1n-word
}

teardown_file() {
	redis_stop main
	redis_stop tls
}

setup() {
	begin
	need dpkg-query dpkg
	source_dir=$(realpath "${BLOOMCTL_SRCDIR:-$BATS_TEST_DIRNAME/../..}")
	redis_cli main FLUSHALL >/dev/null
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
}

# quickstart ARGUMENT...
quickstart() {
	any_run "$source_dir/scripts/quickstart" --built "$BLOOMCTL" \
		--rows 500 "$@"
}

# all_well: it went through to the end, and left no file behind.
all_well() {
	assert_status 0
	# What a user without INFO is told.
	stderr=$(grep -v 'how much memory it has left is not known$' \
		<<<"$stderr" || :)
	assert_stderr_is ''
	assert_has "$output" 'none is live' '; before it: none' \
		' rows are found; of 100,000 random non-members ' \
		'certainly not a member' 'All 9 steps went as they must.'
	[[ -z $(ls -A "$TMPDIR") ]]
}

# rules: the words of the user in bloomctl(1), RIGHTS, for the set `packages`.
rules() {
	local name
	sed -n "/^cat >packages.keyspec/,/^END/p" \
		"$source_dir/scripts/quickstart" | sed '1d; $d' >q.keyspec
	name=packages-$("$BLOOMCTL" key -k q.keyspec --fingerprint | cut -c 1-8)
	sed -n '/^\.\\" rights: everything$/,/^\.Ed/p' \
		"$source_dir/man/bloomctl.1" | sed '1,3d; $d' |
		sed "s/\\\\(ti/~/g; s/cards-[0-9a-f]*/$name/
			s/cards:/packages:/g" | xargs -n 1
}

# What its filters are called.
type=MBbloom--
# shellcheck disable=SC2154 # redis.bash may set it
[[ ${engine:-redisbloom} == redisbloom ]] || type=bloomfltr

@test "quickstart: on a server" {
	quickstart --target "redis://127.0.0.1:$(redis_port main)"
	all_well
	[[ $(redis_cli main TYPE packages:00) == "$type" ]]
}

@test "quickstart: on a socket" {
	quickstart --target "unix:$(redis_socket main)"
	all_well
}

@test "quickstart: over TLS, as a user with the rights of the page and no others" {
	# shellcheck disable=SC2034 # for the helpers
	local words redis_auth=adm1n-word
	mapfile -t words < <(rules)
	redis_acl tls rebuild s3cret-word "${words[@]}"
	echo s3cret-word >password
	cat >a.conf <<-END
		target = rediss://localhost:$(redis_port tls)
		user = rebuild
		password-file = $PWD/password
		tls-ca = $(redis_folder tls)/ca.crt
	END
	quickstart --config a.conf
	all_well
	assert_has "$output" "in rediss://localhost:$(redis_port tls)"
	assert_lacks "$output" s3cret-word adm1n-word
	[[ $(redis_cli tls TYPE packages:00) == "$type" ]]
	# Without the user it is a server like any other, and lets nobody in.
	sed -i '/^user/d' a.conf
	quickstart --config a.conf
	assert_status 1
	assert_has "$stderr" WRONGPASS "'bloomctl build "
	assert_lacks "$output$stderr" s3cret-word
}

@test "quickstart: a server that cannot be reached ends it at the first build" {
	quickstart --target redis://127.0.0.1:1
	assert_status 1
	assert_has "$stderr" "'bloomctl build "
}
