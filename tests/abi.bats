#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What a program relies on that was linked with libbloomkey, or loads it: the
# names, the numbers, the layout; and that the manual shows the same.
bats_require_minimum_version 1.5.0

load helpers

setup() {
	begin
	root=$(realpath "$BATS_TEST_DIRNAME/..")
	header=$root/lib/bloomkey/bloomkey.h
	map=$root/lib/bloomkey/bloomkey.map
	page=$root/man/bloomkey.3
	shared=$BUILD/libbloomkey.so
	: "${CC:=cc}"
}

need_plain() {
	[[ $VARIANT == plain ]] || skip "what is linked with it is not sanitized"
}

# cc_ok ARGUMENT...: compiles without any warning.
cc_ok() {
	# shellcheck disable=SC2086 # CC may have arguments
	any_run $CC -Wall -Wextra -Wundef -Werror "$@"
	assert_status 0
	assert_stderr_is ''
}

# block KIND NAME: such a block of SPEC.md.
block() {
	sed -n "/^\`\`\`$1 $2\$/,/^\`\`\`\$/p" "$root/lib/bloomkey/SPEC.md" |
		sed '1d; $d' >block
	[[ -s block ]] || fail "SPEC.md has no $1 $2"
	cat block
}

# --- names ----------------------------------------------------------------

