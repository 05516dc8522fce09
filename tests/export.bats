#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Exports to files: what is read back is what was written, all of it, or the
# command says what is missing.  Exports to pipes are in sources.bats, faults in
# faults-export.bats.
# shellcheck disable=SC2317 # functions are for table()
bats_require_minimum_version 1.5.0

load helpers

# rows.csv and rows.txt are the same rows; bits of them are in one.
setup_file() {
	begin_file
	need gzip gzip
	need zstd zstd
	need_xxhash
	write_csv rows.csv 1 200
	write_text rows.txt 1 200
	# Large enough to be read in pieces.
	write_text large.txt 1 250000
	bloomctl_ok build -q -k cards.keyspec -t dir:one --capacity 200 \
		-s file:rows.csv
}

setup() {
	begin
	need_xxhash
	cp -a "$BATS_FILE_TMPDIR"/{one,rows.csv,rows.txt} .
	one=$(echo one/*/2*/)
	text='--input-format text --columns id,scope'
}

# same_as FOLDER OPTION...: a build with those options has its bits.
same_as() {
	local folder=$1
	shift
	rm -rf g
	quick build -q -k cards.keyspec -t dir:g --capacity 200 "$@"
	[[ $status == 0 && -z $output$stderr ]] || {
		wrong 'the build did not end well'
		return 0
	}
	assert_same_bits "$folder" g/*/2*/ >why 2>&1 || wrong "$(<why)"
}

# --- what is written ------------------------------------------------------

@test "export: rows and keys, packed or not, are read back as they were" {
	round() {
		local files list
		rm -f x.*
		# shellcheck disable=SC2086 # words
		quick export -t file:x $3
		[[ $status == 0 && -z $stderr ]] || wrong 'the export failed'
		files=$(echo x.*)
		[[ $files == "$2" ]] || wrong "there is $files"
		same_as "$one" -s file:x
		same_as "$one" -s file:x.export.json -j 3
		same_as "$one" -s 'file:x.*'
		list=$(json '.parts[].name' x.export.json)
		same_as "$one" "${list/#/-sfile:}"
	}
	table round <<-END
		0 x.00001.csv.gz x.export.json :: -s file:rows.csv
		0 x.00001.csv x.export.json :: -s file:rows.csv --compress none
		0 x.00001.csv.zst x.export.json :: -s file:rows.csv --compress zstd
		0 x.00001.text.gz x.export.json :: -s file:rows.txt $text
		0 x.00001.text x.export.json :: -s file:rows.txt $text --compress none
		0 x.00001.csv.gz x.export.json :: -s file:rows.csv -k cards.keyspec
		0 x.00001.key.gz x.export.json :: -s file:rows.csv -k cards.keyspec --canonical
		0 x.00001.key x.export.json :: -s file:rows.txt $text -k cards.keyspec --canonical --compress none
		0 x.00001.key.zst x.export.json :: -s file:rows.csv -k cards.keyspec --canonical --compress zstd
	END
	no_wrong 9
}

