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

static void ranges_and_later_rows(void)
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
	s.ranged = false;
	/* The row's xmin has the lower 32 bits. */
	s.since = "4294967301";
	check_copy(&s, "COPY (SELECT * FROM x AS \"x\" WHERE "
		       "age(xmin) <= age('5'::xid) AND (\ntrue\n)) TO STDOUT");
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
			const char *expires, const char *expected)
{
	struct error err = ERROR_INIT;
	char *sql = NULL;

	REQUIRE(select_match(s, nulls, expires, 9, &sql, &err) == 0);
	CHECK_STR(sql, expected);
	free(sql);
}

static void rows_by_their_values(void)
{
	struct selection s = {
		.from = "t", .alias = "t", .columns = columns, .count = 2};
	const bool none[] = {false, false};
	const bool first[] = {true, false};

	check_match(
		&s, none, NULL,
		"SELECT \"t\".\"id\", \"t\".\"a\"\"b\", false FROM t AS \"t\" "
		"WHERE \"t\".\"id\" = $1 AND \"t\".\"a\"\"b\" = $2 LIMIT 9");
	s.where = "a OR b";
	check_match(&s, first, "e\"",
		    "SELECT \"t\".\"id\", \"t\".\"a\"\"b\", "
		    "coalesce(\"t\".\"e\"\"\" <= now(), false) FROM t AS \"t\" "
		    "WHERE (\na OR b\n) AND \"t\".\"id\" IS NULL AND "
		    "\"t\".\"a\"\"b\" = $1 LIMIT 9");
	s.where = NULL;
	s.count = 1;
	s.query = "SELECT 1 -- x";
	check_match(&s, none, NULL,
		    "SELECT \"bloomctl_rows\".\"id\", false FROM (\n"
		    "SELECT 1 -- x\n) AS bloomctl_rows "
		    "WHERE \"bloomctl_rows\".\"id\" = $1 LIMIT 9");
}

int main(void)
{
	UNIT(a_table, "select: a table, its columns quoted, and a condition");
	UNIT(ranges_and_later_rows,
	     "select: ranges of pages, and what is newer");
	UNIT(a_query, "select: a query");
	UNIT(rows_by_their_values, "select: rows by the values of columns");
	return unit_end();
}
