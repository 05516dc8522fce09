#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What README.md and the manual pages show of PostgreSQL is what happens.
# servers: none
bats_require_minimum_version 1.5.0

load ../helpers
load ../postgres

setup_file() {
	begin_file
	postgres_start
	postgres_standby copy
	psql_run "$(<"$BATS_TEST_DIRNAME/cards.sql")" -v rows=20000
	postgres_follows copy
}

teardown_file() {
	postgres_stop copy
	postgres_stop
}

setup() {
	begin
	top=$BATS_TEST_DIRNAME/../..
	mkdir bin
	ln -s "$BLOOMCTL" bin/bloomctl
	PATH=$PWD/bin:$PATH
	printf '[%s]\nhost=%s\nport=5432\ndbname=postgres\nuser=postgres\n' \
		replica "$(postgres_socket copy)" \
		primary "$(postgres_socket main)" >services
	export PATH PGSERVICEFILE=$PWD/services
}

@test "readme: the same set from PostgreSQL" {
	# The keyspec and the variables of the tour, and no output.
	readme_block 'A tour' console | sed -n '/^\$ cat/,/^END/p; /^\$ export/p' |
		sed 's/^\$ //' >job
	readme_block 'From PostgreSQL' sh >>job
	grep -q 'service=replica ' job
	any_run bash -e -o pipefail job
	assert_status 0
	assert_has "$output" 'source standby' \
		'is complete: 18,000 rows in 8 filters' \
		'is live, 18,000 rows' \
		"export 'cards': 18,000 rows in 1 file of "
	[[ $(grep -c 'is complete: 18,000 rows' <<<"$output") == 3 ]]
}

@test "readme: the examples of the pages that are for PostgreSQL work" {
	local page
	any_run "$top/tests/run-examples" "$top/man/bloomctl.1"
	assert_status 0
	export EXAMPLES_DATABASE=service=replica
	for page in bloomctl-{build,export}; do
		grep -qxF '.\" database' "$top/man/$page.1"
		any_run "$top/tests/run-examples" "$top/man/$page.1"
		assert_status 0
		assert_has "$output" 'service=replica'
	done
}
