/* SPDX-License-Identifier: BSD-2-Clause
 *
 * replicas: whether those that answer readers in place of a primary have what
 * it has.
 *
 *	primary ─ ROLE ─► replicas ─ BF.MEXISTS ─► not found ─ grace ─► again
 */
#ifndef BLOOMCTL_JOB_REPLICAS_H
#define BLOOMCTL_JOB_REPLICAS_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/draw.h"
#include "lib/redis/target.h"
#include "lib/store/manifest.h"

/* So many keys are asked for in each, where no other number is said. */
#define REPLICAS_KEYS 10000u

/* Borrowed; keys are those that the primaries have, in any order. */
struct replicas_question {
	const char *server; /* the target */
	const struct redis_options *options;
	const struct bloomkey_spec *spec;
	const struct manifest *m;
	struct drawn *keys; /* are put in the order of their buckets */
	size_t count;
	int64_t grace_ms;
};

/* One replica. */
struct replica {
	char name[300];    /* "redis://HOST:PORT" */
	char primary[300]; /* likewise */
	uint64_t asked;    /* keys of its primary's filters */
	uint64_t missing;  /* of them not found, also after the grace */
	uint64_t behind;   /* bytes, as its primary said before it was asked */
};

/* A zeroed one is empty. */
struct replicas {
	struct replica *all; /* owned */
	size_t count;
};

/*
 * Asks each replica that a primary names; ERROR_VERIFY for the first that lacks
 * a key.  Errors of cluster_open() and conn_open(); what a server refuses is
 * reply_refused().
 */
int replicas_run(const struct replicas_question *question, struct replicas *out,
		 struct error *err);

/* Legal after zeroing. */
void replicas_release(struct replicas *replicas);

#endif
