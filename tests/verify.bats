#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl verify: every row is found, and what is missing is counted.
# shellcheck disable=SC2016 # texts of damage are expanded by eval
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 1000
	make_live rows.csv
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR/rows.csv" .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	verify=(verify -k cards.keyspec -t dir:t)
}

@test "verify: all rows are found, in any order, format and number of jobs" {
	write_text rows.txt 1 1000
	sort -R <(tail -n +2 rows.csv) >shuffled.csv
	write_csv first.csv 1 400
	write_csv rest.csv 401 1000
	local -a case
	while read -ra case; do
		bloomctl_ok "${verify[@]}" "${case[@]}" --absent 1000
		assert_has "$output" "generation '$live'" 'all 1,000 rows'
	done <<-'END'
		-s file:rows.csv
		-s file:rows.csv -j 8
		-s file:shuffled.csv --columns id,scope
		-s file:first.csv -s file:rest.csv -j 2
		-s file:rows.txt --input-format text --columns id,scope -j 4
	END
}

@test "verify: missing rows are 81, counted by bucket, and shown only as keys" {
	local jobs
	write_csv more.csv 1 1000
	printf 'MARKER%d,zzz\n' {1..50} >>more.csv
	# Of these, the ones that no filter holds by chance.
	"$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv <more.csv |
		tail -n 50 | cut -f 3 | sort -n >buckets
	for jobs in 1 4; do
		bloomctl_run "${verify[@]}" -s file:more.csv -j $jobs --absent 0 \
			--grace 0s --quiet-keys --receipt got.json
		assert_failure 81 verify "generation '$live'" 'of 1050 rows' \
			"in 4 buckets" "first of them $(head -n 1 buckets)"
		assert_lacks "$stderr$(<got.json)" MARKER zzz
		assert_json got.json '.status == 81' '.missing > 40' \
			'.missing <= 50' '.rows == 1050'
		assert_has "$stderr" "$(json .missing got.json) of 1050"
	done
}

@test "verify: one missing row is enough, and the others are still read" {
	write_csv more.csv 1 1000
	sed -i '2 i absent-row,x' more.csv
	bloomctl_run "${verify[@]}" -s file:more.csv --receipt got.json \
		--grace 0s --quiet-keys
	assert_failure 81 verify '1 of 1001 rows' 'in 1 buckets'
	assert_json got.json '.rows == 1001' '.missing == 1' \
		'.asked == 1001' '.missed.unknown == 1' '.missed.came == 0'
}

@test "verify: keys that are missing are listed, as rows that it takes" {
	local option
	printf 'id,scope\n"absent\trow",x\nsecond\\row,x\nthird,x\n' >more.csv
	for option in -v -q; do
		bloomctl_run "${verify[@]}" "$option" -s file:more.csv --grace 0s
		assert_status 81
		assert_has "$stderr" '3 of 3 rows are missing'
		printf '%s\n' "$output" >listed
		assert_stdout_is 'card:absent\trow:x
card:second\\row:x
card:third:x'
	done
	bloomctl_run "${verify[@]}" -s file:listed --input-format key --grace 0s
	assert_status 81
	assert_stdout_is "$(<listed)"
	bloomctl_run "${verify[@]}" -s file:more.csv --quiet-keys --grace 0s
	assert_failure 81 verify '3 of 3 rows'
}

@test "verify: of many that are missing 1,000 are listed, and all are counted" {
	write_csv more.csv 100001 103000
	bloomctl_run "${verify[@]}" -s file:more.csv -j 2 --grace 0s \
		--receipt got.json
	assert_status 81
	assert_json got.json '.missing > 2900' '.missed.unknown == 1000'
	[[ $(wc -l <<<"$output") == 1000 && $(sort -u <<<"$output" | wc -l) == 1000 ]]
	assert_has "$stderr" 'more keys are not found' 'of 3000 rows are missing'
}

@test "verify: --sample asks for so many keys, whatever their order and workers" {
	local jobs
	cat rows.csv <(tail -n +2 rows.csv) >twice.csv
	for jobs in 1 4; do
		bloomctl_ok "${verify[@]}" -s file:twice.csv --sample 100 \
			-j "$jobs" --absent 0 --receipt got.json
		assert_has "$output" 'all 100 keys drawn from 2,000 rows' \
			'less than 13 % are missing' '99.9999 %'
		assert_json got.json '.asked == 100' '.rows == 2000'
		# Each key once, however often it is there.
		bloomctl_ok "${verify[@]}" -s file:twice.csv --sample 5000 \
			-j "$jobs" --absent 0 --receipt got.json
		assert_has "$output" 'all 1,000 keys drawn from 2,000 rows'
		assert_lacks "$output" '99.9999'
		assert_json got.json '.asked == 1000'
	done
}

@test "verify: --sample is drawn evenly, and what it misses is missing" {
	# Half of the rows are not there, behind those that are.
	write_csv more.csv 1 1000
	printf 'gone-%d,x\n' {1..1000} >>more.csv
	bloomctl_run "${verify[@]}" -s file:more.csv --sample 400 --grace 0s \
		--receipt got.json
	assert_status 81
	# Within six deviations of 200, less what is found by chance.
	assert_json got.json '.asked == 400' '.missing > 130' '.missing < 270'
	[[ $(grep -c '^card:gone-[0-9]*:x$' <<<"$output") == \
		"$(json .missing got.json)" ]]
}

