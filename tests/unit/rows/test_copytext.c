/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/copyscan.h"
#include "tests/unit/rows/rows.h"

static const char *const names_a[] = {"a", NULL};
static const char *const names_ab[] = {"a", "b", NULL};
static const char *const names_abc[] = {"a", "b", "c", NULL};
static const char *const wanted_ba[] = {"b", "a", NULL};
static const char *const wanted_ca[] = {"c", "a", NULL};

#define ONE(claim, in, out)                             \
	{                                               \
		claim, BYTES(in), out, .names = names_a \
	}
#define TWO(claim, in, out)                                                   \
	{                                                                     \
		claim, BYTES(in), out, .names = names_ab, .wanted = wanted_ba \
	}

#define HEADED(claim, in, out)                       \
	{                                            \
		claim, BYTES(in), out, .names = NULL \
	}

static void escapes(void)
{
	static const struct rows_case cases[] = {
		ONE("letters", "\\b\\f\\n\\r\\t\\v\n",
		    "1 <\\08\\0c\\0a\\0d\\09\\0b>\n"),
		ONE("octal, 1 to 3 digits", "\\1|\\12|\\123|\\1234|\\777\n",
		    "1 <\\01|\\0a|S|S4|\\ff>\n"),
		ONE("octal stops at 8", "\\18\\8\n", "1 <\\0188>\n"),
		ONE("octal zero", "a\\000b\n", "1 <a\\00b>\n"),
		ONE("hex, 1 or 2 digits", "\\x9|\\x4a|\\x4A|\\x4ab|\\xZ\\x\n",
		    "1 <\\09|J|J|Jb|xZx>\n"),
		ONE("any other is itself", "\\q\\\\\\\"\\'\\N\\M\n",
		    "1 <q\\5c\"'NM>\n"),
		ONE("an escaped newline is data", "a\\\nb\nc\n",
		    "1 <a\\0ab>\n2 <c>\n"),
		ONE("runs of backslashes", "a\\\\\nb\\\\\\\nc\\\\\\\\\n",
		    "1 <a\\5c>\n2 <b\\5c\\0ac\\5c\\5c>\n"),
		TWO("an escaped tab is data", "a\\\tb\tc\n",
		    "1 <c> <a\\09b>\n"),
		TWO("escapes in an unwanted place", "\\t\t\\\\N\n",
		    "1 <\\5cN> <\\09>\n"),
		ONE("bytes above 127", "\xc3\xa4\xff\\377\n",
		    "1 <\\c3\\a4\\ff\\ff>\n"),
		ONE("spaces and quotes are data", "  \"a\" , \n",
		    "1 <\\20\\20\"a\"\\20,\\20>\n"),
		ONE("an escaped CR is data", "a\\\r\nb\\\rc\n",
		    "1 <a\\0d>\n2 <b\\0dc>\n"),
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void nulls(void)
{
	static const struct rows_case cases[] = {
		ONE("the whole field", "\\N\nN\n\\\\N\n\\Nx\n",
		    "1 ~\n2 <N>\n3 <\\5cN>\n4 <Nx>\n"),
		TWO("empty is not NULL", "\t\\N\n", "1 ~ <>\n"),
		ONE("an empty line is one empty value", "\n\na\n",
		    "1 <>\n2 <>\n3 <a>\n"),
		{"a text of its own, compared raw",
		 BYTES("NULL\n\\NULL\n\\N\nnull\n\\x4eULL\n"),
		 "1 ~\n2 <NULL>\n3 <N>\n4 <null>\n5 <NULL>\n", .null = "NULL",
		 .names = names_a},
		{"an escaped text of its own", BYTES("\\\\x\n\\x\n"),
		 "1 ~\n2 <x>\n", .null = "\\\\x", .names = names_a},
		{"the empty text", BYTES("\t\\N\na\t\n"), "1 <N> ~\n2 ~ <a>\n",
		 .null = "", .names = names_ab, .wanted = wanted_ba},
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void newlines(void)
{
	static const struct rows_case cases[] = {
		ONE("CRLF", "a\r\nb\r\n", "1 <a>\n2 <b>\n"),
		ONE("empty CRLF lines", "\r\n\r\n", "1 <>\n2 <>\n"),
		ONE("CRLF with escapes", "\\\\\r\n\\n\r\n",
		    "1 <\\5c>\n2 <\\0a>\n"),
		ONE("LF in a CRLF file", "a\r\nb\nc\r\n",
		    "1 <a>\n! 74 row 2: ends in LF where the first row ends "
		    "in CRLF\n"),
		ONE("escaped CR before LF in a CRLF file", "a\r\nb\\\r\nc\r\n",
		    "1 <a>\n! 74 row 2: ends in LF where the first row ends "
		    "in CRLF\n"),
		ONE("CRLF in an LF file", "a\nb\r\n",
		    "1 <a>\n! 74 row 2: ends in CRLF where the first row ends "
		    "in LF\n"),
		ONE("bare CR in an LF file", "a\nb\rc\n",
		    "1 <a>\n! 74 row 2: a bare carriage return\n"),
		ONE("bare CR in a CRLF file", "a\r\nb\rc\r\n",
		    "1 <a>\n! 74 row 2: a bare carriage return\n"),
		ONE("bare CR before CRLF", "a\r\r\n",
		    "! 74 row 1: a bare carriage return\n"),
		ONE("bare CR beside escapes", "\\\\\ra\n",
		    "! 74 row 1: a bare carriage return\n"),
		ONE("CR alone ends no row", "a\rb\r",
		    "! 74 the last row has no newline: it is cut off\n"),
		{"the header fixes the style", BYTES("a\r\nb\n"),
		 "! 74 row 1: ends in LF where the first row ends in CRLF\n",
		 .names = NULL},
		ONE("no last newline", "a\nb",
		    "1 <a>\n! 74 the last row has no newline: it is cut "
		    "off\n"),
		ONE("an escaped last newline", "a\nb\\\n",
		    "1 <a>\n! 74 the last row has no newline: it is cut "
		    "off\n"),
		ONE("an open backslash at the end", "a\\",
		    "! 74 the last row has no newline: it is cut off\n"),
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void end_mark(void)
{
	static const struct rows_case cases[] = {
		ONE("ends the data", "a\n\\.\n", "1 <a>\n"),
		ONE("alone", "\\.\n", ""),
		ONE("CRLF", "a\r\n\\.\r\n", "1 <a>\n"),
		ONE("rows after it", "a\n\\.\nb\n",
		    "1 <a>\n! 74 bytes follow the end mark '\\.'\n"),
		ONE("an empty line after it", "a\n\\.\n\n",
		    "1 <a>\n! 74 bytes follow the end mark '\\.'\n"),
		ONE("not whole", "a\n\\.",
		    "1 <a>\n! 74 the last row has no newline: it is cut "
		    "off\n"),
		ONE("in another newline style", "a\r\n\\.\n",
		    "1 <a>\n! 74 row 2: ends in LF where the first row ends "
		    "in CRLF\n"),
		ONE("escaped it is data", "\\\\.\n", "1 <\\5c.>\n"),
		ONE("with bytes before", "a\\.\n",
		    "! 74 row 1: '\\.' is not alone on its line\n"),
		ONE("with bytes behind", "\\. rows=1\n",
		    "! 74 row 1: '\\.' is not alone on its line\n"),
		TWO("in an unwanted column", "x\t\\.\n",
		    "! 74 row 1: '\\.' is not alone on its line\n"),
		{"in place of the header", BYTES("\\.\n"),
		 "! 74 no header row: it is empty\n", .names = NULL},
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void rows_of_wrong_shape(void)
{
	static const struct rows_case cases[] = {
		TWO("too few", "a\tb\nc\n",
		    "1 <b> <a>\n! 65 row 2: 1 column where 2 are named\n"),
		TWO("too many", "a\tb\tc\n",
		    "! 65 row 1: 3 columns where 2 are named\n"),
		TWO("too many, with escapes", "a\\n\tb\tc\n",
		    "! 65 row 1: 3 columns where 2 are named\n"),
		TWO("an empty line", "a\tb\n\n",
		    "1 <b> <a>\n! 65 row 2: 1 column where 2 are named\n"),
		TWO("a NUL byte", "a\0\tb\n", "! 74 row 1: a NUL byte\n"),
		TWO("a NUL byte in a later row", "a\tb\nc\td\\\0\n",
		    "1 <b> <a>\n! 74 row 2: a NUL byte\n"),
		HEADED("against the header", "a\tb\n1\n",
		       "! 65 row 1: 1 column where 2 are in the header\n"),
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void headers(void)
{
	static const struct rows_case cases[] = {
		HEADED("names the columns", "x\ta\n1\t2\n3\t4\n",
		       "1 <2>\n2 <4>\n"),
		HEADED("is unescaped", "\\x61\n1\n", "1 <1>\n"),
		HEADED("has a BOM",
		       "\xef\xbb\xbf"
		       "a\tb\n1\t2\n",
		       "1 <1>\n"),
		{"is skipped", BYTES("q\tr\n1\t2\n"), "1 <2> <1>\n",
		 .names = names_ab, .header = true, .wanted = wanted_ba},
		{"is skipped and too short", BYTES("q\n1\t2\n"),
		 "! 65 header row: 1 column where 2 are named\n",
		 .names = names_ab, .header = true, .wanted = wanted_ba},
		HEADED("never came", "", "! 74 no header row: it is empty\n"),
		HEADED("never came: a BOM", "\xef\xbb\xbf",
		       "! 74 no header row: it is empty\n"),
		HEADED("is cut off", "a\tb",
		       "! 74 the last row has no newline: it is cut "
		       "off\n"),
		{"to be skipped never came", BYTES(""),
		 "! 74 no header row: it is empty\n", .names = names_ab,
		 .header = true, .wanted = wanted_ba},
		ONE("no header, no rows", "", ""),
		ONE("no header, a BOM",
		    "\xef\xbb\xbf"
		    "1\n",
		    "! 66 it begins with a byte order mark and has no "
		    "header\n"),
		ONE("a BOM and nothing", "\xef\xbb\xbf",
		    "! 74 the last row has no newline: it is cut off\n"),
		ONE("a BOM later is data", "1\n\xef\xbb\xbf\n",
		    "1 <1>\n2 <\\ef\\bb\\bf>\n"),
		ONE("a BOM that is escaped is data", "\\xef\xbb\xbf\n",
		    "1 <\\ef\\bb\\bf>\n"),
		{"a BOM is said to be data", BYTES("\xef\xbb\xbf\n"),
		 "1 <\\ef\\bb\\bf>\n", .names = names_a, .bom_is_data = true},
		{"columns in another order", BYTES("1\t2\t3\n"), "1 <3> <1>\n",
		 .names = names_abc, .wanted = wanted_ca},
		HEADED("without rows", "a\n", ""),
		HEADED("with a NUL byte", "a\0\n",
		       "! 74 header row: a NUL byte\n"),
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void end_mark_in_a_part(void)
{
	static const char *const wanted[] = {"a"};
	struct rowformat format = {.kind = ROWFORMAT_TEXT,
				   .names = wanted,
				   .name_count = 1,
				   .wanted = wanted,
				   .wanted_count = 1};
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;
	char data[] = "a\n\\.\n";

	REQUIRE(rowparse_new(&format, ignore_row, NULL, &parse, &err) == 0);
	CHECK(rowparse_feed(parse, data, sizeof(data) - 1, &err) == 0);
	CHECK(rowparse_end(parse, false, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	rowparse_free(parse);
}

/* size bytes of one row, and its newline. */
static void long_row(size_t size, const char *out)
{
	char *data = malloc(size + 1);
	struct rows_case c = {"long", data, size + 1, out, .names = names_ab};
	static const size_t chunks[] = {4093, 65536, SIZE_MAX};
	static const char *const wanted[] = {"b"};
	struct rowformat format = {.kind = ROWFORMAT_TEXT,
				   .names = c.names,
				   .name_count = 2,
				   .wanted = wanted,
				   .wanted_count = 1};

	REQUIRE(data != NULL);
	memset(data, 'x', size);
	memcpy(data + size - 2, "\ty\n", 3);
	for (size_t i = 0; i < 3; i++) {
		char *told = tell(&format, data, size + 1, chunks[i]);

		CHECK_STR(told, out);
		free(told);
	}
	free(data);
}

static void row_limit(void)
{
	long_row(ROWPARSE_ROW_MAX, "1 <y>\n");
	long_row(ROWPARSE_ROW_MAX + 1,
		 "! 74 row 1: longer than 8388608 bytes\n");
	long_row(3 * (size_t)ROWPARSE_ROW_MAX,
		 "! 74 row 1: longer than 8388608 bytes\n");
}

static void header_bytes_stay(void)
{
	static const char *const wanted[] = {"a\\"};
	struct rowformat format = {
		.kind = ROWFORMAT_TEXT, .wanted = wanted, .wanted_count = 1};
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;
	char data[] = "\\x61\\\\\n";

	REQUIRE(rowparse_new(&format, ignore_row, NULL, &parse, &err) == 0);
	CHECK(rowparse_feed(parse, data, sizeof(data) - 1, &err) == 0);
	CHECK(rowparse_end(parse, true, &err) == 0);
	CHECK_STR(data, "\\x61\\\\\n");
	rowparse_free(parse);
}

static void row_ends(void)
{
	char text[] = "a\\\nb\\\\\nc\\";
	char *end = text + sizeof(text) - 1;
	bool escaped = false;

	CHECK(copyscan_row_end(text, end, &escaped) == text + 6);
	CHECK(!escaped);
	CHECK(copyscan_row_end(text + 7, end, &escaped) == NULL);
	CHECK(escaped);
	CHECK(copyscan_row_end(text + 2, text + 3, &escaped) == NULL);
	CHECK(!escaped);
	escaped = true;
	CHECK(copyscan_row_end(end, end, &escaped) == NULL);
	CHECK(escaped);
}

static void allocations(void)
{
	static const char *const wanted[] = {"b", "a"};
	struct rowformat format = {
		.kind = ROWFORMAT_TEXT, .wanted = wanted, .wanted_count = 2};
	struct rowformat named = format;

	ALLOC_NEEDED();
	named.names = wanted;
	named.name_count = 2;
	fail_allocations(&format, BYTES("a\tb\n1\t2\n3\\n\t4\n5\t6\n7\t8\n"));
	fail_allocations(&named, BYTES("a\tb\n1\t2\n3\\n\t4\n5\t6\n7\t8\n"));
}

int main(void)
{
	UNIT(escapes, "copytext: escapes mean what COPY FROM has them mean");
	UNIT(nulls, "copytext: NULL is a whole raw field and nothing else");
	UNIT(newlines, "copytext: the first row fixes the newline");
	UNIT(end_mark, "copytext: nothing may follow the end mark");
	UNIT(end_mark_in_a_part, "copytext: the end mark in a part that is not "
				 "the last is refused");
	UNIT(rows_of_wrong_shape, "copytext: a row of another shape is named");
	UNIT(headers, "copytext: a header names or is skipped, a BOM goes");
	UNIT(row_limit, "copytext: a row may have 8 MiB and not a byte more");
	UNIT(header_bytes_stay, "copytext: header bytes are not written to");
	UNIT(row_ends, "copytext: a row ends at an unescaped newline");
	UNIT(allocations, "copytext: every failed allocation is reported");
	return unit_end();
}
