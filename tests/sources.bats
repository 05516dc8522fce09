#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Every end is a true end: whatever a source is, and however it ends, either
# all of its rows are in the new generation or there is none.
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# shellcheck disable=SC2094 # `trailer` the function is no `trailer` the file
bats_require_minimum_version 1.5.0

load helpers

# In every test: rows.csv, which is live in t; small.csv, of 20 rows, whose
# filters are those of $one; whole.csv, which is that with its trailer.
setup_file() {
	begin_file
	need gzip gzip
	need zstd zstd
	need_xxhash
	write_csv rows.csv 1 200
	make_live rows.csv
	write_csv small.csv 1 20
	write_text small.txt 1 20
	mkdir -p one
	bloomctl_ok build -q -k cards.keyspec -t dir:one --capacity 100 \
		-s file:small.csv
	trailer 20 small.csv >trailer
	cat small.csv trailer >whole.csv
	gzip -n <small.csv >small.gz
	zstd -q <small.csv >small.zst
	# Members that a row crosses: an end between them is seen by its rows.
	head -c 60 small.csv >front
	tail -c +61 small.csv >back
	{ gzip -n <front && gzip -n <back; } >two.gz
	{ zstd -q <front && zstd -q <back; } >two.zst
}

setup() {
	begin
	cp -a "$BATS_FILE_TMPDIR"/{t,one,trailer,front,back} \
		"$BATS_FILE_TMPDIR"/*.{csv,txt,gz,zst} .
	set=$(set_of)
	live=$(live_of)
	one=$(echo one/*/2*/)
}

# Nothing of a test's outlives it.
teardown() {
	local pid
	for pid in $(jobs -p) $([[ -z ${mark-} ]] || marked "$mark"); do
		kill -KILL "$pid" 2>/dev/null || :
	done
}

# trailer ROWS FILE [BYTES [SUM]]: the trailer of the FILE's bytes.
trailer() {
	need_xxhash
	# shellcheck disable=SC2154 # set by need_xxhash
	"$python" - "$@" <<-'END'
		import sys, xxhash
		rows, name, *said = sys.argv[1:]
		data = open(name, 'rb').read()
		said += [len(data), xxhash.xxh64(data).hexdigest()][len(said):]
		print(r'\. rows=%s bytes=%s xxh64=%s' % (rows, *said))
	END
}

# untouched: as left_alone, and nothing else could be promoted.  kept is less:
# what costs no run of the program, for many cases.
untouched() {
	left_alone
	bloomctl_run swap -q -k cards.keyspec -t dir:t --allow-shrink
	assert_failure 83 swap
}

kept() {
	local manifest
	[[ $(readlink "$set/live") == "$live" ]] || fail 'live moved' || return
	for manifest in "$set"/2*/manifest.json; do
		[[ $manifest == "$set/$live/"* ||
			$(<"$manifest") == *'"state": "aborted"'* ]] ||
			fail "$manifest is not aborted" || return
	done
	[[ -z $(find "$set" -name '*.bloom' ! -path "*/$live/*") ]] ||
		fail 'a filter is left behind'
}

