/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/report/table.h"

#include "tests/unit/alloc.h"
#include "tests/unit/unit.h"

static void add_all(struct table *t, const char *const *cells, size_t count)
{
	for (size_t i = 0; i < count; i++)
		CHECK(table_add(t, cells[i]) == 0);
}

#define ADD(t, ...)                                          \
	add_all((t), (const char *const[]){__VA_ARGS__},     \
		sizeof((const char *const[]){__VA_ARGS__}) / \
			sizeof(const char *))

static void check_text(const struct table *t, const int *right,
		       const char *expected)
{
	struct buf out;

	buf_init(&out, 10000);
	CHECK(table_text(t, right, &out) == 0);
	CHECK_STR(buf_string(&out), expected);
	buf_release(&out);
}

static void check_csv(const struct table *t, const char *expected)
{
	struct buf out;

	buf_init(&out, 10000);
	CHECK(table_csv(t, &out) == 0);
	CHECK_STR(buf_string(&out), expected);
	buf_release(&out);
}

static void columns_are_aligned(void)
{
	static const int right[] = {0, 1, 0};
	struct table t;

	table_init(&t, 3);
	ADD(&t, "name", "n", "what", "a", "1000", "x", "longer", "5", "");
	check_text(&t, right,
		   "name       n  what\n"
		   "a       1000  x\n"
		   "longer     5\n");
	table_release(&t);
}

static void no_blanks_at_the_end(void)
{
	static const int right[] = {0, 0};
	struct table t;

	table_init(&t, 2);
	ADD(&t, "a", "b", "", "", "c", "");
	check_text(&t, right, "a  b\n\nc\n");
	check_csv(&t, "a,b\n,\nc,\n");
	table_release(&t);
}

static void the_last_to_the_right(void)
{
	static const int right[] = {1, 1};
	struct table t;

	table_init(&t, 2);
	ADD(&t, "a", "bbb", "cc", "d");
	check_text(&t, right, " a  bbb\ncc    d\n");
	table_release(&t);
}

static void characters_and_not_bytes(void)
{
	static const int right[] = {0, 1};
	struct table t;

	table_init(&t, 2);
	ADD(&t, "\xc3\xa4\xe2\x82\xac", "1", "xxx", "\xf0\x9f\x8c\xb8");
	check_text(&t, right,
		   "\xc3\xa4\xe2\x82\xac   1\nxxx  "
		   "\xf0\x9f\x8c\xb8\n");
	table_release(&t);
}

static void an_empty_table(void)
{
	static const int right[] = {0};
	struct table t;
	struct buf out;

	table_init(&t, 1);
	buf_init(&out, 10);
	CHECK(table_text(&t, right, &out) == 0);
	CHECK(table_csv(&t, &out) == 0);
	CHECK_U64(out.len, 0);
	buf_release(&out);
	table_release(&t);
	table_release(&t);
}

static void the_most_columns(void)
{
	int right[TABLE_COLUMNS_MAX] = {0};
	char expected[2 * 3 * TABLE_COLUMNS_MAX + 1] = "";
	struct table t;

	table_init(&t, TABLE_COLUMNS_MAX);
	for (int i = 0; i < 2 * TABLE_COLUMNS_MAX; i++) {
		size_t used = strlen(expected);

		CHECK(table_addf(&t, "%d", i % 10) == 0);
		(void)snprintf(expected + used, sizeof(expected) - used, "%d%s",
			       i % 10,
			       (i + 1) % TABLE_COLUMNS_MAX == 0 ? "\n" : "  ");
	}
	check_text(&t, right, expected);
	table_release(&t);
}

static void values_are_quoted(void)
{
	struct table t;

	table_init(&t, 2);
	ADD(&t, "a", "b", "x,y", "say \"hi\"", "two\nlines", "cr\rx", "",
	    " blank ");
	check_csv(&t, "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n"
		      "\"two\nlines\",\"cr\rx\"\n, blank \n");
	table_release(&t);
}

static void formatted_cells(void)
{
	struct table t;

	table_init(&t, 2);
	CHECK(table_addf(&t, "%s", "a,b") == 0);
	CHECK(table_addf(&t, "%d %%", 12) == 0);
	check_csv(&t, "\"a,b\",12 %\n");
	table_release(&t);
}

/* 0, or -1 for whatever failed. */
static int use(struct table *t, struct buf *out)
{
	static const int right[] = {0, 1};
	char cell[200];

	memset(cell, 'x', sizeof(cell) - 1);
	cell[sizeof(cell) - 1] = '\0';
	for (int i = 0; i < 6; i++)
		if (table_add(t, cell) != 0 || table_addf(t, "%d", i) != 0)
			return -1;
	if (table_text(t, right, out) != 0)
		return -1;
	return table_csv(t, out);
}

static void no_memory(void)
{
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	for (; met && n < 100; n++) {
		struct table t;
		struct buf out;
		int rc;

		alloc_fail(n, true);
		table_init(&t, 2);
		buf_init(&out, 10000);
		rc = use(&t, &out);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		table_release(&t);
		buf_release(&out);
	}
	CHECK(n > 4 && n < 100);
}

static void no_room(void)
{
	static const int right[] = {1, 1};
	struct table t;

	table_init(&t, 2);
	ADD(&t, "a", "b,", "cc", "d");
	/* As text it takes 14 bytes, as CSV 12. */
	for (size_t max = 0; max <= 14; max++) {
		struct buf out;

		buf_init(&out, max);
		CHECK(table_text(&t, right, &out) == (max < 14 ? -1 : 0));
		buf_release(&out);
		buf_init(&out, max);
		CHECK(table_csv(&t, &out) == (max < 12 ? -1 : 0));
		buf_release(&out);
	}
	table_release(&t);
}

int main(void)
{
	UNIT(columns_are_aligned, "table: columns are as wide as they must be");
	UNIT(no_blanks_at_the_end, "table: no line ends with blanks");
	UNIT(the_last_to_the_right, "table: the last column may be right, too");
	UNIT(characters_and_not_bytes, "table: characters count, not bytes");
	UNIT(an_empty_table, "table: an empty one is nothing");
	UNIT(the_most_columns,
	     "table: there may be as many columns as it says");
	UNIT(values_are_quoted, "table: CSV is quoted where it must be");
	UNIT(formatted_cells, "table: cells are formatted");
	UNIT(no_memory, "table: each failing allocation is told");
	UNIT(no_room, "table: a full buffer is told");
	return unit_end();
}
