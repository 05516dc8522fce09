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

# --- the other tiers: tests/servers/tiers.bats has those that answer --------

@test "lookup: options of a database need one, and one that can be asked" {
	local ask=("${lookup[@]}" 5 m:5)
	local db='host=/nowhere dbname=d'
	for option in '--table t' '--where x' '--query x' '--expires x'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run "${ask[@]}" $option
		assert_failure 64 lookup "option --${option:2:5}" 'none is named'
	done
	bloomctl_run "${ask[@]}" -s file:rows.csv --table t
	assert_failure 64 lookup 'option --source' 'no database'
	assert_has "$stderr" 'bloomctl verify'
	bloomctl_run "${ask[@]}" --writer file:rows.csv --table t
	assert_failure 64 lookup 'option --writer' 'no database'
	bloomctl_run "${ask[@]}" -s "$db" -s "$db" --table t
	assert_failure 64 lookup 'option --source' 'one database'
	bloomctl_run "${ask[@]}" -s "$db"
	assert_failure 64 lookup 'nothing says which rows'
	bloomctl_run "${ask[@]}" -s "$db" --query x --where y
	assert_failure 64 lookup '--where'
	bloomctl_run "${ask[@]}" -s "$db" --table t
	assert_failure 69 lookup
	bloomctl_run "${lookup[@]}" -s "$db" --table t --stdin \
		--input-format key <<<'card:5:m:5'
	assert_failure 64 lookup 'option --input-format key'
}

@test "lookup: a password of a database does not belong on the command line" {
	local word=postgresql://u:SECRET@localhost/d
	for option in source writer; do
		bloomctl_run "${lookup[@]}" 5 m:5 "--$option" "$word" --table t
		assert_failure 64 lookup "option --$option: a password"
		assert_has "$stderr" "BLOOMCTL_${option^^}"
		assert_lacks "$stderr" SECRET
	done
}

@test "lookup: a source of a file that is none to ask does not count" {
	printf '%s\n' 'source = file:rows.csv' 'recent = recent:{key}' \
		'expires = gone_at' >x.conf
	bloomctl_ok "${lookup[@]}" --config x.conf 5 m:5
	assert_lacks "$output" database recent-writes verdict
	echo 'source = host=/nowhere dbname=d' >x.conf
	bloomctl_run "${lookup[@]}" --config x.conf --table t 5 m:5
	assert_failure 69 lookup
	bloomctl_ok "${lookup[@]}" --config x.conf 5 m:5
	# Keys say nothing to a database, and it was asked in passing.
	bloomctl_ok "${lookup[@]}" --config x.conf --query x -q --stdin \
		--input-format key <<<'card:5:m:5'
}

@test "lookup: rows of --stdin are not those of the source" {
	bloomctl_run "${lookup[@]}" -q --stdin --input-format csv \
		-s 'host=/nowhere dbname=d' --table t <<<$'scope,id\nm:5,5'
	assert_failure 69 lookup
}

@test "lookup: a tier's pattern has the key in it, once, and a server" {
	for option in recent cache; do
		for pattern in key '{key}{key}' 'x:{ke}'; do
			bloomctl_run "${lookup[@]}" "--$option" "$pattern" 5 m:5
			assert_failure 64 lookup "option --$option" '{key}'
		done
		bloomctl_run "${lookup[@]}" "--$option" 'x:{key}' 5 m:5
		assert_failure 64 lookup "option --$option: it is for a server"
	done
}

@test "lookup: the shadow that comes next is asked, too" {
	write_csv more.csv 1 1001
	build_csv more.csv
	bloomctl_run "${lookup[@]}" 1001 m:0
	assert_status 1
	assert_has "$output" "shadow      $built (complete): maybe a member"
	bloomctl_ok "${lookup[@]}" --format json 5 m:5
	printf '%s\n' "$output" >got.json
	assert_json got.json ".shadow.generation == \"$built\"" '.shadow.found' \
		'.verdict == null'
}
