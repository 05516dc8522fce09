#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Rows without a key: the first ends the run, unless it is told how many it may
# go past; then they are counted, listed, and nowhere forgotten.
# shellcheck disable=SC2034 # what left_alone reads
# shellcheck disable=SC2154 # what bloomctl_run sets
bats_require_minimum_version 1.5.0

load helpers

# mixed.csv has rows 2, 4 and 5 of 6 without a key.
setup_file() {
	begin_file
	write_csv rows.csv 1 200
	make_live rows.csv
	printf 'id,scope\n1,m:1\n,MARKER\n2,m:2\n"",MARKER\n3:MARKER,y\n3,m:3\n' \
		>mixed.csv
	printf 'id,scope\n1,m:1\n2,m:2\n3,m:3\n' >clean.csv
}

setup() {
	begin
	cp -a "$BATS_FILE_TMPDIR"/{t,rows.csv,mixed.csv,clean.csv} .
	set=$(set_of)
	live=$(live_of)
	loud=(build -k cards.keyspec -t dir:t --capacity 100)
	build=("${loud[@]}" -q)
	header=$'source\trow\tfield\treason'
	three=$header$'\n'"file 'mixed.csv'"$'\t2\tid\tnull\n'
	three+="file 'mixed.csv'"$'\t4\tid\tempty\n'
	three+="file 'mixed.csv'"$'\t5\tid\tdelimiter'
}

# untouched: nothing was built that could be promoted.
untouched() {
	left_alone
	bloomctl_run swap -q -k cards.keyspec -t dir:t --allow-shrink
	assert_failure 83 swap
}

warning() {
	printf 'bloomctl %s: warning: %s: only the database answers for %s' \
		"$1" "$2" "${3-them}"
}

assert_list() {
	[[ $(<list) == "$1" ]] || {
		cat -A list
		fail "the list is not: ${1@Q}"
	}
	[[ $(stat -c %a list) == 600 ]] || fail "mode $(stat -c %a list)"
}

@test "rejects: the first ends the run, and is told without its value" {
	local -a case
	while read -ra case; do
		bloomctl_run "${case[@]}" -k cards.keyspec -s file:mixed.csv
		assert_failure 65 "${case[0]}" \
			"file 'mixed.csv': row 2: field 'id': no key: null"
		assert_has "$stderr" 'hint: mend or leave out the row'
		assert_lacks "$stderr" MARKER
	done <<-'END'
		build -t dir:t --capacity 100
		build -t dir:t
		build -t dir:t --max-rejects 0
		build -n -t dir:t
		verify -t dir:t
		size
	END
	untouched
}

@test "rejects: as many as --max-rejects are passed over, and not one more" {
	local n jobs
	for n in 0 1 2 3 4 1000; do
		for jobs in 1 4; do
			bloomctl_run "${build[@]}" -s file:mixed.csv -j $jobs \
				--max-rejects $n --receipt got.json
			assert_lacks "$stderr$(<got.json)" MARKER
			if ((n >= 3)); then
				assert_status 0
				assert_stderr_is ''
				assert_json got.json '.rows == 6' '.keys == 3' \
					'.sent == 3' '.acknowledged == 3' \
					'.rejects == {null: 1, empty: 1,
						delimiter: 1}'
				rm -r "${set:?}/$(json .generation got.json)"
				continue
			fi
			set -- 2 null 4 empty 5 delimiter
			shift $((2 * n))
			assert_failure 65 build "file 'mixed.csv': row $1: " \
				": no key: $2"
			((n == 0)) || assert_has "$stderr" "hint: $n row" \
				'which is all that --max-rejects allows'
			assert_json got.json '.status == 65' \
				'.acknowledged == 0' \
				"(.rejects | add // 0) == $n"
			left_alone
		done
	done
	untouched
	bloomctl_run "${build[@]}" -s file:mixed.csv --max-rejects 1
	assert_has "$stderr" 'hint: 1 row without a key was passed over'
	for n in -1 x 1.5 '' 18446744073709551616; do
		bloomctl_run "${build[@]}" -s file:mixed.csv --max-rejects "$n"
		assert_failure 64 build --max-rejects
	done
}

