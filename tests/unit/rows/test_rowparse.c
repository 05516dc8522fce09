/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/columns.h"
#include "lib/rows/quote.h"
#include "tests/unit/rows/rows.h"

#define HEADED(claim, want, in, out)                    \
	{                                               \
		claim, BYTES(in), out, .wanted = (want) \
	}

static const char *const wanted_b[] = {"b", NULL};
static const char *const wanted_aab[] = {"a", "a", "b", NULL};
static const char *const wanted_none[] = {NULL};
static const char *const wanted_odd[] = {"x'\n\xc3\xa4", NULL};

/* Without separators both kinds read these alike. */
static void columns(void)
{
	static const struct rows_case cases[] = {
		HEADED("one column asked for twice", wanted_aab, "a\tb\n1\t2\n",
		       "1 <1> <1> <2>\n"),
		HEADED("none asked for", wanted_none, "a\n1\n2\n", "1\n2\n"),
		HEADED("an unwanted name twice", wanted_b, "a\ta\tb\n1\t2\t3\n",
		       "1 <3>\n"),
		HEADED("a wanted name twice", wanted_b, "b\ta\tb\n1\t2\t3\n",
		       "! 65 header row: column 'b' is there twice: which one "
		       "is meant cannot be told\n"),
		HEADED("missing, of one", wanted_b, "a\n",
		       "! 65 header row: no column \'b\' among the 1 of the "
		       "header\n"),
		HEADED("missing, of four", wanted_b, "a\tc\td\tB\n",
		       "! 65 header row: no column \'b\' among the 4 of the "
		       "header\n"),
		HEADED("missing, of many", wanted_b, "a\tc\td\te\tf\tg\n",
		       "! 65 header row: no column \'b\' among the 6 of the "
		       "header\n"),
		HEADED("names are bytes", wanted_b, "b \t b\tB\n",
		       "! 65 header row: no column \'b\' among the 3 of the "
		       "header\n"),
		HEADED("odd bytes are escaped", wanted_odd, "'\\n\x1b\n",
		       "! 65 header row: no column \'x\\x27\\x0a\\xc3\\xa4\' "
		       "among the 1 of the header\n"),
		HEADED("what may be a row of values is not shown", wanted_b,
		       "4111111111111111\n",
		       "! 65 header row: no column 'b' among the 1 of the "
		       "header\n"),
	};

	RUN_CASES(ROWFORMAT_TEXT, cases);
}

static void csv_columns(void)
{
	static const struct rows_case cases[] = {
		HEADED("one column asked for twice", wanted_aab, "a,b\n1,2\n",
		       "1 <1> <1> <2>\n"),
		HEADED("none asked for", wanted_none, "a\n1\n\n", "1\n2\n"),
		HEADED("a wanted name twice", wanted_b, "b,a,b\n1,2,3\n",
		       "! 65 header row: column 'b' is there twice: which one "
		       "is meant cannot be told\n"),
		HEADED("missing", wanted_b, "a,c\n",
		       "! 65 header row: no column \'b\' among the 2 of the "
		       "header\n"),
	};

	RUN_CASES(ROWFORMAT_CSV, cases);
}

static void named_at_once(void)
{
	static const char *const names[] = {"a", "b", "b"};
	static const char *const missing[] = {"c"}, *const twice[] = {"b"};

	for (int kind = ROWFORMAT_CSV; kind <= ROWFORMAT_TEXT; kind++) {
		struct rowformat format = {.kind = (enum rowformat_kind)kind,
					   .names = names,
					   .name_count = 3,
					   .wanted = missing,
					   .wanted_count = 1};
		struct error err = ERROR_INIT;
		struct rowparse *parse = NULL;

		CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) ==
		      -1);
		CHECK(parse == NULL);
		CHECK_U64(err.code, ERROR_ROWS);
		CHECK_STR(err.text, "no column 'c': there are 'a', 'b', 'b'");
		format.wanted = twice;
		CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) ==
		      -1);
		CHECK_U64(err.code, ERROR_ROWS);
	}
}

static void named_wrongly(void)
{
	static const char *const five[] = {"a", "b", "c", "d", "e"};
	static const char *const missing[] = {"f"};
	const char **many = calloc(COLUMNS_MAX + 1, sizeof(*many));
	struct rowformat format = {.kind = ROWFORMAT_TEXT,
				   .names = five,
				   .name_count = 5,
				   .wanted = missing,
				   .wanted_count = 1};
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;

	REQUIRE(many != NULL);
	CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) == -1);
	CHECK_U64(err.code, ERROR_ROWS);
	CHECK_STR(err.text, "no column 'f': there are 'a', 'b', 'c', 'd' and "
			    "1 more");
	for (size_t i = 0; i <= COLUMNS_MAX; i++)
		many[i] = i == 0 ? "f" : "a";
	format.names = many;
	format.name_count = COLUMNS_MAX;
	CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) == 0);
	rowparse_free(parse);
	format.name_count++;
	CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) == -1);
	CHECK(parse == NULL);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "more than 65536 columns");
	free(many);
	format.kind = (enum rowformat_kind)9;
	CHECK(rowparse_new(&format, ignore_row, NULL, &parse, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
}

static void too_many_columns(void)
{
	size_t len = COLUMNS_MAX + 1;
	char *data = malloc(len);
	struct rowformat format = {
		.kind = ROWFORMAT_CSV, .wanted = wanted_b, .wanted_count = 1};
	char *told;

	REQUIRE(data != NULL);
	memset(data, ',', len);
	told = tell(&format, data, len, SIZE_MAX);
	CHECK_STR(told, "! 74 header row: more than 65536 columns\n");
	free(told);
	format.kind = ROWFORMAT_TEXT;
	memset(data, '\t', len);
	data[len - 1] = '\n';
	told = tell(&format, data, len, SIZE_MAX);
	CHECK_STR(told, "! 74 header row: more than 65536 columns\n");
	free(told);
	free(data);
}

static void shown(void)
{
	char out[QUOTE_SIZE(8)];

	CHECK_STR(quote_bytes(out, "", 0, 8), "");
	CHECK_STR(quote_bytes(out, "a b", 3, 8), "a b");
	CHECK_STR(quote_bytes(out, "a'\\\0\x7f", 5, 8),
		  "a\\x27\\x5c\\x00\\x7f");
	CHECK_STR(quote_bytes(out, "12345678", 8, 8), "12345678");
	CHECK_STR(quote_bytes(out, "123456789", 9, 8), "12345678...");
	CHECK_STR(quote_bytes(out, "\n\n\n\n\n\n\n\n\n", 9, 8),
		  "\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a\\x0a...");
}

static void free_null(void)
{
	rowparse_free(NULL);
}

int main(void)
{
	UNIT(columns, "rowparse: wanted columns are found by name, in text");
	UNIT(csv_columns, "rowparse: wanted columns are found by name, in CSV");
	UNIT(named_at_once, "rowparse: given names are looked at at once");
	UNIT(named_wrongly, "rowparse: names that are given are bounded");
	UNIT(too_many_columns, "rowparse: the number of columns is bounded");
	UNIT(shown, "quote: bytes cannot end their quotes or steer a terminal");
	UNIT(free_null, "rowparse: freeing nothing is legal");
	return unit_end();
}
