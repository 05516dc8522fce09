/* SPDX-License-Identifier: BSD-2-Clause
 *
 * object: what a key of the type `bloomfltr` holds, one filter or, where it
 * grows, several.
 */
#ifndef OBJECT_H
#define OBJECT_H

#include "tests/engine/hash.h"

#include <stdbool.h>

enum {
	/* Version, bytes, hashes, seed: before the bits of a filter. */
	BLOB_HEADER = 45,
	/* Sizes of what is not bits: 264 together for an object of one filter,
	 * as in tests/golden; how it is divided is a guess. */
	OBJECT_FIXED = 48,
	FILTER_FIXED = 216,
};

/* The header and the bits lie together, as an image has them. */
struct filter {
	unsigned char *blob;
	uint64_t bytes;
	uint32_t hashes;
	int64_t capacity;
	int64_t items;
};

struct object {
	double error;
	double tightening;
	uint32_t expansion; /* 0: it does not grow */
	bool random_seed;
	unsigned char seed[SEED_SIZE];
	struct filter *filters;
	uint64_t n_filters;
	bool counted; /* in what INFO tells */
};

/* What a new object is to be.  Defaults are what BF.ADD makes. */
struct shape {
	double error;
	double tightening;
	int64_t capacity;
	uint32_t expansion;
	bool has_seed;
	unsigned char seed[SEED_SIZE];
};

/* The seed of servers that are told to use no random one. */
extern const unsigned char fixed_seed[SEED_SIZE];

void shape_init(struct shape *);

/* Functions that can fail return what is to be answered, or NULL.  `limited`:
 * the limit of memory is kept to; it is not for what a primary has accepted. */

/* An object with an empty filter.  *object is the caller's then. */
const char *object_new(struct object **object, const struct shape *,
		       bool limited);

/* Without filters: object_take() gives it those of an image. */
struct object *object_empty(void);

/* A filter whose blob of `size` bytes, of which it becomes the owner, is as an
 * image had it.  false: its header is wrong, or its seed another than that of
 * the filters before; the blob is still the caller's. */
bool object_take(struct object *, void *blob, uint64_t size, int64_t capacity,
		 int64_t items);

/* It is complete now, and is counted in what INFO tells.  false: it is not as
 * an object can be, or above the limit. */
bool object_complete(struct object *);

struct object *object_copy(const struct object *);
void object_free(struct object *);

uint64_t object_memory(const struct object *);
int64_t object_items(const struct object *);
int64_t object_capacity(const struct object *);

bool object_has(const struct object *, const void *item, size_t size);

/* *added: it was not there.  The positions that it set in the filter that was
 * the last are appended to `log`, unless that is NULL. */
struct log;
const char *object_add(struct object *, const void *item, size_t size,
		       bool limited, struct log *log, bool *added);

/* To put an object back to what it was when the log was begun, for at most so
 * many `items`. */
struct log {
	uint64_t *positions;
	size_t n;
	uint64_t n_filters;
	int64_t items;
};
void log_begin(struct log *, const struct object *, size_t items);
void log_undo(struct log *, struct object *);
void log_end(struct log *);

/* Grows an imagined object as far as it can be, to *most, or until it has
 * `wanted` (0: as far as it can).  Answers what keeps it from that. */
const char *shape_grow(const struct shape *, int64_t wanted, int64_t *most);

#endif
