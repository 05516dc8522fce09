/* SPDX-License-Identifier: BSD-2-Clause
 *
 * sync: what a database committed since the horizon of the live filters is
 * added to them, and the horizon moved.
 *
 * Beside builds and swaps, and as often as one likes: filters that were
 * swapped meanwhile have the horizon of their own, and a run that ended
 * anywhere is done again by the next one.
 */
#ifndef BLOOMCTL_JOB_SYNC_H
#define BLOOMCTL_JOB_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/catchup.h"
#include "lib/store/store.h"

struct sync_options {
	const struct catchup *catchup;
	bool allow_scan; /* by stamps also without an index */
	bool dry_run;    /* rows are counted, and nothing is added */
};

struct sync_report {
	struct manifest m;             /* the live generation */
	struct catchup_report catchup; /* of a dry run from and rows */
	int64_t exposure_ms; /* how long a committed row could be in no filter,
				but by its writer */
	int64_t recent_ms;   /* how long recent-writes must be kept for that */
};

/*
 * ERROR_LOCKED: another one is at work; ERROR_SOURCE, ERROR_GENERATION: there
 * is no live generation, or it has no horizon to catch up from, or no index
 * finds what changed; ERROR_FULL: all other filters are caught up; errors of
 * catchup_live().  sync_report_release() in any case.
 */
int sync_run(struct store *store, const struct bloomkey_spec *spec,
	     const struct sync_options *options, struct sync_report *report,
	     struct error *err);

void sync_report_release(struct sync_report *report);

#endif
