/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/rows/rows.h"

static const char *const names_a[] = {"a", NULL};
static const char *const names_ab[] = {"a", "b", NULL};
static const char *const wanted_ba[] = {"b", "a", NULL};

#define BOM "\xef\xbb\xbf"
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
#define ONE_NULL(claim, text, in, out)                                  \
	{                                                               \
		claim, BYTES(in), out, .null = (text), .names = names_a \
	}
#define TWO_NULL(claim, text, in, out)                                    \
	{                                                                 \
		claim, BYTES(in), out, .null = (text), .names = names_ab, \
				       .wanted = wanted_ba                \
	}

#define SENT(claim, in, out)                                                 \
	{                                                                    \
		claim, BYTES(in), out, .names = names_a, .bom_is_data = true \
	}
#define REFUSED "! 66 it begins with a byte order mark and has no header\n"
#define CUT     "the last row has no newline: it is cut off\n"

static void blanks(void)
{
	static const struct rows_case cases[] = {
		TWO("around bare fields", " a b ,\tc\t\n",
		    "1 <\\09c\\09> <\\20a\\20b\\20>\n"),
		TWO("around quoted ones", "\" a \",\"\tb\"\n",
		    "1 <\\09b> <\\20a\\20>\n"),
		TWO("fields of blanks only", "  ,\t\n",
		    "1 <\\09> <\\20\\20>\n"),
		ONE("a line of blanks", "  \n", "1 <\\20\\20>\n"),
		ONE("at the end of the file", "a  ", "! 74 row 1: " CUT),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void nulls(void)
{
	static const struct rows_case cases[] = {
		TWO("bare and quoted empty fields", ",\"\"\n\"\",\n",
		    "1 <> ~\n2 ~ <>\n"),
		TWO("at the end of the file", "a,", "! 74 row 1: " CUT),
		TWO("quoted, at the end of the file", "a,\"\"",
		    "! 74 row 1: " CUT),
		ONE("an empty line", "a\n\nb\n\n", "1 <a>\n2 ~\n3 <b>\n4 ~\n"),
		ONE("the first line is empty", "\n\na\n", "1 ~\n2 ~\n3 <a>\n"),
		ONE("empty CRLF lines", "a\r\n\r\n\r\nb\r\n",
		    "1 <a>\n2 ~\n3 ~\n4 <b>\n"),
		ONE("the first line is empty, CRLF", "\r\n\"\"\r\n",
		    "1 ~\n2 <>\n"),
		ONE("a quoted empty line", "\"\"\n", "1 <>\n"),
		ONE("NULL is a text", "NULL\n\\N\n", "1 <NULL>\n2 <\\5cN>\n"),
		TWO_NULL("the empty text is the default", "", ",\"\"\n",
			 "1 <> ~\n"),
		HEADED("an empty line after a header", "a\n\nb\n",
		       "1 ~\n2 <b>\n"),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void null_texts(void)
{
	static const struct rows_case cases[] = {
		ONE_NULL("bare and quoted", "NULL",
			 "NULL\n\"NULL\"\nNULL \n null\nNUL\nNULLL\n",
			 "1 ~\n2 <NULL>\n3 <NULL\\20>\n4 <\\20null>\n"
			 "5 <NUL>\n6 <NULLL>\n"),
		TWO_NULL("side by side", "NULL",
			 "NULL,\"NULL\"\n\"NULL\",NULL\nNULL,NULL\n",
			 "1 <NULL> ~\n2 ~ <NULL>\n3 ~ ~\n"),
		TWO_NULL("empty is a value", "NULL", ",\"\"\n\"\",\n",
			 "1 <> <>\n2 <> <>\n"),
		TWO_NULL("at the end of the file", "NULL", "NULL,NULL",
			 "! 74 row 1: " CUT),
		TWO_NULL("quoted, at the end of the file", "NULL",
			 "\"NULL\",\"NULL\"", "! 74 row 1: " CUT),
		TWO_NULL("empty, at the end of the file", "NULL", "\"NULL\",",
			 "! 74 row 1: " CUT),
		TWO_NULL("CRLF", "NULL", "NULL,\"NULL\"\r\n\"NULL\",NULL\r\n",
			 "1 <NULL> ~\n2 ~ <NULL>\n"),
		TWO_NULL("commas, newlines and quotes in quotes", "N",
			 "\",N,\nN\n\"\"N\",N\nN,\"\"\"N\"\"\"\n",
			 "1 ~ <,N,\\0aN\\0a\"N>\n2 <\"N\"> ~\n"),
		ONE_NULL("an empty line is an empty value", "NULL",
			 "a\n\n\"\"\nNULL\n", "1 <a>\n2 <>\n3 <>\n4 ~\n"),
		ONE_NULL("an empty line, CRLF", "NULL", "a\r\n\r\n\"\"\r\n",
			 "1 <a>\n2 <>\n3 <>\n"),
		ONE_NULL("a text with a comma is never met", "a,b", "\"a,b\"\n",
			 "1 <a,b>\n"),
		TWO_NULL("a quote that is not doubled", "N", "N,\"a\"N\nN,N\n",
			 "! 74 row 1: a quote inside a field that is not "
			 "doubled, or that the field does not begin with\n"),
		{"the header is not NULL", BYTES("a\na\n\"a\"\n"),
		 "1 ~\n2 <a>\n", .null = "a"},
		{"after a BOM", BYTES(BOM "\"N\"\nN\n"), "1 <N>\n2 ~\n",
		 .null = "N", .names = names_a},
		{"like a BOM", BYTES("\xef\xbb\n\"\xef\xbb\"\n"),
		 "1 ~\n2 <\\ef\\bb>\n", .null = "\xef\xbb", .names = names_a},
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void quotes(void)
{
	static const struct rows_case cases[] = {
		TWO("doubled", "\"a\"\"b\",\"\"\"\"\n", "1 <\"> <a\"b>\n"),
		TWO("newlines stay as they are",
		    "\"a\r\nb\",\"\n\"\n\"\r\",\"\r\r\n\n\"\n",
		    "1 <\\0a> <a\\0d\\0ab>\n2 <\\0d\\0d\\0a\\0a> <\\0d>\n"),
		TWO("newlines stay in a CRLF file",
		    "\"a\r\nb\",\"\n\"\r\n\"\r\",\"\r\n\"\r\n",
		    "1 <\\0a> <a\\0d\\0ab>\n2 <\\0d\\0a> <\\0d>\n"),
		ONE("a quoted newline behind a CR", "a\r\n\"\n\"\r\n",
		    "1 <a>\n2 <\\0a>\n"),
		TWO("commas", "\",\",\"a,b\"\n", "1 <a,b> <,>\n"),
		TWO("open at the end", "a,b\nc,\"d\ne,f\n",
		    "1 <b> <a>\n! 74 row 2: a quote is never closed: it "
		    "is cut off\n"),
		TWO("open and empty at the end", "a,\"", "! 74 row 1: " CUT),
		TWO("inside a bare field", "a,b\nc\"d,e\nf,g\n",
		    "1 <b> <a>\n! 74 row 2: a quote inside a field that is "
		    "not doubled, or that the field does not begin with\n"),
		TWO("behind a blank", "a, \"b\"\n",
		    "! 74 row 1: a quote inside a field that is not doubled, "
		    "or that the field does not begin with\n"),
		TWO("before a blank", "a,\"b\" \n",
		    "! 74 row 1: a quote inside a field that is not doubled, "
		    "or that the field does not begin with\n"),
		TWO("the broken row is not called back", "\"a\"b,c",
		    "! 74 row 1: a quote inside a field that is not doubled, "
		    "or that the field does not begin with\n"),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

#define OTHER                                                               \
	"ends in another newline (LF, CRLF or CR outside quotes) than the " \
	"first row\n"

static void newlines(void)
{
	static const struct rows_case cases[] = {
		ONE("LF", "a\nb\n", "1 <a>\n2 <b>\n"),
		ONE("CRLF", "a\r\nb\r\n", "1 <a>\n2 <b>\n"),
		ONE("CR", "a\rb\r", "1 <a>\n2 <b>\n"),
		ONE("no last newline", "a\nb", "1 <a>\n! 74 row 2: " CUT),
		ONE("no last newline, CRLF", "a\r\nb",
		    "1 <a>\n! 74 row 2: " CUT),
		ONE("a bare CR in an LF file", "a\nb\rc\n",
		    "1 <a>\n2 <b>\n! 74 row 2: " OTHER),
		ONE("a bare CR in the first row", "b\rc\nd\n",
		    "1 <b>\n! 74 row 2: " OTHER),
		ONE("a bare CR in a CRLF file", "a\r\nb\rc\r\n",
		    "1 <a>\n2 <b>\n! 74 row 2: " OTHER),
		ONE("a bare LF in a CRLF file", "a\r\nb\nc\r\n",
		    "1 <a>\n! 74 row 2: " OTHER),
		ONE("CRLF in an LF file", "a\nb\r\n",
		    "1 <a>\n2 <b>\n! 74 row 2: " OTHER),
		ONE("CRLF cut in two at the end", "a\r\nb\r",
		    "1 <a>\n2 <b>\n! 74 row 2: " OTHER),
		ONE("CR CR LF", "a\r\r\n", "1 <a>\n2 ~\n! 74 row 2: " OTHER),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void rows_of_wrong_shape(void)
{
	static const struct rows_case cases[] = {
		TWO("too few", "a,b\nc\n",
		    "1 <b> <a>\n! 65 row 2: 1 column where 2 are named\n"),
		TWO("too many", "a,b,c\n",
		    "! 65 row 1: 3 columns where 2 are named\n"),
		TWO("too many by one comma", "a,b,\n",
		    "! 65 row 1: 3 columns where 2 are named\n"),
		TWO("an empty line", "a,b\n\nc,d\n",
		    "1 <b> <a>\n! 65 row 2: an empty line where a row has 2 "
		    "columns\n"),
		TWO("an empty last line", "a,b\r\n\r\n",
		    "1 <b> <a>\n! 65 row 2: an empty line where a row has 2 "
		    "columns\n"),
		TWO("a NUL byte", "a,b\nc,d\0\n",
		    "1 <b> <a>\n! 74 row 2: a NUL byte\n"),
		TWO("a NUL byte in quotes", "a,\"\0\"\n",
		    "! 74 row 1: a NUL byte\n"),
		TWO("the first error stays", "a\nb\n\"\"x\n\0",
		    "! 65 row 1: 1 column where 2 are named\n"),
		HEADED("against the header", "a,b\n1\n",
		       "! 65 row 1: 1 column where 2 are in the header\n"),
		HEADED("COPY's end mark is a value", "a\n\\.\n", "1 <\\5c.>\n"),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void headers(void)
{
	static const struct rows_case cases[] = {
		HEADED("names the columns", "x,a\n1,2\n3,4\n",
		       "1 <2>\n2 <4>\n"),
		HEADED("is quoted", "\"x\"\"y\",\"a\"\n1,2\n", "1 <2>\n"),
		HEADED("has a BOM", BOM "a,b\n1,2\n", "1 <1>\n"),
		HEADED("has a BOM before a quote", BOM "\"a\",b\n1,2\n",
		       "1 <1>\n"),
		HEADED("has empty names", ",,a\n1,2,3\n", "1 <3>\n"),
		HEADED("without newline", "a", "! 74 header row: " CUT),
		HEADED("without rows", "a\r\n", ""),
		HEADED("never came", "", "! 74 no header row: it is empty\n"),
		HEADED("never came: a BOM", BOM,
		       "! 74 no header row: it is empty\n"),
		HEADED("is an empty line", "\na\n",
		       "! 65 header row: no column 'a' among the 1 of the "
		       "header\n"),
		HEADED("with a NUL byte", "a\0\n",
		       "! 74 header row: a NUL byte\n"),
		{"is skipped", BYTES("q,r\n1,2\n"), "1 <2> <1>\n",
		 .names = names_ab, .header = true, .wanted = wanted_ba},
		{"is skipped and too short", BYTES("q\n1,2\n"),
		 "! 65 header row: 1 column where 2 are named\n",
		 .names = names_ab, .header = true, .wanted = wanted_ba},
		{"to be skipped never came", BYTES(""),
		 "! 74 no header row: it is empty\n", .names = names_ab,
		 .header = true, .wanted = wanted_ba},
		ONE("no header, no rows", "", ""),
		ONE("no header, a BOM", BOM "1\n", REFUSED),
		ONE("no header, a BOM and an empty line", BOM "\n", REFUSED),
		ONE("no header, a BOM and nothing", BOM, REFUSED),
		ONE("no header, two BOMs", BOM BOM "\n", REFUSED),
		ONE("a BOM before a quote", BOM "\"1\"\n", "1 <1>\n"),
		ONE("a BOM in quotes is data", "\"" BOM "\"\n",
		    "1 <\\ef\\bb\\bf>\n"),
		ONE("a BOM later is data", "1\n" BOM "\n",
		    "1 <1>\n2 <\\ef\\bb\\bf>\n"),
		SENT("a BOM", BOM "1\n" BOM "\n",
		     "1 <\\ef\\bb\\bf1>\n2 <\\ef\\bb\\bf>\n"),
		SENT("a BOM and no more", BOM "\n", "1 <\\ef\\bb\\bf>\n"),
		SENT("a BOM without newline", BOM, "! 74 row 1: " CUT),
		SENT("a BOM before a quote", BOM "\"1\"\n", "1 <1>\n"),
		ONE("half a BOM is data", "\xef\xbb\n", "1 <\\ef\\bb>\n"),
		ONE("half a BOM without newline", "\xef\xbb",
		    "! 74 row 1: " CUT),
		ONE("what only begins like a BOM", "\xef\xbb\xbe\n",
		    "1 <\\ef\\bb\\be>\n"),
		HEADED("has two BOMs", BOM BOM "\n",
		       "! 65 header row: no column 'a' among the 1 of the "
		       "header\n"),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

/* One row of fields x...x,y that has size bytes without quotes. */
static void long_row(size_t size, bool quoted, bool open, const char *null,
		     const char *out)
{
	static const size_t chunks[] = {4093, 65536, SIZE_MAX};
	static const char *const wanted[] = {"b"};
	struct rowformat format = {.kind = ROWFORMAT_CSV,
				   .null = null,
				   .names = names_ab,
				   .name_count = 2,
				   .wanted = wanted,
				   .wanted_count = 1};
	char *data = malloc(size + 4);
	size_t len = 0;

	REQUIRE(data != NULL);
	if (quoted)
		data[len++] = '"';
	memset(data + len, 'x', size - 2);
	len += size - 2;
	if (quoted && !open)
		data[len++] = '"';
	memcpy(data + len, ",y\n", 3);
	len += 3;
	for (size_t i = 0; i < 3; i++) {
		char *told = tell(&format, data, len - open, chunks[i]);

		CHECK_STR(told, out);
		free(told);
	}
	free(data);
}

static void row_limit(void)
{
	static const char *const nulls[] = {NULL, "NULL"};
	static const char long_one[] =
		"! 74 row 1: longer than the 8 MiB that a row may have\n";
	size_t max = ROWPARSE_ROW_MAX;

	for (int i = 0; i < 2; i++) {
		long_row(max, false, false, nulls[i], "1 <y>\n");
		long_row(max, true, false, nulls[i], "1 <y>\n");
		long_row(max + 1, false, false, nulls[i], long_one);
		long_row(max + 1, true, false, nulls[i], long_one);
		long_row(max + 3, true, false, nulls[i], long_one);
		long_row(max - 9, true, true, nulls[i], "! 74 row 1: " CUT);
		long_row(3 * max, true, true, nulls[i], long_one);
	}
}

static void allocations(void)
{
	static const char *const wanted[] = {"b", "a"};
	struct rowformat format = {
		.kind = ROWFORMAT_CSV, .wanted = wanted, .wanted_count = 2};
	struct rowformat named = format;

	ALLOC_NEEDED();
	named.names = wanted;
	named.name_count = 2;
	fail_allocations(&format, BYTES("a,b\n1,2\n\"3\n\",4\n5,6\n7,8\n"));
	fail_allocations(&named, BYTES("a,b\n1,2\n\"3\n\",4\n5,6\n7,8\n"));
}

static int stop_at_two(void *ctx, const struct row *row, struct error *err)
{
	++*(int *)ctx;
	if (row->number == 2)
		return error_set(err, ERROR_FULL, "stopped");
	return 0;
}

static void callback_error(void)
{
	static const enum rowformat_kind kinds[] = {ROWFORMAT_CSV,
						    ROWFORMAT_TEXT};
	static const char *const wanted[] = {"a"};

	for (int i = 0; i < 2; i++) {
		struct rowformat format = {
			.kind = kinds[i], .wanted = wanted, .wanted_count = 1};
		struct error err = ERROR_INIT;
		struct rowparse *parse = NULL;
		char data[] = "a\n1\n2\n3\n4\n", more[] = "5\n";
		int calls = 0;

		REQUIRE(rowparse_new(&format, stop_at_two, &calls, &parse,
				     &err) == 0);
		CHECK(rowparse_feed(parse, data, sizeof(data) - 1, &err) == -1);
		CHECK_STR(err.text, "stopped");
		CHECK_U64(err.code, ERROR_FULL);
		CHECK(rowparse_feed(parse, more, 2, &err) == -1);
		CHECK(rowparse_end(parse, true, &err) == -1);
		CHECK_STR(err.text, "stopped");
		CHECK_U64((uint64_t)calls, 2);
		rowparse_free(parse);
	}
}

int main(void)
{
	UNIT(blanks, "csv: blanks around fields are kept");
	UNIT(nulls, "csv: a bare empty field is NULL, a quoted one is empty");
	UNIT(null_texts, "csv: a bare field equal to the null text is NULL, a "
			 "quoted one never");
	UNIT(quotes, "csv: quoted bytes are data, broken quotes are refused");
	UNIT(newlines, "csv: the first row fixes the newline");
	UNIT(rows_of_wrong_shape, "csv: a row of another shape is named");
	UNIT(headers, "csv: a header names or is skipped, a BOM goes");
	UNIT(row_limit, "csv: a row may have 8 MiB and not a byte more");
	UNIT(callback_error,
	     "rows: a callback's error ends the parse as it is");
	UNIT(allocations, "csv: every failed allocation is reported");
	return unit_end();
}
