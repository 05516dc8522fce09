#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Writers in other languages, written by SPEC.md alone, with their own packages
# of xxHash: scripts/verify-writer finds them right, and each broken copy of them
# wrong.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	here=$BATS_TEST_DIRNAME
	verify=$here/../scripts/verify-writer
	# Where Debian has the packages of JavaScript.
	export NODE_PATH=/usr/share/nodejs NODE_NO_WARNINGS=1
}

need_javascript() {
	need node nodejs
	node -e 'require("xxhashjs")' 2>/dev/null ||
		fail "node has no xxhashjs: scripts/install-deps installs" \
			"Debian's node-xxhashjs"
}

# caught LANGUAGE FILE INTERPRETER CHECK...: each broken copy of the writer is
# caught, and is a program that CHECK takes.  broken.tsv says for each mistake
# its name, the edit that makes it, and a keyspec whose vectors show it.
caught() {
	local language=$1 file=$2 interpreter=$3 name edit id count=0
	shift 3
	while IFS=$'\t' read -r name edit id; do
		cp "$here/writers/$language/$file" "$file"
		sed -E -i -e "$edit" "$file"
		! cmp -s "$here/writers/$language/$file" "$file" ||
			fail "$name: the edit changes nothing"
		"$@" "$file" || fail "$name: the copy is no program"
		any_run "$verify" --only "$id" "$interpreter" "$file"
		((status == 1)) || fail "$name: not caught"
		count=$((count + 1))
	done <"$here/writers/$language/broken.tsv"
	((count >= 12)) || fail "only $count broken copies"
}

@test "languages: the Python writer answers every vector" {
	need_xxhash
	verified "$python" "$here/writers/python/writer.py"
}

@test "languages: the JavaScript writer answers every vector" {
	need_javascript
	verified node "$here/writers/javascript/writer.js"
}

@test "languages: every broken copy of the Python writer is caught" {
	need_xxhash
	caught python writer.py "$python" "$python" -m py_compile
}

@test "languages: every broken copy of the JavaScript writer is caught" {
	need_javascript
	caught javascript writer.js node node --check
}
