#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl key: what the key function makes of a row, and the line protocol
# that writers in other languages are held to.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	# XXH64 of "card:5:m:5" with seed 0, by another implementation.
	line=$'636172643a353a6d3a35\t3e6629b9c70187d7\t3\tcards:3'
}

@test "key: values give key, hash, bucket and filter" {
	bloomctl_ok key -k cards.keyspec 5 m:5
	[[ ${lines[0]} =~ ^key\ +hash\ +bucket\ +filter ]]
	[[ ${lines[1]} =~ ^card:5:m:5\ +3e6629b9c70187d7\ +3\ +cards:3 ]]
	((${#lines[@]} == 2))
}

@test "key: hash and bucket are those of an implementation in Python" {
	write_csv rows.csv 1 200
	mkdir out
	tail -n +2 rows.csv | sed 's/^\([^,]*\),/card:\1:/' >keys
	printf 'x%.0s' {1..500} >>keys
	python3 "$BATS_TEST_DIRNAME/oracle.py" 4 100 0.01 '' out <keys >want
	{
		cat rows.csv
		# 500 bytes of key, all paths of the hash.
		:
	} | "$BLOOMCTL" key -k cards.keyspec --stdin --input-format csv \
		>got
	(($(wc -l <got) == 200))
	# The 201st key belongs to a bucket too; it is not of this keyspec.
	for bucket in 0 1 2 3; do
		n=$(cut -f 3 got | grep -c "^$bucket$")
		want=$(json ".keys[$bucket]" want)
		((n == want || n + 1 == want))
	done
}

@test "key: --format json and csv name the same" {
	bloomctl_ok key -k cards.keyspec --format json 5 m:5
	assert_stdout_is '{"key":"card:5:m:5","hash":"3e6629b9c70187d7","bucket":3,"filter":"cards:3","reject":null}'
	bloomctl_ok key -k cards.keyspec --format csv 5 m:5
	assert_stdout_is $'key,hash,bucket,filter,reject\ncard:5:m:5,3e6629b9c70187d7,3,cards:3,'
}

@test "key: --stdin answers each row with one line, in order" {
	bloomctl_run key -k cards.keyspec --stdin <<<$'5\tm:5\n\\N\tm:5\n\tm:5\n5:\tm:5\n5\tm:5'
	assert_status 0
	assert_stderr_is ''
	assert_stdout_is "$line"$'\n!null\n!empty\n!delimiter\n'"$line"
}

@test "key: --stdin without a row answers nothing" {
	bloomctl_ok key -k cards.keyspec --stdin </dev/null
	assert_stdout_is ''
}

@test "key: --stdin reads COPY text with its escapes" {
	local row want
	while read -r row want; do
		row=${row//_/$'\t'}
		bloomctl_run key -k cards.keyspec --stdin <<<"$row"
		assert_status 0
		[[ ${output%%$'\t'*} == "$(hex "card:")$want" ]] ||
			fail "$row gave $output"
	done <<-'END'
		a_b 613a62
		a\\b_c 615c623a63
		a\tb_c 6109623a63
		a\nb_c 610a623a63
		a\rb_\v\f\b 610d623a0b0c08
		\101\x42_\q 41423a71
		\x00a\x0_\0\00\000 0061003a000000
		\N\N_c 4e4e3a63
		ä_c c3a43a63
		a_b:c 613a623a63
	END
}

@test "key: --stdin with --columns reads another order, and skips columns" {
	bloomctl_run key -k cards.keyspec --stdin --columns scope,x,id \
		<<<$'m:5\tno\t5'
	assert_status 0
	assert_stdout_is "$line"
	bloomctl_run key -k cards.keyspec --stdin --columns scope,id --header \
		<<<$'a\tb\nm:5\t5'
	assert_status 0
	assert_stdout_is "$line"
}

@test "key: --stdin reads CSV with a header, without one, and with one to skip" {
	bloomctl_run key -k cards.keyspec --stdin --input-format csv \
		<<<$'scope,id\nm:5,5\nm:5,\nm:5,""\n"m:5","5"'
	assert_status 0
	assert_stdout_is "$line"$'\n!null\n!empty\n'"$line"
	bloomctl_run key -k cards.keyspec --stdin --input-format csv \
		--columns id,scope <<<'5,m:5'
	assert_stdout_is "$line"
	bloomctl_run key -k cards.keyspec --stdin --input-format csv \
		--columns id,scope --header <<<$'id,scope\n5,m:5'
	assert_stdout_is "$line"
}

@test "key: --null changes the text of NULL, and a quoted one never is NULL" {
	bloomctl_run key -k cards.keyspec --stdin --input-format csv \
		--columns id,scope --null NIL <<<$'NIL,a\n"NIL",a\n,a'
	assert_status 0
	[[ ${lines[0]} == '!null' && ${lines[1]} == "$(hex card:NIL:a)"* &&
		${lines[2]} == '!empty' ]]
	bloomctl_run key -k cards.keyspec --stdin --null '' <<<$'\ta\n\\N\ta'
	assert_status 0
	[[ ${lines[0]} == '!null' && ${lines[1]} == "$(hex card:N:a)"* ]]
}

@test "key: every reason of reject.def comes out of --stdin" {
	local long
	write_keyspec one.keyspec 'key={id}' buckets=1
	long=$(printf '%065536d' 0)
	{
		printf '\\N\ta\n'
		printf '%s\ta\n' "$long"
		printf 'a\\xffb\ta\n'
		printf '\ta\n'
		printf 'a:b\ta\n'
	} | "$BLOOMCTL" key -k cards.keyspec --stdin >got
	local transform
	for transform in uuid int digits; do
		write_keyspec one.keyspec 'key={id}' buckets=1 - <<-END
			[field id]
			transform = $transform
		END
		echo x | "$BLOOMCTL" key -k one.keyspec --stdin >>got
	done
	printf '!%s\n' null too-long encoding empty delimiter uuid int digits \
		>want
	diff want got
	# None is left out.
	sed -n 's/^BLOOMKEY_REJECT_ROW(.*"\(.*\)")$/!\1/p' \
		"$BATS_TEST_DIRNAME/../lib/bloomkey/reject.def" | sort >all
	sort got | diff all -
}

@test "key: --stdin --format shows rejects beside keys" {
	local rows=$'5\tm:5\n\\N\tm:5'
	bloomctl_run key -k cards.keyspec --stdin --format json <<<"$rows"
	assert_status 0
	[[ ${lines[1]} == '{"key":null,"hash":null,"bucket":null,"filter":null,"reject":"null"}' ]]
	bloomctl_run key -k cards.keyspec --stdin --format csv <<<"$rows"
	assert_status 0
	assert_stdout_is $'key,hash,bucket,filter,reject\ncard:5:m:5,3e6629b9c70187d7,3,cards:3,\n,,,,null'
	bloomctl_run key -k cards.keyspec --stdin --format table <<<"$rows"
	assert_status 0
	[[ ${lines[1]} =~ ^card:5:m:5\ +3e66 && ${lines[2]} =~ ^\ +null ]]
}

@test "key: a key that is not printable is shown escaped" {
	bloomctl_run key -k cards.keyspec --stdin --format csv \
		<<<$'a\\tb\\\\\xc2\xa0\\001\tc'
	assert_status 0
	# shellcheck disable=SC1003 # a backslash at the end is meant
	[[ ${lines[1]} == 'card:a\tb\\'$'\xc2\xa0''\x01:c,'* ]]
	# Under utf-8 only; other bytes come as \x.
	write_keyspec bytes.keyspec encoding=bytes
	bloomctl_run key -k bytes.keyspec --stdin --format json <<<$'\\xff\tc'
	assert_status 0
	assert_has "$output" '"key":"card:\\xff:c"'
}

@test "key: answers come as rows come, before the input ends" {
	coproc writer { exec "$BLOOMCTL" key -k cards.keyspec --stdin; }
	local in=${writer[1]} out=${writer[0]} pid=$writer_PID answer
	printf '5\tm:5\n' >&"$in"
	read -r -t 5 answer <&"$out"
	[[ $answer == "$line" ]]
	printf '\\N\tm:5\n' >&"$in"
	read -r -t 5 answer <&"$out"
	[[ $answer == '!null' ]]
	exec {in}>&-
	wait "$pid"
}

@test "key: damaged input is 74, and what was answered before stays" {
	local format
	bloomctl_run key -k cards.keyspec --stdin <<<$'5\tm:5\n5\r6\tm:5'
	assert_status 74
	assert_stdout_is "$line"
	assert_has "$stderr" 'bloomctl key: standard input: row 2: '
	bloomctl_run key -k cards.keyspec --stdin < <(printf '5\tm:5')
	assert_failure 74 key 'standard input' 'cut off'
	bloomctl_run key -k cards.keyspec --stdin <<<$'5\tm:5\n5'
	assert_status 65
	assert_stdout_is "$line"
	assert_has "$stderr" 'row 2: 1 column where 2 are named'
	for format in csv json table; do
		bloomctl_run key -k cards.keyspec --format $format --stdin \
			<<<$'5\tm:5\n5'
		assert_status 65
		assert_has "$output" card:5:m:5
	done
}

@test "key: a table that is full is 73, after the rows that it held" {
	local value
	value=$(printf '%060000d' 7)
	yes "$value"$'\tm:5' | sed 1200q >rows.txt
	status=0
	"$BLOOMCTL" key -k cards.keyspec --stdin --format table <rows.txt \
		>table.txt 2>stderr.txt || status=$?
	assert_status 73
	assert_has "$(<stderr.txt)" \
		'bloomctl key: the rows are more than a table' \
		'--format csv or json'
	assert_lacks "$(<stderr.txt)" memory
	[[ $(grep -c "card:$value:m:5" table.txt) -gt 1000 ]]
	"$BLOOMCTL" key -k cards.keyspec --stdin --format csv <rows.txt >table.txt
	[[ $(grep -c "card:$value:m:5" table.txt) -eq 1200 ]]
}

@test "key: a host's settings change neither --stdin nor bare answers" {
	local option
	cat >host.conf <<-'END'
		input-format = csv
		columns = scope,id
		header = yes
		null = 5
		format = json
	END
	for option in '' '--config host.conf'; do
		# shellcheck disable=SC2086 # two words
		bloomctl_ok key -k cards.keyspec $option --stdin <<<$'5\tm:5'
		assert_stdout_is "$line"
	done
	BLOOMCTL_INPUT_FORMAT=csv BLOOMCTL_COLUMNS=scope,id \
		BLOOMCTL_NULL=5 BLOOMCTL_FORMAT=json BLOOMCTL_HEADER=yes \
		bloomctl_ok key -k cards.keyspec --stdin <<<$'5\tm:5'
	assert_stdout_is "$line"
	bloomctl_ok key -k cards.keyspec --config host.conf --sentinel
	assert_has "$output" bloomkey:
	assert_lacks "$output" '{'
	# Where people look, and on the command line, they count.
	bloomctl_ok key -k cards.keyspec --config host.conf 5 m:5
	assert_has "$output" '"bucket":'
	bloomctl_ok key -k cards.keyspec --config host.conf --stdin \
		--format csv <<<$'5\tm:5'
	assert_has "$output" key,hash,bucket
}

@test "key: what is wrong on the command line is not the input's fault" {
	bloomctl_run key -k cards.keyspec --stdin --columns a,,b <<<5
	assert_failure 64 key 'option --columns: column 2 has no name'
	assert_lacks "$stderr" 'standard input'
	bloomctl_run key -k cards.keyspec --stdin --columns a,scope <<<5
	assert_failure 65 key "no column 'id'"
	assert_lacks "$stderr" 'standard input'
}

@test "key: an error before the first answer leaves standard output empty" {
	local format
	for format in csv json table; do
		bloomctl_run key -k cards.keyspec --format $format --stdin 1 2 \
			<<<''
		assert_failure 64 key --stdin
		bloomctl_run key -k cards.keyspec --format $format --stdin <<<5
		assert_failure 65 key 'row 1: 1 column where 2 are named'
		bloomctl_run key -k cards.keyspec --format $format 5
		assert_failure 64 key 'number of values'
	done
	# A row that has no key is an answer.
	bloomctl_run key -k cards.keyspec --format csv --stdin \
		<<<$'\\N\tm:5\n5'
	assert_status 65
	assert_stdout_is $'key,hash,bucket,filter,reject\n,,,,null'
}

@test "key: a wrong number of values is 64 and names the fields" {
	local -a values
	for values in '' '1' '1 2 3'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run key -k cards.keyspec $values
		assert_failure 64 key
		assert_has "$stderr" 'hint: ' ' id scope'
	done
	bloomctl_run key -k cards.keyspec --stdin 1 2 <<<''
	assert_failure 64 key --stdin
}

@test "key: values without a key are 65 and are not repeated" {
	bloomctl_run key -k cards.keyspec 'SECRET:1' m
	assert_failure 65 key "field 'id'" delimiter
	assert_lacks "$stderr" SECRET
	bloomctl_run key -k cards.keyspec '' m
	assert_failure 65 key "field 'id'" empty
	bloomctl_run key -k cards.keyspec $'SECRET\xff' m
	assert_failure 65 key "field 'id'" encoding
	assert_lacks "$stderr" SECRET
}

@test "key: a value that begins with - stands behind --" {
	bloomctl_ok key -k cards.keyspec --format csv -- -5 -m
	assert_has "$output" 'card:-5:-m,'
}

@test "key: buckets are padded to one width in filter names" {
	write_keyspec many.keyspec buckets=101 'filter=f.{bucket}'
	bloomctl_ok key -k many.keyspec --format json 5 m:5
	[[ $output =~ \"bucket\":([0-9]+),\"filter\":\"f\.([0-9]{3})\" ]]
	((10#${BASH_REMATCH[2]} == BASH_REMATCH[1]))
}

@test "key: lines and --format csv say the same of buckets of 1 to 5 digits" {
	local n
	for n in 1 10 11 1000 65536; do
		write_keyspec many.keyspec "buckets=$n"
		seq 3000 | sed 's/$/\tm/' >rows
		"$BLOOMCTL" key -k many.keyspec --stdin <rows | cut -f 2- >lines
		"$BLOOMCTL" key -k many.keyspec --stdin --format csv <rows |
			tail -n +2 | cut -d , -f 2-4 | tr , '\t' | diff lines -
		(($(wc -l <lines) == 3000))
	done
	# All numbers of digits were among them.
	(($(cut -f 2 lines | awk '{ print length }' | sort -u | wc -l) >= 4))
}

@test "key: a seed changes the hash; other columns and names do not" {
	write_keyspec seeded.keyspec seed=1
	bloomctl_ok key -k seeded.keyspec --format csv 5 m:5
	assert_lacks "$output" 3e6629b9c70187d7
	write_keyspec renamed.keyspec - <<-'END'
		[field id]
		column = entity_id
	END
	bloomctl_run key -k renamed.keyspec --stdin --input-format csv \
		<<<$'entity_id,scope\n5,m:5'
	assert_status 0
	assert_stdout_is "$line"
	# Without a header the fields stand in template order.
	bloomctl_run key -k renamed.keyspec --stdin <<<$'5\tm:5'
	assert_stdout_is "$line"
}

# --- what a keyspec is ----------------------------------------------------

@test "key: --fingerprint -v tells lines of any length in full" {
	local long
	long=$(printf '%030000d' 0)
	write_keyspec long.keyspec "key=$long{id}1" buckets=1
	bloomctl_run key -k long.keyspec --fingerprint -v
	assert_status 0
	[[ $(printf '%s\n' "${stderr//bloomctl key: /}" | sha256sum) == \
		"$output  -" ]] || fail 'another hash than that of the lines'
	# Where two keyspecs differ, their lines do.
	local first=$stderr
	write_keyspec long.keyspec "key=$long{id}2" buckets=1
	bloomctl_run key -k long.keyspec --fingerprint -v
	[[ $stderr != "$first" ]]
	bloomctl_ok key -k long.keyspec --fingerprint
}

@test "key: --sentinel is what the filters hold, escaped, or none" {
	bloomctl_ok key -k cards.keyspec --fingerprint
	local fp=${output:0:8}
	bloomctl_ok key -k cards.keyspec --sentinel
	assert_stdout_is "bloomkey:$fp"
	write_keyspec own.keyspec $'sentinel="a\tb\\\\\xc3\xa4"'
	bloomctl_ok key -k own.keyspec --sentinel
	assert_stdout_is $'a\\tb\\\\\xc3\xa4'
	write_keyspec none.keyspec sentinel=none
	bloomctl_ok key -k none.keyspec --sentinel
	assert_stdout_is none
}

@test "key: --fingerprint, --sentinel, --stdin and values exclude each other" {
	bloomctl_run key -k cards.keyspec --fingerprint --sentinel
	assert_failure 64 key --fingerprint --sentinel
	bloomctl_run key -k cards.keyspec --stdin --sentinel <<<''
	assert_failure 64 key --stdin --sentinel
	bloomctl_run key -k cards.keyspec --fingerprint 1 2
	assert_failure 64 key 'option --fingerprint: no values beside it'
}

@test "key: --stdin takes a first value that begins with U+FEFF as it is" {
	bloomctl_run key -k cards.keyspec --stdin <<<$'\xef\xbb\xbf5\tm:5'
	assert_status 0
	[[ $output == "$(hex $'card:\xef\xbb\xbf5:m:5')"$'\t'* ]]
}

@test "key: SIGTERM ends --stdin with 143" {
	coproc writer { exec "$BLOOMCTL" key -k cards.keyspec --stdin 2>err; }
	local in=${writer[1]} pid=$writer_PID
	wait_until ready "$pid"
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	exec {in}>&-
	assert_status 143
	[[ $(<err) == 'bloomctl key: stopped by SIGTERM' ]]
}
