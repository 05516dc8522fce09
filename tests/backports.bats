#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/backports: where backports are, said by where Debian itself is.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	backports=$BATS_TEST_DIRNAME/../scripts/backports
	mkdir -p apt/sources.list.d
	parts=apt/sources.list.d
}

# writes KIND WANT: and says so.
writes() {
	local file=$parts/bookworm-backports.$1
	any_run "$backports" bookworm apt
	assert_stdout_is "$file"
	assert_status 0
	[[ $(<"$file") == "$2" ]] || fail "it wrote: $(<"$file")"
}

@test "backports: a stanza is copied, with its place, keys and options" {
	cat >"$parts"/debian.sources <<-'END'
		# a comment
		Types: deb deb-src
		Enabled: no
		URIs: https://off.example/debian
		Suites: bookworm
		Components: main

		Types: deb-src
		URIs: https://source.example/debian
		Suites: bookworm
		Components: main

		Types: deb
		URIs: https://security.example/debian
		Suites: bookworm-security
		Components: main

		types: deb deb-src
		# another
		URIs: https://one.example/debian
		 https://two.example/debian
		Suites: bookworm
		 bookworm-updates
		Components: contrib main
		Signed-By:
		 -----BEGIN PGP PUBLIC KEY BLOCK-----
		 .
		 abc=
	END
	writes sources "Types: deb
Suites: bookworm-backports
Components: main
URIs: https://one.example/debian
 https://two.example/debian
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc="
}

@test "backports: a line is copied, with its options" {
	cat >apt/sources.list <<-'END'
		# deb https://comment.example/debian bookworm main
		deb-src https://source.example/debian bookworm main
		deb https://security.example/debian bookworm-security main
		deb https://rest.example/debian bookworm contrib
	END
	cat >"$parts"/debian.list <<-'END'
		deb [ arch=amd64 signed-by=/k.gpg ] https://one.example/debian bookworm contrib main # ours
		deb https://two.example/debian bookworm main
	END
	writes list "deb [ arch=amd64 signed-by=/k.gpg ] https://one.example/debian bookworm-backports main"
}

@test "backports: a line without options is copied, from the first file" {
	echo 'deb http://one.example/debian bookworm main contrib' \
		>apt/sources.list
	writes list "deb http://one.example/debian bookworm-backports main"
}

@test "backports: without a source of Debian itself nothing is written" {
	echo 'deb http://one.example/debian trixie main' >apt/sources.list
	any_run "$backports" bookworm apt
	assert_status 69
	assert_stderr_is \
		'backports: no source in apt has the suite bookworm'
	[[ -z $(ls "$parts") ]]
}

@test "backports: what is no name of a suite is refused" {
	any_run "$backports" 'book worm' apt
	assert_status 64
	any_run "$backports"
	assert_status 64
}
