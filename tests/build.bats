#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# bloomctl build: source in, complete generation out, or nothing that a swap
# would take.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	build=(build -k cards.keyspec -t dir:t)
}

# generation_in TARGET OPTION...: a generation in that target; prints its folder.
generation_in() {
	local target=$1
	shift
	"$BLOOMCTL" build -q -k cards.keyspec -t "dir:$target" \
		--receipt "$target.json" "$@" || return
	echo "$(set_of "$target")/$(json .generation "$target.json")"
}

# Nothing in t can be promoted.
assert_not_promotable() {
	bloomctl_run swap -k cards.keyspec -t dir:t --allow-shrink "$@"
	assert_failure 83 swap
}

# --- the same rows give the same bits -------------------------------------

@test "build: bits, counts and states are those worked out in Python" {
	write_csv rows.csv 1 500
	local folder bucket
	folder=$(generation_in t -s file:rows.csv)
	mkdir want
	tail -n +2 rows.csv | sed 's/^\([^,]*\),/card:\1:/' >keys
	python3 "$BATS_TEST_DIRNAME/oracle.py" 4 "$(json .capacity t.json)" \
		0.01 bloomkey:a2bfa51c want <keys >want.json
	for bucket in 0 1 2 3; do
		tail -c +4097 "$folder/$bucket.bloom" | cmp - want/$bucket
	done
	[[ $(json .bucket_keys "$folder/manifest.json" -c) == \
		"$(json .keys want.json -c)" ]]
	assert_json t.json ".added == $(json '.items | add - 4' want.json)"
}

@test "build: the bits of an elasticache set, too, and its seed is its own" {
	write_csv rows.csv 1 500
	local folder bucket seed other
	folder=$(generation_in t -s file:rows.csv --engine elasticache)
	seed=$(json .seed "$folder/manifest.json")
	[[ $seed =~ ^[0-9a-f]{64}$ ]]
	assert_json "$folder/manifest.json" '.engine == "elasticache"'
	mkdir want
	tail -n +2 rows.csv | sed 's/^\([^,]*\),/card:\1:/' >keys
	python3 "$BATS_TEST_DIRNAME/oracle.py" 4 "$(json .capacity t.json)" \
		0.01 bloomkey:a2bfa51c want "$seed" <keys >want.json
	for bucket in 0 1 2 3; do
		tail -c +4097 "$folder/$bucket.bloom" | cmp - want/$bucket
		[[ $(od -An -v -tx1 -j 168 -N 32 "$folder/$bucket.bloom" |
			tr -d ' \n') == "$seed" ]]
	done
	[[ $(json .bucket_keys "$folder/manifest.json" -c) == \
		"$(json .keys want.json -c)" ]]
	assert_json t.json ".added == $(json '.items | add - 4' want.json)"
	other=$(generation_in t -s file:rows.csv --engine elasticache)
	[[ $(json .seed "$other/manifest.json") != "$seed" ]]
	run ! cmp "$folder/0.bloom" "$other/0.bloom"
}

@test "build: redis8 has the bits of redisbloom, and both have no seed" {
	write_csv rows.csv 1 500
	local one two
	one=$(generation_in one -s file:rows.csv)
	two=$(generation_in two -s file:rows.csv --engine redis8)
	assert_same_bits "$one" "$two"
	assert_json "$one/manifest.json" '.engine == "redisbloom"' '.seed == ""'
	assert_json "$two/manifest.json" '.engine == "redis8"' '.seed == ""'
}

@test "build: more than an engine holds is 73, and begins nothing" {
	write_csv rows.csv 1 10
	bloomctl_run "${build[@]}" -s file:rows.csv --engine elasticache \
		--capacity 112022241
	assert_failure 73 build 'capacity 112022241' 'elasticache allows'
	assert_has "$stderr" 'more buckets'
	bloomctl_run "${build[@]}" -s file:rows.csv --engine valkey-bloom \
		--capacity 112022241
	assert_failure 73 build 'valkey-bloom allows'
	assert_has "$stderr" bf.bloom-memory-usage-limit
	bloomctl_run "${build[@]}" -s file:rows.csv --engine valkey-bloom \
		--keys 500000000
	assert_failure 73 build 'valkey-bloom allows'
	assert_has "$stderr" "over $("$BLOOMCTL" size --buckets 4 \
		--keys 500000000 --engine valkey-bloom 2>&1 |
		sed -n 's/.*over \([0-9]*\) .*/\1/p') buckets or more"
	[[ -z $(find t -name manifest.json) ]]
}