# said STATUS TEXT: so the build failed, and it left what was there.  The TEXT
# has its parts between " / ".
said() {
	local rest=$2 parts=()
	while [[ $rest == *' / '* ]]; do
		parts+=("${rest%% / *}")
		rest=${rest#* / }
	done
	{ assert_failure "$1" build "${parts[@]}" "$rest" && kept; } >why ||
		wrong "$(<why)"
}

# into FOLDER OPTION...: builds in it what fits small.csv.
into() {
	local folder=$1
	shift
	quick build -q -k cards.keyspec -t "dir:$folder" --capacity 100 "$@"
}

# same: the build into g said nothing and made the filters of small.csv.
same() {
	[[ $status == 0 && -z $output$stderr ]] || {
		wrong "it did not end well"
		return 0
	}
	assert_same_bits "$one" g/*/2*/ >why 2>&1 || wrong "$(<why)"
}

# from_file WANT TEXT CODE: the bytes that CODE writes, as a file.
from_file() {
	eval "$3" >bytes
	from_options "$1" "$2" '-s file:bytes'
}

# from_pipe WANT TEXT CODE: the same, as standard input.
from_pipe() {
	if [[ $1 == 0 ]]; then
		rm -rf g
		into g -s - < <(eval "$3")
		same
	else
		into t -s - < <(eval "$3")
		said "$1" "$2"
	fi
}

# from_options WANT TEXT OPTIONS
from_options() {
	local -a words
	eval "words=($3)"
	if [[ $1 == 0 ]]; then
		rm -rf g
		into g "${words[@]}" </dev/null
		same
	else
		into t "${words[@]}" </dev/null
		said "$1" "$2"
	fi
}

# marked MARK: the processes whose command line holds it.
marked() {
	# Not the one that looks for it.
	grep -lsa -- "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline |
		sed 's|/proc/||; s|/cmdline||'
}

gone() {
	[[ -z $(marked "$1") ]]
}

# runs ARGUMENT: a process has it as a whole argument, as those of a command do
# and our own command line does not.
runs() {
	grep -qsaxz -- "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline
}

# --- packed ---------------------------------------------------------------

nothing() {
	printf 'P*M\x18\0\0\0\0'
}

@test "sources: gzip and zstd are unpacked, however many members they are of" {
	table from_file <<-'END'
		0 :: gzip <small.csv
		0 :: cat two.gz
		0 :: gzip -1 <front && gzip -9 <back
		0 :: cat two.gz; head -c 1 /dev/zero
		0 :: cat two.gz; head -c 20000 /dev/zero
		0 :: : | gzip; cat two.gz; : | gzip
		0 :: gzip <front; : | gzip; : | gzip; gzip <back
		0 :: gzip -9 --name -c small.csv
		0 :: while IFS= read -r line; do echo "$line" | gzip; done <small.csv
		0 :: zstd -q <small.csv
		0 :: cat two.zst
		0 :: zstd -q --no-check <front && zstd -q -19 <back
		0 :: nothing; cat two.zst
		0 :: cat two.zst; nothing
		0 :: zstd -q <front; nothing; nothing; zstd -q <back
		0 :: printf '\x5f\x2a\x4d\x18\x05\0\0\0a,b\n\n'; cat two.zst
		0 :: : | zstd -q; cat two.zst; : | zstd -q
		0 :: zstd -q --long=27 <small.csv
		0 :: while IFS= read -r line; do echo "$line" | zstd -q; done <small.csv
		0 :: gzip <whole.csv
		0 :: zstd -q <whole.csv
		0 :: { gzip <small.csv; gzip <trailer; }
	END
	no_wrong 22
}

@test "sources: what is damaged in, or follows, packed rows is refused" {
	table from_file <<-'END'
		74 file 'bytes': bytes that are no gzip follow the last member :: cat two.gz; echo x
		74 file 'bytes': bytes that are no gzip follow the last member :: cat two.gz; cat small.csv
		74 file 'bytes': bytes that are no gzip follow the last member :: cat small.gz small.zst
		74 file 'bytes': bytes that are not NUL follow the padding :: cat two.gz; printf '\0\0x'
		74 file 'bytes': bytes that are not NUL follow the padding :: cat two.gz; printf '\0'; cat two.gz
		74 file 'bytes': bytes that are no gzip follow the last member :: gzip <front; printf x; gzip <back
		74 file 'bytes': the gzip data is cut off inside a member :: cat two.gz; printf '\x1f\x8b'
		74 file 'bytes': the gzip data is cut off inside a member :: printf '\x1f\x8b'
		74 file 'bytes': the gzip data is damaged :: printf '\x1f\x8b\x07'; tail -c +4 two.gz
		74 file 'bytes': bytes that are no zstd follow the last frame :: cat two.zst; printf '\0'
		74 file 'bytes': bytes that are no zstd follow the last frame :: cat small.zst small.gz
		74 file 'bytes': bytes that are no zstd follow the last frame :: zstd -q <front; printf x; zstd -q <back
		74 file 'bytes': the zstd data is cut off inside a frame :: cat two.zst; printf '(\xb5/\xfd'
		74 file 'bytes': the zstd data is cut off inside a frame :: cat two.zst; nothing | head -c 7
		74 file 'bytes': no header row :: : | gzip
		74 file 'bytes': no header row :: : | zstd -q
		74 file 'bytes': no header row :: nothing
		66 file 'bytes': it is packed twice :: gzip <small.gz
		66 file 'bytes': it is packed twice :: zstd -q <small.zst
		66 file 'bytes': it is packed twice :: gzip <small.zst
		66 file 'bytes': it is packed twice :: gzip <small.gz | gzip
		66 file 'bytes': it is Parquet by its first bytes :: printf 'PAR1\x15\x04' | gzip
		66 file 'bytes': it is UTF-16 by its first bytes :: iconv -t UTF-16 small.csv | zstd -q
		66 file 'bytes': it is UTF-16 by its first bytes :: iconv -t UTF-16LE small.csv | gzip
		66 file 'bytes': it is UTF-16 by its first bytes :: iconv -t UTF-16BE small.csv | gzip
		66 file 'bytes': it is a zip archive by its first bytes :: printf 'PK\x03\x04xx' | gzip
		66 file 'bytes': the zstd data needs a window of more than 128 MiB :: printf '(\xb5/\xfd\0\xa8\x59\0\0id,scope\n1,m\n'
		66 file 'bytes': the zstd data needs a window of more than 128 MiB :: cat two.zst; printf '(\xb5/\xfd\0\xa8\x59\0\0id,scope\n1,m\n'
		74 file 'bytes': row 20 / no newline :: head -c -1 small.csv | gzip
		74 file 'bytes': row 2 / NUL :: printf 'id,scope\n1,m\n2,m\0\n' | gzip
		65 file 'bytes': row 2: field 'id': no key: null :: printf 'id,scope\n1,m\n,m\n' | zstd -q
		74 file 'bytes': the trailer says 140 bytes / some were added :: { cat small.csv; echo 21,m; cat trailer; } | gzip
		74 file 'bytes': its trailer says 21 rows, and 20 were read :: { cat small.csv; trailer 21 small.csv; } | zstd -q
	END
	printf '(\xb5/\xfd\0\xa8\x59\0\0id,scope\n1,m\n' >bytes
	into t -s file:bytes
	assert_has "$stderr" 'hint: pack it again without --long'
	untouched
	no_wrong 30
}

# every_byte FILE cut|flip: FILE.NNN, cut before byte NNN or with a bit of it
# flipped.
every_byte() {
	python3 - "$@" <<-'END'
		import sys
		name, how = sys.argv[1:]
		data = open(name, 'rb').read()
		for i in range(len(data)):
		    flipped = bytes([data[i] ^ 1 << i % 8])
		    out = data[:i] + (flipped + data[i + 1:] if how == 'flip' else b'')
		    open('%s.%03d' % (name, i), 'wb').write(out)
	END
}

@test "sources: gzip and zstd that are cut anywhere are 74" {
	local name file
	for name in two.gz two.zst; do
		every_byte "$name" cut
		for file in "$name".*; do
			from_options 74 "file '$file': " "-s file:$file"
			cases=$((${cases-0} + 1))
		done
		# Behind the first member is a true end, but of half a row.
		file=$(gzip -n <front | wc -c)
		[[ $name == *.gz ]] || file=$(zstd -q <front | wc -c)
		case='between the members'
		printf -v file '%s.%03d' "$name" "$file"
		from_options 74 "file '$file': row 9: / no newline" \
			"-s file:$file"
	done
	untouched
	no_wrong 180
}

@test "sources: a bit that flips in gzip and zstd is seen, or changes no key" {
	local name file seen=0
	for name in two.gz two.zst; do
		every_byte "$name" flip
		for file in "$name".*; do
			case="byte ${file##*.} of $name"
			cases=$((${cases-0} + 1))
			rm -rf g
			into g -s "file:$file"
			if ((status == 0)); then
				same
				continue
			fi
			seen=$((seen + 1))
			{ [[ $status =~ ^(65|66|74)$ ]] &&
				assert_one_sentence build "file '$file': " &&
				[[ -z $(find g -name '*.bloom') ]]; } >why ||
				wrong "$(<why)"
		done
	done
	no_wrong 180
	# Only a header's time, flags and system are of no account.
	((seen >= cases - 20)) || fail "only $seen of $cases were seen"
}

@test "sources: whatever their names, packed files go together, with jobs and in size, verify and export" {
	local command file
	head -n 8 small.csv | gzip >pack-a.zst
	{ head -n 1 small.csv && sed -n 9,15p small.csv; } | zstd -q >pack-b.gz
	{ head -n 1 small.csv && tail -n +16 small.csv; } >pack-c
	table from_options <<-'END'
		0 :: -s file:pack-a.zst -s file:pack-b.gz -s file:pack-c
		0 :: -s file:pack-a.zst -s file:pack-b.gz -s file:pack-c -j 4
		0 :: -s 'file:pack-?*' -j 2
		0 :: -s file:two.gz -j 4
	END
	gzip <small.txt >packed.txt
	from_options 0 '' '-s file:packed.txt --input-format text --columns id,scope -j 4'
	bloomctl_ok size -k cards.keyspec -s file:small.zst --format json
	[[ $output == "$("$BLOOMCTL" size -k cards.keyspec -s file:small.csv \
		--format json)" ]]
	bloomctl_ok verify -k cards.keyspec -t dir:t -s file:two.gz --absent 0
	assert_has "$output" 'all 20 rows are found'
	head -c 70 small.gz >cut.gz
	for command in size 'verify -t dir:t' 'build -n -t dir:t'; do
		# shellcheck disable=SC2086 # words
		bloomctl_run $command -k cards.keyspec -s file:cut.gz
		assert_failure 74 "${command%% *}" \
			"file 'cut.gz': the gzip data is cut off inside a member"
		assert_has "$stderr" 'hint: test the original with gzip -t'
	done
	untouched
	no_wrong 4
}

# --- pipes ----------------------------------------------------------------

@test "sources: a pipe is whole if its trailer says so, and only then" {
	table from_pipe <<-'END'
		0 :: cat whole.csv
		0 :: gzip <whole.csv
		0 :: zstd -q <whole.csv
		0 :: gzip <small.csv; gzip <trailer
		0 :: dd if=whole.csv bs=1 status=none
		0 :: cat small.csv; sleep 0.2; cat trailer
		74 standard input: it ends without a trailer :: cat small.csv
		74 standard input: it ends without a trailer :: gzip <small.csv
		74 standard input: bytes that are no gzip follow the last member :: gzip <small.csv; cat trailer
		74 standard input: it is empty and has no trailer :: :
		74 standard input: it is empty and has no trailer :: : | gzip
		74 standard input: its trailer says 19 rows, and 20 were read :: cat small.csv; trailer 19 small.csv
		74 standard input: its trailer says 0 rows, and 20 were read :: cat small.csv; trailer 0 small.csv
		74 standard input: the trailer says 1 bytes / some were added on the way :: cat small.csv; trailer 20 small.csv 1
		74 standard input: the trailer says 999 bytes / the pipe lost some :: cat small.csv; trailer 20 small.csv 999
		74 standard input: the trailer's checksum is not that of the bytes before it :: sed 's/m:1/m:2/' small.csv; cat trailer
		74 standard input: the trailer's checksum is not that of the bytes before it :: sort -r small.csv; cat trailer
		74 standard input: the trailer's checksum is not :: cat small.csv; trailer 20 small.csv 140 0000000000000000
		74 standard input: the trailer says :: cat whole.csv trailer
		74 standard input: it ends without a trailer :: cat whole.csv; echo
		74 standard input: it ends without a trailer :: cat whole.csv; echo 21,m
		74 standard input: it ends without a trailer :: cat whole.csv; printf '\0'
		74 standard input: the trailer's line ends in CRLF :: sed 's/$/\r/' whole.csv
		74 standard input: the trailer's line ends in CRLF :: cat small.csv; sed 's/$/\r/' trailer
		74 standard input: it ends without a trailer :: cat small.csv; tr a-f A-F <trailer
		74 standard input: it ends without a trailer :: cat small.csv; sed 's/rows=/rows=0/' trailer
		74 standard input: it ends without a trailer :: cat small.csv; sed 's/rows=/rows=+/' trailer
		74 standard input: it ends without a trailer :: cat small.csv; sed 's/ bytes/  bytes/' trailer
		74 standard input: it ends without a trailer :: cat small.csv; echo '\.'
		74 standard input: it ends without a trailer :: head -c -1 small.csv; cat trailer
		74 standard input: it ends without a trailer :: trailer 20 small.csv 99999999999999999999
		74 standard input: the trailer says 140 bytes and 0 came / the pipe lost some :: cat trailer
		66 standard input: it is packed twice :: gzip <small.gz
		66 standard input: it is Parquet by its first bytes :: printf 'PAR1\x15\x04'
		66 standard input: it is PostgreSQL's binary COPY :: printf 'PGCOPY\n\xff\r\n\0'
		66 standard input: it is UTF-16 by its first bytes :: iconv -t UTF-16 whole.csv
		65 standard input: row 2: field 'id': no key: null :: printf 'id,scope\n1,m\n,m\n' | tee x; trailer 2 x
	END
	untouched
	no_wrong 35
}

@test "sources: a pipe that is cut anywhere is 74, also in its trailer" {
	local n size
	size=$(stat -c %s whole.csv)
	for ((n = 0; n < size; n++)); do
		case="$n of $size bytes"
		cases=$((${cases-0} + 1))
		into t -s - < <(head -c "$n" whole.csv)
		said 74 'standard input: '
	done
	into t -s - < <(head -c "$n" whole.csv)
	[[ $status == 0 ]]
	rm -r "${set:?}/$("$BLOOMCTL" inspect -k cards.keyspec -t dir:t \
		--format json | jq -r '.generations[0].generation')"
	untouched
	no_wrong 180
}

@test "sources: --no-trailer takes a pipe without one, and holds one that is there" {
	bare() {
		rm -rf g
		local folder=t
		[[ $1 != 0 ]] || folder=g
		into $folder -s - --no-trailer < <(eval "$3")
		if [[ $1 == 0 ]]; then same; else said "$1" "$2"; fi
	}
	table bare <<-'END'
		0 :: cat small.csv
		0 :: cat whole.csv
		0 :: gzip <small.csv
		0 :: gzip <whole.csv
		74 standard input: the trailer's checksum is not :: sed 's/m:1/m:2/' whole.csv
		74 standard input: its trailer says 21 rows, and 20 were read :: cat small.csv; trailer 21 small.csv
		74 standard input: the trailer says 999 bytes / lost some :: cat small.csv; trailer 20 small.csv 999
		74 standard input: row 20: / no newline :: head -c -1 small.csv
		65 standard input: row 21: :: cat whole.csv; echo
		65 standard input: row 21: :: cat whole.csv; echo 1,m
		65 standard input: row 21: 1 column :: cat small.csv; sed 's/$/\r/' trailer
		74 standard input: no header row: it is empty :: :
		74 standard input: no header row: it is empty :: cat /dev/null
	END
	untouched
	no_wrong 12
}

@test "sources: standard input is taken once, alone, and with a capacity" {
	before_reading() {
		local -a words
		eval "words=($3)"
		quick build -q -k cards.keyspec -t dir:t "${words[@]}" <whole.csv
		said "$1" "$2"
	}
	table before_reading <<-'END'
		64 source '-' is given twice :: -s - -s - --capacity 100
		64 sources of different kinds, '-' and 'file' :: -s - -s file:small.csv --capacity 100
		64 sources of different kinds, 'exec' and '-' :: -s 'exec:cat small.csv' -s - --capacity 100
		64 source 1 does not say what kind it is :: -s -: --capacity 100
		64 source 1 does not say what kind it is :: -s -:x --capacity 100
		64 source 1 does not say what kind it is :: -s ./- --capacity 100
		64 the source can be read only once, and --capacity auto would read it twice :: -s -
		64 the source can be read only once, and --capacity auto :: -s - --capacity auto
		64 the source can be read only once, and --capacity auto :: -s - -n
		64 the source can be read only once, and --capacity auto :: -s 'exec:touch ran; cat small.csv'
	END
	[[ ! -e ran ]] || fail "the command was started"
	# Nothing was read: what stands after it gets all.
	{ quick build -k cards.keyspec -t dir:t -s - && :; cat >rest; } <whole.csv
	cmp rest whole.csv
	assert_has "$stderr" 'hint: give --keys N or --capacity N'
	untouched
	no_wrong 10
}

@test "sources: standard input that is closed, a terminal, or nothing" {
	local source
	into t -s - <&-
	assert_failure 74 build 'standard input: cannot read it'
	into t -s - </dev/null
	assert_failure 74 build 'standard input: it is empty and has no trailer'
	for source in - file:/dev/stdin; do
		any_run python3 - "$BLOOMCTL" build -q -k cards.keyspec \
			-t dir:t --capacity 100 -s "$source" <<-'END'
			import os, subprocess, sys
			ours, theirs = os.openpty()
			sys.exit(subprocess.call(sys.argv[1:], stdin=theirs))
		END
		assert_status 66
		[[ $source != - ]] || assert_one_sentence build \
			'standard input: a terminal'
	done
	into t -s file:/dev/null
	assert_failure 66 build "file '/dev/null': neither a regular file nor"
	untouched
}

@test "sources: a pipe that has a name is a pipe, too" {
	mkfifo fifo
	named() {
		rm -rf g
		local folder=t
		local -a words
		eval "words=($2)"
		[[ $1 != 0 ]] || folder=g
		eval "$3" >fifo &
		into $folder "${words[@]}"
		wait $! || :
	}
	echo id,scope >header
	named_ok() {
		named "$@"
		same
	}
	table named_ok <<-'END'
		0 -s file:fifo :: cat whole.csv
		0 -s file:fifo -j 4 :: gzip <whole.csv
		0 -s 'file:fif?' --no-trailer :: cat small.csv
		0 -s file:fifo -s file:header :: cat whole.csv
		0 -s file:fifo -s file:header -j 2 :: zstd -q <whole.csv
		0 -s file:header -s file:fifo :: sleep 0.3; head -c 50 whole.csv; sleep 0.3; tail -c +51 whole.csv
	END
	echo id,scope >header
	table named_ok <<-'END'
		0 -s file:header -s file:fifo :: cat whole.csv
		0 -s file:header -s file:fifo -j 4 :: cat whole.csv
	END
	named_bad() {
		named 74 "$2" "$3"
		said 74 "file 'fifo': it ends without a trailer"
	}
	table named_bad <<-'END'
		74 -s file:fifo :: cat small.csv
		74 -s file:fifo :: head -c 90 whole.csv
		74 -s file:fifo :: head -c 90 whole.csv; kill -KILL $BASHPID
		74 -s file:fifo -s file:header -j 2 :: gzip <small.csv
	END
	case='process substitution, /dev/stdin, /dev/fd'
	rm -rf g
	into g -s "file:"<(cat whole.csv)
	same
	into t -s "file:"<(cat small.csv)
	said 74 'it ends without a trailer'
	rm -rf g
	into g -s file:/dev/stdin < <(cat whole.csv)
	same
	rm -rf g
	into g -s file:/dev/stdin <small.csv
	same
	rm -rf g
	into g -s file:/dev/fd/8 8< <(cat whole.csv)
	same
	from_options 66 "file '/dev/fd/99': cannot open it" '-s file:/dev/fd/99'
	ln fifo again
	from_options 64 "file 'fifo' and file 'again' are the same" \
		'-s file:fifo -s file:again'
	quick build -q -k cards.keyspec -t dir:t -s file:fifo
	said 64 'the source can be read only once, and --capacity auto'
	untouched
	no_wrong 10
}

# reserved: a build has begun with its filters.
reserved() {
	grep -qs '"state": "building"' "$set"/2*/manifest.json
}

@test "sources: SIGTERM ends the wait for a pipe's writer, and for its bytes" {
	local pid way
	mkfifo fifo
	for way in nobody silent; do
		"$BLOOMCTL" build -q -k cards.keyspec -t dir:t --capacity 100 \
			-s file:fifo 2>err &
		pid=$!
		[[ $way != silent ]] || exec 8>fifo
		wait_until ready $pid
		[[ $way != silent ]] || head -c 90 whole.csv >&8
		wait_until reserved
		kill -TERM $pid
		status=0
		wait $pid || status=$?
		assert_status 143
		[[ $(<err) == 'bloomctl build: stopped by SIGTERM' ]]
		exec 8>&-
		untouched
	done
}

# --- commands -------------------------------------------------------------

# from_exec WANT TEXT COMMAND: with all that it wrote to standard error before
# our own words in $noise.
from_exec() {
	local folder=t
	[[ $1 != 0 ]] || folder=g
	rm -rf g
	into $folder -s "exec:$3" </dev/null
	noise=$(sed '/^bloomctl build: \|^hint: /d' err)
	stderr=$(sed -n '/^bloomctl build: \|^hint: /p' err)
	if [[ $1 == 0 ]]; then same; else said "$1" "$2"; fi
}

@test "sources: a command's rows count if it ends with status 0, and only then" {
	table from_exec <<-'END'
		0 :: cat small.csv
		0 :: cat whole.csv
		0 :: gzip <whole.csv
		0 :: zstd -q <small.csv; :
		0 :: dd if=small.csv bs=1 status=none
		0 :: cat small.csv; echo noise >&2
		0 :: cat small.csv; exec >&-; sleep 0.3
		0 :: cat small.csv; sleep 0.3 & cat </dev/null
		0 :: cat none || cat small.csv
		0 :: cat small.csv >|copy; cat copy
		0 :: echo '|' >/dev/null; cat small.csv
		0 :: echo "a|'" >/dev/null; cat small.csv
		0 :: echo \| "\"|" >/dev/null; cat small.csv
		0 :: echo '\' \\ >/dev/null; cat small.csv
		0 :: bash -o pipefail -c 'cat small.csv | cat'
		0 :: bash -c 'set -o pipefail; cat small.csv | cat'
		74 command 'head ...': it failed with status 1 :: head -c 50 small.csv; exit 1
		74 command 'cat ...': it failed with status 1, so its rows are not whole :: cat small.csv; exit 1
		74 command 'cat ...': it failed with status 3, so its rows are not whole :: cat small.csv; exit 3
		74 command 'cat ...': it failed with status 255 :: cat small.csv; exit 255
		74 command 'exit ...': it failed with status 2 :: exit 2
		66 command 'cat ...': the shell cannot run it: status 126 :: cat small.csv; ./small.csv
		66 command 'cat ...': the shell cannot run it: status 127 :: cat small.csv; no-such-command
		66 command 'no-such-command': the shell cannot run it :: no-such-command
		74 command 'cat ...': it was ended by signal 9 :: cat small.csv; kill -KILL $$
		74 command 'cat ...': it was ended by signal 15 :: cat small.csv; kill -TERM $$
		74 command 'cat ...': it was ended by signal 11 :: cat small.csv; kill -SEGV $$
		74 command 'cat ...': it was ended by signal 13 :: cat small.csv; kill -PIPE $$
		74 command 'false ...': it failed with status 1 :: false; cat small.csv
		74 command 'cat ...': it failed with status 1 :: cat none >copy; cat small.csv
		74 command 'cat ...': it failed with status 3 :: cat small.csv; exec >&-; sleep 0.3; exit 3
		74 command 'bash ...': it failed with status 1 :: bash -o pipefail -c 'cat none | cat small.csv -'
		74 command 'bash ...': it failed with status 5 :: bash -o pipefail -c '(cat small.csv; exit 5) | cat'
		74 command 'true': no header row: it is empty :: true
		74 command 'head ...': row 19: / no newline :: head -c 130 small.csv
		74 command 'gzip ...': the gzip data is cut off :: gzip <small.csv >copy; head -c 50 copy
		74 command 'sed ...': the trailer's checksum is not :: sed 's/m:1/m:2/' whole.csv
		74 command 'echo ...': it failed with status 2 :: echo "
		66 command 'printf ...': it is Parquet :: printf 'PAR1\025\004'
		65 command '...': row 2: field 'id': no key: null :: (echo id,scope; echo 1,m; echo ,m)
		65 command 'yes ...': header row: no column 'id' :: yes MARK1
		74 command 'cat ...': row 21: a quote :: cat small.csv; yes 'x"' & wait
		64 source 1: 'exec:' has no command :: 
		64 source 1: 'exec:' has no command ::   
		64 command 'cat ...': a pipeline hides the failure :: cat small.csv | cat
		64 command 'cat ...': a pipeline hides the failure :: cat small.csv|cat
		64 command 'cat ...': a pipeline hides the failure :: cat small.csv |& cat
		64 command 'cat ...': a pipeline hides the failure :: cat none || cat small.csv | cat
		64 command 'echo ...': a pipeline hides the failure :: echo '\'|cat
		64 command 'echo ...': a pipeline hides the failure :: echo \\|cat
		64 command 'echo ...': a pipeline hides the failure :: echo "'"|cat
		64 command '...': a pipeline hides the failure :: (cat small.csv) | cat
	END
	assert_has "$stderr" "hint: have a shell do it that can say more"
	# A command without rows, but with a header, is an empty set.
	into g -s 'exec:head -n 1 small.csv' --receipt got.json
	assert_json got.json '.status == 0' '.rows == 0'
	wait_until gone MARK1
	untouched
	no_wrong 50
}

@test "sources: a command's standard error is passed on, and is no row" {
	from_exec 0 '' 'echo noise,1 >&2; cat small.csv; echo noise,2 >&2'
	into g -s 'exec:echo noise,1 >&2; cat small.csv; echo noise,2 >&2'
	assert_status 0
	[[ $(<err) == $'noise,1\nnoise,2' ]]
	from_exec 74 'it failed with status 4' 'echo noise >&2; exit 4'
	[[ $noise == noise ]]
	assert_has "$stderr" 'hint: what it wrote to standard error may say why'
	no_wrong 0
}

@test "sources: commands go together, one a job" {
	head -n 8 small.csv >a
	{ head -n 1 small.csv && tail -n +9 small.csv; } >b
	table from_options <<-'END'
		0 :: -s 'exec:cat a' -s 'exec:cat b'
		0 :: -s 'exec:cat a' -s 'exec:cat b' -j 2
		0 :: -s 'exec:sleep 0.3; cat a' -s 'exec:gzip <b' -j 4
		74 command 2 'cat ...': it failed with status 3 :: -s 'exec:cat a' -s 'exec:cat b; exit 3'
		74 command 2 'cat ...': it failed with status 3 :: -s 'exec:cat a' -s 'exec:cat b; exit 3' -j 2
		74 command 1 'cat ...': it failed with status 4 :: -s 'exec:cat a; exit 4' -s 'exec:cat b; yes 5,MARK3' -j 2
		64 source 2: 'exec:' has no command :: -s 'exec:cat a' -s exec:
	END
	wait_until gone MARK3
	no_wrong 7
}

@test "sources: a command has nothing of ours but standard error" {
	cat >looks <<-'END'
		ls /proc/self/fd >fds
		grep '^Sig[IB]' /proc/self/status >signals
		cat >input
		bash -o pipefail -c 'yes | head -n 1' >piped || echo "$?" >>piped
		cat small.csv
	END
	# Of the test's descriptors none goes on to the program.
	(
		for fd in "/proc/$BASHPID/fd/"*; do
			fd=${fd##*/}
			((fd < 3)) || eval "exec $fd>&-"
		done
		trap '' PIPE
		into g -s 'exec:. ./looks' --receipt got.json <whole.csv
		((status == 0))
	)
	# 3 is the folder that ls reads.
	[[ $(<fds) == $'0\n1\n2\n3' ]] || fail "descriptors: $(<fds)"
	[[ ! -s input ]] || fail "standard input: $(<input)"
	# Bit 12 is SIGPIPE, bit 24 SIGXFSZ; nothing is blocked.
	[[ $(sed -n 's/SigBlk:\t//p' signals) == 0000000000000000 ]]
	(((0x$(sed -n 's/SigIgn:\t//p' signals) & 0x1001000) == 0)) ||
		fail "ignored: $(<signals)"
	# What `yes` died of is SIGPIPE's status, and no error of writing.
	[[ $(<piped) == $'y\n141' ]]
}

@test "sources: a command's arguments are in no record and no message" {
	local command
	for command in 'PW=SECRET cat small.csv' 'cat small.csv; : SECRET' \
		'cat small.csv; echo SECRET; exit 3' 'cat<SECRET' \
		'"SECRET"' 'printf "id\nSECRET"; exit 1' \
		'cat small.csv; kill -KILL $$; : SECRET' \
		'cat small.csv | cat SECRET' 'SECRET=1 exit 127' 'X=SECRET'; do
		quick build -vv -k cards.keyspec -t dir:g --capacity 100 \
			-s "exec:$command" --receipt got.json
		# The shell says itself what it did not find.
		assert_lacks "$(grep -v '^sh: ' err)$output" SECRET
		assert_lacks "$(<got.json)" SECRET
		quick export -vv -t - -s "exec:$command" --receipt got.json
		assert_lacks "$(grep -v '^sh: ' err)$(<got.json)" SECRET
		quick verify -vv -k cards.keyspec -t dir:t -s "exec:$command" \
			--receipt got.json
		assert_lacks "$(grep -v '^sh: ' err)$(<got.json)" SECRET
	done
	into g -s 'exec:cat small.csv; : SECRET' --receipt got.json
	assert_json got.json '.source.names == "exec:cat ..."'
	assert_json g/*/"$(json .generation got.json)"/manifest.json \
		'.source == "exec:cat ..."'
	run ! grep -rqa SECRET g t
}

# ended SIGNAL WAY COMMAND: a build whose command runs gets the signal; nothing
# of the command is left, the lock is free, and the next build works.
ended() {
	local signal=$1 way=$2 pid want dead
	mark=86399.$RANDOM$RANDOM
	case="SIG$signal, $way: $3"
	"$BLOOMCTL" build -q -k cards.keyspec -t dir:t --capacity 100 \
		-s "exec:${3//MARK/$mark}" >/dev/null 2>err 3>&- &
	pid=$!
	wait_until reserved $pid
	wait_until runs "$mark"
	kill -"$signal" $pid
	status=0
	wait $pid 2>/dev/null || status=$?
	want=143
	[[ $signal == TERM ]] || want=137
	[[ $status == "$want" ]] || fail "$case: status $status: $(<err)"
	[[ $signal == KILL || $(<err) == 'bloomctl build: stopped by SIGTERM' ]] ||
		fail "$case: $(<err)"
	flock -n "$set/lock" true || fail "$case: the lock is held"
	# At once, but what ignores SIGTERM after 5 seconds.
	[[ $signal == KILL ]] || gone "$mark" || fail "$case: it still runs"
	wait_until gone "$mark"
	mark=
	dead=$(cd "$set" && echo 2*)
	dead=${dead//"$live"/}
	dead=${dead// /}
	untouched
	bloomctl_run build -k cards.keyspec -t dir:t --capacity 100 -q \
		-s 'exec:cat small.csv' --receipt got.json
	assert_status 0
	[[ ! -e $set/$dead ]] || fail "$case: '$dead' is still there"
	rm -r "${set:?}/$(json .generation got.json)"
	cases=$((${cases-0} + 1))
}

@test "sources: whatever ends a build ends its command, and all of its pipeline" {
	local signal way command
	while IFS=: read -r way command; do
		for signal in TERM KILL; do
			ended $signal "$way" "$command"
		done
	done <<-'END'
		silent:sleep MARK
		after rows:cat small.csv; sleep MARK
		at work:sleep MARK & while :; do echo id,scope; done
		a pipeline:bash -o pipefail -c 'sleep MARK | sleep MARK | sleep MARK'
		output closed:cat small.csv; exec >&-; sleep MARK
		a child holds the output:cat small.csv; sleep MARK &
		deaf to SIGTERM:trap '' TERM; cat small.csv; sleep MARK
		deaf and silent:trap '' TERM HUP INT; sh -c 'sleep MARK'
		deaf, a pipeline:trap '' TERM; bash -o pipefail -c 'sleep MARK | sleep MARK'
	END
	no_wrong 18
}

@test "sources: a build that was killed with its command is removed by the next, which says so" {
	local pid dead
	mark=86399.$RANDOM$RANDOM
	"$BLOOMCTL" build -q -k cards.keyspec -t dir:t --capacity 100 \
		-s "exec:sleep $mark" 2>err 3>&- &
	pid=$!
	wait_until runs "$mark"
	dead=$(cd "$set" && grep -ls '"state": "building"' 2*/manifest.json)
	dead=${dead%/*}
	kill -KILL $pid
	wait $pid 2>/dev/null || :
	bloomctl_run swap -q -k cards.keyspec -t dir:t -g "$dead"
	assert_failure 83 swap
	bloomctl_run build -k cards.keyspec -t dir:t --capacity 100 \
		-s 'exec:cat small.csv'
	assert_status 0
	assert_stderr_is "bloomctl build: removed abandoned generation '$dead'"
	wait_until gone "$mark"
}

@test "sources: an error in its first rows ends a command that writes and writes" {
	local command
	for command in "yes MARK4" "yes MARK4 & wait" \
		"bash -o pipefail -c 'yes MARK4 | cat'" \
		"echo id,scope; yes MARK4" \
		"trap '' PIPE; echo id,scope; yes MARK4 2>/dev/null || sleep 0.1"; do
		case=$command
		into t -s "exec:$command"
		said 65 "command '"
		assert_lacks "$stderr" MARK4
		wait_until gone MARK4
		cases=$((${cases-0} + 1))
	done
	untouched
	no_wrong 5
}

# --- export ---------------------------------------------------------------

# exported WANT TEXT OPTIONS: on success the bytes are those of small.csv and
# its trailer; else there is no trailer.
exported() {
	local -a words
	eval "words=($3)"
	quick export -t - "${words[@]}" <"${input-/dev/null}"
	stderr=$(sed -n '/^bloomctl export: \|^hint: /p' err)
	if [[ $1 == 0 ]]; then
		{ [[ $status == 0 && -z $stderr ]] && cmp -s out whole.csv; } ||
			wrong "it is not what it should be: $(<out)"
		return
	fi
	! grep -q '^\\\. rows=' out || wrong 'there is a trailer'
	output=
	{ assert_failure "$1" export "$2"; } >why || wrong "$(<why)"
}

@test "sources: export writes the rows as they are, and a trailer only if they are whole" {
	printf 'id,scope\n1\n' >short.csv
	printf 'id,scope\n1,"m\n' >quote.csv
	table exported <<-'END'
		0 :: -s file:small.csv
		0 :: -s file:two.gz
		0 :: -s file:small.zst
		0 :: -s file:whole.csv
		0 :: -s 'exec:cat small.csv'
		0 :: -s 'exec:gzip <whole.csv'
		0 :: -s 'exec:cat small.csv; echo noise >&2'
		74 command 'cat ...': it failed with status 3 :: -s 'exec:cat small.csv; exit 3'
		74 command 'cat ...': it was ended by signal 9 :: -s 'exec:cat small.csv; kill -KILL $$'
		66 command 'cat ...': the shell cannot run it :: -s 'exec:cat small.csv; no-such-command'
		64 command 'cat ...': a pipeline hides :: -s 'exec:cat small.csv | cat'
		65 file 'short.csv': row 1: 1 column where 2 are in the header :: -s file:short.csv
		74 file 'quote.csv': row 1: a quote is never closed :: -s file:quote.csv
		74 file 'front': row 9: the last row has no newline :: -s file:front
		74 standard input: it is empty and has no trailer :: -s -
		66 file 'none.csv': cannot open it :: -s file:none.csv
		66 file '/dev/null': neither a regular file nor a pipe :: -s file:/dev/null
		64 2 sources: one is exported to a pipe at a time :: -s file:small.csv -s file:rows.csv
		64 2 sources: one is exported to a pipe at a time :: -s 'file:*l.csv' -s file:rows.csv
		64 2 sources: one is exported to a pipe at a time :: -s 'exec:cat small.csv' -s 'exec:cat small.csv'
		64 target 'dir:t': no such kind of target of an export :: -s file:small.csv -t dir:t
		64 option --source SOURCE: missing :: -q
	END
	input=whole.csv
	table exported <<-'END'
		0 :: -s -
		0 :: -s file:/dev/stdin
	END
	input=small.gz
	table exported <<-'END'
		74 standard input: it ends without a trailer :: -s -
	END
	bloomctl_run export -s file:small.csv
	assert_failure 64 export 'option --target TARGET: missing'
	untouched
	no_wrong 24
}

@test "sources: export counts rows and not headers, in CSV and COPY text, and its receipt says so" {
	local text='--input-format text --columns id,scope'
	tail -n +2 small.csv >bare.csv
	{ cat small.txt && echo '\.'; } >marked.txt
	sed '1 s/^/id\tscope\n/' small.txt >header.txt
	printf 'id,scope\n"1\n\n2",m\n3,"a\n\\. rows=1 bytes=1 xxh64=0000000000000000\n"\n' \
		>lines.csv
	head -n 1 small.csv >none.csv
	: >empty.txt
	cat small.txt >again.txt
	trailer 20 small.txt >>again.txt
	counted() {
		# shellcheck disable=SC2086 # words
		quick export -q -t - -s "file:$2" $3 --receipt got.json
		{ cat "$2"; trailer "$1" "$2"; } >want
		[[ $2 != again.txt ]] || cp again.txt want
		[[ $status == 0 && -z $stderr ]] && cmp out want ||
			wrong "not its bytes with a trailer of $1 rows"
		assert_json got.json ".rows == $1" '.command == "export"' \
			'.status == 0' ".source.names == \"file:$2\"" ||
			wrong receipt
		# shellcheck disable=SC2086 # words
		quick build -q -k cards.keyspec -t dir:g --capacity 100 -s - \
			$3 --receipt built.json <want
		assert_json built.json '.status == 0' ".rows == $1" ||
			wrong 'build does not take it'
	}
	table counted <<-END
		20 small.csv :: -q
		20 bare.csv :: --columns id,scope
		20 small.csv :: --columns id,scope --header
		21 small.csv :: --columns id,scope
		2 lines.csv :: -q
		0 none.csv :: -q
		20 small.txt :: $text
		20 marked.txt :: $text
		20 header.txt :: --input-format text
		0 empty.txt :: $text
		20 again.txt :: $text
	END
	# Read otherwise than it was written, the numbers of rows differ.
	into t -s - --columns id,scope <whole.csv
	assert_failure 74 build 'its trailer says 20 rows, and 21 were read'
	assert_has "$stderr" 'hint: read it with the row format and the header'
	bloomctl_run export -v -t - -s file:small.csv
	assert_stderr_is 'bloomctl export: 20 rows, 140 bytes'
	bloomctl_run export -q -t - -s 'exec:cat small.csv; exit 3' --receipt got.json
	assert_json got.json '.status == 74' '.message | test("status 3")'
	untouched
	no_wrong 11
}

@test "sources: export whose output cannot be written ends its command, and is 74" {
	local want
	for want in 'No space left' 'Broken pipe' 'Bad file descriptor'; do
		case $want in
		'No space left') quick() { "$BLOOMCTL" "$@" >/dev/full; } ;;
		'Broken pipe') quick() { "$BLOOMCTL" "$@" > >(:); } ;;
		*) quick() { "$BLOOMCTL" "$@" >&-; } ;;
		esac
		for source in 'exec:yes MARK,5' file:small.csv; do
			# A pipe takes what nobody reads.
			[[ $want$source != Broken*file:* ]] || continue
			status=0
			quick export -q -t - -s "$source" 2>err || status=$?
			output='' stderr=$(<err)
			show_run "$want, $source"
			assert_failure 74 export "standard output: $want"
			wait_until gone MARK,5
		done
	done
}

@test "sources: between export and build nothing gets lost, added or changed" {
	local n size filter
	gzip -n <whole.csv >whole.gz
	size=$(stat -c %s whole.csv)
	between() {
		# Nobody looks at the status of what stands in front.
		into t -s - < <("$BLOOMCTL" export -q -t - -s file:small.csv |
			eval "$1" 2>/dev/null)
		case=$1
		cases=$((${cases-0} + 1))
		# Rows that fit no more are seen before the end is.
		[[ $status == 65 && $1 != head* ]] && said 65 'standard input: ' ||
			said 74 'standard input: '
	}
	for ((n = 0; n < size; n += 7)); do
		between "head -c $n"
		between "tail -c +$((n + 2))"
	done
	for ((n = size - 5; n < size; n++)); do
		between "head -c $n"
	done
	while read -r filter; do
		between "$filter"
	done <<-'END'
		tr 7 8
		sed 2d
		sed '2 s/$/ /'
		sed p
		sed '$ d'
		grep -v ,m:3
		sort
		uniq -w 1
		tac
		sed 's/$/\r/'
		tr -d '\n'
		cat - trailer
		cat trailer -
		cat small.csv -
		gzip | head -c 90
		gzip | head -c -1
		zstd -q | head -c -1
		gzip -c | gzip -d | head -c -1
	END
	rm -rf g
	into g -s - < <("$BLOOMCTL" export -q -t - -s file:small.csv | gzip)
	same
	untouched
	no_wrong 60
}

# --- rows -----------------------------------------------------------------

# everywhere WANT TEXT CODE: the file `bytes` that CODE writes is refused by
# build, verify and size, in one pass and in two, with jobs, packed, and as the
# output of a command; $options are for all of them.
everywhere() {
	local -a way
	local folder
	eval "$3" >bytes
	gzip -n <bytes >bytes.gz
	for way in 'build -t dir:t --capacity 100' 'build -n -t dir:t' \
		'build -t dir:t -j 4' 'verify -t dir:t' 'size -j 2'; do
		# shellcheck disable=SC2086 # words
		quick $way -q -k cards.keyspec -s file:bytes ${options-}
		{ assert_failure "$1" "${way%% *}" "file 'bytes': $2" &&
			kept; } >why || wrong "$(<why)"
	done
	# shellcheck disable=SC2086 # words
	into t -s file:bytes.gz ${options-}
	said "$1" "file 'bytes.gz': $2"
	# shellcheck disable=SC2086 # words
	into t -s 'exec:cat bytes' ${options-}
	said "$1" "command 'cat ...': $2"
}

@test "sources: bytes that are something else are named, wherever they come from" {
	table everywhere <<-'END'
		66 it is UTF-16 by its first bytes :: printf '\xff\xfei\0d\0,\0'
		66 it is UTF-16 by its first bytes :: iconv -t UTF-16BE small.csv
		66 it is UTF-16 by its first bytes :: iconv -t UTF-16LE small.csv
		66 it is UTF-32 by its first bytes :: printf '\xff\xfe\0\0i\0\0\0'
		66 it is lz4 by its first bytes :: printf '\x04\x22\x4d\x18xxxx'
		66 it is bzip2 by its first bytes :: printf 'BZh91AY&SYxx'
		66 it is xz by its first bytes :: printf '\xfd7zXZ\0xx'
		66 it is compress by its first bytes :: printf '\x1f\x9d\x90x'
		66 it is a 7z archive by its first bytes :: printf '7z\xbc\xaf\x27\x1cx'
		66 it is a zip archive by its first bytes :: printf 'PK\x05\x06xx'
		66 it is Avro by its first bytes :: printf 'Obj\x01xx'
		66 it is an SQLite database by its first bytes :: printf 'SQLite format 3\0'
		66 it is pg_dump's custom format by its first bytes :: printf 'PGDMPxx'
		66 it is PostgreSQL's binary COPY by its first bytes :: printf 'PGCOPY\n\xff\r\n\0xx'
	END
	untouched
	no_wrong 14
}

@test "sources: rows that do not fit, and ends that are none, in CSV wherever it comes from" {
	table everywhere <<-'END'
		74 no header row: it is empty :: :
		74 header row: the last row has no newline :: printf 'id,scope'
		74 row 2: the last row has no newline :: printf 'id,scope\n1,m\n2,m'
		74 row 2: a quote is never closed :: printf 'id,scope\n1,m\n2,"m\n3,m\n'
		74 row 1: a NUL byte :: printf 'id,scope\n1,\0m\n'
		74 header row: a NUL byte :: printf 'id\0,scope\n1,m\n'
		65 row 2: 3 columns where 2 are in the header :: printf 'id,scope\n1,m\n2,m,\n'
		65 row 2: 1 column where 2 are in the header :: printf 'id,scope\n1,m\n2\n'
		65 row 1: an empty line :: printf 'id,scope\n\n1,m\n'
		65 header row: column 'id' is there twice :: printf 'id,scope,id\n1,m,2\n'
		65 header row: no column 'scope' among the 2 of the header :: printf 'id,Scope\n1,m\n'
		65 header row: no column 'id' :: printf '"id ",scope\n1,m\n'
		65 header row: no column 'id' :: printf 'id;scope\n1;m\n'
	END
	untouched
	no_wrong 13
}

@test "sources: rows that do not fit, and ends that are none, in COPY text wherever it comes from" {
	options='--input-format text --columns id,scope'
	table everywhere <<-'END'
		74 bytes follow the end mark '\.' :: printf '1\tm\n2\tm\n\\.\n3\tm\n'
		74 the last row has no newline :: printf '1\tm\n2\tm'
		74 row 1: a NUL byte :: printf '1\t\0\n'
		65 row 2: 3 columns where 2 are named :: printf '1\tm\n2\tm\tx\n'
		65 row 1: 1 column where 2 are named :: printf '1,m\n'
		65 row 2: field 'id': no key: null :: printf '1\tm\n\\N\tm\n'
	END
	untouched
	no_wrong 6
}

@test "sources: each file has its own header: other orders, other columns, some named twice" {
	sed -n 1,6p small.csv >f1
	awk -F , 'NR == 1 || NR > 6 && NR < 12 { print $2 "," $1 }' small.csv >f2
	awk -F , 'NR == 1 { print "note,id,note,scope" }
		NR > 11 { print "x," $1 ",y," $2 }' small.csv | gzip >f3
	head -n 1 small.csv >f4
	printf 'id,scope,id\n1,m,2\n' >twice
	printf 'scope\n1\n' >lacks
	: >empty
	table from_options <<-'END'
		0 :: -s file:f1 -s file:f2 -s file:f3 -s file:f4
		0 :: -s file:f4 -s file:f3 -s file:f2 -s file:f1 -j 4
		0 :: -s 'exec:cat f1' -s 'exec:cat f2' -s 'exec:cat f3' -j 3
		65 file 'twice': header row: column 'id' is there twice :: -s file:f1 -s file:twice -s file:f3
		65 file 'twice': header row: column 'id' is there twice :: -s file:f1 -s file:twice -s file:f3 -j 4
		65 file 'lacks': header row: no column 'id' among the 1 :: -s file:lacks -s file:f1 -j 2
		74 file 'empty': no header row :: -s file:f1 -s file:empty
		74 command 2 'cat ...': no header row :: -s 'exec:cat f1' -s 'exec:cat empty' -j 2
	END
	tail -n +2 small.csv >bare
	table from_options <<-'END'
		0 :: -s file:bare -s file:empty --columns id,scope
		0 :: -s 'exec:cat bare' -s 'exec::' --columns id,scope -j 2
		0 :: -s file:small.txt -s file:empty --columns id,scope --input-format text -j 4
	END
	untouched
	no_wrong 11
}

@test "sources: a command that is silent does not keep a scan whose other command failed" {
	local way
	mark=86399.$RANDOM$RANDOM
	for way in "exec:sleep $mark|exec:exit 3" "exec:exit 3|exec:sleep $mark"; do
		bloomctl_run build -q -k cards.keyspec -t dir:t --capacity 100 \
			-j 2 -s "${way%|*}" -s "${way#*|}"
		assert_failure 74 build "'exit ...': it failed with status 3"
		wait_until gone "$mark"
	done
	untouched
}
