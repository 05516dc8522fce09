#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl inspect: what it says is what is there.
# shellcheck disable=SC2016 # texts of damage are expanded by eval
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 500
	make_live rows.csv
	mkdir want
	tail -n +2 rows.csv | sed 's/^\([^,]*\),/card:\1:/' |
		python3 "$BATS_TEST_DIRNAME/oracle.py" 4 \
			"$(json .capacity built.json)" 0.01 bloomkey:a2bfa51c \
			want >want.json
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR"/{rows.csv,want.json,built.json} .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	inspect=(inspect -k cards.keyspec -t dir:t)
	# What a figure may differ by in its last digit.
	near='def near(a; b): (a - b) | fabs < 1e-9 + 1e-6 * (b | fabs);'
}

@test "inspect: JSON has every field of its shape, and the figures are right" {
	bloomctl_ok "${inspect[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '["set","fingerprint","type","engine","generation",
		"generations","lock","sync_lock","exposure","rows","bytes","fill","error_now",
		"horizon","missing","foreign","buckets"] - keys == []' \
		'.set == "cards-a2bfa51c"' '.type == "bloom"' \
		'.engine == "redisbloom"' ".generation == \"$live\"" \
		'.rows == 500' '.lock == {}' '.sync_lock == {}' \
		'.exposure == null' '.missing == []' \
		'.horizon == null' '.foreign == []' '.buckets | length == 4' \
		'.generations | length == 1' \
		'.generations[0] | .state == "live" and .rows == 500' \
		'.nodes == []' '.findings == []' \
		'.live_since == .generations[0].promoted' \
		'[.buckets[] | .ttl_ms, .slot | . == null] | all'
	# Against the filters that Python made.
	jq -n -e --slurpfile got got.json --slurpfile want want.json \
		--slurpfile built built.json "$near"'
		$got[0] as $g | $want[0] as $w | $built[0].capacity as $c |
		[range(4) | . as $b | $g.buckets[$b] |
			.bucket == $b and .filter == "cards:\($b)" and
			.items == $w.items[$b] and .capacity == $c and
			near(.fill; $w.items[$b] / $c) and
			near(.error_now;
				pow($w.bits_set[$b] / $w.bits; $w.hashes)) and
			.bytes == 4096 + $w.bits / 8] | all' >/dev/null
	jq -n -e --slurpfile got got.json --slurpfile want want.json \
		--slurpfile built built.json "$near"'
		$got[0] as $g | $want[0] as $w | $built[0].capacity as $c |
		($w.items | sort) as $s |
		near($g.fill.min; $s[0] / $c) and
		near($g.fill.max; $s[3] / $c) and
		near($g.fill.median; ($s[1] + $s[2]) / 2 / $c) and
		near($g.skew; ($w.keys | max) / 125) and
		near($g.error_now; [$w.bits_set[] |
			pow(. / $w.bits; $w.hashes)] | add / 4) and
		$g.bytes == 4 * (4096 + $w.bits / 8)' >/dev/null
}