@test "rejects: the filters are those of the rows that have a key" {
	local one way
	bloomctl_ok build -q -k cards.keyspec -t dir:one --capacity 100 \
		-s file:clean.csv
	one=$(echo one/*/2*/)
	sed '1d; s/^,/\\N,/; s/^"",/,/; s/,/\t/' mixed.csv >mixed.txt
	gzip <mixed.csv >mixed.csv.gz
	while read -r way; do
		rm -rf g
		# shellcheck disable=SC2086 # words
		bloomctl_run build -q -k cards.keyspec -t dir:g --capacity 100 \
			--max-rejects 3 $way
		assert_status 0
		assert_same_bits "$one" g/*/2*/
	done <<-'END'
		-s file:mixed.csv
		-s file:mixed.csv -j 4
		-s file:mixed.csv --rejects list
		-s file:mixed.csv.gz
		-s file:mixed.txt --input-format text --columns id,scope
		-s file:mixed.txt --input-format text --columns id,scope -j 3
		-s file:mixed.csv --rejects list --rejects-raw -j 2
	END
	# So readers are right about each: what has no key is the database's.
	bloomctl_run swap -q -k cards.keyspec -t dir:g
	bloomctl_ok verify -q -k cards.keyspec -t dir:g -s file:clean.csv
	bloomctl_run lookup -k cards.keyspec -t dir:g 3:MARKER y
	assert_failure 65 lookup 'no key: delimiter'
}

@test "rejects: the list has source, row, field and reason, and no value" {
	local way
	# From before, and for others to read.
	echo "$header" >list
	chmod 644 list
	while read -r way; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $way -k cards.keyspec --max-rejects 3 \
			-s file:mixed.csv --rejects list
		assert_status 0
		assert_list "$three"
		assert_stderr_is "$(warning "${way%% *}" \
			'3 rows have no key and were passed over')"
	done <<-'END'
		build -t dir:u --capacity 100
		build -t dir:u
		build -t dir:u -j 4
		build -n -t dir:u
		size
		size -j 2
	END
	# A set of its own, so that all rows are there.
	bloomctl_run swap -q -k cards.keyspec -t dir:u
	bloomctl_run verify -k cards.keyspec -t dir:u --max-rejects 3 \
		-s file:mixed.csv --rejects list --receipt got.json
	assert_status 0
	assert_has "$output" 'all 3 rows are found'
	assert_list "$three"
	assert_json got.json '.rows == 6' '.keys == 3' '.missing == 0' \
		'.rejects == {null: 1, empty: 1, delimiter: 1}'
	# The one that ended the run is in the list, too.
	bloomctl_run "${build[@]}" -s file:mixed.csv --rejects list \
		--max-rejects 1
	assert_failure 65 build 'row 4: '
	assert_list "$(sed -n 1,3p <<<"$three")"
	bloomctl_ok "${build[@]}" -s file:clean.csv --rejects list
	assert_list "$header"
	umask 000
	rm list
	bloomctl_ok "${build[@]}" -s file:clean.csv --rejects list
	assert_list "$header"
}

@test "rejects: rows are numbered in each file, also with jobs and in a large one" {
	local n
	for n in 1 2 3; do
		awk -v n=$n 'BEGIN { for (i = 1; i <= 2000; i++)
			print (i % 500 == n ? "\\N" : "k" i "." n) "\tm" }' >f$n.txt
		awk -v n=$n "NR % 500 == n {
			print \"file 'f$n.txt'\\t\" NR \"\\tid\\tnull\" }" f$n.txt
	done >want
	# One large enough to be cut for the jobs, were there no list.
	awk 'BEGIN { for (i = 1; i <= 300000; i++)
		print (i % 50000 == 7 ? "\\N" : "row " i) "\tscope" }' >f4.txt
	awk 'BEGIN { for (i = 7; i < 300000; i += 50000)
		print "file '\''f4.txt'\''\t" i "\tid\tnull" }' >>want
	text=(--input-format text --columns "id,scope")
	for n in 1 4; do
		bloomctl_run build -q -k cards.keyspec -t dir:t -j $n \
			--capacity 100000 -s 'file:f?.txt' "${text[@]}" \
			--max-rejects 18 --rejects list --receipt got.json
		assert_status 0
		tail -n +2 list | sort | diff - <(sort want)
		assert_json got.json '.rows == 306000' '.keys == 305982' \
			'.rejects == {null: 18}'
	done
	# Without a list the file is cut, and the numbers are right all the same.
	for n in 0 1 3; do
		bloomctl_run build -q -k cards.keyspec -t dir:t -j 4 \
			--capacity 100000 -s file:f4.txt "${text[@]}" \
			--max-rejects $n
		assert_status 65
		[[ $stderr =~ row\ ([0-9]+):\ field ]]
		((BASH_REMATCH[1] % 50000 == 7)) ||
			fail "row ${BASH_REMATCH[1]} has a key"
	done
	bloomctl_run build -q -k cards.keyspec -t dir:t -j 4 -s file:f4.txt \
		"${text[@]}" --capacity 100000 --max-rejects 6 --receipt got.json
	assert_status 0
	assert_json got.json '.rows == 300000' '.rejects == {null: 6}'
}

