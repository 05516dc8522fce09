/* SPDX-License-Identifier: BSD-2-Clause
 *
 * audit: every row of a source must be found in a generation, and random
 * non-members no more often than its error rate allows.
 */
#ifndef BLOOMCTL_JOB_AUDIT_H
#define BLOOMCTL_JOB_AUDIT_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/scan.h"
#include "lib/store/store.h"

struct audit_report {
	struct manifest m;     /* what was audited */
	uint64_t rows;         /* read */
	uint64_t rejects;      /* of them without a key; not asked for */
	uint64_t missing;      /* of them not found */
	uint32_t buckets_hit;  /* buckets with a row that is missing */
	uint32_t first_bucket; /* the lowest of them */
	uint64_t absent;       /* random non-members asked for */
	uint64_t absent_hits;  /* of them found */
};

/*
 * Audits the generation of id (NULL: the live one).  ERROR_VERIFY if a row is
 * missing or too many non-members are found; *report says how many.
 */
int audit_run(struct store *store, const struct scan *scan, const char *id,
	      uint64_t absent, struct audit_report *report, struct error *err);

/*
 * The part of it that asks for the rows: report->m is given, the counts are
 * set.  keys, if not NULL, has a counter per bucket for the rows asked for.
 */
int audit_rows(struct store *store, const struct scan *scan, uint64_t *keys,
	       struct audit_report *report, struct error *err);

void audit_report_release(struct audit_report *report);

#endif
