/* SPDX-License-Identifier: BSD-2-Clause
 *
 * replyarena: memory for the parts of one reply, all given back at once; for
 * reply.c.
 *
 * A chunk stays from reply to reply, so that nothing is allocated for those
 * that fit into it; further ones are made for a large reply, and freed.
 */
#ifndef BLOOMCTL_REDIS_REPLYARENA_H
#define BLOOMCTL_REDIS_REPLYARENA_H

#include <stdbool.h>
#include <stddef.h>

struct replychunk;

struct replyarena {
	struct replychunk *first; /* kept; the others hang on it; owned */
	struct replychunk *last;
	size_t max;
	size_t used; /* by the reply at hand */
};

/* For replies that need up to max bytes.  0, or -1: out of memory. */
int replyarena_init(struct replyarena *a, size_t max);

/* One that is all zeros is legal. */
void replyarena_release(struct replyarena *a);

/* All that was taken is given back. */
void replyarena_reset(struct replyarena *a);

/*
 * Memory until the next reset.  NULL: it would be more than the maximum
 * (*large), or there is none.
 */
void *replyarena_take(struct replyarena *a, size_t size, bool *large);

#endif
