/* SPDX-License-Identifier: BSD-2-Clause
 *
 * swap: a complete generation becomes what readers get, or the one before the
 * live one does again.
 *
 * Everything that can be checked is checked before anything moves: every
 * filter whole and of this generation, no fewer rows than is plausible.
 */
#ifndef BLOOMCTL_JOB_SWAP_H
#define BLOOMCTL_JOB_SWAP_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/store/store.h"

/* Rows of a new generation, at least, in percent of those of the live one. */
#define SWAP_KEPT_PERCENT 80

struct swap_options {
	const char *generation; /* NULL: the newest complete; with rollback
				   the one before the live one */
	bool rollback;
	bool allow_shrink; /* also fewer rows, also none */
	bool dry_run;      /* every check, and nothing moves */
};

struct swap_report {
	struct manifest m;           /* what is live now, or would be */
	char previous[NAMES_ID_MAX]; /* what was; "" at a first swap */
	bool resumed;                /* finished what an earlier run began */
	bool already;                /* it was live; nothing to do */
};

/*
 * Swaps.  ERROR_SOURCE: no such set; ERROR_GENERATION: nothing to promote, or
 * not promotable; ERROR_DATA: a filter is missing, damaged or foreign;
 * ERROR_LOCKED; ERROR_SWAP: readers may see the new generation, or on a server
 * some filters of it, and the same command finishes.  In all other cases
 * nothing has moved.
 */
int swap_run(struct store *store, const struct bloomkey_spec *spec,
	     const struct swap_options *options, struct swap_report *report,
	     struct error *err);

void swap_report_release(struct swap_report *report);

#endif