# declared HEADER; mapped MAP; exported LIBRARY: function names, sorted.
declared() {
	sed -n '/^typedef/d
		s/^[a-z][^(]*[ *]\(bloomkey_[a-z0-9_]*\)(.*/\1/p' "$1" | sort
}

mapped() {
	sed -n '/global:/,/local:/{ /:$/d; s/^[[:space:]]*//; s/;$//; p; }' \
		"$1" | sort
}

# Those of another version keep it, and so are no name of the others.
exported() {
	nm -D --defined-only "$1" | awk '$2 != "A" {
		if (!sub(/@@BLOOMKEY_1$/, "", $3))
			$3 = $3 " (not BLOOMKEY_1)"
		print $3
	}' | sort
}

# agree HEADER MAP LIBRARY: all three have the same names.
agree() {
	declared "$1" >in-header
	mapped "$2" >in-map
	exported "$3" >in-library
	[[ -s in-header ]] || fail "$1 declares nothing"
	diff in-header in-map && diff in-header in-library
}

# link OUT LINKER-OPTION...: a shared library of the archive's objects.
link() {
	local out=$1
	shift
	# shellcheck disable=SC2086 # CC may have arguments
	any_run $CC -shared -o "$out" "$@" -Wl,--whole-archive \
		"$BUILD/libbloomkey.a" -Wl,--no-whole-archive -lcrypto
}

@test "abi: header, map and library have the same names" {
	need nm binutils
	agree "$header" "$map" "$shared"
}

@test "abi: a name that one of the three lacks, or has alone, is noticed" {
	need nm binutils
	need_plain
	{
		cat "$header"
		echo 'int bloomkey_more(void);'
	} >more.h
	! agree more.h "$map" "$shared" || fail "more.h passed"
	grep -v '^uint64_t bloomkey_seed(' "$header" >less.h
	! agree less.h "$map" "$shared" || fail "less.h passed"

	sed 's/bloomkey_seed;/&\n\t\tbloomkey_more;/' "$map" >more.map
	! agree "$header" more.map "$shared" || fail "more.map passed"
	link more.so -Wl,--version-script=more.map -Wl,--no-undefined-version
	((status != 0)) || fail "more.map could be linked"
	assert_has "$output$stderr" bloomkey_more

	grep -v 'bloomkey_seed;' "$map" >less.map
	link less.so -Wl,--version-script=less.map
	assert_status 0
	! agree "$header" "$map" less.so || fail "less.so passed"

	sed 's/BLOOMKEY_1/BLOOMKEY_2/' "$map" >other.map
	link other.so -Wl,--version-script=other.map
	assert_status 0
	! agree "$header" "$map" other.so || fail "other.so passed"
}

@test "abi: soname, links, and the libraries that it needs" {
	need readelf binutils
	[[ $(readlink "$shared") == libbloomkey.so.1 ]]
	[[ $(readlink "$shared.1") == libbloomkey.so.1.0.0 ]]
	readelf -dW "$shared" >dynamic
	readelf -lW "$shared" >segments
	grep -q 'SONAME.*\[libbloomkey\.so\.1\]$' dynamic
	grep -q BIND_NOW dynamic
	grep -q GNU_RELRO segments
	grep -q 'GNU_STACK.* RW ' segments
	! grep -q TEXTREL dynamic || fail "its code is relocated"
	[[ $VARIANT == plain ]] || return 0
	sed -n 's/.*NEEDED.*\[\(.*\)\]$/\1/p' dynamic >needed
	cat needed
	grep -q '^libcrypto\.so' needed
	! grep -v -e '^libcrypto\.so' -e '^libc\.' -e '^ld-' needed ||
		fail "it needs more than libc and libcrypto"
}

@test "abi: the archive's names are bloomkey_ and bk_, and bk_ stays inside" {
	need nm binutils
	need_plain
	nm -g --defined-only "$BUILD/libbloomkey.a" |
		awk 'NF == 3 { print $3 }' | sort -u >names
	[[ -s names ]]
	! grep -v -e '^bloomkey_' -e '^bk_' names || fail "these are foreign"
	# Within an extension of another language only bloomkey_ is seen.
	link extension.so
	assert_status 0
	nm -D --defined-only extension.so | awk '{ print $3 }' | sort >seen
	declared "$header" | diff - seen
}

# --- numbers and layout -----------------------------------------------------

# frozen: codes that programs were compiled with.  A line is only ever added.
frozen() {
	cat <<-'END'
		BLOOMKEY_OK = 0
		BLOOMKEY_EINVAL = -1
		BLOOMKEY_ENOMEM = -2
		BLOOMKEY_ERANGE = -3
		BLOOMKEY_ESECRET = -4
		BLOOMKEY_EIO = -5
		BLOOMKEY_REJECT_NULL = -10
		BLOOMKEY_REJECT_TOO_LONG = -11
		BLOOMKEY_REJECT_ENCODING = -12
		BLOOMKEY_REJECT_EMPTY = -13
		BLOOMKEY_REJECT_DELIMITER = -14
		BLOOMKEY_REJECT_UUID = -15
		BLOOMKEY_REJECT_INT = -16
		BLOOMKEY_REJECT_DIGITS = -17
		BLOOMKEY_PLACE_ENV = 1
		BLOOMKEY_PLACE_FILE = 2
	END
}

@test "abi: codes keep their numbers" {
	frozen >want
	grep -o '^	BLOOMKEY_[A-Z0-9_]*.*' "$header" |
		sed 's/^	//; s/,.*//' | diff want -
	{
		echo '#include <bloomkey.h>'
		sed 's/ = / == /; s/.*/_Static_assert(&, "&");/' want
		cat <<-'END'
			_Static_assert(BLOOMKEY_MAX == 65535, "");
			_Static_assert(BLOOMKEY_FILTER_MAX == 512, "");
			_Static_assert(BLOOMKEY_FINGERPRINT_LEN == 64, "");
			_Static_assert(BLOOMKEY_CHECK_LEN == 16, "");
			_Static_assert(BLOOMKEY_SECRET_MAX == 65536, "");
		END
	} >codes.c
	cc_ok -std=c11 "-I${header%/*}" -fsyntax-only codes.c
}

@test "abi: structs keep their layout" {
	[[ $(getconf LONG_BIT) == 64 ]] || skip "written for 64 bits"
	cat >layout.c <<-'END'
		#include <bloomkey.h>
		#define AT(s, m, n) \
			_Static_assert(offsetof(struct s, m) == (n), #s "." #m)
		AT(bloomkey_error, line, 0);
		AT(bloomkey_error, text, 4);
		_Static_assert(sizeof(struct bloomkey_error) == 260, "");
		AT(bloomkey_result, len, 0);
		AT(bloomkey_result, hash, 8);
		AT(bloomkey_result, bucket, 16);
		AT(bloomkey_result, field, 24);
		_Static_assert(sizeof(struct bloomkey_result) == 32, "");
	END
	cc_ok -std=c11 "-I${header%/*}" -fsyntax-only layout.c
}

@test "abi: functions keep their types" {
	cat >types.c <<-'END'
		#include <bloomkey.h>
		typedef struct bloomkey_spec spec;
		typedef struct bloomkey_error error;
		int bloomkey_load(const char *, char *(*)(const char *),
			spec **, error *);
		int bloomkey_parse(const void *, size_t,
			int (*)(void *, int, const char *, void *, size_t),
			void *, spec **, error *);
		void bloomkey_free(spec *);
		const char *bloomkey_name(const spec *);
		uint32_t bloomkey_buckets(const spec *);
		uint64_t bloomkey_seed(const spec *);
		const char *bloomkey_fingerprint(const spec *);
		const char *bloomkey_fingerprint_text(const spec *);
		size_t bloomkey_fields(const spec *);
		const char *bloomkey_field_name(const spec *, size_t);
		const char *bloomkey_field_column(const spec *, size_t);
		const char *bloomkey_field_check(const spec *, size_t);
		size_t bloomkey_sentinel(const spec *, const void **);
		int bloomkey_filter(const spec *, uint32_t, char *, size_t);
		int bloomkey_derive(const spec *, const void *const *,
			const size_t *, void *, size_t,
			struct bloomkey_result *);
		uint32_t bloomkey_bucket(const spec *, const void *, size_t,
			uint64_t *);
		const char *bloomkey_reason(int);
	END
	declared types.c | diff <(declared "$header") -
	cc_ok -std=c11 "-I${header%/*}" -fsyntax-only types.c
}

@test "abi: the header stands alone in C99, C11 and C++" {
	local std
	printf '%s\n' '#include "bloomkey.h"' '#include "bloomkey.h"' \
		'int works(void);' \
		'int works(void) { return bloomkey_reason(0) != 0; }' >alone.c
	for std in c99 c11; do
		cc_ok "-std=$std" -pedantic "-I${header%/*}" -c alone.c
	done
	need g++ g++
	any_run g++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror \
		"-I${header%/*}" -c alone.c
	assert_status 0
	nm alone.o | grep -q ' U bloomkey_reason$'
}

# --- the manual -------------------------------------------------------------

@test "abi: bloomkey(3) has every function and every code" {
	sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.F[no] \([a-z0-9_]*\).*/\1/p' \
		"$page" | sort >shown
	declared "$header" | diff - shown
	frozen | grep -v PLACE | sed 's/\(.*\) = \(.*\)/.It Dv \1 Pq \2/' >want
	grep '^\.It Dv BLOOMKEY_' "$page" | diff want -
	grep -q '^\.Dv BLOOMKEY_PLACE_ENV$' "$page"
	grep -q '^\.Dv BLOOMKEY_PLACE_FILE$' "$page"
}

@test "abi: the example of bloomkey(3) gives what bloomctl key gives" {
	sed -n '/^\.\\" file: row\.c$/,/^\.Ed$/p' "$page" | grep -v '^\.' |
		sed 's/\\e/\\/g' >row.c
	cc_ok -std=c11 -pedantic "-I${header%/*}" -c row.c
	need_plain
	cc_ok -o row row.o "$shared" "-Wl,-rpath,$BUILD"
	block keyspec example-cards >cards.keyspec
	any_run ./row
	assert_status 0
	[[ $output =~ ^card:4711:global$'\t'(.*)$ ]]
	local rest=${BASH_REMATCH[1]}
	bloomctl_run key -k cards.keyspec --stdin <<<$'4711\tglobal'
	[[ ${output#*$'\t'} == "$rest" ]]
}

@test "abi: the lines of README.md compile" {
	{
		printf '#include <%s>\n' bloomkey.h stdio.h stdlib.h
		printf '%s\n' 'int main(void)' '{'
		# shellcheck disable=SC2016 # it is Markdown
		sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '1d; $d'
		echo '}'
	} >readme.c
	cc_ok -std=c99 "-I${header%/*}" -c readme.c
	nm readme.o | grep -q ' U bloomkey_derive$'
}

# --- other languages --------------------------------------------------------

@test "abi: Python derives by ctypes, with a callback, what the vectors say" {
	need python3 python3
	[[ $VARIANT == plain ]] || skip "python3 is not sanitized"
	verified python3 "$root/tests/writers/ctypes/writer.py" "$shared"
}
