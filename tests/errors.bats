#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# One test for every row of lib/base/error.def: the status, one sentence on
# standard error, and what is left behind; and one for every reason of
# lib/bloomkey/reject.def.  The first two tests hold this file to the tables.
bats_require_minimum_version 1.5.0

load helpers

setup_file() {
	begin_file
	write_csv rows.csv 1 200
	make_live rows.csv
	build_csv rows.csv
}

setup() {
	begin
	cp "$BATS_FILE_TMPDIR/rows.csv" .
	cp -a "$BATS_FILE_TMPDIR/t" .
	set=$(set_of)
	live=$(live_of)
	next=$(json .generation "$BATS_FILE_TMPDIR/built.json")
	remember_tree
}

# names KIND: the head of each test's name of that kind, up to its colon.
names() {
	sed -n "s/^@test \"\\($1 [^:]*\\): .*/\\1/p" "$BATS_TEST_FILENAME" |
		sort -u
}

# build_fails STATUS OPTION...: and leaves what is live, and no lock; $said is
# what it said.
build_fails() {
	local want=$1
	shift
	bloomctl_run build -q -k cards.keyspec -t dir:t "$@"
	assert_failure "$want" build
	said=$stderr
	left_alone
}

# play COMMAND OPTION...: against the server that plays the script on standard
# input, and is there until it was played.
play() {
	local fake
	cat >script
	"$BUILD/fake_redis" s script 2>played 3>&- &
	fake=$!
	wait_until test -e s
	bloomctl_run "$1" -k cards.keyspec -t unix:s --timeout 1s "${@:2}"
	wait "$fake" || fail "$(<played)"
}

@test "errors: each row of error.def has a test here, and each test a row" {
	diff <(sed -n 's/^ERROR_ROW(\([A-Z]*\), \([0-9]*\),.*/error \1 (\2)/p' \
		"$BATS_TEST_DIRNAME/../lib/base/error.def" | sort) \
		<(names error)
}

@test "errors: each reason of reject.def has a test here, and each test a row" {
	diff <(sed -n 's/^BLOOMKEY_REJECT_ROW(.*"\(.*\)")$/reject \1/p' \
		"$BATS_TEST_DIRNAME/../lib/bloomkey/reject.def" | sort) \
		<(names reject)
}

@test "error USAGE (64): an option that is missing" {
	bloomctl_run build -k cards.keyspec -t dir:t
	assert_failure 64 build 'option --source SOURCE: missing'
	assert_tree_unchanged
}

@test "error USAGE (64): a value that is none" {
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv -j 0
	assert_failure 64 build "option --jobs: '0' is not"
	assert_tree_unchanged
}

@test "error ROWS (65): a row without a key" {
	printf 'id,scope\n1,m\n,m\n' >null.csv
	build_fails 65 -s file:null.csv --capacity 10
	assert_has "$said" "file 'null.csv': row 2: field 'id': no key: null" \
		'hint: '
}

@test "error SOURCE (66): a file that is not there" {
	bloomctl_run build -k cards.keyspec -t dir:t -s file:none.csv
	assert_failure 66 build "file 'none.csv': " 'No such file'
	assert_tree_unchanged
}

@test "error SOURCE (66): a set that is not there" {
	write_keyspec other.keyspec name=other
	bloomctl_run inspect -k other.keyspec -t dir:t
	assert_failure 66 inspect "set 'other-" 'dir:t'
	assert_tree_unchanged
}

@test "error UNREACHED (69): nobody listens there" {
	local command
	for command in 'build -s file:rows.csv' swap 'swap --rollback' inspect \
		'verify -s file:rows.csv' 'lookup 1 m:1'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec --timeout 1s \
			-t redis://127.0.0.1:1
		assert_failure 69 "${command%% *}" redis://127.0.0.1:1 \
			'Connection refused'
	done
}

@test "error UNREACHED (69): a socket that is not there" {
	bloomctl_run build -k cards.keyspec -t unix:none -s file:rows.csv \
		--timeout 1s --receipt got.json
	assert_failure 69 build unix:none 'No such file'
	[[ ! -e got.json ]] || assert_json got.json '.status == 69'
}

