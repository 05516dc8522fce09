#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/quickstart, with the program that was built.
bats_require_minimum_version 1.5.0

setup() {
	source_dir=$(realpath "${BLOOMCTL_SRCDIR:-$BATS_TEST_DIRNAME/..}")
	: "${BUILD:=$source_dir/build/plain}"
	: "${BLOOMCTL:=$BUILD/bloomctl}"
	quickstart=$source_dir/scripts/quickstart
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	cd "$BATS_TEST_TMPDIR" || return
}

# quickstart ARGUMENT...: runs it, and says on failure what it said.
quickstart() {
	run --separate-stderr "$quickstart" "$@"
	echo "status $status"
	echo "$output"
	echo "$stderr"
}

need_packages() {
	command -v dpkg-query >/dev/null || skip "there is no dpkg here"
}

@test "quickstart: all steps go well on this machine's package index" {
	need_packages
	quickstart --built "$BLOOMCTL"
	((status == 0))
	[[ -z $stderr ]]
	[[ $output == *'$ bloomctl size -k packages.keyspec -s file:packages.csv'* ]]
	[[ $output == *"is complete: "* ]]
	[[ $output == *"generation    none is live"* ]]
	[[ $output == *" is live, "*"; before it: none"* ]]
	[[ $output == *" rows are found; of 100,000 random non-members "* ]]
	[[ $output == *"maybe a member"*"certainly not a member"* ]]
	[[ $output == *"--rollback"*"maybe a member"*"All 9 steps went as they must."* ]]
}

@test "quickstart: it leaves nothing behind, or with --keep its files" {
	need_packages
	quickstart --built "$BLOOMCTL" --rows 100
	((status == 0))
	[[ -z $(ls -A "$TMPDIR") ]]
	quickstart --built "$BLOOMCTL" --rows 100 --keep
	((status == 0))
	[[ $output == *"The files are in $TMPDIR/bloomctl-quickstart."* ]]
	[[ -L $(echo "$TMPDIR"/bloomctl-quickstart.*/files/filters/*/live) ]]
}

@test "quickstart: without a package index it takes what is installed" {
	need_packages
	mkdir bin
	printf '%s\n' '#!/bin/sh' 'exit 100' >bin/apt-cache
	cp bin/apt-cache bin/apt-get
	chmod +x bin/*
	PATH=$PWD/bin:$PATH quickstart --built "$BLOOMCTL"
	((status == 0))
	[[ $output == *"All 9 steps went as they must."* ]]
}

@test "quickstart: a program that fails ends it at that step" {
	need_packages
	cat >broken <<-END
		#!/bin/sh
		if [ "\$1" = swap ]; then exit 83; fi
		exec '$BLOOMCTL' "\$@"
	END
	chmod +x broken
	quickstart --built broken --rows 100
	((status == 1))
	[[ $stderr == *"quickstart: 'bloomctl swap "*"' ended with 83"* ]]
	[[ $output != *"went as they must"* ]]
	[[ -z $(ls -A "$TMPDIR") ]]
}

@test "quickstart: the caller's BLOOMCTL_ variables change nothing" {
	need_packages
	BLOOMCTL_TARGET=nonsense BLOOMCTL_KEYS=7 BLOOMCTL_CONFIG=/nowhere \
		quickstart --built "$BLOOMCTL" --rows 100
	((status == 0))
}

@test "quickstart: wrong arguments end with 64, --help with 0" {
	quickstart --help
	((status == 0))
	[[ $output == "usage: scripts/quickstart"* ]]
	quickstart --unknown
	((status == 64))
	[[ -n $stderr ]]
	quickstart --built /nowhere/bloomctl
	((status == 64))
	quickstart --rows none
	((status == 64))
}

@test "quickstart: what cannot be installed ends it with 69" {
	mkdir scripts
	cp "$quickstart" scripts/
	printf '%s\n' '#!/bin/sh' 'echo "as root, run: ..." >&2' 'exit 69' \
		>scripts/install-deps
	chmod +x scripts/install-deps
	quickstart=$PWD/scripts/quickstart
	quickstart
	((status == 69))
	[[ -z $output ]]
	[[ $stderr == "as root, run: ..." ]]
	[[ -z $(ls -A "$TMPDIR") ]]
}

@test "quickstart: a build that fails ends it with 1 and says why" {
	mkdir scripts
	cp "$quickstart" scripts/
	printf '%s\n' '#!/bin/sh' >scripts/install-deps
	chmod +x scripts/install-deps
	printf '%s\n' 'all:' '	@echo no compiler here' '	@false' >Makefile
	quickstart=$PWD/scripts/quickstart
	quickstart
	((status == 1))
	[[ $stderr == *"no compiler here"*"quickstart: it does not build"* ]]
}
