/* SPDX-License-Identifier: BSD-2-Clause
 *
 * retire: removes a whole set, when its writers and readers have left it.
 *
 * What is live goes last but one, so that a run that is cut short leaves either
 * a set that readers can ask, or filters that are missing, upon which they pass
 * through, and the same command goes on.  What stays are the fences of the
 * locks: a run that wakes up too late must find that it is.
 */
#ifndef BLOOMCTL_JOB_RETIRE_H
#define BLOOMCTL_JOB_RETIRE_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/job/prune.h"
#include "lib/store/store.h"

/*
 * Removes every generation, or with dry_run only says what would go.  id is
 * that of the live one, so that nobody removes by mistake what is in use; where
 * none is live, that of the newest.  ERROR_USAGE without it, ERROR_GENERATION
 * for another one, ERROR_SOURCE where there is none.  *report is filled in as
 * far as the run came, also on failure; prune_report_release() frees it.
 */
int retire_run(struct store *store, const char *id, bool dry_run,
	       struct prune_report *report, struct error *err);

#endif
