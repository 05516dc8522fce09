/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/select.h"
#include "tests/unit/unit.h"

static const char *const columns[] = {"id", "a\"b"};

static void check_copy(const struct selection *s, const char *expected)
{
	struct error err = ERROR_INIT;
	char *sql = NULL;

	REQUIRE(select_copy(s, &sql, &err) == 0);
	CHECK_STR(sql, expected);
	free(sql);
}

static void a_table(void)
{
	struct selection s = {.from = "ONLY \"s\".\"t\"",
			      .alias = "t",
			      .columns = columns,
			      .count = 2};

	check_copy(&s, "COPY (SELECT \"t\".\"id\", \"t\".\"a\"\"b\" FROM ONLY "
		       "\"s\".\"t\" AS \"t\") TO STDOUT");
	s.count = 0;
	s.where = "a = 1 -- x";
	s.format = SELECT_CSV;
	check_copy(&s, "COPY (SELECT * FROM ONLY \"s\".\"t\" AS \"t\" WHERE (\n"
		       "a = 1 -- x\n)) TO STDOUT WITH (FORMAT csv)");
}

static void ranges(void)
{
	struct selection s = {.from = "x", .alias = "x", .ranged = true};

	check_copy(&s, "COPY (SELECT * FROM x AS \"x\" WHERE "
		       "ctid >= '(0,0)'::tid) TO STDOUT");
	s.first = 5;
	s.last = 9;
	s.where = "true";
	check_copy(&s, "COPY (SELECT * FROM x AS \"x\" WHERE "
		       "ctid >= '(5,0)'::tid AND ctid < '(9,0)'::tid AND "
		       "(\ntrue\n)) TO STDOUT");
}

static void what_changed(void)
{
	static const uint32_t whole[] = {7, 8};
	/* The row's xmin has the lower 32 bits. */
	struct select_since since = {.xid = UINT64_C(4294967301)};
	struct selection s = {
		.from = "x", .alias = "x", .where = "true", .since = &since};

	check_copy(&s,
		   "COPY (SELECT * FROM x AS \"x\" WHERE "
		   "(age(xmin) <= age('5'::xid)) AND (\ntrue\n)) TO STDOUT");
	since.whole = whole;
	since.whole_count = 2;
	since.before = true;
	s.limit = 9;
	check_copy(&s, "COPY (SELECT * FROM x AS \"x\" WHERE "
		       "NOT (age(xmin) <= age('5'::xid) OR tableoid IN (7, 8)) "
		       "AND (\ntrue\n) LIMIT 9) TO STDOUT");
}

static void what_has_a_later_stamp_or_none(void)
{
	struct select_since since = {.column = "a\"b", .stamp = 86400001};
	struct selection s = {.from = "x", .alias = "x", .since = &since};

	check_copy(&s, "COPY (SELECT * FROM x AS \"x\" WHERE (\"x\".\"a\"\"b\""
		       " >= '1970-01-02T00:00:00.001Z'::timestamptz OR "
		       "\"x\".\"a\"\"b\" IS NULL)) TO STDOUT");
	since.before = true;
	s.query = "SELECT 1 -- x";
	check_copy(&s, "COPY (SELECT * FROM (\nSELECT 1 -- x\n) AS "
		       "bloomctl_rows WHERE NOT (\"bloomctl_rows\".\"a\"\"b\""
		       " >= '1970-01-02T00:00:00.001Z'::timestamptz OR "
		       "\"bloomctl_rows\".\"a\"\"b\" IS NULL)) TO STDOUT");
}

static void a_query(void)
{
	struct selection s = {
		.query = "SELECT 1 -- x", .columns = columns, .count = 1};
	struct error err = ERROR_INIT;
	char *sql = NULL;

	check_copy(&s, "COPY (SELECT \"bloomctl_rows\".\"id\" FROM (\n"
		       "SELECT 1 -- x\n) AS bloomctl_rows) TO STDOUT");
	REQUIRE(select_none(&s, &sql, &err) == 0);
	CHECK_STR(sql, "SELECT \"bloomctl_rows\".\"id\" FROM (\n"
		       "SELECT 1 -- x\n) AS bloomctl_rows LIMIT 0");
	free(sql);
	REQUIRE(select_explain(&s, &sql, &err) == 0);
	CHECK(strncmp(sql, "EXPLAIN SELECT ", 15) == 0);
	free(sql);
}

