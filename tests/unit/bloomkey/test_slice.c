/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/bloomkey/internal.h"
#include "tests/unit/unit.h"

/* A slice whose memory ends where it does. */
static struct bk_slice exact(const char *text, char **owner)
{
	size_t len = strlen(text);

	*owner = malloc(len > 0 ? len : 1);
	if (*owner == NULL)
		abort();
	memcpy(*owner, text, len);
	return (struct bk_slice){*owner, len};
}

static void check_number(const char *file, int at, const char *text,
			 uint64_t min, uint64_t max, bool good, uint64_t is)
{
	uint64_t n = 77;
	char *owner;
	bool got = bk_slice_number(exact(text, &owner), min, max, &n);

	if (got != good || (good && n != is))
		unit_fail(file, at, text);
	free(owner);
}

#define NUMBER(text, min, max, is) \
	check_number(__FILE__, __LINE__, text, min, max, true, is)
#define NONE(text, min, max) \
	check_number(__FILE__, __LINE__, text, min, max, false, 0)

static void numbers(void)
{
	NUMBER("0", 0, 9, 0);
	NUMBER("7", 7, 7, 7);
	NUMBER("65535", 1, 65535, 65535);
	NUMBER("18446744073709551615", 0, UINT64_MAX, UINT64_MAX);
	NONE("", 0, 9);
	NONE("00", 0, 9);
	NONE("07", 0, 9);
	NONE("0", 1, 9);
	NONE("10", 1, 9);
	NONE("6", 7, 7);
	NONE("8", 7, 7);
	NONE("65536", 1, 65535);
	NONE("18446744073709551616", 0, UINT64_MAX);
	NONE("18446744073709551620", 0, UINT64_MAX);
	NONE("184467440737095516150", 0, UINT64_MAX);
	NONE("-1", 0, 9);
	NONE("+1", 0, 9);
	NONE(" 1", 0, 9);
	NONE("1 ", 0, 9);
	NONE("/", 0, 9);
	NONE(":", 0, 9);
	NONE("1a", 0, 99);
}

static void check_take(const char *file, int at, const char *text,
		       const char *prefix, const char *rest)
{
	char *owner;
	struct bk_slice s = exact(text, &owner);
	bool took = bk_slice_take(&s, prefix);
	const char *left = took ? rest : text;

	if (took != (rest != NULL) || s.len != strlen(left) ||
	    memcmp(s.data, left, s.len) != 0)
		unit_fail(file, at, text);
	free(owner);
}

#define TAKES(text, prefix, rest) \
	check_take(__FILE__, __LINE__, text, prefix, rest)
#define LEAVES(text, prefix) check_take(__FILE__, __LINE__, text, prefix, NULL)

static void prefixes(void)
{
	TAKES("first:8", "first:", "8");
	TAKES("first:", "first:", "");
	TAKES("first:first:", "first:", "first:");
	LEAVES("first", "first:");
	LEAVES("", "first:");
	LEAVES("First:8", "first:");
	LEAVES(" first:8", "first:");
}

static void blanks(void)
{
	static const char text[] = " \t x \f\t ";
	struct bk_slice s =
		bk_slice_trim((struct bk_slice){text, sizeof(text) - 1});

	CHECK(bk_slice_is(s, "x \f"));
	CHECK(!bk_slice_is(s, "x "));
	CHECK(!bk_slice_is(s, "x \f "));
	CHECK_U64(bk_slice_trim((struct bk_slice){" \t ", 3}).len, 0);
	CHECK_U64(bk_slice_trim((struct bk_slice){"", 0}).len, 0);
}

int main(void)
{
	UNIT(numbers, "slice: a number has no sign, no leading zero, a range");
	UNIT(prefixes, "slice: a prefix is taken whole or not at all");
	UNIT(blanks, "slice: blanks at the ends are space and TAB");
	return unit_end();
}
