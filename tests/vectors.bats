#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The vectors of SPEC.md: they are what the model makes, lines are only ever
# added, every transform and every reason has one, and SPEC.md's examples are
# among them.
# shellcheck disable=SC2016,SC2094 # other programs' text; block() only reads
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin_vectors
	export PYTHONPATH=$top/scripts
}

# copy_tree: what gen-vectors needs, in tree/.
copy_tree() {
	mkdir -p tree/scripts tree/lib/bloomkey
	cp -r "$top"/scripts/{gen-vectors,bloomkey_model.py,vectors} tree/scripts/
	cp -r "$vectors" tree/lib/bloomkey/
	folder=tree/lib/bloomkey/vectors
}

# check_fails PART...: gen-vectors --check of tree/ ends with 1 and says so.
check_fails() {
	any_run tree/scripts/gen-vectors --check
	assert_status 1
	assert_has "$stderr" "$@"
}

# --- the files ------------------------------------------------------------

@test "vectors: they are what the model makes of them" {
	any_run "$top/scripts/gen-vectors" --check
	assert_status 0
	assert_stdout_is ''
	assert_stderr_is ''
}

@test "vectors: a line that is changed, removed or added is seen" {
	copy_tree
	sed -i '100s/:/;/' "$folder/rows.tsv"
	check_fails 'rows.tsv: line 100 '
	cp "$vectors"/* "$folder/"
	sed -i 50d "$folder/keyspecs.tsv"
	check_fails 'keyspecs.tsv: line 50 '
	cp "$vectors"/* "$folder/"
	sed -i '$d' "$folder/rows.tsv"
	check_fails "rows.tsv: line $(wc -l <"$vectors/rows.tsv") "
	cp "$vectors"/* "$folder/"
	echo >>"$folder/rows.tsv"
	check_fails 'rows.tsv: line '
	rm "$folder/rows.tsv"
	check_fails 'rows.tsv: it is not there'
	cp "$vectors"/* "$folder/"
	rm "$folder/released.tsv"
	check_fails 'released.tsv: it is not there'
}

@test "vectors: what is released neither changes nor goes away" {
	local edit option
	for edit in 's/Ascii: an ordinary value/Ascii: a value/' \
		'/"Ascii: an ordinary value"/d' \
		's/^\(GROUPS = (\)examples, /\1/' \
		's/plain_rows, boundary,/boundary, plain_rows,/'; do
		rm -rf tree
		copy_tree
		sed -i "$edit" tree/scripts/gen-vectors \
			tree/scripts/vectors/groups/keys.py
		any_run diff -r "$top/scripts/vectors" tree/scripts/vectors
		[[ -n $output ]] || any_run diff "$top/scripts/gen-vectors" \
			tree/scripts/gen-vectors
		[[ -n $output ]] || fail "changes nothing: $edit"
		for option in --check --release ''; do
			any_run tree/scripts/gen-vectors ${option:+"$option"}
			assert_status 1
			assert_has "$stderr" 'are released and would change'
		done
		diff -r "$vectors" "$folder" || fail "something was written"
	done
	# Nor when the model makes another thing of them.
	rm -rf tree
	copy_tree
	sed -i 's/^MAX_FILTER = 512/MAX_FILTER = 513/' \
		tree/scripts/vectors/rules.py
	any_run tree/scripts/gen-vectors
	assert_status 1
	copy_tree
	sed -i 's/h ^ h >> 32/h ^ h >> 31/' tree/scripts/vectors/xxh64.py
	any_run tree/scripts/gen-vectors
	assert_status 1
	diff -r "$vectors" "$folder"
}

@test "vectors: new ones are added at the end, and then are released" {
	local file lines
	copy_tree
	cat >>tree/scripts/vectors/groups/odd.py <<-'END'


		def extra():
		    good("extra", "Extra: another one", spec())
		    rows("extra", ("Extra: a row", b"x"))
	END
	sed -i -e 's/^    columns, large,/    columns, extra, large,/' \
		-e 's/odd_input, columns)/odd_input, columns, extra)/' \
		tree/scripts/gen-vectors
	check_fails 'keyspecs.tsv: line '
	any_run tree/scripts/gen-vectors
	assert_status 0
	cmp "$vectors/released.tsv" "$folder/released.tsv"
	for file in keyspecs.tsv rows.tsv; do
		lines=$(wc -l <"$vectors/$file")
		head -n "$lines" "$folder/$file" | cmp - "$vectors/$file"
		(($(wc -l <"$folder/$file") == lines + 1))
	done
	any_run tree/scripts/gen-vectors --check
	assert_status 0
	any_run tree/scripts/gen-vectors --release
	assert_status 0
	any_run cmp -s "$vectors/released.tsv" "$folder/released.tsv"
	assert_status 1
	any_run "$top/scripts/gen-vectors" --check "$folder"
	assert_status 1
}

@test "vectors: released.tsv is what sha256sum and wc say" {
	local file lines sum count=0
	while IFS=$'\t' read -r file lines sum; do
		[[ $file != file ]] || continue
		[[ $(head -n "$lines" "$vectors/$file" | sha256sum) == "$sum  -" ]]
		(($(wc -l <"$vectors/$file") >= lines && lines > 600))
		count=$((count + 1))
	done <"$vectors/released.tsv"
	((count == 2))
}

@test "vectors: the files are as SPEC.md says, and not too large" {
	local file
	for file in keyspecs.tsv rows.tsv; do
		iconv -f UTF-8 -t UTF-8 "$vectors/$file" | cmp - "$vectors/$file"
		[[ $(tail -c 1 "$vectors/$file" | od -An -tx1) == ' 0a' ]]
		(($(grep -c $'\r' "$vectors/$file") == 0))
	done
	# The columns are those of section 10's tables, in order.
	sed -n '/^## 10/,/^## 11/s/^| `\([a-z]*\)` |.*/\1/p' \
		"$top/lib/bloomkey/SPEC.md" >columns
	{
		head -n 1 "$vectors/keyspecs.tsv"
		head -n 1 "$vectors/rows.tsv"
	} | tr '\t' '\n' | diff columns -
	awk -F '\t' 'NF != 9 { exit 1 }' "$vectors/keyspecs.tsv"
	awk -F '\t' 'NF != 8 { exit 1 }' "$vectors/rows.tsv"
	(($(cat "$vectors"/*.tsv | wc -c) < 1600000))
}

# --- what they cover ------------------------------------------------------

# uncovered FOLDER: each transform of SPEC.md and each reason of reject.def
# that has no vector.
uncovered() {
	sed -n '/^## 4/,/^## 5/s/^| `\([a-z][^`:]*\)\(:N\)\{0,1\}` |.*/\1/p' \
		"$top/lib/bloomkey/SPEC.md" >transforms
	sed -n 's/^BLOOMKEY_REJECT_ROW(.*"\(.*\)")$/\1/p' \
		"$top/lib/bloomkey/reject.def" >reasons
	python3 - "$1" <<-'END'
		import re, sys
		def lines(name):
		    with open(f"{sys.argv[1]}/{name}", encoding="utf-8") as file:
		        return [line.rstrip("\n").split("\t") for line in file][1:]
		rows = lines("rows.tsv")
		with_key = {row[0] for row in rows if row[3]}
		seen = {row[7] for row in rows}
		for line in lines("keyspecs.tsv"):
		    if line[4] != "0" or line[0] not in with_key:
		        continue
		    text = bytes.fromhex(line[2])
		    for found in re.findall(rb"(?m)^transform *= *(.*)$", text):
		        seen |= {name.strip(' \t\r"').split(":")[0]
		                 for name in found.decode().split(",")}
		for name in open("transforms").read().split():
		    if name not in seen:
		        print("transform", name)
		for name in open("reasons").read().split():
		    if name not in seen:
		        print("reason", name)
	END
}

@test "vectors: every transform and every reason has one" {
	[[ $(uncovered "$vectors") == '' ]] || fail "$(uncovered "$vectors")"
	(($(wc -l <transforms) >= 10 && $(wc -l <reasons) >= 8))
}

@test "vectors: a transform or a reason without one is seen" {
	local name
	uncovered "$vectors"
	mkdir less
	while read -r name; do
		awk -F '\t' -v name="$name" '$8 != name' "$vectors/rows.tsv" \
			>less/rows.tsv
		cp "$vectors/keyspecs.tsv" less/
		# Where a reason is a transform's too, its keys are still there.
		[[ $(uncovered less) == "reason $name" ]] ||
			[[ $name =~ ^(uuid|int|digits)$ ]] ||
			fail "not seen: reason $name"
	done <reasons
	while read -r name; do
		python3 - "$vectors" "$name" <<-'END'
			import sys
			folder, name = sys.argv[1:]
			with open(f"{folder}/keyspecs.tsv", encoding="utf-8") as file:
			    lines = file.readlines()
			with open("less/keyspecs.tsv", "w", encoding="utf-8") as file:
			    file.writelines(
			        line for line in lines if line.startswith("id\t") or
			        name.encode() not in bytes.fromhex(line.split("\t")[2]))
		END
		awk -F '\t' -v name="$name" '$8 != name' "$vectors/rows.tsv" \
			>less/rows.tsv
		assert_has "$(uncovered less)" "transform $name"
	done <transforms
	# Nor is a keyspec enough that is wrong, or whose rows are all rejected.
	awk -F '\t' 'BEGIN { OFS = FS } NR > 1 { $4 = "" } 1' \
		"$vectors/rows.tsv" >less/rows.tsv
	cp "$vectors/keyspecs.tsv" less/
	assert_has "$(uncovered less)" 'transform trim' 'transform sha256'
}

# --- SPEC.md --------------------------------------------------------------

# block KIND ID: what a fenced block of SPEC.md holds.
block() {
	awk -v head="\`\`\`$1 $2" '$0 == "```" { inside = 0 }
		inside { print }
		$0 == head { inside = 1 }' "$top/lib/bloomkey/SPEC.md"
}

@test "vectors: SPEC.md's examples are among them, and are right" {
	local id cells sum count=0
	export PHONES_SECRET
	PHONES_SECRET=$(printf 0123456789abcdef0123 | od -An -v -tx1 |
		tr -d ' \n')
	while read -r id; do
		block keyspec "$id" >keyspec
		block input "$id" >input
		block output "$id" >output
		[[ -s keyspec && -s input && -s output ]]
		cells=$(grep "^$id"$'\t' "$vectors/keyspecs.tsv")
		# The text of the keyspec.
		[[ $(cut -f 3 <<<"$cells") == \
			$(od -An -v -tx1 keyspec | tr -d ' \n') ]]
		# Its fingerprint, by another program.
		sum=$(block fingerprint "$id" | sha256sum)
		[[ ${sum%% *} == "$(block sha256 "$id")" ]]
		[[ ${sum%% *} == "$(cut -f 6 <<<"$cells")" ]]
		# The rows, and what they become.
		awk -F '\t' -v id="$id" '$1 == id' "$vectors/rows.tsv" >rows
		awk -F '\t' 'BEGIN { OFS = FS }
			{ print $8 ? "!" $8 : $4 OFS $5 OFS $6 OFS $7 }' rows |
			diff output -
		python3 - >values <<-'END'
			import vectors.copytext as model
			for line in open("input", "rb"):
			    print(",".join("-" if value is None else value.hex()
			                   for value in model.read_row(line[:-1])))
		END
		cut -f 3 rows | diff values -
		"$model" keyspec <input | diff output -
		count=$((count + 1))
	done < <(sed -n 's/^```keyspec //p' "$top/lib/bloomkey/SPEC.md")
	((count == 3))
	[[ $(grep '^example-phones' "$vectors/keyspecs.tsv" | cut -f 4) == \
		env:PHONES_SECRET=$(printf %s "$PHONES_SECRET" |
			od -An -v -tx1 | tr -d ' \n') ]]
	[[ $(grep -c '^example-' "$vectors/keyspecs.tsv") == 3 ]]
}

# --- the model ------------------------------------------------------------

@test "vectors: the model's XXH64 is that of the package xxhash" {
	need_xxhash
	"$python" - <<-'END'
		import xxhash
		import vectors.xxh64 as model
		data = bytes(i * 167 + (i >> 3) & 0xFF for i in range(300))
		for seed in (0, 1, 2 ** 32, 2 ** 53 + 1, 2 ** 63, 2 ** 64 - 1):
		    for n in range(301):
		        want = xxhash.xxh64(data[:n], seed).intdigest()
		        assert model.xxh64(data[:n], seed) == want, (n, seed)
	END
}

@test "vectors: the model's UTF-8 is that of Python" {
	python3 - <<-'END'
		import itertools
		import vectors.utf8 as model
		def strict(data):
		    try:
		        data.decode("utf-8", "strict")
		    except UnicodeDecodeError:
		        return False
		    return True
		edges = bytes.fromhex("00417f808f909fa0bfc0c1c2dfe0e1eceded"
		                      "eeeff0f1f3f4f5ff")
		for n in range(5):
		    for each in itertools.product(edges, repeat=n):
		        assert model.is_utf8(bytes(each)) == strict(bytes(each)), each
	END
}

@test "vectors: the model reads what it writes as COPY text" {
	python3 - <<-'END'
		import io
		import random
		import vectors.copytext as model
		rng = random.Random(1)
		for _ in range(5000):
		    rows = [[None if rng.random() < 0.1 else
		             bytes(rng.choices(b"\\Nxnt.07aF\0\t\n\r\b\f\v\xff",
		                               k=rng.randint(0, 6)))
		             for _ in range(3)] for _ in range(2)]
		    text = b"".join(model.write_row(row) + b"\n" for row in rows)
		    assert text.count(b"\n") == 2
		    lines = model.read_lines(io.BytesIO(text))
		    assert [model.read_row(line) for line in lines] == rows, text
	END
}

@test "vectors: the model as a program agrees with them" {
	any_run "$verify" "$model"
	assert_status 0
	assert_stdout_is "verify-writer: $(($(wc -l <"$vectors/rows.tsv") - 1)) rows of $(($(wc -l <"$vectors/keyspecs.tsv") - 1)) keyspecs agree"
	assert_stderr_is ''
}
