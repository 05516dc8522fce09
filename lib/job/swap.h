/* SPDX-License-Identifier: BSD-2-Clause
 *
 * swap: a complete generation becomes what readers get, or the one before the
 * live one does again.
 *
 *	check ─► passes into it ─► parity ─► renames ─► a pass into what is live
 *
 * Everything that can be checked is checked before anything moves: every
 * filter whole and of this generation, no fewer rows than is plausible.  What
 * was committed since the generation was read is added to it before and after.
 */
#ifndef BLOOMCTL_JOB_SWAP_H
#define BLOOMCTL_JOB_SWAP_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/catchup.h"
#include "lib/store/store.h"

/* Rows of a new generation, at least, in percent of those of the live one. */
#define SWAP_KEPT_PERCENT 80

struct swap_options {
	const char *generation; /* NULL: the newest complete; with rollback
				   the one before the live one */
	bool rollback;
	bool allow_shrink;             /* also fewer rows, also none */
	bool dry_run;                  /* every check, and nothing moves */
	const struct catchup *catchup; /* NULL: no database to catch up from */
	bool unchanging; /* nothing was committed that it may lack */
	int64_t since;   /* rows that were stamped before are in it, whatever
			    its records say; ms since 1970; 0: not said */
	/* Called before the first rename; -1: nothing moves. */
	int (*before)(void *ctx, struct error *err);
	void *ctx;
};

struct swap_report {
	struct manifest m;           /* what is live now, or would be */
	char previous[NAMES_ID_MAX]; /* what was; "" at a first swap */
	bool resumed;                /* finished what an earlier run began */
	bool already;                /* it was live; nothing to do */
	bool caught;                 /* passes were made; else all below is 0 */
	struct catchup_report shadow; /* before the renames */
	struct catchup_report live;   /* after them */
	uint64_t probed;              /* rows of before, asked for in live */
	uint64_t found;               /* of them */
	int64_t exposure_ms; /* how long a committed row could be in no filter,
				but by its writer */
	int64_t recent_ms;   /* how long recent-writes must be kept for that */
};

/*
 * Swaps.  ERROR_SOURCE: no such set; ERROR_GENERATION: nothing to promote, or
 * not promotable, or it may lack what was committed; ERROR_DATA: a filter is
 * missing, damaged or foreign; ERROR_VERIFY: live filters lack rows that were
 * there long before; ERROR_LOCKED; ERROR_SWAP: readers may see the new
 * generation, or on a server some filters of it, and the same command
 * finishes; errors of catchup.h.  In all other cases nothing has moved, or
 * what has moved and lacks nothing but the last pass is told in the message.
 */
int swap_run(struct store *store, const struct bloomkey_spec *spec,
	     const struct swap_options *options, struct swap_report *report,
	     struct error *err);

/* The same while the caller holds the set's lock, which it keeps. */
int swap_locked(struct store *store, const struct bloomkey_spec *spec,
		const struct swap_options *options, struct swap_report *report,
		struct error *err);

/*
 * Finishes, under the caller's lock, a swap or a rollback that was cut short;
 * report->resumed: there was one.  Of the options only those count that say
 * what is caught up from.  ERROR_SWAP: on a server what has come half way is
 * lost in part, and another generation may take the place of all.
 */
int swap_finish_locked(struct store *store, const struct bloomkey_spec *spec,
		       const struct swap_options *options,
		       struct swap_report *report, struct error *err);

void swap_report_release(struct swap_report *report);

#endif
