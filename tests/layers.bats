#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The sources keep to tests/layers, and tests/check-layers sees when they do
# not: every rule is broken once in a small tree.
bats_require_minimum_version 1.5.0

setup() {
	top=$BATS_TEST_DIRNAME/..
	tree=$BATS_TEST_TMPDIR/tree
	mkdir -p "$tree"/{cmd,tests,lib/{base,bloomkey,filter,rows,job}}
	cp "$top/tests/layers" "$tree/tests/"
	echo '#include "lib/job/job.h"' >"$tree/cmd/main.c"
	echo 'int sound;' >"$tree/lib/base/buf.h"
	echo 'int sound;' >"$tree/lib/bloomkey/reject.def"
	echo '#include "lib/base/buf.h"' >"$tree/lib/rows/csv.h"
	echo '#include "lib/rows/csv.h"' >"$tree/lib/job/job.h"
}

check() {
	run --separate-stderr "$top/tests/check-layers" "$tree"
	echo "status $status"
	echo "$output$stderr"
}

# legal FILE LINE
legal() {
	printf '%s\n' "$2" >"$tree/$1"
	check
	((status == 0))
	[[ -z $output ]]
	rm "$tree/$1"
}

# illegal FILE LINE COMPLAINT
illegal() {
	printf 'int first;\n%s\n' "$2" >"$tree/$1"
	check
	((status == 1))
	[[ $output == "$1:2: "*"$3"* ]]
	rm "$tree/$1"
}

@test "layers: the sources keep to the rules" {
	run --separate-stderr "$top/tests/check-layers"
	echo "$output$stderr"
	((status == 0))
	[[ -z $output ]]
}

@test "layers: a sound tree is sound, and one without sources is not" {
	check
	((status == 0))
	[[ -z $output ]]
	rm -r "${tree:?}/cmd" "${tree:?}/lib"
	check
	((status == 1))
}

@test "layers: a folder includes only what its line names" {
	legal lib/job/x.c '#include "lib/rows/csv.h"'
	legal lib/base/x.c '#include "lib/base/buf.h"'
	legal lib/bloomkey/x.c '#include "reject.def"'
	illegal lib/base/x.c '#include "lib/rows/csv.h"' "base may not include"
	illegal lib/rows/x.c '#include "lib/job/job.h"' "rows may not include"
	illegal lib/bloomkey/x.c '#include "lib/base/buf.h"' \
		"bloomkey may not include"
	illegal lib/job/x.h ' #  include "cmd/cmd.h"' "lib includes"
	illegal lib/job/x.c '#include "lib/base/none.h"' "does not exist"
	illegal lib/job/x.c '#include "job2.h"' "not named from the top"
	illegal cmd/x.c '#include "../lib/base/buf.h"' "not named from the top"
	illegal cmd/x.c '#include "cmd/gen/completion.c"' "a .c file"
}

@test "layers: a folder without a line is refused" {
	mkdir "$tree/lib/misc"
	echo 'int x;' >"$tree/lib/misc/x.c"
	check
	((status == 1))
	[[ $output == "lib/misc/x.c:1: "*"no line in"* ]]
	rm -r "$tree/lib/misc"
	echo 'int x;' >"$tree/lib/x.c"
	check
	((status == 1))
	[[ $output == "lib/x.c:1: "*"lib itself"* ]]
}

@test "layers: third parties stay in their folders" {
	legal lib/base/json.h '#include <jansson.h>'
	legal lib/base/sum.c '#include <xxhash.h>'
	legal lib/bloomkey/x.c '#include <openssl/sha.h>'
	legal lib/rows/csv.c '#include <csv.h>'
	legal cmd/x.c '#include <argp.h>'
	illegal lib/rows/x.c '#include <jansson.h>' "belongs to base/json"
	illegal lib/rows/x.c '#include <csv.h>' "belongs to rows/csv"
	illegal lib/filter/x.c '#include <xxhash.h>' "belongs to bloomkey"
	illegal lib/base/x.c '#include <openssl/evp.h>' "belongs to bloomkey"
	illegal lib/job/x.c '#include <argp.h>' "belongs to cmd"
	illegal cmd/x.c '#include <jansson.h>' "belongs to base/json"
}

@test "layers: lib neither prints nor ends the program nor looks around" {
	legal lib/base/log.c 'void f(void) { fputs("x", stderr); }'
	legal lib/base/proc.c 'void f(void) { _exit(127); }'
	legal lib/job/x.c '/* exit(1), printf("x") */ char *s = "exit(1)";'
	legal cmd/x.c 'void f(void) { printf("x"); exit(0); getenv("x"); }'
	illegal lib/job/x.c 'void f(void) { exit(1); }' "end the program"
	illegal lib/job/x.c 'void f(void) { _exit(1); }' "end the program"
	illegal lib/base/log.c 'void f(void) { abort (); }' "end the program"
	illegal lib/job/x.c 'void f(void) { printf("x"); }' "print"
	illegal lib/job/x.c 'void f(void) { fputs("x", stdout); }' "print"
	illegal lib/job/x.c 'char *p = getenv("HOME");' "environment"
	illegal lib/base/log.c 'char *p = getenv("HOME");' "environment"
	illegal lib/job/x.c 'char **p = environ;' "environment"
}

@test "layers: banned calls are found in lib and cmd" {
	local name
	legal cmd/x.c 'void f(void) { snprintf(a, 1, "x"); x.gets(b); }'
	for name in sprintf vsprintf strcpy strcat atoi atol atoll atof \
		sscanf gets strtok alloca; do
		illegal cmd/x.c "void f(void) { $name(a, b); }" "$name() is banned"
		illegal lib/job/x.c "int a = $name (b);" "$name() is banned"
	done
}
