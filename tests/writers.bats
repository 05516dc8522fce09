#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl key against scripts/verify-writer and its vectors, then random rows
# through two implementations.  tests/packaging.bats has a program in C.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	differential=$BATS_TEST_DIRNAME/differential
}

@test "writers: bloomctl key answers every vector" {
	verified "$BLOOMCTL" key --stdin -k
}

@test "writers: random rows are the same in bloomctl and in the model" {
	any_run "$differential" --rows 20000 "$BLOOMCTL key --stdin -k"
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
	any_run "$differential" "$PWD/broken"
	assert_status 1
	assert_has "$output" 'row ' 'seed'
}
