#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Sets of valkey-bloom, whose filters have a seed: every command reads them.
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 1000
	make_live rows.csv --engine valkey-bloom
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR/rows.csv" .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	on=(-k cards.keyspec -t dir:t)
}

# set_header FILE OFFSET HEX: writes bytes of a header, and its checksum anew.
set_header() {
	PYTHONDONTWRITEBYTECODE=1 python3 - "$BATS_TEST_DIRNAME/../scripts" \
		"$@" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from vectors.xxh64 import xxh64
		with open(sys.argv[2], "r+b") as f:
		    page, value = bytearray(f.read(4096)), bytes.fromhex(sys.argv[4])
		    at = int(sys.argv[3])
		    page[at:at + len(value)] = value
		    page[160:168] = bytes(8)
		    page[160:168] = xxh64(bytes(page)).to_bytes(8, "little")
		    f.seek(0)
		    f.write(page)
	END
}

# set_manifest FILE SED: changes a manifest, and its checksum with it.
set_manifest() {
	sed -i "$2" "$1"
	PYTHONDONTWRITEBYTECODE=1 python3 - "$BATS_TEST_DIRNAME/../scripts" \
		"$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from vectors.xxh64 import xxh64
		with open(sys.argv[2], "r+b") as f:
		    text = f.read()
		    body = text[:text.rindex(b',\n  "checksum"')]
		    f.seek(len(body))
		    f.write(b',\n  "checksum": "%016x"\n}\n' % xxh64(body))
	END
}

@test "engine: lookup finds members of a seeded set, and no strangers" {
	assert_answers
}

@test "engine: verify finds every row of a seeded set, with any jobs" {
	bloomctl_ok verify "${on[@]}" -s file:rows.csv
	assert_has "$output" "generation '$live'" 'all 1,000 rows'
	bloomctl_ok verify "${on[@]}" -s file:rows.csv -j 4 --absent 100000 \
		--receipt got.json
	assert_json got.json '.missing == 0' '.rows == 1000'
	{ cat rows.csv && echo 5000,nobody; } >more.csv
	bloomctl_run verify "${on[@]}" -s file:more.csv --grace 0s \
		--quiet-keys
	assert_failure 81 verify "generation '$live'"
}

@test "engine: inspect names it, and counts as it does" {
	bloomctl_ok inspect "${on[@]}"
	assert_has "$output" '4 of valkey-bloom'
	bloomctl_ok inspect "${on[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.engine == "valkey-bloom"' '.rows == 1000' \
		'[.buckets[].items] | add >= 1000' '.error_now < 0.01'
}

@test "engine: a set goes from one to the other by a swap, and back" {
	local before=$live
	make_live rows.csv --engine redis8
	assert_answers
	bloomctl_ok inspect "${on[@]}" --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.engine == "redis8"' ".generation == \"$built\""
	bloomctl_ok swap "${on[@]}" --rollback
	[[ $(live_of) == "$before" ]]
	assert_answers
	bloomctl_ok verify "${on[@]}" -s file:rows.csv
}

@test "engine: a manifest with the other word for the same bits is fine" {
	set_manifest "$set/$live/manifest.json" \
		's/"valkey-bloom"/"elasticache"/'
	assert_answers
	bloomctl_ok verify "${on[@]}" -s file:rows.csv
	set_manifest "$set/$live/manifest.json" 's/"elasticache"/"redis8"/'
	bloomctl_run lookup "${on[@]}" 1 m:1
	assert_failure 74 lookup '"seed"'
}

@test "engine: a filter of another seed is 74, and is not promoted" {
	local file other
	build_csv rows.csv --engine valkey-bloom
	other=$set/$built
	# Whole and sealed, and every key of it is another one's.
	for file in "$set/$live"/*.bloom; do
		cp "$file" "$other/"
		set_header "$other/${file##*/}" 128 \
			"$(printf %s "$built" | od -An -v -tx1 | tr -d ' \n')"
	done
	bloomctl_run swap "${on[@]}" -g "$built"
	assert_failure 74 swap 'of another seed than its manifest says'
	[[ $(live_of) == "$live" ]]
	set_header "$set/$live/0.bloom" 168 "$(printf '%064d' 7)"
	set_header "$set/$live/1.bloom" 168 "$(printf '%064d' 0)"
	bloomctl_run verify "${on[@]}" -s file:rows.csv
	assert_failure 74 verify 'of another seed'
	bloomctl_run inspect "${on[@]}"
	assert_status 74
	assert_has "$output$stderr" 'of another seed' 'no legal seed'
}
