/* SPDX-License-Identifier: BSD-2-Clause
 *
 * audit: every row of a source, or a sample, must be found in a generation, and
 * random non-members no more often than its error rate allows.
 *
 *	scan ─► asking, a worker each ─► missed ─► recheck ─► what counts
 *	   └──► draw ─► asking ───────────┘
 */
#ifndef BLOOMCTL_JOB_AUDIT_H
#define BLOOMCTL_JOB_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/recheck.h"
#include "lib/job/replicas.h"
#include "lib/job/scan.h"
#include "lib/store/store.h"

struct audit_options {
	const char *id;  /* of the generation; NULL: the live one */
	uint64_t absent; /* random non-members to ask for */
	uint64_t sample; /* keys to draw, up to DRAW_MAX; 0: every row */
	bool fresh;      /* the source may have no rows: they are those that
			    changed of late */
	bool replicas;   /* each of the server's is asked for keys, too: those
			    of the sample, or REPLICAS_KEYS that are drawn */
	struct recheck recheck; /* store, m and spec are set by the job */
};

struct audit_report {
	struct manifest m;     /* what was audited */
	uint64_t rows;         /* read */
	uint64_t rejects;      /* of them without a key; not asked for */
	uint64_t asked;        /* keys that were asked for */
	uint64_t missing;      /* of them not found */
	uint32_t buckets_hit;  /* buckets with a row that is missing */
	uint32_t first_bucket; /* the lowest of them */
	struct missed missed;  /* all that were not found at first, as far as
				  they are kept */
	struct recheck_report again; /* what is known of these */
	struct replicas replicas;
	uint64_t absent;      /* random non-members asked for */
	uint64_t absent_hits; /* of them found */
	uint64_t absent_most; /* a good set shows more than these less than once
				 in a million runs */
};

/*
 * Audits a generation.  ERROR_VERIFY if a row is missing or too many
 * non-members are found; *report says how many.  Errors of recheck_run().
 */
int audit_run(struct store *store, const struct scan *scan,
	      const struct audit_options *options, struct audit_report *report,
	      struct error *err);

/*
 * The part of it that asks for the rows, once: report->m is given, the counts
 * are set.  keys, if not NULL, has a counter per bucket for the rows asked for.
 */
int audit_rows(struct store *store, const struct scan *scan, uint64_t *keys,
	       struct audit_report *report, struct error *err);

/* That rows are missing, and why, as an error.  Always -1. */
int audit_tell(const struct audit_report *report,
	       const struct audit_options *options, struct error *err);

void audit_report_release(struct audit_report *report);

#endif