@test "error INTERNAL (70): no memory" {
	local n
	need_fault
	[[ $VARIANT == plain ]] || skip "a sanitizer allocates, too ($VARIANT)"
	for n in 1 10 20 30 40 50 60 80 100; do
		fault_run "alloc:$n:ENOMEM" '' build -q -k cards.keyspec \
			-t dir:t -s file:rows.csv
		# Some are of no account; a generation that is whole goes.
		if ((status == 0)); then
			rm -r "${set:?}/$(cd "$set" && printf '%s\n' 2* | tail -n 1)"
			continue
		fi
		assert_failure 70 build
		left_alone
	done
	fault_run alloc:20:ENOMEM '' build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	assert_failure 70 build 'out of memory'
}

@test "error SPACE (73): the disk is full" {
	local n
	need_fault
	for n in {1..9}; do
		fault_run "write:$n:ENOSPC" /cards- build -q -k cards.keyspec \
			-t dir:t -s file:rows.csv --receipt got.json
		((status != 0)) || break
		assert_failure 73 build 'No space left on device'
		assert_json got.json '.status == 73'
		left_alone
	done
	((n > 5))
}

@test "error SPACE (73): a set that no memory holds" {
	build_fails 73 -s file:rows.csv --engine redis8 --capacity 1073741825
	write_keyspec huge.keyspec buckets=65536
	bloomctl_run build -k huge.keyspec -t dir:u -s file:rows.csv \
		--capacity 1073741824
	assert_failure 73 build
	[[ -z $(find u -name '*.bloom') ]]
}

@test "error DATA (74): a source that is cut off" {
	printf 'id,scope\n1,"m' >cut.csv
	build_fails 74 -s file:cut.csv --capacity 10
	assert_has "$said" "file 'cut.csv': row 1: " 'cut off'
}

@test "error DATA (74): a filter that is damaged" {
	flip "$set/$next/0.bloom" 4100
	remember_tree
	bloomctl_run swap -k cards.keyspec -t dir:t
	assert_failure 74 swap \
		"filter file 't/cards-a2bfa51c/$next/0.bloom': damaged"
	assert_tree_unchanged
	left_alone
}

@test "error DATA (74): an input or output error" {
	need_fault
	fault_run write:4:EIO /cards- build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	assert_failure 74 build 'Input/output error'
	left_alone
}

@test "error TEMPORARY (75): a deadline that comes, and one that is past" {
	need_fault
	fault_run write:3:alrm /cards- build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv --deadline 10h --receipt got.json
	assert_failure 75 build 'stopped by the deadline, 10h'
	assert_json got.json '.status == 75'
	left_alone
	rm got.json
	remember_tree
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:rows.csv \
		--deadline 2001-01-01T00:00:00Z --receipt got.json
	assert_failure 75 build "deadline '2001-01-01T00:00:00Z': " 'passed'
	[[ ! -e got.json ]]
	assert_tree_unchanged
}

@test "error ENGINE (76): a server without a module for Bloom filters" {
	play build -s file:rows.csv <<-'END'
		LOGIN "0123 master"
		EXPECT "INFO modules"
		SEND "$11\r\n# Modules\r\n\r\n"
		EXPECT "INFO server"
		SEND "$10\r\n# Server\r\n\r\n"
		EXPECT "COMMAND INFO BF.RESERVE"
		SEND "*7\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n*-1\r\n"
	END
	assert_failure 76 build 'no module for Bloom filters is loaded'
	assert_has "$stderr" 'hint: load the RedisBloom or valkey-bloom module'
}

@test "error ENGINE (76): a server that has a command switched off" {
	local command
	for command in 'build -s file:rows.csv' swap inspect; do
		# shellcheck disable=SC2086 # words
		play $command <<-'END'
			LOGIN "0123 master"
			REST "-ERR unknown command 'EVAL', with args beginning with: 'local' 'MARKER' \r\n"
		END
		assert_failure 76 "${command%% *}" "unknown command 'EVAL'"
		assert_has "$stderr" 'switched off or renamed'
		assert_lacks "$stderr" MARKER
	done
}

