/* SPDX-License-Identifier: BSD-2-Clause
 *
 * plan: what a set of so many keys takes, before anything is built.
 */
#ifndef BLOOMCTL_JOB_PLAN_H
#define BLOOMCTL_JOB_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/filter/engine.h"
#include "lib/job/scan.h"

struct plan_options {
	const struct engine *engine;
	uint32_t buckets;
	uint64_t keys;    /* planned for; not looked at where scan is given */
	double error;     /* designed rate of false positives */
	double headroom;  /* percent */
	uint64_t planted; /* 1 if a sentinel goes into every filter */
	uint64_t limit;   /* bytes of one filter; 0: only the engine's own */
};

struct plan {
	bool counted; /* from a source; otherwise from a number of keys */
	uint64_t keys;
	uint64_t hottest;  /* keys of the fullest bucket: counted, or not
			      exceeded but once in a million sets */
	uint64_t capacity; /* of every filter */
	struct filter_params params;
	uint64_t memory; /* bytes of one filter, as the engine counts */
	uint64_t set;    /* of all filters of one generation */
	uint64_t swap;   /* of two: the live and the new one */
	uint64_t peak;   /* of three: before, live and new */
	uint64_t limit;  /* bytes of one filter: the smaller one of what was
			    asked for and what the engine holds; 0: none */
	uint32_t fewest; /* buckets whose filters stay within the limit;
			    0 where there is no limit */
};

/*
 * Plans.  scan is NULL, or a source that is read once and counted.
 * ERROR_SPACE where a filter exceeds what the engine holds, with the fewest
 * buckets as a hint, or where no number of buckets keeps within the limit.
 */
int plan_run(const struct scan *scan, const struct plan_options *options,
	     struct plan *out, struct error *err);

#endif