@test "inspect: CSV is one row a filter with the figures of the JSON" {
	bloomctl_ok "${inspect[@]}" --format json
	printf '%s\n' "$output" >got.json
	bloomctl_ok "${inspect[@]}" --format csv
	((${#lines[@]} == 5))
	[[ ${lines[0]} == bucket,filter,generation,items,capacity,fill,error_now,bytes,ttl_ms,slot ]]
	local bucket row
	for bucket in 0 1 2 3; do
		row=$(json ".buckets[$bucket] | [.bucket, .filter, .generation,
			.items, .capacity] | map(tostring) | join(\",\")" \
			got.json)
		[[ ${lines[bucket + 1]} == "$row,0."*,, ]]
	done
}

@test "inspect: the table tells the set, its fill, its filters and its generations" {
	bloomctl_ok "${inspect[@]}"
	assert_has "$output" 'cards-a2bfa51c in dir:t' "$live (live)" \
		'4 of redisbloom' 'error rate 0.01' '500' 'fill of the filters' \
		'skew' 'error now' cards:0 cards:3 'live for'
	# What is known of servers only is not there.
	assert_lacks "$output" 'lock  ' ttl_ms slot warning
	# The fullest filter comes first.
	[[ $(grep -A 1 '^bucket' <<<"$output" | tail -n 1) =~ \
		^\ +"$(json '.items | index(max)' want.json)"\  ]]
	[[ $(grep -c "^$live " <<<"$output") == 1 ]]
}

@test "inspect: a large set lists ten filters, and CSV all" {
	write_keyspec cards.keyspec buckets=60 name=many
	bloomctl_ok build -q -k cards.keyspec -t dir:u -s file:rows.csv
	bloomctl_ok swap -q -k cards.keyspec -t dir:u
	bloomctl_ok inspect -k cards.keyspec -t dir:u
	[[ $(grep -c ' many:[0-9]' <<<"$output") == 10 ]]
	bloomctl_ok inspect -k cards.keyspec -t dir:u --format csv
	((${#lines[@]} == 61))
	assert_has "$output" many:00, many:59,
}

@test "inspect: -g inspects another generation, and all are listed newest first" {
	write_csv more.csv 1 510
	build_csv more.csv
	bloomctl_ok "${inspect[@]}" -g "$built"
	assert_has "$output" "$built (complete)" 510
	bloomctl_ok "${inspect[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '[.generations[].state] == ["complete", "live"]' \
		".generations[0].generation == \"$built\""
	bloomctl_run "${inspect[@]}" -g 20000101T000000Z-0000
	assert_failure 83 inspect 20000101T000000Z-0000
}

@test "inspect: a set without a live generation is a list and no error" {
	rm "$set/live"
	bloomctl_ok "${inspect[@]}"
	assert_has "$output" 'none is live' "$live"
	bloomctl_ok "${inspect[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.generation == null' '.buckets == []' \
		'.generations | length == 1'
	bloomctl_ok "${inspect[@]}" --format csv
	assert_stdout_is bucket,filter,generation,items,capacity,fill,error_now,bytes,ttl_ms,slot
}

@test "inspect: no set is 66, no target is 66" {
	rm -r "$set"
	bloomctl_run "${inspect[@]}"
	assert_failure 66 inspect "set 'cards-a2bfa51c'" 'dir:t'
	rm -r t
	bloomctl_run "${inspect[@]}"
	assert_failure 66 inspect "target 'dir:t'"
}

@test "inspect: a bad filter is named, the others are shown, and it ends with 74" {
	local damage
	cp -a t kept
	for damage in \
		'flip $set/$live/2.bloom 4110' \
		'rm $set/$live/2.bloom' \
		'truncate -s 4000 $set/$live/2.bloom' \
		'cp $set/$live/1.bloom $set/$live/2.bloom'; do
		echo "damage: $damage"
		eval "$damage"
		bloomctl_run "${inspect[@]}"
		assert_status 74
		assert_has "$stderr" \
			"bloomctl inspect: filter file 't/cards-a2bfa51c/$live/2.bloom'" \
			'hint: '
		[[ $(grep -A 1 '^bucket' <<<"$output" | tail -n 1) == *2*cards:2*bad* ]]
		assert_has "$output" cards:0 cards:1 cards:3
		bloomctl_run "${inspect[@]}" --format json
		assert_status 74
		printf '%s\n' "$output" >got.json
		assert_json got.json '.missing + .damaged == [2]' \
			'.buckets[2].bad | length > 0' \
			'[.buckets[].items] | map(select(. != null)) | length == 3'
		bloomctl_run "${inspect[@]}" --format csv
		assert_status 74
		assert_has "${lines[3]}" "2,cards:2,$live,bad"
		rm -r t
		cp -a kept t
	done
}

@test "inspect: all filters bad is said with their number" {
	rm "$set/$live"/*.bloom
	bloomctl_run "${inspect[@]}"
	assert_status 74
	assert_has "$stderr" '4 of 4 filters are bad' 0.bloom
	assert_lacks "$output" nan
	bloomctl_run "${inspect[@]}" --format json
	assert_status 74
	printf '%s\n' "$output" >got.json
	assert_json got.json '.missing == [0, 1, 2, 3]'
}

@test "inspect: a manifest that is damaged is shown as broken, with the reason" {
	build_csv rows.csv
	flip "$set/$built/manifest.json" 60
	bloomctl_ok "${inspect[@]}"
	[[ $(grep "^$built " <<<"$output") == *broken*manifest* ]]
	flip "$set/$live/manifest.json" 60
	bloomctl_run "${inspect[@]}"
	assert_status 74
	assert_has "$stderr" 'readers get it' 'hint: '
	assert_has "$output" 'broken: readers get it' "$built"
	assert_lacks "$output" 'none is live'
}

@test "inspect: it says who holds the lock, and changes nothing" {
	remember_tree
	hold_lock "$set"
	bloomctl_ok "${inspect[@]}"
	assert_has "$output" 'lock  ' swap,
	bloomctl_ok "${inspect[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.lock | length == 1'
	release_lock
	assert_tree_unchanged
}

# --- what is wrong, and monitors ------------------------------------------

# verdict STATUS START [PART...]: of inspect --check, one line.
verdict() {
	local want=$1 start=$2
	shift 2
	bloomctl_run "${inspect[@]}" --check "${limits[@]}"
	assert_status "$want"
	assert_stderr_is ''
	((${#lines[@]} == 1))
	[[ $output == "$start: "* ]] || fail "does not begin with $start"
	assert_has "$output" "$@"
}

@test "inspect: --check judges the fill of the fullest filter by --warn and --crit" {
	local most
	most=$(jq -n --slurpfile want want.json --slurpfile built built.json \
		'($want[0].items | max) * 100 / $built[0].capacity')
	# 25 % of headroom on the fullest: 80 % less what set no bit.  What was
	# just built with the usual headroom is well.
	limits=()
	verdict 0 OK
	limits=(--warn 99 --crit 99)
	verdict 0 OK "set 'cards-a2bfa51c'" "$live" 'live for' '4 filters'
	limits=(--warn "$(jq -n "$most - 0.01")" --crit 99)
	verdict 1 WARNING "bucket $(json '.items | index(max)' want.json)" limit
	limits=(--warn "$(jq -n "$most + 0.01")" --crit 99)
	verdict 0 OK
	limits=(--warn 1 --crit "$(jq -n "$most - 0.01")")
	verdict 2 CRITICAL limit
	limits=(--crit 1 --warn 1)
	verdict 2 CRITICAL
	limits=()
	BLOOMCTL_WARN=1 verdict 1 WARNING 'limit 1 %'
}

@test "inspect: --check is 2 where a filter is bad or nothing is live" {
	cp -a t kept
	limits=(--warn 99 --crit 99)
	rm "$set/$live/2.bloom"
	verdict 2 CRITICAL 'missing filters' 2.bloom
	rm "$set/$live/1.bloom"
	verdict 2 CRITICAL 'missing filters: 2, the first' 1.bloom
	rm -r t && cp -a kept t
	flip "$set/$live/2.bloom" 4110
	verdict 2 CRITICAL 'damaged filters' 2.bloom
	rm -r t && cp -a kept t
	flip "$set/$live/manifest.json" 60
	verdict 2 CRITICAL 'readers get it'
	rm "$set/live"
	verdict 2 CRITICAL 'none is live'
}

@test "inspect: --check is 1 where something is left behind or lost" {
	limits=(--warn 99 --crit 99)
	build_csv rows.csv
	verdict 0 OK
	flip "$set/$built/manifest.json" 60
	verdict 1 WARNING "generation '$built'" lost
	rm -r "${set:?}/$built"
	printf 'id,scope\n5,m:5\n6' >cut.csv
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:cut.csv \
		--keys 10
	assert_status 74
	verdict 1 WARNING failed
	bloomctl_ok "${inspect[@]}"
	assert_has "$output" 'warning  generation' 'the next build removes it'
}

@test "inspect: --check is 3 where it cannot look" {
	limits=()
	bloomctl_run inspect -k none.keyspec -t dir:t --check
	assert_status 3
	assert_stderr_is ''
	[[ $output == "UNKNOWN: keyspec 'none.keyspec'"* ]]
	bloomctl_run "${inspect[@]}" --check -g 20000101T000000Z-0000
	assert_status 3
	rm -r "$set"
	verdict 3 UNKNOWN "set 'cards-a2bfa51c'"
	rm -r t
	verdict 3 UNKNOWN "target 'dir:t'"
}

@test "inspect: wrong usage of --check is 64" {
	bloomctl_run "${inspect[@]}" --check --format json
	assert_failure 64 inspect --check --format
	bloomctl_run "${inspect[@]}" --check --warn 90 --crit 80
	assert_failure 64 inspect --warn --crit
	bloomctl_run "${inspect[@]}" --warn 90
	assert_failure 64 inspect 'option --warn' --check
	bloomctl_run "${inspect[@]}" --check --warn x
	assert_failure 64 inspect 'option --warn'
	bloomctl_run inspect -k cards.keyspec --check
	assert_failure 64 inspect --target
	# A host's format is not for monitors.
	BLOOMCTL_FORMAT=json bloomctl_run "${inspect[@]}" --check
	((status < 3))
	((${#lines[@]} == 1))
}
