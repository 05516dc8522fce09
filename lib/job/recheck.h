/* SPDX-License-Identifier: BSD-2-Clause
 *
 * recheck: keys that were not found are asked for once more, before they count.
 *
 *	missed ─ grace ─► filter ─► database ─► recent-writes ─► filter
 *	                   found     no row      there            found
 *
 * A writer puts a key into recent-writes, commits its row, and adds it to the
 * filter.  So the database is asked before both, as by tiers.h, and each answer
 * is of a later moment than the one before.
 */
#ifndef BLOOMCTL_JOB_RECHECK_H
#define BLOOMCTL_JOB_RECHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/missed.h"
#include "lib/job/tiers.h"
#include "lib/store/store.h"

/* All borrowed. */
struct recheck {
	struct store *store;
	const struct manifest *m;
	const struct bloomkey_spec *spec;
	int64_t grace_ms;
	const struct tiers_database *database; /* NULL: none is asked */
	const char *changed; /* the column of time that changes move, or NULL */
	const char *recent;  /* a pattern of recent-writes, or NULL: */
	const char *server;  /* the target then */
	const struct redis_options *options;
};

struct recheck_report {
	uint64_t whys[MISSED_WHYS]; /* how many keys, by what is known */
	bool asked;                 /* the database was: */
	struct session_facts facts; /* who it is */
};

/*
 * Sets why of each key that was missed.  Errors of store's probe() and info(),
 * tierrow_open(), tierrow_match(), cluster_open(); a stop.
 */
int recheck_run(const struct recheck *recheck, struct missed *missed,
		struct recheck_report *report, struct error *err);

/* Whether a key that is not found for this reason counts as missing. */
bool recheck_counts(enum missed_why why);

#endif