@test "verify: options of a database without one, and bad numbers, are 64" {
	local options
	for options in '--writer host=nowhere' '--changed-column c' \
		'--fresh 10m'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run "${verify[@]}" -s file:rows.csv $options
		assert_failure 64 verify "option ${options%% *}: it is for a" \
			'database, and the source is none'
	done
	for options in '--sample 0' '--sample 1000001' '--grace 2d' \
		'--grace now' '--fresh 0s' '--recent recent'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run "${verify[@]}" -s file:rows.csv $options
		assert_failure 64 verify "option ${options%% *}: "
	done
	bloomctl_run "${verify[@]}" -s file:rows.csv --recent 'r:{key}'
	assert_failure 64 verify 'option --recent: it is for a server'
}

@test "verify: a stop ends the grace" {
	echo id,scope >more.csv
	echo absent,x >>more.csv
	"$BLOOMCTL" "${verify[@]}" -s file:more.csv --grace 1d \
		--deadline 1s >said.out 2>said.err || status=$?
	assert_status 75
	[[ ! -s said.out ]]
}

@test "verify: --absent asks random non-members and holds them to the error rate" {
	bloomctl_ok "${verify[@]}" -s file:rows.csv --absent 200000 \
		--receipt got.json
	assert_has "$output" '200,000 random non-members' 'designed rate 0.01'
	# Fill of about 0.77: a quarter of the designed rate.
	assert_json got.json '.absent == 200000' '.absent_found > 200' \
		'.absent_found < 1200'
	bloomctl_ok "${verify[@]}" -s file:rows.csv --absent 0 \
		--receipt got.json
	assert_lacks "$output" non-members
	assert_json got.json '.absent == 0' '.absent_found == 0'
	bloomctl_ok "${verify[@]}" -s file:rows.csv
	assert_has "$output" '100,000 random non-members'
}

@test "verify: a filter that says maybe too often is 81" {
	# All bits set, and sealed as if that were right.
	python3 -B - "$set/$live/0.bloom" "$BATS_TEST_DIRNAME/../scripts" <<-'END'
		import struct, sys
		sys.path.insert(0, sys.argv[2])
		from vectors.xxh64 import xxh64
		data = bytearray(open(sys.argv[1], "rb").read())
		data[4096:] = b"\xff" * (len(data) - 4096)
		data[152:160] = struct.pack("<Q", xxh64(bytes(data[4096:])))
		data[160:168] = bytes(8)
		data[160:168] = struct.pack("<Q", xxh64(bytes(data[:4096])))
		open(sys.argv[1], "wb").write(data)
	END
	bloomctl_run "${verify[@]}" -s file:rows.csv
	assert_failure 81 verify "generation '$live'" \
		'of 100000 random non-members' 'error rate of 0.01'
}

@test "verify: -g verifies a generation before it is promoted" {
	write_csv more.csv 1 1100
	build_csv more.csv
	bloomctl_ok "${verify[@]}" -g "$built" -s file:more.csv
	assert_has "$output" "generation '$built'" 'all 1,100 rows'
	bloomctl_run "${verify[@]}" -g 20000101T000000Z-0000 -s file:rows.csv
	assert_failure 83 verify 20000101T000000Z-0000
}

@test "verify: no row verifies nothing, which is 81" {
	echo id,scope >none.csv
	bloomctl_run "${verify[@]}" -s file:none.csv
	assert_failure 81 verify 'no row'
}

@test "verify: a damaged filter is 74, whichever of its bytes it is" {
	local damage
	cp -a t kept
	for damage in 'flip $set/$live/3.bloom 4100' 'rm $set/$live/3.bloom' \
		'truncate -s -8 $set/$live/3.bloom' \
		'cp $set/$live/0.bloom $set/$live/3.bloom'; do
		eval "$damage"
		bloomctl_run "${verify[@]}" -s file:rows.csv -j 3
		assert_failure 74 verify "/$live/3.bloom'"
		rm -r t
		cp -a kept t
	done
}

@test "verify: no set, no live generation, no source" {
	bloomctl_run "${verify[@]}" -s file:none.csv
	assert_failure 66 verify "file 'none.csv'"
	bloomctl_run "${verify[@]}"
	assert_failure 64 verify --source
	rm "$set/live"
	bloomctl_run "${verify[@]}" -s file:rows.csv
	assert_failure 83 verify 'no live generation'
	rm -r t/*
	bloomctl_run "${verify[@]}" -s file:rows.csv
	assert_failure 66 verify "set 'cards-a2bfa51c'"
}

@test "verify: a row without a key is 65, a source that is cut off 74" {
	printf 'id,scope\n1,m:1\n,MARKER\n' >null.csv
	printf 'id,scope\n1,m:1\n"MARKER,' >cut.csv
	bloomctl_run "${verify[@]}" -s file:null.csv
	assert_failure 65 verify "file 'null.csv'" 'row 2' "field 'id'" null
	assert_lacks "$stderr" MARKER
	bloomctl_run "${verify[@]}" -s file:cut.csv --receipt got.json
	assert_failure 74 verify "file 'cut.csv'" 'row 2'
	assert_lacks "$stderr" MARKER
	assert_json got.json '.status == 74' '.command == "verify"'
}

@test "verify: it changes nothing, needs no lock, and -q is silent" {
	remember_tree
	hold_lock "$set"
	bloomctl_ok "${verify[@]}" -q -s file:rows.csv
	assert_stdout_is ''
	release_lock
	assert_tree_unchanged
}
