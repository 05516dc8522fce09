/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/trailer.h"

#include "tests/unit/rows/rows.h"

#define HEX "0123456789abcdef"

static void formats(void)
{
	static const struct trailer none = {0, 0, 0};
	static const struct trailer small = {2, 8,
					     UINT64_C(0x0123456789abcdef)};
	static const struct trailer most = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	char out[TRAILER_MAX + 1];

	CHECK_U64(trailer_format(&none, out), strlen(out));
	CHECK_STR(out, "\\. rows=0 bytes=0 xxh64=0000000000000000\n");
	CHECK_U64(trailer_format(&small, out), strlen(out));
	CHECK_STR(out, "\\. rows=2 bytes=8 xxh64=" HEX "\n");
	CHECK_U64(trailer_format(&most, out), strlen(out));
	CHECK_STR(out, "\\. rows=18446744073709551615 "
		       "bytes=18446744073709551615 xxh64=ffffffffffffffff\n");
	/* A stream holds back one byte more than the longest. */
	CHECK_U64(strlen(out), TRAILER_MAX - 1);
}

/* The same bytes in memory of their own size, so that a byte too far shows. */
static size_t find(const char *data, size_t len, struct trailer *out)
{
	char *copy = malloc(len > 0 ? len : 1);
	size_t found;

	if (copy == NULL)
		abort();
	memcpy(copy, data, len);
	found = trailer_find(copy, len, out);
	free(copy);
	return found;
}

static void finds(void)
{
	static const struct trailer most = {UINT64_MAX, UINT64_MAX - 9,
					    UINT64_MAX};
	struct trailer t = {1, 1, 1};
	char text[TRAILER_MAX + 1];
	char long_row[300];
	size_t len;

	CHECK_U64(find(BYTES("a\nb\n\\. rows=2 bytes=4 xxh64=" HEX "\n"), &t),
		  41);
	CHECK_U64(t.rows, 2);
	CHECK_U64(t.bytes, 4);
	CHECK_U64(t.xxh64, UINT64_C(0x0123456789abcdef));
	/* It may be all there is. */
	CHECK_U64(find(BYTES("\\. rows=0 bytes=10 xxh64=" HEX "\n"), &t), 42);
	CHECK_U64(t.rows, 0);
	CHECK_U64(t.bytes, 10);
	len = trailer_format(&most, text);
	CHECK_U64(find(text, len, &t), len);
	CHECK(memcmp(&t, &most, sizeof(t)) == 0);
	memset(long_row, 'x', sizeof(long_row));
	for (size_t at = 0; at < sizeof(long_row) - len; at++) {
		memcpy(long_row + at, text, len);
		long_row[at > 0 ? at - 1 : 0] = at > 0 ? '\n' : '\\';
		CHECK_U64(find(long_row, at + len, &t), len);
		if (at == 0)
			continue;
		long_row[at - 1] = 'x';
		CHECK_U64(find(long_row, at + len, &t), 0);
	}
}

static const struct {
	const char *claim;
	const char *text;
	size_t len;
} no_trailers[] = {
	{"nothing", BYTES("")},
	{"a newline", BYTES("\n")},
	{"an end mark", BYTES("\\.\n")},
	{"no newline", BYTES("\\. rows=1 bytes=1 xxh64=" HEX)},
	{"bytes behind", BYTES("\\. rows=1 bytes=1 xxh64=" HEX "\nx")},
	{"an empty line behind", BYTES("\\. rows=1 bytes=1 xxh64=" HEX "\n\n")},
	{"glued to a row", BYTES("a\\. rows=1 bytes=1 xxh64=" HEX "\n")},
	{"glued to a CR", BYTES("a\r\\. rows=1 bytes=1 xxh64=" HEX "\n")},
	{"CRLF", BYTES("\\. rows=1 bytes=1 xxh64=" HEX "\r\n")},
	{"a space behind", BYTES("\\. rows=1 bytes=1 xxh64=" HEX " \n")},
	{"a space before", BYTES(" \\. rows=1 bytes=1 xxh64=" HEX "\n")},
	{"two spaces", BYTES("\\. rows=1  bytes=1 xxh64=" HEX "\n")},
	{"a tab", BYTES("\\.\trows=1 bytes=1 xxh64=" HEX "\n")},
	{"no backslash", BYTES(". rows=1 bytes=1 xxh64=" HEX "\n")},
	{"upper case", BYTES("\\. ROWS=1 bytes=1 xxh64=" HEX "\n")},
	{"upper-case digits",
	 BYTES("\\. rows=1 bytes=1 xxh64=0123456789ABCDEF\n")},
	{"no digit", BYTES("\\. rows=1 bytes=1 xxh64=0123456789abcdeg\n")},
	{"a NUL digit", BYTES("\\. rows=1 bytes=1 xxh64=0123456789abcde\0\n")},
	{"no sum's digits", BYTES("\\. rows=1 bytes=1 xxh64=\n")},
	{"15 digits", BYTES("\\. rows=1 bytes=1 xxh64=0123456789abcde\n")},
	{"17 digits", BYTES("\\. rows=1 bytes=1 xxh64=" HEX "0\n")},
	{"a sign", BYTES("\\. rows=+1 bytes=1 xxh64=" HEX "\n")},
	{"a minus", BYTES("\\. rows=1 bytes=-1 xxh64=" HEX "\n")},
	{"a leading zero", BYTES("\\. rows=01 bytes=1 xxh64=" HEX "\n")},
	{"two zeros", BYTES("\\. rows=1 bytes=00 xxh64=" HEX "\n")},
	{"no number", BYTES("\\. rows= bytes=1 xxh64=" HEX "\n")},
	{"no bytes", BYTES("\\. rows=1 xxh64=" HEX "\n")},
	{"no sum", BYTES("\\. rows=1 bytes=1\n")},
	{"another order", BYTES("\\. bytes=1 rows=1 xxh64=" HEX "\n")},
	{"a number too large",
	 BYTES("\\. rows=18446744073709551616 bytes=1 xxh64=" HEX "\n")},
	{"a much larger one",
	 BYTES("\\. rows=1 bytes=99999999999999999999 xxh64=" HEX "\n")},
	{"21 digits",
	 BYTES("\\. rows=100000000000000000000 bytes=1 xxh64=" HEX "\n")},
	{"a line too long",
	 BYTES("\\. rows=18446744073709551615 bytes=18446744073709551615 "
	       "xxh64=" HEX "  \n")},
};

#define NO_TRAILERS (sizeof(no_trailers) / sizeof(no_trailers[0]))

static void finds_none(void)
{
	for (size_t i = 0; i < NO_TRAILERS; i++) {
		struct trailer t = {7, 8, 9};
		size_t len = no_trailers[i].len;

		if (find(no_trailers[i].text, len, &t) != 0)
			unit_fail(__FILE__, __LINE__, no_trailers[i].claim);
		CHECK(t.rows == 7 && t.bytes == 8 && t.xxh64 == 9);
	}
}

int main(void)
{
	UNIT(formats, "trailer: one is written");
	UNIT(finds, "trailer: one is found at the end, behind a newline");
	UNIT(finds_none, "trailer: nothing else is one");
	return unit_end();
}
