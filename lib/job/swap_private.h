/* SPDX-License-Identifier: BSD-2-Clause
 *
 * swap_private: what the files of a swap share.
 *
 *	swap.c         from the lock to the last manifest
 *	swapchoose.c   which generation is meant, and what an earlier swap left
 *	swapcheck.c    whether it is fit to be live
 *	swaphorizon.c  whether it may lack what was committed
 *	swapcatch.c    the passes before the renames and behind them
 *	parity.c       whether live filters have what a rebuild derives
 */
#ifndef BLOOMCTL_JOB_SWAP_PRIVATE_H
#define BLOOMCTL_JOB_SWAP_PRIVATE_H

#include "lib/job/generation.h"
#include "lib/job/swap.h"

/* What a swap that was cut short behind its rename had been. */
enum cut_short { CUT_NOT, CUT_FORWARD, CUT_BACK };

/* One swap. */
struct swapping {
	struct store *store;
	const struct bloomkey_spec *spec;
	const struct swap_options *o;
	struct swap_report *report;
	struct generations g;
	struct manifest *live;       /* of g; NULL: none is */
	struct manifest *next;       /* of g */
	struct horizon next_horizon; /* the oldest of its filters' */
	struct horizon live_horizon; /* likewise */
};

/*
 * Readers have the new generation, and only manifests are behind: that of the
 * live one does not say live, or that of another one still does.
 */
enum cut_short swapchoose_cut(const struct generations *g,
			      const struct manifest *live);

/*
 * Finishes what was cut short, and says where to go then.  Where it cannot be
 * finished, only to another generation than the one that has come half way.
 * NULL: nowhere, and why.
 */
struct manifest *swapchoose(struct store *store, const struct generations *g,
			    struct manifest *live, const char *set,
			    enum cut_short cut, const struct swap_options *o,
			    struct error *err);

/* An empty table is more often a mistake than a fact. */
int swapcheck_sanity(const struct swapping *s, struct error *err);

/*
 * Every filter is there, whole, and what the manifest says it is.  Sets
 * s->next_horizon.
 */
int swapcheck_filters(struct swapping *s, struct error *err);

/*
 * ERROR_GENERATION where the next generation may lack what was committed, and
 * nothing is there to catch up from.  Sets s->live_horizon.
 */
int swaphorizon_check(struct swapping *s, struct error *err);

/* Whether there are passes to be made. */
bool swapcatch_wanted(const struct swapping *s);

/* Passes into the next generation, and the horizon that it is said to have. */
int swapcatch_before(struct swapping *s, struct error *err);

/*
 * The pass into what is live by now; sets what the report says of exposure.
 * What went wrong is told of a generation that is live.
 */
int swapcatch_after(struct swapping *s, struct error *err);

/*
 * Rows that did not change since live's horizon are found in live.  Sets what
 * the report says of them.  ERROR_VERIFY where too few are: writers and
 * rebuild do not derive the same keys, or live filters have lost members.
 */
int parity_check(struct swapping *s, struct error *err);

#endif
