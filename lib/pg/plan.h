/* SPDX-License-Identifier: BSD-2-Clause
 *
 * plan: what the lines of EXPLAIN say of a read: how it begins, how many rows
 * are expected, and what in it is dear.
 */
#ifndef BLOOMCTL_PG_PLAN_H
#define BLOOMCTL_PG_PLAN_H

#include <stdint.h>

/* From so many rows on a step is told that is none of a plain read. */
#define PLAN_DEAR_ROWS 1000000u

/* A step that makes a read dear. */
enum plan_dear {
	PLAN_PLAIN,  /* none does */
	PLAN_SORTS,  /* nothing comes before all rows were put in order */
	PLAN_GROUPS, /* nothing comes before all rows were compared */
	PLAN_LOOPS,  /* something is looked for once for each row */
};

/* A zeroed struct is that of no line. */
struct plan {
	char node[160]; /* the first step: "Seq Scan on cards"; "": not known */
	uint64_t rows;  /* that it is expected to give */
	enum plan_dear dear;
	char dear_node[160]; /* the first step that is: "Sort" */
	uint64_t dear_rows;  /* that it is expected to give */
	char whole[160];  /* the first step that reads all of a table: "Seq Scan
			     on cards"; "": none does */
	char ranges[512]; /* by what indexes are searched, as far as there is
			     room; may hold values of a condition */
};

/* Takes the next line; those that are no step say nothing. */
void plan_line(struct plan *plan, const char *line);

#endif