@test "build: CSV, COPY text, split, shuffled, with and without jobs: the same bits" {
	write_csv rows.csv 1 3000
	write_text rows.txt 1 3000
	local one folder
	one=$(generation_in one -s file:rows.csv)
	awk 'NR > 1 { print | "sort -R" }
		NR == 1 { print; fflush() }' rows.csv >shuffled.csv
	write_csv part1.csv 1 1000
	write_csv part2.csv 1001 1001
	write_csv part3.csv 1002 3000
	write_text part1.txt 1 10
	write_text part2.txt 11 3000
	sed 's/^\([^,]*\),\(.*\)/x,\2,"\1"/; 1 s/"id"/id/' rows.csv >wide.csv
	local -a case
	local n=0
	while read -ra case; do
		n=$((n + 1))
		folder=$(generation_in "c$n" "${case[@]}")
		assert_same_bits "$one" "$folder"
		assert_json "c$n.json" '.rows == 3000' '.capacity == 988'
	done <<-'END'
		-s file:rows.csv -j 4
		-s file:shuffled.csv
		-s file:wide.csv
		-s file:part1.csv -s file:part2.csv -s file:part3.csv
		-s file:part3.csv -s file:part1.csv -s file:part2.csv -j 4
		-s file:part?.csv -j 2
		-s file:rows.txt --input-format text --columns id,scope
		-s file:rows.txt --input-format text --columns id,scope -j 4
		-s file:part?.txt --input-format text --columns id,scope -j 3
	END
}

@test "build: a large text file is cut for the jobs, and the bits are the same" {
	awk 'BEGIN { for (i = 1; i <= 300000; i++)
		print "row " i "\tscope:\\\\" i % 7 }' >rows.txt
	local one four
	one=$(generation_in one -s file:rows.txt --input-format text \
		--columns id,scope --capacity 100000)
	four=$(generation_in four -s file:rows.txt --input-format text \
		--columns id,scope --capacity 100000 -j 4)
	assert_same_bits "$one" "$four"
	[[ $(json .rows one.json) == 300000 && $(json .rows four.json) == 300000 ]]
	[[ $(json .bucket_keys "$one/manifest.json" -c) == \
		"$(json .bucket_keys "$four/manifest.json" -c)" ]]
}

@test "build: an error in a cut file has the true number of its row" {
	awk 'BEGIN { for (i = 1; i <= 300000; i++)
		print (i == 287654 ? "\\N" : "row " i) "\tm" }' >rows.txt
	bloomctl_run "${build[@]}" -s file:rows.txt --input-format text \
		--columns id,scope -j 4
	assert_failure 65 build "file 'rows.txt'" 'row 287654' "field 'id'" null
}

# --- what the source may look like ----------------------------------------

