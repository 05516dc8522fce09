/* SPDX-License-Identifier: BSD-2-Clause
 *
 * serverintake: what writers add to on a server: the shadows of a build, or
 * the filters of a pass.
 */
#ifndef BLOOMCTL_STORE_SERVERINTAKE_H
#define BLOOMCTL_STORE_SERVERINTAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/store/server.h"

struct intake;

/* What a filter answered that did not take all items of a command. */
struct intake_refusal {
	const struct reply *reply; /* its refusal; NULL: it is full */
	uint64_t taken;            /* items of the command, where it is full */
	uint64_t of;               /* items that the command had */
	uint64_t before;           /* items of this writer, before it */
};

/* 0, or -1: the writer fails with that.  From the writer's thread. */
typedef int intake_refuse_fn(struct server *server, uint32_t bucket,
			     const struct intake_refusal *refusal,
			     struct error *err);

struct intake {
	char generation[NAMES_ID_MAX];
	bool live; /* by the names that readers use, whatever generation */
	intake_refuse_fn *refuse;
	const bool *closed;       /* per bucket: it is sent nothing; or NULL */
	struct cluster_pins pins; /* the servers, before the first add */
	uint16_t *home;           /* per bucket, of them, where it is */
	size_t memory;            /* of one writer's batches, in bytes */
	uint64_t *acknowledged;   /* items per bucket, of closed writers */
	uint64_t *added;          /* of them, those that set a bit */
	pthread_mutex_t merge;    /* of both, and of all below */
	unsigned writers;         /* open */
	bool lost;                /* one was closed with items under way */
	bool unsure; /* items were sent twice: `added` is not exact */
};

/* An intake of zeros is to be released whatever comes of it. */
void intake_init(struct intake *intake);
void intake_release(struct intake *intake);

/*
 * Notes who is there, over a connection of the main thread's, and who has which
 * bucket.  workers is how many writers will be open side by side.
 */
int intake_open(struct intake *intake, const struct server *server,
		struct cluster *c, unsigned workers, struct error *err);

/* The run id of the process that has a bucket; "": not known. */
const char *intake_run_id(const struct intake *intake, uint32_t bucket);

/* The name under which items are added to a filter, as in struct keys. */
const char *intake_name(const struct intake *intake, const struct keys *keys);

/* A writer into it; of a pass, if one has begun, else of the build. */
int serverwriter_open(struct store *s, struct writer **out, struct error *err);

#endif
