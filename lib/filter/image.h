/* SPDX-License-Identifier: BSD-2-Clause
 *
 * image: the bits of all filters of one generation, in memory, and the ring
 * through which a worker sets them.
 *
 *	worker 0: image_ring ─┐
 *	worker 1: image_ring ─┴─ atomic OR ─ image: [bucket 0][bucket 1]...
 *
 * An image is one anonymous mapping; its size is params.bytes rounded up to
 * 64, times buckets, and is known before it is made.  Each worker has a ring
 * of its own: a member's positions are computed and prefetched when it goes
 * in, and set when it has gone round, so that the cache misses of some 32
 * members overlap.  Order is kept: with one worker `added` is exactly what a
 * server counts.  With several workers the bits are the same, and `added`
 * depends on the order in which they met.
 */
#ifndef BLOOMCTL_FILTER_IMAGE_H
#define BLOOMCTL_FILTER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/filter/layout.h"

struct image {
	const struct layout_ops *layout;
	struct filter_params params;
	uint32_t buckets;
	bool shared;         /* more than one worker: bits are set atomically */
	size_t stride;       /* bytes from one bucket to the next */
	size_t size;         /* bytes of the mapping */
	unsigned char *bits; /* the mapping; owned */
};

/* The bytes that image_init() will map, or 0 if that overflows. */
size_t image_size(const struct filter_params *params, uint32_t buckets);

/*
 * Maps an image with every bit clear.  ERROR_SPACE, naming the bytes, if the
 * system does not give them.
 */
int image_init(struct image *image, const struct layout_ops *layout,
	       const struct filter_params *params, uint32_t buckets,
	       bool shared, struct error *err);

void image_release(struct image *image);

/* The params.bytes bytes of a bucket; borrowed from the image. */
unsigned char *image_bucket(const struct image *image, uint32_t bucket);

/* Whether a key is (maybe) in a bucket, or in any bits of these params. */
bool image_test(const struct image *image, uint32_t bucket, const void *key,
		size_t len);
bool layout_test(const struct layout_ops *layout,
		 const struct filter_params *params, const unsigned char *bits,
		 const void *key, size_t len);

struct image_ring;

/*
 * A ring for one worker.  added has one counter per bucket, is borrowed until
 * the ring is freed, and is raised for every member that set a bit.  NULL if
 * memory is out.
 */
struct image_ring *image_ring_new(struct image *image, uint64_t *added);

/* Puts a member into the ring; the key is borrowed until return. */
void image_ring_add(struct image_ring *ring, uint32_t bucket, const void *key,
		    size_t len);

/* Sets what is still in the ring. */
void image_ring_flush(struct image_ring *ring);

/* Frees the ring without flushing it; NULL is legal. */
void image_ring_free(struct image_ring *ring);

#endif