@test "rejects: --rejects-raw lists the values, escaped as COPY text is" {
	bloomctl_run "${build[@]}" -s file:mixed.csv --rejects-raw \
		--max-rejects 3
	assert_failure 64 build 'option --rejects-raw: it needs --rejects FILE'
	printf 'scope,x,id\n"tab\there",x,\n"new\nline",x,\nback\\slash,x,\n' \
		>raw.csv
	printf 'bell\a,x,\n"",x,\n,x,\n\\N,x,\nok,x,\xff\xfe\nok,x,""\n' >>raw.csv
	printf 'umlaut \xc3\xbc,x,\n"cr\rcr",x,\nok,x,1:\\:2\n' >>raw.csv
	bloomctl_run "${build[@]}" -s file:raw.csv --max-rejects 100 \
		--rejects list --rejects-raw
	assert_status 0
	assert_lacks "$stderr" tab umlaut
	[[ $(stat -c %a list) == 600 ]]
	(($(wc -l <list) == 13)) || fail "a value has broken a line"
	# PostgreSQL's escapes, read by the rules of COPY.
	python3 - <<-'END'
		import re
		plain = {b't': b'\t', b'n': b'\n', b'r': b'\r', b'b': b'\b',
		         b'f': b'\f', b'v': b'\v', b'\\': b'\\'}
		def value(text):
		    if text == b'\\N':
		        return None
		    def one(m):
		        e = m.group(1)
		        if e[:1] == b'x':
		            return bytes([int(e[1:], 16)])
		        return bytes([int(e, 8)]) if e.isdigit() else plain[e]
		    return re.sub(rb'\\(x[0-9a-f]{2}|[0-7]{3}|.)', one, text)
		lines = open('list', 'rb').read().split(b'\n')
		assert lines.pop() == b''
		assert lines.pop(0) == b'source\trow\tfield\treason\tid\tscope'
		got = [l.split(b'\t') for l in lines]
		assert all(len(f) == 6 for f in got), got
		assert [f[1] for f in got] == [b'%d' % i for i in range(1, 13)]
		values = [(value(f[4]), value(f[5])) for f in got]
		want = [(None, b'tab\there'), (None, b'new\nline'),
		        (None, b'back\\slash'), (None, b'bell\a'), (None, b''),
		        (None, None), (None, b'\\N'), (b'\xff\xfe', b'ok'),
		        (b'', b'ok'), (None, 'umlaut ü'.encode()),
		        (None, b'cr\rcr'), (b'1:\\:2', b'ok')]
		for g, w in zip(values, want):
		    assert g == w, (g, w)
	END
	# Without it none of them is anywhere.
	bloomctl_run build -vv -k cards.keyspec -t dir:t --capacity 100 \
		-s file:mixed.csv --max-rejects 3 --rejects list --receipt got.json
	assert_status 0
	assert_lacks "$stderr$output$(<list)$(<got.json)" MARKER
	run ! grep -rqa MARKER t
}

@test "rejects: whole keys are rejected without a field" {
	write_keyspec one.keyspec 'key={id}' buckets=1 - <<-'END'
		[field id]
		empty = allow
		null = empty
	END
	printf 'id\nx\n""\ny\n\n' >none.csv
	bloomctl_run build -q -k one.keyspec -t dir:u -s file:none.csv \
		--max-rejects 2 --rejects list --receipt got.json
	assert_status 0
	assert_list "$header
file 'none.csv'	2	\\N	empty
file 'none.csv'	4	\\N	empty"
	assert_json got.json '.rejects == {empty: 2}' '.keys == 2'
	printf 'id,scope\n%065530d,MARKER\n%065536d,m\n' 0 0 >long.csv
	bloomctl_run "${build[@]}" -s file:long.csv --max-rejects 2 \
		--rejects list
	assert_status 0
	assert_list "$header
file 'long.csv'	1	\\N	too-long
file 'long.csv'	2	id	too-long"
	bloomctl_run "${build[@]}" -s file:long.csv --max-rejects 2 \
		--rejects list --rejects-raw
	assert_status 0
	(($(stat -c %s list) > 131000))
}

