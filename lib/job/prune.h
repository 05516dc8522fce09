/* SPDX-License-Identifier: BSD-2-Clause
 *
 * prune: removes generations that nobody needs.
 *
 * What stays, always: the live one, the one that was live before it, and the
 * newest complete one if it is newer than the live one.  Of those that were
 * live, the `keep` that retired last, the one before the live one among them.
 * All else goes: aborted and broken ones, and complete ones that a newer one
 * has overtaken.  While nothing is live, what could be stays.  A generation
 * that cannot be read at the moment stays.
 */
#ifndef BLOOMCTL_JOB_PRUNE_H
#define BLOOMCTL_JOB_PRUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/store/store.h"

struct prune_report {
	struct {
		char generation[NAMES_ID_MAX];
		enum manifest_state state;
	} * removed; /* owned */
	size_t count;
};

/*
 * Prunes, or with dry_run only says what would go.  *report is filled in as
 * far as the run came, also on failure.
 */
int prune_run(struct store *store, uint64_t keep, bool dry_run,
	      struct prune_report *report, struct error *err);

/* The same while the caller holds the set's lock, which it keeps. */
int prune_locked(struct store *store, uint64_t keep,
		 struct prune_report *report, struct error *err);

void prune_report_release(struct prune_report *report);

#endif
