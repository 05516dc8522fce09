#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What README.md shows of servers is what happens.
bats_require_minimum_version 1.5.0

load ../helpers
load ../redis

setup_file() {
	begin_file
	servers_start main
}

teardown_file() {
	redis_stop main
}

setup() {
	begin
}

@test "readme: the same set on a server" {
	mkdir bin
	ln -s "$BLOOMCTL" bin/bloomctl
	# The keyspec, the rows and the variables of the tour, and no output.
	readme_block 'A tour' console | sed -n '/^\$ cat/,/^END/p; /^\$ (echo/p; /^\$ export/p' |
		sed 's/^\$ //' >job
	readme_block 'On a server' sh >>job
	grep -q 'redis://localhost$' job
	sed -i "s|redis://localhost\$|redis://127.0.0.1:$(redis_port)|" job
	PATH=$PWD/bin:$PATH any_run bash -e job
	assert_status 0
	assert_has "$output" 'is complete: 20,000 rows in 8 filters' \
		'is live, 20,000 rows; before it: none' \
		'all 20,000 rows are found' 'OK: '
	[[ $(redis_cli main BF.EXISTS blocked_cards:2 \
		card:4711:merchant:M11) == 1 ]]
}

@test "readme: the examples of the pages that are for a server work" {
	local page
	mkdir bin
	ln -s "$BLOOMCTL" bin/bloomctl
	PATH=$PWD/bin:$PATH
	EXAMPLES_SERVER=redis://127.0.0.1:$(redis_port)
	export PATH EXAMPLES_SERVER
	redis_cli main FLUSHALL
	# That of bloomctl(1) makes the set that the others go on with; that of
	# verify leaves a generation behind, which lookup would tell.
	for page in bloomctl bloomctl-{doctor,build,swap,inspect,lookup,verify}; do
		page=$BATS_TEST_DIRNAME/../../man/$page.1
		grep -qxF '.\" server' "$page"
		any_run "$BATS_TEST_DIRNAME/../run-examples" "$page"
		assert_status 0
		assert_has "$output" " -t $EXAMPLES_SERVER"
	done
}
