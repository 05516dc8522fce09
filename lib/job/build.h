/* SPDX-License-Identifier: BSD-2-Clause
 *
 * build: source → one complete shadow generation.  What is live is never
 * touched; a build that does not end well leaves nothing that a swap takes.
 */
#ifndef BLOOMCTL_JOB_BUILD_H
#define BLOOMCTL_JOB_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/filter/engine.h"
#include "lib/job/scan.h"
#include "lib/store/store.h"

enum build_capacity {
	BUILD_GIVEN,   /* number is a filter's capacity, taken as it is */
	BUILD_PLANNED, /* number is the set's rows; plus headroom */
	BUILD_COUNTED, /* a first pass counts; plus headroom */
};

struct build_options {
	const struct engine *engine; /* NULL: the target's, or redisbloom */
	enum build_capacity capacity;
	uint64_t number;
	double headroom;    /* percent, on planned and counted */
	double error;       /* designed rate of false positives */
	bool dry_run;       /* every check, and nothing is written */
	const char *source; /* as it was named, for the manifest; borrowed */
};

struct build_report {
	struct manifest m; /* release with build_report_release() */
	struct filter_params params;
	uint64_t hottest; /* keys of the fullest bucket */
	uint32_t hottest_bucket;
	bool server;         /* the target is one */
	uint64_t set_bytes;  /* that the filters take: there, or in our memory
				while they are built for a folder */
	unsigned removed;    /* abandoned generations that were removed */
	uint64_t probes;     /* random non-members asked for */
	uint64_t probe_hits; /* of them found */
	bool target_missing; /* a dry run on a target that is to be made */
};

/*
 * Builds.  ERROR_USAGE also if an engine is named that the target has not, or
 * an error rate that the engine in force does not take.  store may be NULL in a
 * dry run, for a target that is not there. *report is filled in as far as the
 * run came, also on failure.
 */
int build_run(struct store *store, const struct scan *scan,
	      const struct build_options *options, struct build_report *report,
	      struct error *err);

/*
 * The same, and no dry run, while the caller holds the set's lock with this
 * fence, and keeps it.
 */
int build_locked(struct store *store, const struct scan *scan,
		 const struct build_options *options, uint64_t fence,
		 struct build_report *report, struct error *err);

void build_report_release(struct build_report *report);

#endif
