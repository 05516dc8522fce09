#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/verify-writer over the vectors: bloomctl and the library agree with
# them line by line.  Then random rows through two implementations.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	here=$BATS_TEST_DIRNAME
	verify=$here/../scripts/verify-writer
}

# verified PROGRAM...: it answers every vector.
verified() {
	any_run "$verify" "$@"
	assert_status 0
	[[ $output =~ ^verify-writer:\ [0-9]+\ rows\ of\ [0-9]+\ keyspecs\ agree$ ]]
}

@test "writers: bloomctl key answers every vector" {
	verified "$BLOOMCTL" key --stdin -k
}

@test "writers: a C program with libbloomkey answers every vector" {
	[[ $VARIANT == plain ]] || skip "the library is sanitized: $VARIANT"
	"$CC" -Wall -Wextra -Werror -std=c11 -I"$here/../lib/bloomkey" \
		-o writer "$here/writers/c/writer.c" "$BUILD/libbloomkey.a" \
		-lcrypto
	verified ./writer
}

@test "writers: random rows are the same in bloomctl and in the model" {
	any_run "$here/differential" --rows 20000 "$BLOOMCTL key --stdin -k"
	assert_status 0
	assert_has "$output" 'differential: 20000 rows of 20 keyspecs agree' \
		'!delimiter' '!digits' '!empty' '!encoding' '!int' '!null' \
		'!too-long' '!uuid' ' key'
}

@test "writers: random rows show a broken writer" {
	cat >broken <<-END
		#!/bin/sh
		# The seed is forgotten.
		grep -v '^seed' "\$1" >without.keyspec
		exec "$BLOOMCTL" key --stdin -k without.keyspec
	END
	chmod +x broken
	any_run "$here/differential" "$PWD/broken"
	assert_status 1
	assert_has "$output" 'row ' 'seed'
}
