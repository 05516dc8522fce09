/* SPDX-License-Identifier: BSD-2-Clause
 *
 * catchup: what was committed since the horizon of filters is added to them.
 *
 *	horizon of the filters ─► rows changed since ─► adds ─► horizon moved
 *	        ▲                                                    │
 *	        └──────────────── the next pass ─────────────────────┘
 *
 * A pass reads its own horizon before its snapshot, and moves that of each
 * filter only when the server has acknowledged all of its adds: a pass that
 * ends anywhere before that is done again by the next one.
 */
#ifndef BLOOMCTL_JOB_CATCHUP_H
#define BLOOMCTL_JOB_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/horizon.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/scan.h"
#include "lib/rows/source.h"
#include "lib/store/store.h"

/* A pass that took no longer than this is the last before a swap; in ms. */
#define CATCHUP_SHORT 5000
/* So many passes without one that was shorter than before are enough. */
#define CATCHUP_TRIES 3
/* How often a pass into live filters is done that others change meanwhile. */
#define CATCHUP_ROUNDS 5

/* The database to catch up from; all borrowed. */
struct catchup {
	const char *word;                 /* that session_is_word() */
	const struct source_query *query; /* as for a build of all rows */
	const struct rowformat *format;
	bool stamped; /* by the column of query->changed, not by ids */
	unsigned jobs;
	uint64_t max_rejects; /* rows without a key that are passed over */
	struct progress progress;
};

struct catchup_report {
	struct horizon from; /* the oldest of the filters', before the first */
	struct horizon to;   /* theirs after the last */
	uint64_t rows;       /* read, of all passes */
	uint64_t acknowledged; /* keys, by the store */
	uint64_t added;        /* of them, those that set a bit */
	unsigned passes;
	bool standby;     /* the database is one */
	int64_t last_ms;  /* what the last pass took */
	int64_t ended;    /* of the last pass, by the database's clock */
	double fill;      /* the fullest filter's items by its capacity */
	uint32_t fullest; /* which that is */
};

/*
 * How long recent-writes must be kept, in milliseconds, where nothing was in
 * the filters for `longest`: twice that, for a run that is late or fails, and
 * what the next one may wait for its source.
 */
int64_t catchup_recent_ms(const struct catchup *catchup, int64_t longest);

/*
 * Puts on record what a run has found that ended `at` by the database's clock.
 * All is done by then, so that a record which cannot be written is a warning.
 */
void catchup_record(struct store *store, int64_t at, int64_t exposure_ms,
		    int64_t recent_ms);

/*
 * Passes into the filters that readers get, m being the live generation, until
 * one finds every filter as it was when the pass began.  ERROR_GENERATION: they
 * have no horizon that the source can catch up from; ERROR_FULL and others of
 * struct pass_report: all other filters are caught up; ERROR_TEMPORARY: they
 * changed during each of CATCHUP_ROUNDS passes; errors of source_open() and
 * scan_run().
 */
int catchup_live(struct store *store, const struct bloomkey_spec *spec,
		 const struct manifest *m, const struct catchup *catchup,
		 struct catchup_report *report, struct error *err);

/*
 * Passes into a generation that is complete or old, under the set's lock, until
 * one was short or several brought no gain.  Errors as above.
 */
int catchup_shadow(struct store *store, const struct bloomkey_spec *spec,
		   const struct manifest *m, const struct catchup *catchup,
		   struct catchup_report *report, struct error *err);

#endif