@test "error RIGHTS (77): a target that may not be written to" {
	((EUID != 0)) || skip "root writes everywhere"
	chmod 555 "$set"
	bloomctl_run build -k cards.keyspec -t dir:t -s file:rows.csv
	chmod 755 "$set"
	assert_failure 77 build 'Permission denied'
	left_alone
	assert_tree_unchanged
	mkdir u
	chmod 555 u
	bloomctl_run build -k cards.keyspec -t dir:u -s file:rows.csv
	assert_failure 77 build "dir:u'" 'Permission denied'
	chmod 000 u
	bloomctl_run inspect -k cards.keyspec -t dir:u
	assert_failure 77 inspect "dir:u'" 'Permission denied'
}

@test "error RIGHTS (77): an open that is refused" {
	need_fault
	fault_run open:1:EACCES /lock swap -q -k cards.keyspec -t dir:t
	assert_failure 77 swap "set 'cards-a2bfa51c'" 'Permission denied'
	left_alone
	fault_run write:1:EROFS /cards- swap -q -k cards.keyspec -t dir:t
	assert_failure 77 swap "set 'cards-a2bfa51c'" 'Read-only'
	left_alone
}

@test "error CONFIG (78): a keyspec with a mistake" {
	write_keyspec wrong.keyspec buckets=0
	bloomctl_run build -k wrong.keyspec -t dir:t -s file:rows.csv
	assert_failure 78 build "keyspec 'wrong.keyspec': line 5: buckets: '0'"
	assert_tree_unchanged
}

@test "error CONFIG (78): a configuration with a mistake" {
	echo 'jobs = many' >a.conf
	bloomctl_run build --config a.conf
	assert_failure 78 build "file 'a.conf': line 1: option --jobs: 'many'"
	assert_tree_unchanged
}

@test "error FULL (80): more members than the capacity" {
	build_fails 80 -s file:rows.csv --capacity 20
	assert_has "$said" "bucket " "filter 'cards:" 'full' 20 'hint: '
	bloomctl_run swap -k cards.keyspec -t dir:t -g "$next"
	assert_status 0
}

@test "error VERIFY (81): a row that is missing" {
	printf 'id,scope\nabsent-row,x\n' >more.csv
	bloomctl_run verify -k cards.keyspec -t dir:t -s file:more.csv \
		--grace 0s --quiet-keys
	assert_failure 81 verify "generation '$live': 1 of 1 rows are missing"
	assert_tree_unchanged
}

@test "error LOCKED (82): another run holds the lock" {
	local command
	hold_lock "$set"
	for command in 'build -s file:rows.csv' swap 'swap --rollback' \
		'swap --prune'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec -t dir:t
		assert_failure 82 "${command%% *}" \
			"set 'cards-a2bfa51c': locked by " ', since 20'
	done
	release_lock
	assert_tree_unchanged
	left_alone
}

@test "error GENERATION (83): no such generation" {
	bloomctl_run swap -k cards.keyspec -t dir:t -g 20000101T000000Z-0000
	assert_failure 83 swap "generation '20000101T000000Z-0000'"
	assert_tree_unchanged
}

@test "error GENERATION (83): one that is not promotable" {
	printf 'id,scope\n1,m\n' >few.csv
	build_csv few.csv
	remember_tree
	bloomctl_run swap -k cards.keyspec -t dir:t
	assert_failure 83 swap "generation '$built': " ' rows'
	assert_tree_unchanged
}

