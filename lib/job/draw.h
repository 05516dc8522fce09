/* SPDX-License-Identifier: BSD-2-Clause
 *
 * draw: so many of the keys of a source, drawn evenly, by several workers.
 *
 * Each key has a number that its hash and a seed make, and those with the
 * lowest are kept.  So it is of no matter in which order keys come, by how many
 * workers, or how often the same one: a part that is read once more adds
 * nothing.
 */
#ifndef BLOOMCTL_JOB_DRAW_H
#define BLOOMCTL_JOB_DRAW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/missed.h"

/* The most that are drawn. */
#define DRAW_MAX 1000000u

struct drawn {
	uint64_t number;
	struct missed_key key;
};

struct draw {
	pthread_mutex_t lock;
	uint64_t seed;
	size_t wanted;
	atomic_uint_fast64_t
		limit;      /* numbers that are not below are too high */
	struct drawn *keys; /* owned */
	size_t count;
	size_t room;
};

/* Makes an empty one for `wanted` keys, 1 to DRAW_MAX.  0 or -1. */
int draw_init(struct draw *draw, size_t wanted, uint64_t seed,
	      struct error *err);

/*
 * Offers a key, whose hash is given, and the values of its row (fields 0:
 * none).  By several threads at a time.  0 or -1 (ERROR_INTERNAL).
 */
int draw_offer(struct draw *draw, uint64_t hash, uint32_t bucket,
	       const void *key, size_t len, size_t fields,
	       const void *const *values, const size_t *lens,
	       struct error *err);

/* When all were offered: leaves those that are drawn, in any order. */
void draw_end(struct draw *draw);

void draw_release(struct draw *draw);

#endif