static void check_match(const struct selection *s, const bool *nulls,
			struct select_marks marks, const char *expected)
{
	struct error err = ERROR_INIT;
	char *sql = NULL;

	REQUIRE(select_match(s, nulls, &marks, 9, &sql, &err) == 0);
	CHECK_STR(sql, expected);
	free(sql);
}

static void rows_by_their_values(void)
{
	struct selection s = {
		.from = "t", .alias = "t", .columns = columns, .count = 2};
	const bool none[] = {false, false};
	const bool first[] = {true, false};
	const struct select_marks nothing = {NULL, 0, NULL, 0};
	const struct select_marks end = {.expires = "e\""};
	const struct select_marks all = {NULL, UINT64_C(4294967301), "c\"", 7};

	check_match(&s, none, nothing,
		    "SELECT \"t\".\"id\", \"t\".\"a\"\"b\", false, NULL, NULL "
		    "FROM t AS \"t\" WHERE \"t\".\"id\" = $1 AND "
		    "\"t\".\"a\"\"b\" = $2 LIMIT 9");
	s.where = "a OR b";
	check_match(&s, first, end,
		    "SELECT \"t\".\"id\", \"t\".\"a\"\"b\", "
		    "coalesce(\"t\".\"e\"\"\" <= now(), false), NULL, NULL "
		    "FROM t AS \"t\" "
		    "WHERE (\na OR b\n) AND \"t\".\"id\" IS NULL AND "
		    "\"t\".\"a\"\"b\" = $1 LIMIT 9");
	s.where = NULL;
	s.count = 1;
	s.query = "SELECT 1 -- x";
	check_match(
		&s, none, nothing,
		"SELECT \"bloomctl_rows\".\"id\", false, NULL, NULL FROM (\n"
		"SELECT 1 -- x\n) AS bloomctl_rows "
		"WHERE \"bloomctl_rows\".\"id\" = $1 LIMIT 9");
	s.query = NULL;
	check_match(&s, none, all,
		    "SELECT \"t\".\"id\", false, age(xmin) <= age('5'::xid), "
		    "coalesce(\"t\".\"c\"\"\" >= 'epoch'::timestamptz + "
		    "interval '7 milliseconds', true) FROM t AS \"t\" "
		    "WHERE \"t\".\"id\" = $1 LIMIT 9");
}

static void check_fresh(const char *where, const char *query,
			const char *expected)
{
	struct error err = ERROR_INIT;
	char *sql = NULL;

	REQUIRE(select_fresh("c\"", 600000, where, query, &sql, &err) == 0);
	CHECK_STR(sql, expected);
	free(sql);
}

#define FRESH                                                      \
	"(\"c\"\"\" >= now() - interval '600000 milliseconds' OR " \
	"\"c\"\"\" IS NULL)"

static void rows_that_are_fresh(void)
{
	check_fresh(NULL, NULL, FRESH);
	check_fresh("a OR b -- x", NULL, "(\na OR b -- x\n) AND " FRESH);
	check_fresh(NULL, "SELECT 1 -- x",
		    "SELECT * FROM (\nSELECT 1 -- x\n) AS bloomctl_rows "
		    "WHERE " FRESH);
}

int main(void)
{
	UNIT(a_table, "select: a table, its columns quoted, and a condition");
	UNIT(ranges, "select: ranges of pages");
	UNIT(what_changed, "select: what is newer, or is not");
	UNIT(what_has_a_later_stamp_or_none, "select: what is stamped later");
	UNIT(a_query, "select: a query");
	UNIT(rows_by_their_values, "select: rows by the values of columns");
	UNIT(rows_that_are_fresh, "select: rows that changed a while ago");
	return unit_end();
}
