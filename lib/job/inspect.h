/* SPDX-License-Identifier: BSD-2-Clause
 *
 * inspect: what a set is and holds, filter by filter.
 */
#ifndef BLOOMCTL_JOB_INSPECT_H
#define BLOOMCTL_JOB_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/finding.h"
#include "lib/job/generation.h"
#include "lib/store/store.h"

struct inspect_bucket {
	uint32_t bucket;
	bool bad;         /* missing, damaged or foreign: no figures */
	bool missing;     /* bad because it is not there */
	bool foreign;     /* bad because it is something else */
	char why[160];    /* if bad */
	uint64_t items;   /* members that set a bit */
	uint64_t keys;    /* keys sent to it */
	double fill;      /* items / capacity */
	double error_now; /* rate of false positives at this fill */
	uint64_t bytes;   /* that it takes where it is */
	char instead[NAMES_ID_MAX]; /* what readers get here, if they do not
				       get the live generation */
	int64_t ttl_ms;             /* it vanishes after; -1: never */
	int slot;                   /* of a cluster; -1: no server's */
	struct horizon horizon;
};

struct inspect_report {
	char set[NAMES_SET_MAX];
	char place[512];
	bool server; /* the target is one */
	struct generations generations;
	const struct manifest *m; /* the one inspected; NULL: none is live */
	int64_t age_ms;           /* since it became live; -1: it is not */
	char locked_by[256];      /* "" while nobody holds the lock */
	char synced_by[256];      /* "" while nobody keeps it up to date */
	struct exposure exposure; /* as the last run that caught up found it */
	struct store_node *nodes; /* owned */
	size_t node_count;
	struct inspect_bucket *buckets; /* m->buckets of them; owned */
	uint32_t bad;
	uint64_t bytes;
	double fill_min, fill_median, fill_max;
	uint32_t fullest;
	double skew;              /* keys of the fullest bucket / mean */
	double error_now;         /* mean of the buckets' */
	struct horizon horizon;   /* the oldest of the filters'; none if one has
				     none, or they are of several histories */
	struct findings findings; /* what is not as it should be */
};

/*
 * Inspects the generation of id, or where id is NULL the live one; a set
 * without a live one gives the list alone.  Every filter is read whole and
 * checked; one that is bad does not end the inspection: *report counts them
 * and the call ends with ERROR_DATA naming the first.
 */
int inspect_run(struct store *store, const struct bloomkey_spec *spec,
		const char *id, struct inspect_report *report,
		struct error *err);

void inspect_report_release(struct inspect_report *report);

#endif
