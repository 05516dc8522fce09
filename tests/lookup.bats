#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl lookup: 0 is maybe, 1 is certainly not, and nothing else is an
# answer.
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
	cp -a "$BATS_FILE_TMPDIR/t" .
	live=$(live_of)
	lookup=(lookup -k cards.keyspec -t dir:t)
}

@test "lookup: a member is 0, a non-member 1, in every format" {
	bloomctl_ok "${lookup[@]}" 5 m:5
	assert_has "$output" 'card:5:m:5' 3e6629b9c70187d7 cards:3 \
		"$live (live)" 'maybe a member'
	bloomctl_run "${lookup[@]}" 5 m:6
	assert_status 1
	assert_stderr_is ''
	assert_has "$output" 'certainly not a member'
	bloomctl_ok "${lookup[@]}" --format json 5 m:5
	printf '%s\n' "$output" >got.json
	assert_json got.json '.found' '.key == "card:5:m:5"' \
		'.hash == "3e6629b9c70187d7"' '.bucket == 3' \
		'.filter == "cards:3"' ".generation == \"$live\"" \
		'.state == "live"' '.error_now > 0' '.error_now < 0.01'
	bloomctl_run "${lookup[@]}" --format json 5 m:6
	assert_status 1
	printf '%s\n' "$output" >got.json
	assert_json got.json '.found == false'
	bloomctl_ok "${lookup[@]}" --format csv 5 m:5
	[[ ${lines[0]} == name,value && ${lines[1]} == key,card:5:m:5 ]]
}

@test "lookup: --stdin asks for the one row of standard input" {
	bloomctl_run "${lookup[@]}" --stdin <<<$'5\tm:5'
	assert_status 0
	assert_has "$output" 'card:5:m:5' 'maybe a member'
	bloomctl_run "${lookup[@]}" -q --stdin <<<$'5\tm:6'
	assert_status 1
	bloomctl_run "${lookup[@]}" -q --stdin --input-format csv \
		<<<$'scope,id\nm:5,5'
	assert_status 0
	bloomctl_run "${lookup[@]}" --stdin </dev/null
	assert_failure 64 lookup 'standard input: no row'
	bloomctl_run "${lookup[@]}" --stdin <<<$'5\tm:5\n5\tm:5'
	assert_failure 64 lookup 'standard input: more than one row'
	bloomctl_run "${lookup[@]}" --stdin 5 m:5 <<<$'5\tm:5'
	assert_failure 64 lookup --stdin
	bloomctl_run "${lookup[@]}" --stdin <<<$'\\N\tm:5'
	assert_failure 65 lookup "field 'id'" null
	assert_has "$stderr" 'hint: a reader passes such a row through'
	bloomctl_run "${lookup[@]}" --stdin < <(printf '5\tm:5')
	assert_failure 74 lookup 'standard input' 'cut off'
}

@test "lookup: --stdin takes columns, a header and a text of NULL" {
	local ask=("${lookup[@]}" -q --stdin)
	bloomctl_run "${ask[@]}" --columns scope,x,id <<<$'m:5\tno\t5'
	assert_status 0
	bloomctl_run "${ask[@]}" --header <<<$'a\tb\n5\tm:5'
	assert_status 0
	bloomctl_run "${ask[@]}" --input-format csv --columns id,scope <<<5,m:5
	assert_status 0
	bloomctl_run "${ask[@]}" --input-format csv --columns id,scope \
		--header <<<$'a,b\n5,m:6'
	assert_status 1
	bloomctl_run "${ask[@]}" --null m:5 <<<$'5\tm:5'
	assert_failure 65 lookup "field 'scope'" null
	bloomctl_run "${ask[@]}" --input-format csv <<<'id,scope'
	assert_failure 64 lookup 'standard input: no row'
}

