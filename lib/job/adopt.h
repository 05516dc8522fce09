/* SPDX-License-Identifier: BSD-2-Clause
 *
 * adopt: live filters that bloomctl did not build become a generation, so
 * that the next one can take their place.
 *
 * Only if writers and a rebuild derive the same keys: nearly every row of a
 * source must be found in them.
 */
#ifndef BLOOMCTL_JOB_ADOPT_H
#define BLOOMCTL_JOB_ADOPT_H

#include "lib/base/error.h"
#include "lib/job/audit.h"
#include "lib/job/scan.h"
#include "lib/store/store.h"

/* Rows that must be found, at least, in a thousand. */
#define ADOPT_FOUND 999

/*
 * Adopts.  error is the rate with which the filters were reserved; source
 * names the rows for the record.  report->m is the generation, its counts
 * those of the rows; release with audit_report_release().
 * ERROR_USAGE: a store has none but its own; ERROR_GENERATION: a generation
 * is live, or a filter cannot be adopted; ERROR_VERIFY: too few rows are
 * found, or there are none.  Nothing is changed then, but that the filters
 * may hold the sentinel.
 */
int adopt_run(struct store *store, const struct scan *scan, double error,
	      const char *source, struct audit_report *report,
	      struct error *err);

#endif