@test "build: CSV as spreadsheets and databases write it" {
	local one name
	write_csv rows.csv 1 20
	one=$(generation_in one -s file:rows.csv)
	mkdir csv
	{ printf '\xef\xbb\xbf' && cat rows.csv; } >csv/bom
	sed 's/$/\r/' rows.csv >csv/crlf
	{ printf '\xef\xbb\xbf' && sed 's/$/\r/' rows.csv; } >csv/bom-crlf
	sed 's/[^,]*/"&"/g' rows.csv >csv/quoted
	awk -F , '{ print $2 "," $1 }' rows.csv >csv/reordered
	awk -F , '{ print "a" NR ",," $2 ",\"x, \"\"y\"\"\n" NR "\"," $1
		}' rows.csv | sed '1 s/.*/n1,n2,scope,"n3, ""y""/; 2 s/^1",/",/' \
		>csv/extra-columns
	for name in csv/*; do
		echo "$name"
		assert_same_bits "$one" "$(generation_in "${name#csv/}" \
			-s "file:$name")"
	done
}

@test "build: files whose columns stand in another order go together" {
	write_csv a.csv 1 10
	write_csv b.csv 11 20
	write_csv both.csv 1 20
	awk -F , '{ print $2 ",," $1 }' b.csv | sed '1 s/,,/,none,/' >c.csv
	assert_same_bits "$(generation_in one -s file:both.csv)" \
		"$(generation_in two -s file:a.csv -s file:c.csv)"
}

@test "build: quotes, newlines, blanks and NULLs in CSV become the right keys" {
	write_keyspec cards.keyspec - <<-'END'
		[field scope]
		empty = allow
		null = empty
	END
	printf '%s\n' 'id,scope' ' a ,b ' '"q""q",x' $'"two\nlines",x' \
		'null,' 'empty,""' 'c,"a:b,c"' >rows.csv
	bloomctl_ok "${build[@]}" -q -s file:rows.csv
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	bloomctl_ok verify -k cards.keyspec -t dir:t -s file:rows.csv --absent 0
	assert_has "$output" 'all 6 rows'
	local -a keys=(' a ' 'b ' 'q"q' x $'two\nlines' x null '' empty ''
		c 'a:b,c')
	set -- "${keys[@]}"
	while (($# > 0)); do
		bloomctl_run lookup -q -k cards.keyspec -t dir:t -- "$1" "$2"
		assert_status 0
		shift 2
	done
}

@test "build: COPY text with a byte order mark is refused, but in a header" {
	local bom=$'\xef\xbb\xbf' one
	write_text rows.txt 1 20
	text=(--input-format text --columns "id,scope")
	one=$(generation_in one -s file:rows.txt "${text[@]}")
	{ printf %s "$bom" && cat rows.txt; } >bom.txt
	bloomctl_run build -k cards.keyspec -t dir:t -s file:bom.txt \
		"${text[@]}"
	assert_failure 66 build bom.txt 'byte order mark'
	assert_has "$stderr" 'hint: remove the mark'
	{ printf '%sid\tscope\n' "$bom" && cat rows.txt; } >header.txt
	assert_same_bits "$one" "$(generation_in header -s file:header.txt \
		--input-format text)"
}

@test "build: CSV with a byte order mark is refused, but in a header" {
	local bom=$'\xef\xbb\xbf' one
	write_csv rows.csv 1 20
	one=$(generation_in one -s file:rows.csv)
	{ printf %s "$bom" && tail -n +2 rows.csv; } >bom.csv
	bloomctl_run build -k cards.keyspec -t dir:t -s file:bom.csv \
		--columns id,scope
	assert_failure 66 build bom.csv 'byte order mark'
	assert_has "$stderr" 'hint: remove the mark' 'quote that value'
	{ printf %s "$bom" && cat rows.csv; } >header.csv
	assert_same_bits "$one" "$(generation_in header -s file:header.csv)"
	assert_same_bits "$one" "$(generation_in skip -s file:header.csv \
		--columns id,scope --header)"
}

@test "build: COPY text with CRLF, end mark and escapes becomes the right keys" {
	local one name
	write_text rows.txt 1 20
	text=(--input-format text --columns "id,scope")
	one=$(generation_in one -s file:rows.txt "${text[@]}")
	mkdir text
	sed 's/$/\r/' rows.txt >text/crlf
	{ cat rows.txt && echo '\.'; } >text/end-mark
	sed 's/m/\\155/' rows.txt >text/octal
	sed 's/m/\\x6d/' rows.txt >text/hex
	for name in text/*; do
		echo "$name"
		assert_same_bits "$one" "$(generation_in "${name#text/}" \
			-s "file:$name" "${text[@]}")"
	done
	{ printf 'scope\tx\tid\n' && sed 's/\(.*\)\t\(.*\)/\2\t\\N\t\1/' \
		rows.txt; } >header.txt
	assert_same_bits "$one" "$(generation_in header -s file:header.txt \
		--input-format text)"
}

@test "build: --columns, --header and --null mean what they say" {
	local one
	write_csv rows.csv 1 20
	one=$(generation_in one -s file:rows.csv)
	tail -n +2 rows.csv >bare.csv
	assert_same_bits "$one" "$(generation_in bare -s file:bare.csv \
		--columns id,scope)"
	assert_same_bits "$one" "$(generation_in skip -s file:rows.csv \
		--columns id,scope --header)"
	# Without --header the header is a row like any other.
	generation_in all -s file:rows.csv --columns id,scope
	assert_json all.json '.rows == 21'
	echo 'NIL,a' >null.csv
	bloomctl_run "${build[@]}" -s file:null.csv --columns id,scope \
		--null NIL
	assert_failure 65 build "field 'id'" null
	echo '"NIL",a' >null.csv
	bloomctl_ok "${build[@]}" -q -s file:null.csv --columns id,scope \
		--null NIL
}

# refused STATUS FILE FORMAT PART...: the build refuses the file, naming it.
refused() {
	local want=$1 file=$2 format=$3
	local -a options=(--input-format "$format")
	shift 3
	[[ $format == csv ]] || options+=(--columns "id,scope")
	# In one pass: a count beforehand would find it, too.
	bloomctl_run "${build[@]}" -q -s "file:$file" "${options[@]}" \
		--capacity 50
	assert_failure "$want" build "$file" "$@"
	assert_lacks "$stderr" MARKER
}

@test "build: a source that is cut off or damaged is 74" {
	printf 'id,scope\n1,m\n2,"MARKER\n3,m\n' >open-quote.csv
	printf 'id,scope\n1,m\nMARKER"2,m\n' >stray-quote.csv
	printf 'id,scope\n1,m\r\n2,m\n' >newlines.csv
	printf 'id,scope\n1,m\0\n' >nul.csv
	: >empty.csv
	printf '1\tm\n2\tMARKER' >cut.txt
	printf '1\tm\n\\.\n2\tMARKER\n' >after-end.txt
	printf '1\tm\r\n2\tMARKER\n' >newlines.txt
	printf '1\tm\n2\tMARKER\r3\tx\n' >cr.txt
	refused 74 open-quote.csv csv 'row 2' 'never closed'
	refused 74 stray-quote.csv csv 'row 2' quote
	refused 74 newlines.csv csv newline
	refused 74 nul.csv csv 'row 1' NUL
	refused 74 empty.csv csv 'no header row'
	printf 'id,scope\n1,2\n3,MARK' >unended.csv
	refused 74 unended.csv csv 'row 2' 'no newline' 'cut off'
	refused 74 cut.txt text 'no newline' 'cut off'
	refused 74 after-end.txt text "end mark '\\.'"
	refused 74 newlines.txt text 'row 2'
	refused 74 cr.txt text 'row 2'
	assert_not_promotable
}

@test "build: rows and headers that do not fit are 65" {
	printf 'id,other\n1,MARKER\n' >lacks.csv
	printf 'id,scope,id\n1,2,MARKER\n' >twice.csv
	printf 'id,scope\n1,2\n1,2,MARKER\n' >long.csv
	printf 'id,scope\n1,2\nMARKER\n' >short.csv
	printf 'id,scope\n1,2\n\n3,MARKER\n' >blank.csv
	printf '1\t2\nMARKER\n' >short.txt
	refused 65 lacks.csv csv "no column 'scope' among the 2 of the header"
	refused 65 twice.csv csv "column 'id' is there twice"
	refused 65 long.csv csv 'row 2: 3 columns where 2 are in the header'
	refused 65 short.csv csv 'row 2: 1 column where 2 are in the header'
	refused 65 blank.csv csv 'row 2: an empty line'
	refused 65 short.txt text 'row 2: 1 column where 2 are named'
	assert_not_promotable
}

@test "build: a source that is no file of rows is 66, said before anything is written" {
	mkdir folder
	printf 'PAR1\x15\x04' | gzip >rows.gz
	gzip <rows.gz >twice.gz
	printf '\xfd7zXZ\0' >rows.xz
	printf '\xff\xfei\0d\0' >utf16.csv
	printf 'PAR1\x15\x04' >rows.parquet
	printf 'PK\x03\x04xx' >rows.zip
	printf 'PGCOPY\n\xff\r\n\0' >rows.bin
	local format
	for format in csv text; do
		refused 66 missing.csv $format 'No such file'
		refused 66 folder $format 'neither a regular file nor a pipe'
		refused 66 /dev/zero $format 'neither a regular file'
		refused 66 rows.gz $format Parquet
		refused 66 twice.gz $format 'packed twice'
		refused 66 rows.xz $format xz
		assert_has "$stderr" 'hint: unpack'
		refused 66 utf16.csv $format UTF-16
		assert_has "$stderr" iconv
		refused 66 rows.parquet $format Parquet
		refused 66 rows.zip $format zip
		refused 66 rows.bin $format 'binary COPY'
		refused 66 'no*.csv' $format 'no file matches'
	done
	[[ ! -e t ]]
}

@test "build: an unreadable file is 66" {
	((EUID != 0)) || skip "root reads every file"
	write_csv rows.csv 1 10
	chmod 000 rows.csv
	refused 66 rows.csv csv 'Permission denied'
}

@test "build: a glob takes its files sorted, a name that exists is itself" {
	write_csv a.csv 1 10
	write_csv b.csv 11 20
	write_csv 'x[ab].csv' 1 3
	write_csv xa.csv 1 4
	generation_in two -s 'file:[ab].csv' >/dev/null
	assert_json two.json '.rows == 20'
	generation_in odd -s 'file:x[ab].csv' >/dev/null
	assert_json odd.json '.rows == 3'
}

@test "build: one file named twice, and a word that is no source, are 64" {
	write_csv rows.csv 1 10
	ln rows.csv again.csv
	bloomctl_run "${build[@]}" -s file:rows.csv -s file:again.csv
	assert_failure 64 build "file 'rows.csv' and file 'again.csv'"
	for source in rows.csv postgres://user:MARKER@host/db ftp:x file: '' ; do
		bloomctl_run "${build[@]}" -s "$source"
		assert_failure 64 build
		assert_lacks "$stderr" MARKER
	done
	[[ ! -e t ]]
}

@test "build: header only and text of no rows are complete, and empty" {
	local folder
	echo id,scope >header.csv
	: >empty.txt
	folder=$(generation_in one -s file:header.csv)
	assert_json one.json '.rows == 0' '.keys == 0' '.added == 0' \
		'.status == 0'
	[[ $(ls "$folder") == $'0.bloom\n1.bloom\n2.bloom\n3.bloom\nmanifest.json' ]]
	generation_in two -s file:empty.txt --input-format text \
		--columns id,scope >/dev/null
	assert_json two.json '.rows == 0' '.status == 0'
	# An empty set is more often a mistake than a fact.
	bloomctl_run swap -k cards.keyspec -t dir:one
	assert_failure 83 swap 'holds no row'
	bloomctl_ok swap -q -k cards.keyspec -t dir:one --allow-shrink
	bloomctl_run lookup -q -k cards.keyspec -t dir:one 1 m:1
	assert_status 1
}

@test "build: every bucket has a file, also one without rows" {
	local folder bucket
	write_keyspec cards.keyspec buckets=50
	write_csv rows.csv 1 3
	folder=$(generation_in t -s file:rows.csv)
	for bucket in {0..49}; do
		[[ -s $folder/$(printf %02d "$bucket").bloom ]]
	done
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	bloomctl_ok verify -q -k cards.keyspec -t dir:t -s file:rows.csv
}

# --- capacity -------------------------------------------------------------

@test "build: capacity is given, planned or counted, and the error rate given" {
	local -a case
	local capacity
	write_csv rows.csv 1 1000
	while read -r capacity case; do
		# shellcheck disable=SC2086 # words
		bloomctl_ok "${build[@]}" -q -s file:rows.csv \
			--receipt got.json $case
		assert_json got.json ".capacity == $capacity" '.error == 0.01'
	done <<-'END'
		329
		329 --capacity auto
		263 --headroom 0
		525 --headroom 100
		296 --headroom 12.5
		300 --capacity 300
		300 --capacity 300 --headroom 50
	END
	# 1000 keys in 4 buckets: what size plans.
	"$BLOOMCTL" size -k cards.keyspec --keys 1000 --format json >plan.json
	bloomctl_ok "${build[@]}" -q -s file:rows.csv --keys 1000 \
		--receipt got.json --error 0.001
	assert_json got.json ".capacity == $(json .capacity plan.json)" \
		'.error == 0.001'
	bloomctl_run "${build[@]}" -s file:rows.csv --keys 5 --capacity 5
	assert_failure 64 build --capacity --keys
	for capacity in 0 -1 1.5 x ''; do
		bloomctl_run "${build[@]}" -s file:rows.csv --capacity "$capacity"
		assert_failure 64 build --capacity
	done
}

@test "build: the summary has what was built" {
	write_csv rows.csv 1 1000
	bloomctl_ok "${build[@]}" -s file:rows.csv --receipt got.json
	assert_has "$output" "generation '$(json .generation got.json)' is complete" \
		'1,000 rows' '4 filters' 'capacity 329' 'error rate 0.01'
	((${#lines[@]} == 1))
}

@test "build: a full filter is 80 with bucket and capacity, and nothing is promotable" {
	local jobs
	write_csv rows.csv 1 1000
	make_live rows.csv
	for jobs in 1 4; do
		bloomctl_run "${build[@]}" -q -s file:rows.csv --capacity 250 \
			-j $jobs --receipt got.json
		assert_failure 80 build 'bucket ' "filter 'cards:" \
			'capacity' 250
		assert_has "$stderr" 'hint: ' --capacity
		assert_json got.json '.status == 80' '.acknowledged == 0' \
			'.message != null'
	done
	assert_not_promotable
	assert_not_promotable -g "$(json .generation got.json)"
	assert_answers
	# No filter stays behind.
	[[ -z $(find t -name '*.bloom' -not -path "*/$(live_of)/*") ]]
}

@test "build: a capacity that just holds the rows and the sentinel is enough" {
	write_csv rows.csv 1 1000
	bloomctl_ok "${build[@]}" -q -s file:rows.csv --capacity 263
	# Some keys set no bit of their own in so full a filter.
	bloomctl_run "${build[@]}" -s file:rows.csv --capacity 255
	assert_failure 80 build 'bucket ' "filter 'cards:" 255
}

@test "build: a set of a few rows in several buckets is built every time" {
	local seed
	write_keyspec cards.keyspec buckets=5
	for seed in {1..25}; do
		write_csv rows.csv $((seed * 1000)) $((seed * 1000 + 9))
		bloomctl_ok build -q -k cards.keyspec -t dir:t -s file:rows.csv
	done
}

@test "build: a row that occurs twice takes one place" {
	write_csv one.csv 1 1000
	cp one.csv two.csv
	bloomctl_ok "${build[@]}" -q -s file:one.csv -s file:two.csv \
		--capacity 263 --receipt got.json
	assert_json got.json '.rows == 2000' '.keys == 2000' \
		'.added <= 1000' '.added > 980'
}

@test "build: what does not fit into memory is 73 before anything is written" {
	[[ $VARIANT == plain ]] || skip "sanitizers need address space ($VARIANT)"
	write_csv rows.csv 1 1000
	make_live rows.csv
	remember_tree
	any_run bash -c 'ulimit -v 200000 && exec "$@"' sh "$BLOOMCTL" \
		"${build[@]}" -s file:rows.csv --capacity 100000000
	assert_failure 73 build memory
	assert_tree_unchanged
	# 16 buckets of 1.2 GiB each, on any machine that runs tests.
	write_keyspec huge.keyspec buckets=65536
	bloomctl_run build -k huge.keyspec -t dir:t -s file:rows.csv \
		--capacity 1073741824
	assert_failure 73 build
	bloomctl_run build -n -k huge.keyspec -t dir:t -s file:rows.csv \
		--capacity 1073741824
	assert_failure 73 build
}

# --- sets, generations, dry runs ------------------------------------------

@test "build: two sets live in one target, and do not touch each other" {
	write_csv rows.csv 1 1000
	write_csv fewer.csv 1 10
	write_keyspec other.keyspec name=other
	write_keyspec wider.keyspec buckets=5
	make_live rows.csv
	local keyspec
	for keyspec in other wider; do
		bloomctl_ok build -q -k $keyspec.keyspec -t dir:t \
			-s file:fewer.csv
		bloomctl_ok swap -q -k $keyspec.keyspec -t dir:t
		bloomctl_run lookup -q -k $keyspec.keyspec -t dir:t 100 m:2
		assert_status 1
	done
	(($(find t -mindepth 1 -maxdepth 1 | wc -l) == 3))
	assert_answers
}

@test "build: two builds of a set are two generations, and live is not touched" {
	write_csv rows.csv 1 1000
	make_live rows.csv
	live=$built
	bits "$(set_of)/$live" before
	build_csv rows.csv
	[[ $built != "$live" && $(live_of) == "$live" ]]
	bits "$(set_of)/$live" after
	cmp before after
	assert_same_bits "$(set_of)/$live" "$(set_of)/$built"
}

@test "build: of two builds in one second the later one is the newer" {
	write_csv rows.csv 1 100
	write_csv more.csv 1 101
	for _ in {1..6}; do
		build_csv rows.csv
		build_csv more.csv
		bloomctl_ok swap -q -k cards.keyspec -t dir:t
		[[ $(live_of) == "$built" ]] ||
			fail "$(live_of) became live, $built is newer"
		[[ $(json '.generations[0].generation' \
			<("$BLOOMCTL" inspect -k cards.keyspec -t dir:t \
				--format json)) == "$built" ]] ||
			fail "inspect does not list $built first"
	done
}

@test "build: the target is made, its parent is not" {
	write_csv rows.csv 1 10
	bloomctl_ok "${build[@]}" -q -s file:rows.csv
	bloomctl_run build -k cards.keyspec -t dir:no/t -s file:rows.csv
	assert_failure 66 build "target 'dir:no/t'"
	[[ ! -e no ]]
	: >file
	bloomctl_run build -k cards.keyspec -t dir:file -s file:rows.csv
	assert_failure 66 build "target 'dir:file'"
	bloomctl_run build -k cards.keyspec -t dir: -s file:rows.csv
	assert_failure 64 build "target 'dir:'"
	bloomctl_run build -k cards.keyspec -t elsewhere -s file:rows.csv
	assert_failure 64 build target
}

@test "build: --dry-run writes nothing and says what would be built" {
	write_csv rows.csv 1 1000
	bloomctl_ok "${build[@]}" -n -s file:rows.csv
	[[ ! -e t ]]
	assert_has "$output" 'would build 4 filters of capacity 329' \
		'nothing was written'
	make_live rows.csv
	remember_tree
	before=$(stat -c '%Y %y %s' "$(set_of)/lock")
	bloomctl_ok "${build[@]}" -n -s file:rows.csv
	assert_tree_unchanged
	[[ $(stat -c '%Y %y %s' "$(set_of)/lock") == "$before" ]]
}

@test "build: --dry-run refuses what the build would refuse" {
	local -a case
	local want first
	write_csv rows.csv 1 1000
	printf 'id,scope\n,m\n' >null.csv
	printf 'id,scope\n1,"m\n' >cut.csv
	printf 'x,y\n1,m\n' >columns.csv
	: >t
	while read -r want case; do
		# shellcheck disable=SC2086 # words
		bloomctl_run build $case
		assert_failure "$want" build
		first=$stderr
		# shellcheck disable=SC2086 # words
		bloomctl_run build $case -n
		assert_failure "$want" build
		# A full filter is foreseen from the counts, in other words.
		((want == 80)) || [[ $stderr == "$first" ]] ||
			fail "a dry run says: $stderr"
	done <<-'END'
		64 -k cards.keyspec -t dir:u
		78 -k none.keyspec -t dir:u -s file:rows.csv
		66 -k cards.keyspec -t dir:t -s file:rows.csv
		66 -k cards.keyspec -t dir:no/u -s file:rows.csv
		66 -k cards.keyspec -t dir:u -s file:none.csv
		65 -k cards.keyspec -t dir:u -s file:null.csv
		74 -k cards.keyspec -t dir:u -s file:cut.csv
		65 -k cards.keyspec -t dir:u -s file:columns.csv
		80 -k cards.keyspec -t dir:u -s file:rows.csv --capacity 10
		64 -k cards.keyspec -t dir:u -s file:rows.csv --error 0.9
		73 -k cards.keyspec -t dir:u -s file:rows.csv --engine redis8 --capacity 2000000000
	END
}

@test "build: --dry-run refuses a target that may not be written to" {
	((EUID != 0)) || skip "root writes everywhere"
	write_csv rows.csv 1 10
	mkdir t
	chmod 555 t
	bloomctl_run "${build[@]}" -s file:rows.csv
	assert_failure 77 build
	bloomctl_run "${build[@]}" -n -s file:rows.csv
	assert_failure 77 build
}

# --- receipts -------------------------------------------------------------

receipt_fields='["acknowledged","added","capacity","command","ended","error",
	"exposure_s","fingerprint","generation","horizon","keys","previous",
	"recent_ttl_s","rejects","rows","run","sent","set","source","started",
	"status"]'

@test "build: a receipt has every field, and what was done" {
	write_csv rows.csv 1 1000
	bloomctl_ok "${build[@]}" -q -s file:rows.csv --receipt got.json
	assert_json got.json "$receipt_fields - keys == []" \
		'.command == "build"' '.status == 0' '.message == null' \
		'.set == "cards-a2bfa51c"' '.fingerprint | length == 64' \
		'.rows == 1000' '.keys == 1000' '.sent == 1000' \
		'.acknowledged == 1000' '.rejects == {}' '.capacity == 329' \
		'.error == 0.01' '.previous == null' '.horizon == null' \
		'.exposure_s == null' '.recent_ttl_s == null' \
		'.source.names == "file:rows.csv"' \
		'[.run, .generation] | map(test(
			"^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{4}$")) | all' \
		'[.started, .ended] | map(test(
			"^[0-9-]{10}T[0-9:]{8}[.][0-9]{3}Z$")) | all' \
		'.started <= .ended'
	[[ -d $(set_of)/$(json .generation got.json) ]]
	[[ $(stat -c %a got.json) == 644 ]]
	[[ ! -e got.json.tmp ]]
}

@test "build: a receipt is written on failure, too, and replaces the one before" {
	printf 'id,scope\n1,m\n,SECRET\n' >rows.csv
	echo old >got.json
	bloomctl_run "${build[@]}" -s file:rows.csv --receipt got.json
	assert_failure 65 build
	assert_json got.json "$receipt_fields - keys == []" '.status == 65' \
		'.acknowledged == 0' '.set == "cards-a2bfa51c"' \
		'.message | startswith("file ")'
	[[ $(json .message got.json) == "${stderr_lines[0]#bloomctl build: }" ]]
	assert_lacks "$(<got.json)" SECRET
	# Also where the run came nowhere.
	bloomctl_run "${build[@]}" --receipt got.json
	assert_failure 64 build
	assert_json got.json '.status == 64' '.generation == null' '.set == "cards-a2bfa51c"'
}

@test "build: a receipt that cannot be written is an error, and the set is built" {
	write_csv rows.csv 1 10
	bloomctl_run "${build[@]}" -q -s file:rows.csv --receipt no/got.json
	assert_failure 74 build receipt "file 'no/got.json'"
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
}

@test "build: a dry run's receipt says so and claims nothing" {
	write_csv rows.csv 1 1000
	bloomctl_ok "${build[@]}" -q -n -s file:rows.csv --receipt got.json
	assert_json got.json .dry_run '.status == 0' '.sent == 0' \
		'.acknowledged == 0' '.capacity == 329'
}

# --- locks, kills, signals ------------------------------------------------

@test "build: a lock that somebody holds is 82, and the set is left alone" {
	write_csv rows.csv 1 100
	make_live rows.csv
	hold_lock "$(set_of)"
	remember_tree
	bloomctl_run "${build[@]}" -s file:rows.csv
	assert_failure 82 build "set 'cards-a2bfa51c'" locked
	bloomctl_run "${build[@]}" -n -s file:rows.csv
	assert_failure 82 build "set 'cards-a2bfa51c'" locked
	assert_tree_unchanged
	assert_answers
	release_lock
	bloomctl_ok "${build[@]}" -q -s file:rows.csv
}

@test "build: while one build stands still, another says who holds the lock since when" {
	local pid first second
	need_fault
	write_csv rows.csv 1 100
	make_live rows.csv
	# shellcheck disable=SC2153 # from the environment
	LD_PRELOAD=$BUILD/fault.so FAULT=write:3:stop FAULT_PATH=/cards- \
		"$BLOOMCTL" "${build[@]}" -q -s file:rows.csv --receipt first.json &
	pid=$!
	wait_until stopped $pid
	bloomctl_run "${build[@]}" -s file:rows.csv
	second=$stderr
	first=$status
	# What is being built may not be promoted, and the lock stands there too.
	bloomctl_run swap -k cards.keyspec -t dir:t
	[[ $status == 82 ]] || kill -KILL $pid
	assert_failure 82 swap "pid $pid"
	bloomctl_run inspect -k cards.keyspec -t dir:t
	assert_has "$output" 'lock ' "build, pid $pid" building
	assert_answers
	kill -CONT $pid
	wait $pid
	((first == 82))
	pattern="^bloomctl build: set 'cards-a2bfa51c': locked by build, pid $pid"
	pattern+=" on [^ ]+, since [0-9-]{10}T[0-9:]{8}"
	[[ $second =~ $pattern ]]
	assert_json first.json '.status == 0'
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	[[ $(live_of) == "$(json .generation first.json)" ]]
}

@test "build: one that was killed leaves nothing promotable, and the next removes it" {
	local pid dead
	need_fault
	write_csv rows.csv 1 100
	make_live rows.csv
	fault_run write:3:kill /cards- "${build[@]}" -q -s file:rows.csv
	assert_status 137
	dead=$(find "$(set_of)" -mindepth 1 -maxdepth 1 -type d \
		! -name "$(live_of)" -printf '%f\n')
	[[ -n $dead ]]
	assert_not_promotable
	assert_not_promotable -g "$dead"
	bloomctl_run inspect -k cards.keyspec -t dir:t
	assert_has "$output" "$dead  aborted"
	assert_answers
	bloomctl_run "${build[@]}" -s file:rows.csv
	assert_status 0
	assert_stderr_is "bloomctl build: removed abandoned generation '$dead'"
	[[ ! -e $(set_of)/$dead ]]
	bloomctl_ok swap -q -k cards.keyspec -t dir:t
	assert_answers
}

@test "build: SIGINT and SIGTERM leave the set as it was and free the lock" {
	local n signal want
	need_fault
	write_csv rows.csv 1 100
	make_live rows.csv
	live=$built
	while read -r signal want; do
		for n in 1 4 7 10 14; do
			fault_run "any:$n:$signal" /cards- "${build[@]}" -q \
				-s file:rows.csv --receipt got.json
			assert_failure "$want" build 'stopped by SIG'
			assert_json got.json ".status == $want"
			assert_not_promotable
			[[ $(live_of) == "$live" ]]
		done
		bloomctl_run "${build[@]}" -q -s file:rows.csv --receipt got.json
		assert_status 0
		rm -r "t/cards-a2bfa51c/$(json .generation got.json)"
	done <<-'END'
		int 130
		term 143
	END
	assert_answers
}

@test "build: a signal while rows are read ends it at once" {
	local pid name
	write_text rows.txt 1 3000000
	for name in TERM HUP; do
		rm -rf t
		"$BLOOMCTL" "${build[@]}" -s file:rows.txt --input-format text \
			--columns id,scope --capacity 1000000 2>err &
		pid=$!
		wait_until test -e t/cards-a2bfa51c/lock
		kill -"$name" $pid
		status=0
		wait $pid || status=$?
		assert_status 143
		[[ $(<err) == "bloomctl build: stopped by SIG$name" ]]
		assert_not_promotable
		flock -n t/cards-a2bfa51c/lock true
	done
}

@test "build: a source that changes while it is read is 74" {
	need_fault
	local pid
	write_text rows.txt 1 100000
	LD_PRELOAD=$BUILD/fault.so FAULT=open:3:stop FAULT_PATH=rows.txt \
		"$BLOOMCTL" "${build[@]}" -s file:rows.txt --input-format text \
		--columns id,scope 2>err &
	pid=$!
	wait_until stopped $pid
	echo $'x\ty' >>rows.txt
	kill -CONT $pid
	status=0
	wait $pid || status=$?
	assert_status 74
	assert_has "$(<err)" "file 'rows.txt': it changed while it was read"
	assert_not_promotable
}

@test "build: -v tells the steps on standard error, and -q nothing" {
	write_csv rows.csv 1 100
	bloomctl_run "${build[@]}" -v -s file:rows.csv
	assert_status 0
	assert_has "$stderr" 'bloomctl build: generation ' '4 filters'
	assert_has "$output" 'is complete'
	bloomctl_ok "${build[@]}" -q -s file:rows.csv
	assert_stdout_is ''
}
