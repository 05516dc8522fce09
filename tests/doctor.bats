#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl doctor: what it says of folders; those with servers are in
# tests/servers.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	write_csv rows.csv 1 100
	doctor=(doctor -k cards.keyspec -t dir:t)
}

# levels: "level what" of each finding of the JSON of the last run.
levels() {
	jq -r '.findings[] | "\(.level) \(.what)"' <<<"$output"
}

@test "doctor: a target that a build would make is fit, and is not made" {
	bloomctl_ok "${doctor[@]}"
	assert_has "$output" 'ok       target: not there yet'
	[[ ! -e t ]]
	bloomctl_ok "${doctor[@]}" --format json
	[[ $(levels) == 'ok target' ]]
}

@test "doctor: a folder with a live set is fit, every step of it, and is not changed" {
	mkdir t
	bloomctl_ok "${doctor[@]}" --format json
	[[ $(levels) == $'ok target\nok engine\nok lock\nok set\nok room' ]]
	assert_has "$output" 'not there yet'
	make_live rows.csv
	remember_tree
	bloomctl_ok "${doctor[@]}" --format json
	assert_tree_unchanged
	[[ $(levels) == $'ok target\nok engine\nok lock\nok set\nok room' ]]
	printf '%s\n' "$output" >got.json
	assert_json got.json '.set == "cards-a2bfa51c"' '.status == 0' \
		"[.findings[] | select(.what == \"set\").evidence][0] |
			contains(\"$built\")" \
		"[.findings[] | select(.what == \"room\").evidence][0] |
			contains(\"4 filters\")"
	bloomctl_ok "${doctor[@]}" --format csv
	[[ ${lines[0]} == level,what,evidence,remedy ]]
	((${#lines[@]} == 6))
}

@test "doctor: a lock that is held and leftovers are warnings, and 0" {
	make_live rows.csv
	printf 'id,scope\n5,m:5\n6' >cut.csv
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:cut.csv \
		--keys 10
	assert_status 74
	hold_lock "$(set_of)"
	bloomctl_ok "${doctor[@]}"
	release_lock
	assert_has "$output" 'warning  lock: held by' \
		'warning  generation ' 'the next build removes it'
}

@test "doctor: what is broken is an error with its own status, and all else is told" {
	make_live rows.csv
	flip "$(set_of)/$built/manifest.json" 60
	bloomctl_run "${doctor[@]}"
	assert_status 74
	assert_stderr_is ''
	assert_has "$output" "error    set: generation '$built'" 'ok       room'
	bloomctl_run "${doctor[@]}" --format json
	assert_status 74
	printf '%s\n' "$output" >got.json
	assert_json got.json '.status == 74'
}

@test "doctor: a target that is no folder is told as a finding" {
	: >t
	bloomctl_run "${doctor[@]}"
	assert_status 66
	assert_stderr_is ''
	assert_has "$output" "error    target: target 'dir:t'"
	bloomctl_run doctor -k cards.keyspec -t dir:none/t --format json
	assert_status 66
	[[ $(levels) == 'error target' ]]
}

@test "doctor: a wrong word and a bad keyspec are errors and no findings" {
	bloomctl_run doctor -k cards.keyspec -t nowhere:x
	assert_failure 64 doctor target
	echo nonsense >bad.keyspec
	bloomctl_run doctor -k bad.keyspec -t dir:t
	assert_failure 78 doctor bad.keyspec
}
