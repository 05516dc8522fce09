/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"

/* By how a step's name begins. */
static const struct {
	const char *name;
	enum plan_dear dear;
} dear_steps[] = {
	{"Sort", PLAN_SORTS},
	{"Incremental Sort", PLAN_SORTS},
	{"HashAggregate", PLAN_GROUPS},
	{"Nested Loop", PLAN_LOOPS},
};

static enum plan_dear dear_of(const char *node)
{
	for (size_t i = 0; i < sizeof(dear_steps) / sizeof(dear_steps[0]); i++)
		if (strncmp(node, dear_steps[i].name,
			    strlen(dear_steps[i].name)) == 0)
			return dear_steps[i].dear;
	return PLAN_PLAIN;
}

static bool reads_whole(const char *node)
{
	static const char parallel[] = "Parallel ";

	if (strncmp(node, parallel, strlen(parallel)) == 0)
		node += strlen(parallel);
	return strncmp(node, "Seq Scan", strlen("Seq Scan")) == 0;
}

/*
 * "  ->  Sort  (cost=1.00..2.00 rows=3 width=4)", and below a step
 * "        Index Cond: (id > 5)".
 */
void plan_line(struct plan *plan, const char *line)
{
	static const char range[] = "Index Cond: ";
	const char *start = line + strspn(line, " ");
	const char *cost = strstr(line, "  (cost=");
	const char *rows = cost != NULL ? strstr(cost, " rows=") : NULL;
	enum plan_dear dear;
	char node[sizeof(plan->node)];
	uint64_t count;

	if (strncmp(start, range, strlen(range)) == 0) {
		size_t used = strlen(plan->ranges);

		(void)snprintf(plan->ranges + used, sizeof(plan->ranges) - used,
			       "%s ", start + strlen(range));
	}
	if (rows == NULL)
		return;
	if (strncmp(start, "->", 2) == 0)
		start += 2 + strspn(start + 2, " ");
	(void)snprintf(node, sizeof(node), "%.*s", (int)(cost - start), start);
	show_clean(node);
	count = strtoull(rows + strlen(" rows="), NULL, 10);
	if (plan->node[0] == '\0') {
		(void)snprintf(plan->node, sizeof(plan->node), "%s", node);
		plan->rows = count;
	}
	if (plan->whole[0] == '\0' && reads_whole(node))
		(void)snprintf(plan->whole, sizeof(plan->whole), "%s", node);
	dear = dear_of(node);
	if (plan->dear != PLAN_PLAIN || dear == PLAN_PLAIN ||
	    count < PLAN_DEAR_ROWS)
		return;
	plan->dear = dear;
	plan->dear_rows = count;
	(void)snprintf(plan->dear_node, sizeof(plan->dear_node), "%s", node);
}