@test "lookup: a row with other columns is 65, and no reader's affair" {
	bloomctl_run "${lookup[@]}" --stdin <<<SECRET
	assert_failure 65 lookup 'row 1: 1 column where 2 are named'
	assert_lacks "$stderr" SECRET 'a reader passes'
	bloomctl_run "${lookup[@]}" --stdin --input-format csv <<<'a,b'
	assert_failure 65 lookup "no column 'id'"
	assert_has "$stderr" 'hint: name the columns by --columns'
}

@test "lookup: a keyed set is asked by standard input; another secret is another set" {
	write_keyspec phones.keyspec name=phones 'key=tel:{number}' - <<-'END'
		[field number]
		transform = digits, hmac-sha256
		secret    = env:PHONES_SECRET
	END
	export PHONES_SECRET=HUSH-0123456789-HUSH
	{ echo number && seq -f '+1 (555) 01-%05.0f' 200; } >phones.csv
	bloomctl_ok size -k phones.keyspec -s file:phones.csv --format json
	printf '%s\n' "$output" >got.json
	assert_json got.json '.keys == 200' '.buckets == 4'
	bloomctl_ok build -q -k phones.keyspec -t dir:p -s file:phones.csv
	bloomctl_ok swap -q -k phones.keyspec -t dir:p
	bloomctl_ok verify -q -k phones.keyspec -t dir:p -s file:phones.csv
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<'1.555.01.00200'
	assert_status 0
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<'1.555.01.00201'
	assert_status 1
	bloomctl_run lookup -k phones.keyspec -t dir:p 15550100200
	assert_failure 64 lookup "field 'number' is keyed" 'command line'
	assert_lacks "$stderr" 1555
	bloomctl_run lookup -k phones.keyspec -t dir:p --stdin <<<1-555-MARKER
	assert_failure 65 lookup "field 'number': no key: digits"
	assert_lacks "$stderr" 555 MARKER
	PHONES_SECRET=another-0123456789 bloomctl_run lookup -k phones.keyspec \
		-t dir:p --stdin <<<'15550100200'
	assert_failure 66 lookup 'not in dir:p'
	PHONES_SECRET=another-0123456789 bloomctl_run inspect \
		-k phones.keyspec -t dir:p
	assert_failure 66 inspect 'not in dir:p'
	# With it there is another set, beside the first one.
	remember_tree "$(set_of p)"
	local first
	first=$(set_of p)
	PHONES_SECRET=another-0123456789 bloomctl_ok build -q \
		-k phones.keyspec -t dir:p -s file:phones.csv
	assert_tree_unchanged "$first"
	(($(printf '%s\n' p/*/ | wc -l) == 2))
	bloomctl_run lookup -q -k phones.keyspec -t dir:p --stdin \
		<<<15550100200
	assert_status 0
}

@test "lookup: every command needs the secret, and none shows it" {
	write_keyspec phones.keyspec name=phones 'key=tel:{number}' - <<-'END'
		[field number]
		transform = digits, hmac-sha256
		secret    = env:PHONES_SECRET
	END
	{ echo number && seq -f '+98765 43210-%03.0f' 200; } >phones.csv
	local command commands=('size -s file:phones.csv'
		'build -t dir:p -s file:phones.csv --receipt build.json'
		'swap -t dir:p --receipt swap.json' 'inspect -t dir:p'
		'verify -t dir:p -s file:phones.csv --receipt verify.json'
		'lookup -t dir:p --stdin' 'key --stdin' 'key --fingerprint')
	unset PHONES_SECRET
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -vv -k phones.keyspec <<<9876543210200
		assert_failure 78 "${command%% *}" \
			"keyspec 'phones.keyspec': line 9: secret: " \
			'env:PHONES_SECRET is not set'
	done
	[[ ! -e p ]]
	export PHONES_SECRET=HUSH-0123456789-HUSH
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -vv -k phones.keyspec <<<9876543210200
		assert_status 0
		assert_lacks "$output$stderr" HUSH 485553482d3031 \
			9876543210 '98765 43210'
	done
	# Nor is it, or a value, in a file: of what is kept and of receipts.
	run ! grep -rqaE 'HUSH|485553482d3031|98765 ?43210' p ./*.json
}

@test "lookup: -q prints nothing, and the status is the answer" {
	bloomctl_ok "${lookup[@]}" -q 5 m:5
	assert_stdout_is ''
	bloomctl_run "${lookup[@]}" -q 5 m:6
	assert_status 1
	assert_stdout_is ''
	assert_stderr_is ''
}

@test "lookup: -g asks another generation" {
	write_csv more.csv 1 1001
	build_csv more.csv
	bloomctl_run "${lookup[@]}" -q 1001 m:0
	assert_status 1
	bloomctl_ok "${lookup[@]}" -g "$built" 1001 m:0
	assert_has "$output" "$built (complete)"
}

@test "lookup: a generation that is not there is 83, no set is 66" {
	bloomctl_run "${lookup[@]}" -g 20000101T000000Z-0000 5 m:5
	assert_failure 83 lookup 20000101T000000Z-0000
	rm -r t/*
	bloomctl_run "${lookup[@]}" 5 m:5
	assert_failure 66 lookup "set 'cards-a2bfa51c'"
	rm -r t
	bloomctl_run "${lookup[@]}" 5 m:5
	assert_failure 66 lookup "target 'dir:t'"
}

@test "lookup: a set without a live generation is 83" {
	rm "$(set_of)/live"
	bloomctl_run "${lookup[@]}" 5 m:5
	assert_failure 83 lookup 'no live generation'
}

@test "lookup: another keyspec is another set" {
	write_keyspec other.keyspec buckets=5
	bloomctl_run lookup -k other.keyspec -t dir:t 5 m:5
	assert_failure 66 lookup "set 'cards-"
}

@test "lookup: a damaged filter is 74 for its keys, and only for them" {
	local file damage
	file=$(set_of)/$live/3.bloom
	cp -a "$file" kept
	for damage in \
		'flip $file 4100' \
		'flip $file 80' \
		'truncate -s -1 $file' \
		'truncate -s 4096 $file' \
		'truncate -s 0 $file' \
		'truncate -s +1 $file' \
		'rm $file' \
		'cp $(set_of)/$live/2.bloom $file' \
		'rm $file; mkdir $file' \
		'rm $file; mkfifo $file' \
		'rm $file; ln -s ../../../kept $file' \
		'head -c 4496 /dev/zero >$file'; do
		echo "damage: $damage"
		eval "$damage"
		bloomctl_run "${lookup[@]}" 5 m:5
		assert_failure 74 lookup "filter file 't/" "/$live/3.bloom'"
		bloomctl_run "${lookup[@]}" -q 7 m:0
		[[ $status == 0 ]] || fail "another bucket is harmed: $damage"
		rm -rf "$file"
		cp -a kept "$file"
	done
	bloomctl_ok "${lookup[@]}" 5 m:5
}

@test "lookup: values without a key are 65, with what a reader does" {
	local value reason
	while IFS=' ' read -r value reason; do
		bloomctl_run "${lookup[@]}" "${value//_/}" m:5
		assert_failure 65 lookup "field 'id'" "$reason"
		assert_has "$stderr" 'passes such a row through'
		assert_lacks "$stderr" SECRET
	done <<-END
		SECRET:1 delimiter
		_ empty
		SECRET$(printf '\xff') encoding
		SECRET$(printf '%065536d' 0) too-long
	END
}

@test "lookup: it needs every value, and changes nothing" {
	bloomctl_run "${lookup[@]}" 5
	assert_failure 64 lookup values
	remember_tree
	bloomctl_ok "${lookup[@]}" 5 m:5
	assert_tree_unchanged
}

@test "lookup: it answers while another run holds the lock" {
	hold_lock "$(set_of)"
	bloomctl_ok "${lookup[@]}" 5 m:5
	release_lock
}
