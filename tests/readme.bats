#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What README.md and the manual pages show is what happens.
bats_require_minimum_version 1.5.0

# What those of bloomctl.1 make is there before those of the other pages.
setup_file() {
	prepare || return
	mkdir "$BATS_FILE_TMPDIR/base"
	cd "$BATS_FILE_TMPDIR/base" || return
	"$source_dir/tests/run-examples" "$source_dir/man/bloomctl.1" \
		>"$BATS_FILE_TMPDIR/said" 2>&1 || : >"$BATS_FILE_TMPDIR/failed"
}

prepare() {
	source_dir=$(realpath "${BLOOMCTL_SRCDIR:-$BATS_TEST_DIRNAME/..}")
	: "${BUILD:=$source_dir/build/plain}"
	: "${BLOOMCTL:=$BUILD/bloomctl}"
	mkdir -p "$BATS_FILE_TMPDIR/bin"
	ln -sf "$BLOOMCTL" "$BATS_FILE_TMPDIR/bin/bloomctl"
	PATH=$BATS_FILE_TMPDIR/bin:$PATH
	# A file of the machine must not change a result.
	: >"$BATS_FILE_TMPDIR/none.conf"
	export BLOOMCTL_CONFIG=$BATS_FILE_TMPDIR/none.conf
}

setup() {
	prepare || return
	mkdir "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return
}

# examples FILE: runs them here, and says on failure what was said.
examples() {
	run "$source_dir/tests/run-examples" "$source_dir/$1"
	echo "$output"
	((status == 0))
}

# those_of_bloomctl_1: makes what they make.
those_of_bloomctl_1() {
	cat "$BATS_FILE_TMPDIR/said"
	[[ ! -e $BATS_FILE_TMPDIR/failed ]]
	cp -a "$BATS_FILE_TMPDIR/base/." .
}

# after_bloomctl_1 PAGE: its examples, which go on from those of bloomctl(1).
after_bloomctl_1() {
	those_of_bloomctl_1
	examples "man/$1"
}

@test "readme: the tour prints what README.md shows" {
	examples README.md
}

@test "readme: every folder of the listing is there" {
	local name
	sed -n 's/^    \([a-z./]*\/\)  .*/\1/p' "$source_dir/README.md" >names
	(($(wc -l <names) > 4))
	while read -r name; do
		[[ -d $source_dir/$name ]] || {
			echo "$name is not there"
			return 1
		}
	done <names
}

@test "readme: every file that README.md points to is there" {
	local name
	grep -o '](\([^)#]*\))' "$source_dir/README.md" | tr -d ']()' >names
	[[ -s names ]]
	while read -r name; do
		[[ $name == *://* || -e $source_dir/$name ]] || {
			echo "$name is not there"
			return 1
		}
	done <names
}

@test "readme: the examples of bloomctl.1 work" {
	those_of_bloomctl_1
}

@test "readme: the rebuild of bloomctl.1 works, also a second time" {
	those_of_bloomctl_1
	sh rebuild.sh
	sh rebuild.sh
	bloomctl verify -k blocked_cards.keyspec -s file:blocked_cards.csv \
		-t dir:filters
}

@test "readme: the examples of bloomctl-size.1 work" {
	after_bloomctl_1 bloomctl-size.1
}

@test "readme: the examples of bloomctl-build.1 work" {
	after_bloomctl_1 bloomctl-build.1
}

@test "readme: the examples of bloomctl-export.1 work" {
	after_bloomctl_1 bloomctl-export.1
}

@test "readme: the examples of bloomctl-swap.1 work" {
	after_bloomctl_1 bloomctl-swap.1
}

@test "readme: the examples of bloomctl-sync.1 work" {
	after_bloomctl_1 bloomctl-sync.1
}

@test "readme: the examples of bloomctl-inspect.1 work" {
	after_bloomctl_1 bloomctl-inspect.1
}

@test "readme: the examples of bloomctl-verify.1 work" {
	after_bloomctl_1 bloomctl-verify.1
}

@test "readme: the examples of bloomctl-lookup.1 work" {
	after_bloomctl_1 bloomctl-lookup.1
}

@test "readme: the examples of bloomctl-doctor.1 work" {
	after_bloomctl_1 bloomctl-doctor.1
}

@test "readme: the examples of bloomctl-key.1 work" {
	after_bloomctl_1 bloomctl-key.1
}

@test "readme: the examples of bloomctl.conf.5 work" {
	after_bloomctl_1 bloomctl.conf.5
}

@test "readme: the examples of keyspec.5 work" {
	examples man/keyspec.5
}

@test "readme: an example that shows what does not happen is noticed" {
	printf '%s\n' '```console' '$ echo one' 'two' '```' >wrong.md
	run "$source_dir/tests/run-examples" wrong.md
	((status == 1))
	[[ $output == *"BUT THIS IS SHOWN"* ]]
	printf '%s\n' '```console' '$ false' '$ true' '```' >wrong.md
	run "$source_dir/tests/run-examples" wrong.md
	((status == 1))
	[[ $output == *"NOT RUN: \$ true"* ]]
}
