/* SPDX-License-Identifier: BSD-2-Clause
 *
 * calm: a feed whose own allocations pass while those of others fail; it
 * could not bear their failure.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_CALM_H
#define BLOOMCTL_TESTS_UNIT_JOB_CALM_H

#include "tests/unit/alloc.h"
#include "tests/unit/job/job.h"

static inline int calm_split(struct source *source, unsigned jobs,
			     const struct rowformat *rows,
			     struct source_part **parts, size_t *count,
			     struct error *err)
{
	bool armed = alloc.armed;
	int rc;

	alloc.armed = false;
	rc = feed_split(source, jobs, rows, parts, count, err);
	alloc.armed = armed;
	return rc;
}

static inline int calm_open(struct source *source,
			    const struct source_part *part, struct stream **out,
			    struct error *err)
{
	bool armed = alloc.armed;
	int rc;

	alloc.armed = false;
	rc = feed_open(source, part, out, err);
	alloc.armed = armed;
	return rc;
}

#endif