@test "error SWAP (84): the link was moved and what follows failed; again it ends well" {
	local n kind seen=0
	need_fault
	cp -a t kept
	for kind in fsync write rename; do
		for n in {1..9}; do
			rm -r t
			cp -a kept t
			fault_run "$kind:$n:EIO" /cards- swap -q \
				-k cards.keyspec -t dir:t --receipt got.json
			((status != 0)) || break
			if [[ $(live_of) == "$live" ]]; then
				assert_failure 74 swap
			else
				assert_failure 84 swap \
					"generation '$next' is live, but"
				assert_has "$stderr" 'again'
				assert_json got.json '.status == 84'
				seen=$((seen + 1))
			fi
			assert_answers
			bloomctl_run swap -k cards.keyspec -t dir:t
			assert_status 0
			assert_stderr_is ''
			[[ $(live_of) == "$next" ]]
			assert_json "$set/$next/manifest.json" \
				'.state == "live"' ".previous == \"$live\""
			assert_json "$set/$live/manifest.json" '.state == "old"'
			bloomctl_ok swap -q -k cards.keyspec -t dir:t --rollback
		done
	done
	((seen > 3))
}

@test "error INTERRUPTED (130): SIGINT" {
	need_fault
	fault_run write:3:int /cards- build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	assert_failure 130 build 'stopped by SIGINT'
	left_alone
}

@test "error TERMINATED (143): SIGTERM" {
	need_fault
	fault_run write:3:term /cards- build -q -k cards.keyspec -t dir:t \
		-s file:rows.csv
	assert_failure 143 build 'stopped by SIGTERM'
	left_alone
}

# --- rows without a key ---------------------------------------------------

# rejected REASON TEXT-ROW: by build and verify from both formats, by size,
# and by key and lookup where a command line can hold the value; the value is
# never repeated.
rejected() {
	local reason=$1 row=$2 command
	{
		printf '1\tm:1\n'
		printf '%b\tMARKER2\n' "$row"
	} >bad.txt
	{
		printf 'id,scope\n1,m:1\n'
		case $row in
		'\\N') printf ',MARKER2\n' ;;
		'') printf '"",MARKER2\n' ;;
		*) printf '%b,MARKER2\n' "$row" ;;
		esac
	} >bad.csv
	for command in 'build -t dir:t --capacity 50 -q' 'build -n -t dir:t' \
		'verify -t dir:t' size; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec -s file:bad.csv
		assert_failure 65 "${command%% *}" \
			"file 'bad.csv': row 2: field 'id': " ": $reason"
		assert_lacks "$stderr" MARKER
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec -s file:bad.txt \
			--input-format text --columns id,scope -j 2
		assert_failure 65 "${command%% *}" \
			"file 'bad.txt': row 2: field 'id': " ": $reason"
		assert_lacks "$stderr" MARKER
	done
	left_alone
	[[ $row != '\\N' ]] || return 0
	for command in 'lookup -t dir:t' key; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec "$(printf '%b' "$row")" \
			MARKER2
		assert_failure 65 "${command%% *}" "field 'id': " ": $reason"
		assert_lacks "$stderr" MARKER
	done
}

@test "reject null: a field that is NULL" {
	rejected null '\\N'
}

@test "reject empty: a field that is empty" {
	rejected empty ''
}

@test "reject delimiter: a field before the last that holds the delimiter" {
	rejected delimiter 'MARKER:1'
	# Where it is the last, it is legal.
	bloomctl_ok key -k cards.keyspec 1 MARKER:1
}

@test "reject encoding: a field that is not UTF-8" {
	local bytes
	for bytes in '\xff' '\xc0\x80' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xe2\x82'; do
		rejected encoding "MARKER$bytes"
	done
}

@test "reject too-long: a field, and a whole key, of more than 65,535 bytes" {
	rejected too-long "MARKER$(printf '%065530d' 0)"
	# The whole key: no field is to blame.
	printf 'id,scope\n%065535d,MARKER\n' 0 >long.csv
	bloomctl_run build -q -k cards.keyspec -t dir:t -s file:long.csv
	assert_failure 65 build "file 'long.csv': row 1: " 'key' too-long
	assert_lacks "$stderr" MARKER "field '"
	# One byte less than too much.
	write_keyspec one.keyspec 'key={id}' buckets=1
	printf 'id\n%065535d\n' 0 >long.csv
	bloomctl_ok build -q -k one.keyspec -t dir:u -s file:long.csv
}

