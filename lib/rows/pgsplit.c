/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "lib/rows/postgres.h"

void postgres_name(const struct postgres_source *s, char *out, size_t size)
{
	if (s->relation != NULL)
		(void)snprintf(out, size, "table '%s'", s->relation->name);
	else
		(void)snprintf(out, size, "query");
}

int pgsplit_add(const struct postgres_source *s, const char *leaf,
		uint64_t first, uint64_t last, size_t index,
		struct source_part **parts, size_t *count, struct error *err)
{
	struct source_part *part;
	char name[512];

	if (leaf == NULL)
		postgres_name(s, name, sizeof(name));
	else if (last > 0)
		(void)snprintf(name, sizeof(name),
			       "table '%s', pages %" PRIu64 " to %" PRIu64,
			       leaf, first, last - 1);
	else
		(void)snprintf(name, sizeof(name),
			       "table '%s', pages from %" PRIu64, leaf, first);
	part = source_part_add(parts, count, name, err);
	if (part == NULL)
		return -1;
	part->index = index;
	part->start = first;
	part->end = last;
	return 0;
}

/* Cuts all leaves into ranges of about the same number of pages. */
static int add_ranges(const struct postgres_source *s, unsigned jobs,
		      struct source_part **parts, size_t *count,
		      struct error *err)
{
	const struct relation *r = s->relation;
	uint64_t pages = 0;
	uint64_t step;

	for (size_t i = 0; i < r->leaf_count; i++)
		pages += r->leaves[i].pages;
	step = pages / ((uint64_t)jobs * POSTGRES_RANGES_PER_JOB) + 1;
	if (step < POSTGRES_RANGE_MIN)
		step = POSTGRES_RANGE_MIN;
	for (size_t i = 0; i < r->leaf_count; i++) {
		uint64_t first = 0;

		/* The last one has no end: it may have grown. */
		for (; first + step < r->leaves[i].pages; first += step)
			if (pgsplit_add(s, r->leaves[i].name, first,
					first + step, i, parts, count,
					err) != 0)
				return -1;
		if (pgsplit_add(s, r->leaves[i].name, first, 0, i, parts, count,
				err) != 0)
			return -1;
	}
	return 0;
}

int pgsplit(struct source *source, unsigned jobs,
	    const struct rowformat *format, struct source_part **parts,
	    size_t *count, struct error *err)
{
	struct postgres_source *s = (struct postgres_source *)source;
	const struct source_query *q = &s->query;
	bool ranged = jobs > 1 && s->relation != NULL && s->relation->ranged;
	int rc;

	/* What an index finds is not looked for page by page. */
	if (q->before != NULL || (q->since != NULL && q->stamped))
		ranged = false;

	(void)format;
	*parts = NULL;
	*count = 0;
	if (!ranged)
		return pgsplit_add(s, NULL, 0, 0, POSTGRES_WHOLE, parts, count,
				   err);
	rc = add_ranges(s, jobs, parts, count, err);
	if (rc == 0)
		rc = pgsessions_share(&s->sessions,
				      *count < jobs ? (unsigned)*count : jobs,
				      err);
	if (rc == 0)
		return 0;
	source_parts_free(*parts, *count);
	*parts = NULL;
	*count = 0;
	return -1;
}