@test "export: the list says what each file is, and only the owner reads them" {
	cp rows.csv more.csv
	bloomctl_ok export -t file:x -s file:rows.csv -s file:more.csv -j 2 \
		--compress zstd
	[[ $output == "export 'x': 400 rows in 2 files of "*", listed in 'x.export.json'" ]]
	cmp <(zstd -dc x.00001.csv.zst) rows.csv
	cmp <(zstd -dc x.00002.csv.zst) more.csv
	[[ $(stat -c %a x.*) == $'600\n600\n600' ]]
	"$python" - <<-'END'
		import json, os, xxhash
		text = open('x.export.json').read()
		l = json.loads(text)
		assert list(l) == ['format', 'kind', 'packed', 'header', 'columns',
			'set', 'fingerprint', 'rows', 'bytes', 'rejects', 'started',
			'ended', 'source', 'origin', 'horizon', 'parts',
			'checksum'], list(l)
		body = text[:text.rindex(',\n  "checksum"')]
		assert xxhash.xxh64(body).hexdigest() == l['checksum']
		assert l['rows'] == 400 and l['source'] == 'file:rows.csv file:more.csv'
		assert (l['kind'], l['packed'], l['header']) == ('csv', 'zstd', True)
		assert l['set'] is None and l['origin'] is None and l['rejects'] == 0
		assert l['bytes'] == sum(p['bytes'] for p in l['parts'])
		def check(n, p):
		    assert list(p) == ['name', 'rows', 'bytes', 'xxh64']
		    data = open(p['name'], 'rb').read()
		    assert p['name'] == 'x.%05d.csv.zst' % n
		    assert p['bytes'] == len(data) and p['rows'] == 200
		    assert xxhash.xxh64(data).hexdigest() == p['xxh64']
		for n, p in enumerate(l['parts'], 1): check(n, p)
	END
	bloomctl_ok export -q -t file:x -s file:rows.csv --canonical \
		-k cards.keyspec --receipt got.json
	assert_stdout_is ''
	assert_json x.export.json '.kind == "key"' '.set == "cards"' \
		".fingerprint == \"$("$BLOOMCTL" key -k cards.keyspec --fingerprint)\"" \
		'.columns == ["bloom_key"]' '.header == false'
	assert_json got.json '.command == "export"' '.status == 0' \
		'.rows == 200' '.keys == 200' '.set == "cards-a2bfa51c"'
}

@test "export: a text file is exported in pieces, each with its header, by several workers" {
	cp "$BATS_FILE_TMPDIR/large.txt" .
	sed '1 s/^/id\tscope\n/' large.txt >headed.txt
	pieces() {
		rm -f x.* back.*
		# shellcheck disable=SC2086 # words
		quick export -q -t file:x --compress none $3
		(($(json '.parts | length' x.export.json) > 1 &&
			$(json .rows x.export.json) == 250000)) ||
			wrong "$(<x.export.json)"
		cat x.0*.text >back.txt
		[[ $2 != plain ]] || cmp back.txt large.txt || wrong other
		[[ $2 != headed ]] || {
			(($(grep -c '^id' back.txt) == $(json \
				'.parts | length' x.export.json))) || wrong heads
			cmp <(sed '/^id/d' back.txt) large.txt || wrong other
		}
		quick verify -q -k cards.keyspec -t dir:t -g "$built" -s file:x \
			--absent 0 -j 2 || wrong verify
		[[ $status == 0 ]] || wrong 'rows are missing'
	}
	bloomctl_ok build -q -k cards.keyspec -t dir:t -s file:large.txt \
		--input-format text --columns id,scope --receipt built.json
	built=$(json .generation built.json)
	table pieces <<-END
		0 plain :: -s file:large.txt $text -j 2
		0 headed :: -s file:headed.txt --input-format text -j 2
	END
	no_wrong 2
}

# --- keys -----------------------------------------------------------------