@test "rejects: a list that cannot be written ends the run, and nothing is built" {
	local path n said
	mkdir folder
	mkfifo fifo
	ln mixed.csv other-name
	gzip <mixed.csv >mixed.csv.gz
	cp cards.keyspec keyspec.copy
	while read -r path; do
		bloomctl_run "${build[@]}" -s file:mixed.csv --max-rejects 3 \
			--rejects "${path%% *}"
		assert_failure 74 build "rejects file '${path%% *}': ${path#* }"
		said=$stderr
		left_alone
	done <<-'END'
		no/list cannot open it: No such file or directory
		folder cannot open it: Is a directory
		fifo not a regular file
		/dev/full not a regular file
		/dev/null not a regular file
		mixed.csv it is there and no list of rejects
		other-name it is there and no list of rejects
		mixed.csv.gz it is there and no list of rejects
		keyspec.copy it is there and no list of rejects
	END
	assert_has "$said" 'hint: it was left as it is; name another file'
	cmp mixed.csv "$BATS_FILE_TMPDIR/mixed.csv"
	cmp cards.keyspec keyspec.copy
	bloomctl_run "${build[@]}" -s file:mixed.csv --rejects ''
	assert_failure 64 build --rejects
	need_fault
	for n in 1 2; do
		rm -f list
		fault_run "write:$n:ENOSPC" list "${build[@]}" \
			-s file:mixed.csv --max-rejects 3 --rejects list
		assert_failure 73 build \
			"rejects file 'list': cannot write it: No space left"
		left_alone
		# What did not fit is a list, or its beginning.
		bloomctl_run "${build[@]}" -s file:mixed.csv --rejects list
		assert_failure 65 build 'row 2: '
		rm -f list
		fault_run "write:$n:EIO" list size -k cards.keyspec \
			-s file:mixed.csv --max-rejects 3 --rejects list
		assert_failure 74 size "rejects file 'list': cannot write it"
	done
	fault_run write:3:ENOSPC list "${build[@]}" -s file:clean.csv \
		--rejects list
	assert_status 0
	rm -r "${set:?}/$("$BLOOMCTL" inspect -k cards.keyspec -t dir:t \
		--format json | json '.generations[0].generation' -)"
	untouched
}

@test "rejects: a list larger than memory would be is written piece by piece" {
	local rows=40000
	awk -v n=$rows 'BEGIN { print "id,scope"
		for (i = 1; i <= n; i++) print "," i }' >all.csv
	bloomctl_run "${loud[@]}" -s file:all.csv --max-rejects $rows \
		--rejects list --receipt got.json
	assert_status 0
	assert_stderr_is "$(warning build \
		'40,000 rows have no key and were passed over')"
	(($(wc -l <list) == rows + 1))
	[[ $(tail -n 1 list) == "file 'all.csv'	$rows	id	null" ]]
	assert_json got.json ".rejects == {null: $rows}" '.keys == 0'
	# Which is an empty set: there is no key in it.
	bloomctl_run swap -q -k cards.keyspec -t dir:t
	assert_failure 83 swap 'no row'
	bloomctl_run verify -k cards.keyspec -t dir:t -s file:all.csv \
		--max-rejects $rows
	assert_failure 81 verify 'no row that has a key'
	left_alone_but "$(json .generation got.json)"
}

# left_alone_but ID: that generation is complete, and not live.
left_alone_but() {
	next=$1 left_alone
}

@test "rejects: manifest, inspect, receipt and a warning say how many there were" {
	local built
	bloomctl_run build -k cards.keyspec -t dir:u -s file:mixed.csv \
		--max-rejects 5 --receipt got.json
	assert_status 0
	assert_has "$output" '6 rows'
	assert_stderr_is "$(warning build \
		'3 rows have no key and were passed over')"
	built=$(json .generation got.json)
	assert_json "u/cards-a2bfa51c/$built/manifest.json" '.rejects == 3' \
		'.rows == 6' '.keys == 3' '(.bucket_keys | add) == 3'
	bloomctl_run swap -q -k cards.keyspec -t dir:u
	bloomctl_run inspect -k cards.keyspec -t dir:u
	assert_has "$output" \
		'rejects       3 rows without a key, which only the database answers for'
	bloomctl_run inspect -k cards.keyspec -t dir:u --format json
	json .rejects - <<<"$output" | grep -qx 3
	bloomctl_run build -q -k cards.keyspec -t dir:u -s file:clean.csv \
		--max-rejects 5 --receipt got.json
	assert_stderr_is ''
	assert_json got.json '.rejects == {}'
	printf 'id,scope\n1,m:1\n,x\n' >one.csv
	bloomctl_ok build -q -k cards.keyspec -t dir:u -s file:one.csv \
		--max-rejects 5
	bloomctl_run build -k cards.keyspec -t dir:u -s file:one.csv \
		--max-rejects 5
	assert_stderr_is "$(warning build \
		'1 row has no key and was passed over' it)"
}

@test "rejects: they do not count as rows that a swap would lose" {
	# 100 rows and 100 without a key: a half of the live rows.
	{ write_csv rows 1 100 && cat rows && yes ,x | head -n 100; } >half.csv
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:half.csv \
		--max-rejects 100
	assert_status 0
	bloomctl_run swap -k cards.keyspec -t dir:t
	assert_failure 83 swap ' rows'
}