# transformed TRANSFORM: the field id of cards.keyspec has it, and so has a live
# set of the same rows.
transformed() {
	write_keyspec cards.keyspec - <<-END
		[field id]
		transform = $1
	END
	rm -r t
	make_live rows.csv
	live=$(live_of)
	set=$(set_of)
	remember_tree
}

@test "reject uuid: a field that is no UUID" {
	local good=6F9619FF8B86D011B42D00CF4FC964FF bad command
	write_keyspec cards.keyspec - <<-'END'
		[field id]
		transform = uuid
	END
	for bad in MARKER '{'"$good" "urn:uuid:$good" "$good:MARKER"; do
		printf 'id,scope\n%s,m:1\n%s,MARKER\n' "$good" "$bad" >bad.csv
		for command in 'build -t dir:u --capacity 50 -q' size; do
			# shellcheck disable=SC2086 # words
			bloomctl_run $command -k cards.keyspec -s file:bad.csv
			assert_failure 65 "${command%% *}" \
				"file 'bad.csv': row 2: field 'id': " ': uuid'
			assert_lacks "$stderr" MARKER "$good"
		done
		bloomctl_run key -k cards.keyspec "$bad" MARKER
		assert_failure 65 key "field 'id': " ': uuid'
		assert_lacks "$stderr" MARKER "$good"
	done
	bloomctl_ok key -k cards.keyspec "{$good}" x
	assert_has "$output" 'card:6f9619ff-8b86-d011-b42d-00cf4fc964ff:x '
}

@test "reject int: a field that is no integer" {
	transformed int
	rejected int '12MARKER'
	rejected int ' 12'
	transformed trim,int
	bloomctl_ok key -k cards.keyspec ' +012 ' x
	assert_has "$output" 'card:12:x '
}

@test "reject digits: a field that holds something else than digits" {
	transformed digits
	rejected digits '1-800-MARKER'
	bloomctl_ok key -k cards.keyspec '+1 (555) 010-9999' x
	assert_has "$output" 'card:15550109999:x '
}

@test "reject empty: a whole key that is empty" {
	write_keyspec one.keyspec 'key={id}' buckets=1 - <<-'END'
		[field id]
		empty = allow
		null = empty
	END
	printf 'id\nx\n""\n' >none.csv
	bloomctl_run build -q -k one.keyspec -t dir:u -s file:none.csv
	assert_failure 65 build "file 'none.csv': row 2: " 'key' ': empty'
}

@test "errors: no value of a row is ever in a message or a receipt" {
	local file
	printf 'id,scope\nMARKER,"MARKER\n' >a.csv
	printf 'id,scope\nMARKER,MARKER"\n' >b.csv
	printf 'id,scope\nMARKER,MARKER,MARKER\n' >c.csv
	printf 'id,scope\nMARKER:,MARKER\n' >d.csv
	printf 'id,scope\nMARKER\xff,MARKER\n' >e.csv
	printf 'id,scope\nMARKER\n' >f.csv
	printf 'id,scope\nMARKER,MARKER\0\n' >g.csv
	printf 'id,scope\nMARKER,MARKER\r\nMARKER,\n' >h.csv
	for file in {a..h}.csv; do
		bloomctl_run build -vv -k cards.keyspec -t dir:t \
			-s "file:$file" --receipt got.json
		((status != 0))
		assert_lacks "$stderr$(<got.json)" MARKER
		bloomctl_run verify -vv -k cards.keyspec -t dir:t \
			-s "file:$file" --receipt got.json
		((status != 0))
		assert_lacks "$stderr$(<got.json)" MARKER
	done
	printf 'id,scope\nMARKER,MARKER\n' >a.csv
	bloomctl_run build -vv -k cards.keyspec -t dir:t -s file:a.csv
	assert_status 0
	assert_lacks "$stderr$output" MARKER
	run ! grep -rqa MARKER t
}