@test "export: keys go past the template, whatever bytes are in them" {
	write_keyspec raw.keyspec key='{id}' - <<-'END'
		[field id]
		encoding = bytes
	END
	# All bytes in COPY text; a NUL only as an escape.
	"$python" - <<-'END'
		esc = {8: 'b', 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r', 92: '\\'}
		esc[0] = 'x00'
		line = lambda key: b''.join(b'\\' + esc[c].encode() if c in esc
			else bytes([c]) for c in key) + b'\n'
		keys = [bytes([c]) for c in range(256)] + [bytes(range(256)),
			b'\\.', b'\\N', b'\xef\xbb\xbfx', b'x' * 65535, b' ']
		# Lines that are four times as long, and no end of a buffer.
		keys += [bytes(45000 + n) for n in range(8)] + [bytes(65535)]
		open('odd.txt', 'wb').write(b''.join(line(k) for k in keys))
	END
	bloomctl_ok export -q -t file:x -s file:odd.txt --input-format text \
		--columns id -k raw.keyspec --canonical --compress none
	cmp x.00001.key odd.txt
	keyed() {
		# shellcheck disable=SC2086 # words
		quick build -q -k raw.keyspec -t "dir:$1" --capacity 200 $3
		[[ $status == 0 ]] || wrong build
	}
	table keyed <<-'END'
		rows :: -s file:odd.txt --input-format text --columns id
		list :: -s file:x
		bare :: -s file:x.00001.key --parts any --input-format key
	END
	assert_same_bits rows/*/2*/ list/*/2*/
	assert_same_bits rows/*/2*/ bare/*/2*/
	# A byte order mark is a key's own.
	printf '\\xef\\xbb\\xbfx\n' >mark.txt
	bloomctl_ok export -q -t file:y -s file:mark.txt --input-format text \
		--columns id -k raw.keyspec --canonical --compress none
	[[ $(<y.00001.key) == $'\xef\xbb\xbfx' ]]
	table keyed <<-'END'
		mark :: -s file:mark.txt --input-format text --columns id
		marked :: -s file:y
	END
	assert_same_bits mark/*/2*/ marked/*/2*/
	# The one key of a row is found by its key alone.
	printf '1:m\\t:1\n' >one.key
	bloomctl_ok key -k cards.keyspec --stdin --input-format key <one.key
	assert_has "$output" "$(hex $'1:m\t:1')"
	printf 'card:1:m:1\n' >one.key
	bloomctl_ok key -k cards.keyspec --stdin --input-format key <one.key
	[[ $output == "$(printf '1\tm:1\n' |
		"$BLOOMCTL" key -k cards.keyspec --stdin)" ]]
	no_wrong 5
}

@test "export: keys of another keyspec are refused, and rows that have none" {
	bloomctl_ok export -q -t file:x -s file:rows.csv -k cards.keyspec \
		--canonical
	write_keyspec other.keyspec seed=7
	bloomctl_run build -k other.keyspec -s file:x -t dir:g
	assert_failure 78 build "keyspec 'cards'" "keys of set 'cards'" \
		"$("$BLOOMCTL" key -k cards.keyspec --fingerprint | head -c 12)" \
		"$("$BLOOMCTL" key -k other.keyspec --fingerprint | head -c 12)"
	[[ ! -e g ]]
	printf '%s\n' 'id,scope' '1,m:1' '"",m:1' ',m:1' '2,m:2' >some.csv
	bloomctl_run export -t file:y -s file:some.csv -k cards.keyspec --canonical
	assert_failure 65 export "file 'some.csv': row 2: field 'id': no key: empty"
	[[ $(echo y*) == 'y*' ]]
	bloomctl_run export -t file:y -s file:some.csv -k cards.keyspec \
		--canonical --max-rejects 2 --rejects none.txt --receipt got.json
	assert_status 0
	assert_has "$stderr" '2 rows have no key and were passed over'
	assert_json y.export.json '.rows == 2' '.rejects == 2'
	assert_json got.json '.rows == 4' '.keys == 2' '.rejects.null == 1'
	[[ $(wc -l <none.txt) == 3 && $(gzip -dc y.00001.key.gz | wc -l) == 2 ]]
	# Whoever reads them is told, and so does a copy.
	bloomctl_run export -q -t file:z -s file:y
	assert_status 0
	assert_json z.export.json '.rows == 2' '.rejects == 2'
	bloomctl_run build -k cards.keyspec -s file:y -s file:z -t dir:h
	assert_status 0
	assert_has "$stderr" 'the export lacks 4 rows that have no key, passed over when it was written: only the database answers for them'
	# Rows that are keys can have none, too.
	printf '\\N\n\nx\n' >keys.txt
	bloomctl_run build -k cards.keyspec -t dir:g --input-format key \
		-s file:keys.txt --max-rejects 2 --rejects none.txt --rejects-raw
	assert_status 0
	[[ $(<none.txt) == "source	row	field	reason	bloom_key
file 'keys.txt'	1	\\N	null	\\N
file 'keys.txt'	2	\\N	empty	" ]]
}

@test "export: where a field is keyed only keys are exported, and never its column" {
	export SECRET=0123456789abcdef-HUSH
	write_keyspec keyed.keyspec - <<-'END'
		[field id]
		transform = hmac-sha256
		secret = env:SECRET
	END
	sed 's/^\([0-9]\)/NUMBER\1/' rows.csv >numbers.csv
	for target in file:x -; do
		bloomctl_run export -t "$target" -s file:numbers.csv \
			-k keyed.keyspec --compress none
		assert_status 0
		printf '%s\n' "$output" >>out.txt
	done
	cat x.* >>out.txt
	[[ $(json .kind x.export.json) == key ]]
	assert_lacks "$(<out.txt)" NUMBER HUSH
	bloomctl_ok build -q -k keyed.keyspec -s file:x -t dir:g --capacity 200
	bloomctl_ok build -q -k keyed.keyspec -s file:numbers.csv -t dir:h \
		--capacity 200
	assert_same_bits g/*/2*/ h/*/2*/
	# A list of keys is copied without the keyspec, and says whose they are.
	bloomctl_ok export -q -s file:x -t file:y
	assert_json y.export.json '.kind == "key"' '.set == "cards"' \
		".fingerprint == \"$(json .fingerprint x.export.json)\""
	bloomctl_ok build -q -k keyed.keyspec -s file:y -t dir:i --capacity 200
	assert_same_bits g/*/2*/ i/*/2*/
	SECRET=another-0123456789 bloomctl_run build -k keyed.keyspec -s file:y \
		-t dir:j
	assert_failure 78 build
}

# --- what is missing ------------------------------------------------------

@test "export: a part that is missing, changed, alone or of another export is told" {
	cp rows.csv more.csv
	bloomctl_ok export -q -t file:x -s file:rows.csv -s file:more.csv
	bloomctl_ok export -q -t file:y -s file:rows.csv --compress none
	cp rows.csv z.00001.csv
	mkdir kept
	mv x.* y.* z.* kept
	# One row fewer in a list of one part, its checksum right again.
	fewer() {
		"$python" - "$1" <<-'END'
			import sys, xxhash
			text = open(sys.argv[1]).read()
			body = text[:text.rindex(',\n  "checksum"')]
			body = body.replace('"rows": 200', '"rows": 199')
			open(sys.argv[1], 'w').write(body + ',\n  "checksum": "%s"\n}\n'
				% xxhash.xxh64(body).hexdigest())
		END
	}
	changed() {
		local code=${3%% -- *} words
		rm -rf w.* x x.* y.* z.*
		cp kept/* .
		eval "$code"
		eval "words=(${3#* -- })"
		quick build -k cards.keyspec -t dir:g "${words[@]}"
		{ assert_failure "$1" build "$2"; } >why || wrong "$(<why)"
		[[ $(echo g/*/2*/) == 'g/*/2*/' || -z $(find g -name '*.bloom') ]] ||
			wrong 'filters are left'
	}
	table changed <<-'END'
		74 file 'x.00002.csv.gz': it is not there, and its list says that it is :: rm x.00002.csv.gz -- -s file:x
		74 file 'y.00001.csv': 1 :: echo >>y.00001.csv -- -s file:y
		74 file 'y.00001.csv': its checksum is not that of its list :: flip y.00001.csv 9 -- -s file:y
		74 file 'x.00001.csv.gz': :: flip x.00001.csv.gz 200 -- -s file:x
		74 file 'y.00001.csv': its checksum is not that of its list :: sed -i 's/^7,/8,/' y.00001.csv -- -s file:y
		74 file 'y.00001.csv': its list says 199 rows, and 200 were read :: fewer y.export.json -- -s file:y
		66 file 'x.export.json': it lists 2 parts, and 1 of them is named :: : -- -s file:x.00001.csv.gz
		66 file 'x.export.json': it lists 2 parts, and 0 of them are named :: : -- -s 'file:x.exp*'
		66 file 'x.00003.csv.gz': it is not in the list 'x.export.json' :: cp x.00001.csv.gz x.00003.csv.gz -- -s 'file:x.*'
		66 file 'x.00001.csv': it is not in the list 'x.export.json' :: cp rows.csv x.00001.csv -- -s 'file:x.*'
		74 file 'x.export.json': damaged :: flip x.export.json 30 -- -s file:x
		74 file 'x.export.json': cut off at 100 bytes :: truncate -s 100 x.export.json -- -s file:x
		74 file 'x.export.json': cut off at 0 bytes :: : >x.export.json -- -s 'file:x.0*'
		66 file 'x.export.json': not a regular file :: rm x.export.json; mkdir x.export.json -- -s file:x
		66 file 'x.00001.csv.gz': the export that it is a part of has not ended :: mv x.export.json x.export.json.tmp -- -s 'file:x.*'
		66 file 'x.00001.csv.gz.tmp': the export that it is a part of has not ended :: mv x.00001.csv.gz x.00001.csv.gz.tmp -- -s file:x.00001.csv.gz.tmp
		66 file 'x': the export to that path has not ended :: mv x.export.json x.export.json.tmp -- -s file:x
		66 file 'w': cannot open it :: : -- -s file:w
		64 file 'x': it is there, and so is the list of an export to that path :: cp rows.csv x -- -s file:x
		74 file 'w.export.json': it is the list of an export to 'x', and has another name :: cp x.export.json w.export.json -- -s file:w
		66 file 'w.export.json': No such file :: : -- -s file:w.export.json
		66 no file matches 'x.*' :: rm x.export.json; mv x.00001.csv.gz x.00001.csv.gz.tmp; rm x.00002.csv.gz -- -s 'file:x.*'
		64 file 'z.00001.csv': it is no part of an export, and other files of the source are :: : -- -s file:y -s file:z.00001.csv
		64 files 'x.export.json' and 'k.export.json': exports of different rows :: "$BLOOMCTL" export -q -s file:rows.csv -k cards.keyspec --canonical -t file:k -- -s file:x -s file:k
		64 file 'x.export.json' is named twice :: : -- -s file:x -s file:x.export.json
		64 are the same :: : -- -s file:x -s file:x.00001.csv.gz
		66 file 'z.00001.csv': there is no list of its export :: : -- -s file:z.00001.csv --parts bloomctl
		66 file 'rows.csv': it has not the name of a part :: : -- -s file:rows.csv --parts bloomctl
		64 file 'x.export.json' is the list of an export, and --parts any reads none :: : -- -s file:x --parts any
		64 option --input-format: the list of the export says :: : -- -s file:x --input-format csv
		64 option --columns: the list of the export says :: : -- -s file:x --columns id,scope
		64 option --header: the list of the export says :: : -- -s file:x --header
		64 option --columns: keys are COPY text of one column :: : -- -s file:rows.csv --input-format key --columns id
		64 option --parts: it is for files :: : -- -s 'exec:cat rows.csv' --parts any
		64 option --parts: it is for files :: : -- -s - --parts bloomctl
		64 option --null: keys are COPY text of one column :: : -- -s file:rows.csv --input-format key --null x
	END
	no_wrong 34
	# As they are, they are files like others.
	cp kept/* .
	same_as "$one" -s file:x.00001.csv.gz --parts any
	same_as "$one" -s 'file:y.*' --parts any
	same_as "$one" -s file:z.00001.csv
	same_as "$one" -s file:y --parts bloomctl
	# A path is more than what stands at it, or looks like a pattern.
	cp more.csv y
	same_as "$one" -s file:y --parts any
	same_as "$one" -s file:y --parts bloomctl
	same_as "$one" -s file:y.export.json
	rm y
	mkdir y
	same_as "$one" -s file:y
	bloomctl_ok export -q -t 'file:[y]*' -s file:rows.csv
	same_as "$one" -s 'file:[y]*'
	# A list knows better than settings that are for all sources.
	export BLOOMCTL_INPUT_FORMAT=key BLOOMCTL_HEADER=no
	same_as "$one" -s 'file:[y]*'
	unset BLOOMCTL_INPUT_FORMAT BLOOMCTL_HEADER
	no_wrong 34
}

# --- one export after another ---------------------------------------------

@test "export: it replaces an earlier one, and leaves files of others alone" {
	cp rows.csv more.csv
	bloomctl_ok export -q -t file:x -s file:rows.csv -s file:more.csv
	cp rows.csv x.notes.csv
	bloomctl_ok export -q -t file:x -s file:rows.csv --compress zstd
	[[ $(echo x.*) == 'x.00001.csv.zst x.export.json x.notes.csv' ]]
	same_as "$one" -s file:x
	# One whose source fails leaves it.
	sha256sum x.* >was
	bloomctl_run export -t file:x -s 'exec:cat rows.csv; exit 3'
	assert_failure 74 export "command 'cat ...': it failed with status 3"
	sha256sum --quiet -c was
	[[ $(echo x.*) == 'x.00001.csv.zst x.export.json x.notes.csv' ]]
	# A file that no list knows stands in the way.
	cp rows.csv x.00007.csv
	bloomctl_run export -t file:x -s file:rows.csv
	assert_failure 74 export \
		"file 'x.00007.csv': it is there, and no list says that an export wrote it"
	sha256sum --quiet -c was
	cmp x.00007.csv rows.csv
	rm x.00007.csv
	# As does a list that is none.
	echo x >x.export.json
	bloomctl_run export -t file:x -s file:rows.csv
	assert_failure 74 export "file 'x.export.json': cut off"
	[[ $(<x.export.json) == x && ! -e x.export.json.tmp ]]
	# What is there becomes of the sort that is asked for.
	mkdir -p a/b
	bloomctl_ok export -q -t file:a/b/x -s file:rows.csv
	[[ $(ls a/b) == $'x.00001.csv.gz\nx.export.json' ]]
	same_as "$one" -s "file:$PWD/a/b/x"
	no_wrong 0
}

@test "export: what others have put in its way is not written to, nor removed" {
	local name
	bloomctl_ok export -q -t file:y -s file:rows.csv --compress none
	sha256sum y.* >was
	# A mark that is another file, or leads to one.
	for name in hard soft pipe; do
		rm -f x.*
		case $name in
		hard) ln y.00001.csv x.export.json.tmp ;;
		soft) ln -s y.00001.csv x.export.json.tmp ;;
		pipe) mkfifo x.export.json.tmp ;;
		esac
		bloomctl_run export -t file:x -s file:rows.csv
		assert_failure 74 export "file 'x.export.json.tmp': "
		[[ $(echo x.*) == x.export.json.tmp ]]
	done
	rm x.*
	# Lists that are copies of another's, or that no run that died left.
	for name in x.export.json.tmp x.export.json.old; do
		cp y.export.json "$name"
		bloomctl_ok export -q -t file:x -s file:rows.csv
		[[ $(echo x.*) == 'x.00001.csv.gz x.export.json' ]]
		rm x.*
	done
	bloomctl_ok export -q -t file:x -s file:rows.csv
	mv x.export.json x.export.json.old
	bloomctl_run export -t file:x -s file:rows.csv
	assert_failure 74 export "file 'x.00001.csv.gz': it is there, and no list"
	[[ $(echo x.*) == 'x.00001.csv.gz x.export.json.old' ]]
	cp y.export.json x.export.json
	bloomctl_run export -t file:x -s file:rows.csv
	assert_failure 74 export "file 'x.export.json': it is the list of an export to 'y'"
	# What appears while rows are read.
	rm x.*
	mkfifo gate
	"$BLOOMCTL" export -t file:x -s 'exec:cat gate' -s 'exec:cat rows.csv' \
		2>said 3>&- &
	first=$!
	exec 7>gate
	printf 'id,scope\n' >&7
	wait_until test -e x.00001.csv.gz.tmp
	ln y.00001.csv x.00002.csv.gz.tmp
	exec 7>&-
	wait "$first" && fail 'it wrote to what is not its own'
	assert_has "$(<said)" "file 'x.00002.csv.gz.tmp': cannot make it: File exists"
	sha256sum --quiet -c was
}

@test "export: two do not write to one path at a time" {
	mkfifo gate
	"$BLOOMCTL" export -q -t file:x -s 'exec:cat gate' 3>&- &
	first=$!
	exec 7>gate
	printf 'id,scope\n' >&7
	wait_until test -e x.00001.csv.gz.tmp
	[[ $(stat -c %a x.00001.csv.gz.tmp) == 600 ]]
	bloomctl_run export -t file:x -s file:rows.csv
	assert_failure 82 export "target 'file:x': another export is writing there"
	[[ -e x.00001.csv.gz.tmp ]]
	# Nobody takes for rows what is not whole.
	bloomctl_run build -k cards.keyspec -t dir:g -s 'file:x.*'
	assert_failure 66 build "no file matches 'x.*'"
	# Somebody else's by its name is not removed when the export ends.
	cp rows.csv x.00009.csv
	tail -n +2 rows.csv >&7
	exec 7>&-
	wait "$first"
	same_as "$one" -s file:x
	[[ $(echo x.*) == 'x.00001.csv.gz x.00009.csv x.export.json' ]]
	cmp rows.csv x.00009.csv
	no_wrong 0
}

@test "export: one that is stopped leaves nothing, and one that is killed no export" {
	local signal name
	mkfifo gate
	for signal in TERM KILL; do
		"$BLOOMCTL" export -q -t file:x -s 'exec:cat gate' 3>&- &
		first=$!
		exec 7>gate
		printf 'id,scope\n' >&7
		wait_until test -e x.00001.csv.gz.tmp
		kill -"$signal" "$first"
		wait "$first" || :
		exec 7>&-
		name=$(echo x.*)
		[[ $signal != TERM || $name == 'x.*' ]]
	done
	[[ $name == 'x.00001.csv.gz.tmp x.export.json.tmp' ]]
	bloomctl_run build -k cards.keyspec -t dir:g -s file:x
	assert_failure 66 build "file 'x'"
	# The next one clears up.
	bloomctl_ok export -q -t file:x -s file:rows.csv --compress none
	[[ $(echo x.*) == 'x.00001.csv x.export.json' ]]
	same_as "$one" -s file:x
	no_wrong 0
}

@test "export: what is asked for wrongly is told" {
	local long
	printf -v long '%0250d' 0
	asked() {
		local words
		eval "words=($3)"
		quick export -s file:rows.csv "${words[@]}"
		{ assert_failure "$1" export "$2"; } >why || wrong "$(<why)"
	}
	write_keyspec other.keyspec key='{other}'
	table asked <<-END
		64 target 'file:': it names a folder and no files :: -t file:
		64 target 'file:none/': it names a folder and no files :: -t file:none/
		64 target 'file:.': it names a folder and no files :: -t file:.
		64 target 'file:../..': it names a folder and no files :: -t file:../..
		64 target 'file:x.export.json': it names a list :: -t file:x.export.json
		66 target 'file:none/x': folder 'none': No such file or directory :: -t file:none/x
		66 target 'file:rows.csv/x': folder 'rows.csv': Not a directory :: -t file:rows.csv/x
		64 target 'file:$long': its name is too long :: -t file:$long
		64 its name has control characters, or is no text of UTF-8 :: -t \$'file:\\xff'
		64 its name has control characters, or is no text of UTF-8 :: -t \$'file:a\\nb'
		64 option --canonical: it needs --keyspec :: -t file:x --canonical
		64 option --input-format key: it needs --keyspec :: -t file:x --input-format key
		64 option --output-format: it is for a database :: -t file:x --output-format csv
		64 option --output-format: keys are always written as COPY text :: -t file:x --output-format csv --canonical -k cards.keyspec
		64 option --max-rejects: it is for an export of keys :: -t file:x --max-rejects 1
		64 option --null: it is for an export of keys :: -t file:x --null x
		64 option --jobs: a pipe is written by one worker :: -t - -j 2
		64 option --compress: 'gz' :: -t file:x --compress gz
		64 option --table: it is for a database :: -t file:x --table cards
		64 column 2: its name is no text of UTF-8, and the list of an export must have it :: -t file:x --columns \$'id,\\xff'
		65 no column 'other' :: -t file:x -k other.keyspec
		66 file 'none': cannot open it :: -t file:x -s file:none
	END
	mkdir x.export.json.tmp
	table asked <<-'END'
		74 file 'x.export.json.tmp': cannot make it :: -t file:x
	END
	no_wrong 23
	[[ $(echo x.*) == 'x.export.json.tmp' ]]
}
