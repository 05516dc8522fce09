/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/plan.h"
#include "tests/unit/unit.h"

static struct plan read_plan(const char *const *lines)
{
	struct plan plan;

	memset(&plan, 0, sizeof(plan));
	for (; *lines != NULL; lines++)
		plan_line(&plan, *lines);
	return plan;
}

static void the_first_step(void)
{
	static const char *const lines[] = {
		"Seq Scan on cards x  (cost=0.00..6364.00 rows=270000 "
		"width=17)",
		"  Filter: (status = 1)", NULL};
	struct plan plan = read_plan(lines);

	CHECK_STR(plan.node, "Seq Scan on cards x");
	CHECK_U64(plan.rows, 270000);
	CHECK_U64(plan.dear, PLAN_PLAIN);
	CHECK_STR(plan.dear_node, "");
}

static void lines_that_are_none(void)
{
	static const char *const lines[] = {"", "JIT:", "  Functions: 7",
					    "Sort  (cost=1.00..2.00 width=4)",
					    NULL};
	struct plan plan = read_plan(lines);

	CHECK_STR(plan.node, "");
	CHECK_U64(plan.rows, 0);
}

static void dear(const char *step, enum plan_dear expected)
{
	char line[256];
	const char *const lines[] = {"Gather  (cost=1.00..2.00 rows=9 width=4)",
				     "  Workers Planned: 2", line, NULL};
	struct plan plan;

	(void)snprintf(line, sizeof(line),
		       "  ->  %s  (cost=1.00..2.00 rows=%u width=4)", step,
		       PLAN_DEAR_ROWS);
	plan = read_plan(lines);
	CHECK_STR(plan.node, "Gather");
	CHECK_U64(plan.rows, 9);
	CHECK_U64(plan.dear, expected);
	if (expected != PLAN_PLAIN) {
		CHECK_STR(plan.dear_node, step);
		CHECK_U64(plan.dear_rows, PLAN_DEAR_ROWS);
	}
	(void)snprintf(line, sizeof(line),
		       "  ->  %s  (cost=1.00..2.00 rows=%u width=4)", step,
		       PLAN_DEAR_ROWS - 1);
	plan = read_plan(lines);
	CHECK_U64(plan.dear, PLAN_PLAIN);
}

static void dear_steps(void)
{
	dear("Sort", PLAN_SORTS);
	dear("Incremental Sort", PLAN_SORTS);
	dear("HashAggregate", PLAN_GROUPS);
	dear("Nested Loop Left Join", PLAN_LOOPS);
	dear("Hash Join", PLAN_PLAIN);
	dear("Seq Scan on \"Sort\"", PLAN_PLAIN);
}

/* The one that is nearest to the rows that come. */
static void the_first_dear_step(void)
{
	static const char *const lines[] = {
		"Nested Loop  (cost=1.00..2.00 rows=3000000 width=4)",
		"  ->  Sort  (cost=1.00..2.00 rows=2000000 width=4)", NULL};
	struct plan plan = read_plan(lines);

	CHECK_U64(plan.dear, PLAN_LOOPS);
	CHECK_U64(plan.dear_rows, 3000000);
}

static void a_name_that_is_too_long(void)
{
	char line[600];
	struct plan plan;

	memset(&plan, 0, sizeof(plan));
	memset(line, 'x', sizeof(line));
	(void)snprintf(line + 400, sizeof(line) - 400,
		       "\n  (cost=1.00..2.00 rows=18446744073709551615 "
		       "width=4)");
	plan_line(&plan, line);
	CHECK_U64(strlen(plan.node), sizeof(plan.node) - 1);
	CHECK_U64(plan.rows, UINT64_MAX);
}

static void whole_tables(void)
{
	static const char *const whole[] = {
		"Append  (cost=0.00..1.00 rows=2 width=4)",
		"  ->  Index Scan using a on x  (cost=0.00..1.00 rows=1 "
		"width=4)",
		"        Index Cond: (moved >= '2026-12-01'::timestamptz)",
		"  ->  Parallel Seq Scan on y  (cost=0.00..1.00 rows=1 "
		"width=4)",
		"  ->  Seq Scan on z  (cost=0.00..1.00 rows=1 width=4)",
		"        Filter: (moved >= '2026-12-01'::timestamptz)",
		NULL};
	static const char *const ranges[] = {
		"Bitmap Heap Scan on x  (cost=0.00..1.00 rows=2 width=4)",
		"  ->  BitmapOr  (cost=0.00..1.00 rows=2 width=0)",
		"        ->  Bitmap Index Scan on a  (cost=0.00..1.00 rows=1 "
		"width=0)",
		"              Index Cond: (moved >= "
		"'2026-12-01'::timestamptz)",
		"        ->  Bitmap Index Scan on a  (cost=0.00..1.00 rows=1 "
		"width=0)",
		"              Index Cond: (moved IS NULL)",
		NULL};
	struct plan plan = read_plan(whole);

	CHECK_STR(plan.whole, "Parallel Seq Scan on y");
	CHECK_STR(plan.ranges, "(moved >= '2026-12-01'::timestamptz) ");
	plan = read_plan(ranges);
	CHECK_STR(plan.whole, "");
	CHECK_STR(plan.ranges, "(moved >= '2026-12-01'::timestamptz) "
			       "(moved IS NULL) ");
}

static void long_ranges(void)
{
	char line[600] = "  Index Cond: ";
	struct plan plan;

	memset(&plan, 0, sizeof(plan));
	memset(line + strlen(line), 'x', 300);
	for (int i = 0; i < 4; i++)
		plan_line(&plan, line);
	CHECK_U64(strlen(plan.ranges), sizeof(plan.ranges) - 1);
}

int main(void)
{
	UNIT(whole_tables, "plan: a table that is read whole is told, and what "
			   "indexes are searched by");
	UNIT(long_ranges, "plan: of what they are searched by as much as there "
			  "is room for");
	UNIT(the_first_step, "plan: the first line is the first step");
	UNIT(lines_that_are_none, "plan: a line without cost and rows is none");
	UNIT(dear_steps, "plan: a step that sorts, groups or loops is dear "
			 "from a million rows on");
	UNIT(the_first_dear_step, "plan: of dear steps the first is told");
	UNIT(a_name_that_is_too_long, "plan: a name that is too long is cut");
	return unit_end();
}
