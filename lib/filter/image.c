/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A cache line, so that no two buckets share one. */
#define STRIDE 64

/*
 * Members on their way: enough for the memory to be busy all the time, few
 * enough for their lines to stay in the first-level cache until they are set.
 */
#define RING 32

/*
 * Bits are set 64 at a time, since compilers make one bit-test-and-set of
 * that.  Bit b of a word is bit b & 7 of byte b >> 3 if the lowest byte comes
 * first; else its bytes are numbered from the other end.
 */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORD_BIT(position) (((position)&63) ^ 56)
#else
#define WORD_BIT(position) ((position)&63)
#endif

struct image_ring {
	uint64_t *words;           /* of the image; borrowed */
	const struct image *image; /* borrowed */
	uint64_t *added;           /* borrowed */
	uint32_t hashes;
	uint32_t next; /* the slot to fill; if all are, the oldest member */
	uint32_t used; /* slots */
	uint32_t bucket[RING];
	uint64_t positions[]; /* hashes for each slot, from the image's start */
};

size_t image_size(const struct filter_params *params, uint32_t buckets)
{
	uint64_t stride, size;

	if (__builtin_add_overflow(params->bytes, (uint64_t)STRIDE - 1,
				   &stride))
		return 0;
	stride -= stride % STRIDE;
	/* Positions count bits from the start of the image. */
	if (__builtin_mul_overflow(stride, buckets, &size) ||
	    size > UINT64_MAX / 8 || size > SIZE_MAX)
		return 0;
	return (size_t)size;
}

int image_init(struct image *image, const struct layout_ops *layout,
	       const struct filter_params *params, uint32_t buckets,
	       bool shared, struct error *err)
{
	void *map;

	memset(image, 0, sizeof(*image));
	image->layout = layout;
	image->params = *params;
	image->buckets = buckets;
	image->shared = shared;
	image->size = image_size(params, buckets);
	if (image->size == 0)
		return error_set(err, ERROR_SPACE,
				 "image of %" PRIu32 " filters of %" PRIu64
				 " bytes: more than can be addressed",
				 buckets, params->bytes);
	image->stride = image->size / buckets;
	map = mmap(NULL, image->size, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		error_errno(err, ERROR_SPACE, errno, "image of %zu bytes",
			    image->size);
		return -1;
	}
#ifdef MADV_HUGEPAGE
	/* Advice: without it every access also misses the TLB. */
	(void)madvise(map, image->size, MADV_HUGEPAGE);
#endif
	image->bits = map;
	return 0;
}

void image_release(struct image *image)
{
	if (image->bits != NULL)
		(void)munmap(image->bits, image->size);
	image->bits = NULL;
	image->size = 0;
}

unsigned char *image_bucket(const struct image *image, uint32_t bucket)
{
	return image->bits + image->stride * bucket;
}

bool layout_test(const struct layout_ops *layout,
		 const struct filter_params *params, const unsigned char *bits,
		 const void *key, size_t len)
{
	uint64_t positions[LAYOUT_HASHES_MAX];

	layout->positions(params, key, len, positions);
	for (uint32_t i = 0; i < params->hashes; i++) {
		if (!layout_bit(bits, positions[i]))
			return false;
	}
	return true;
}

bool image_test(const struct image *image, uint32_t bucket, const void *key,
		size_t len)
{
	return layout_test(image->layout, &image->params,
			   image_bucket(image, bucket), key, len);
}

struct image_ring *image_ring_new(struct image *image, uint64_t *added)
{
	size_t positions = (size_t)RING * image->params.hashes;
	struct image_ring *ring;

	ring = calloc(1, sizeof(*ring) + positions * sizeof(uint64_t));
	if (ring == NULL)
		return NULL;
	ring->image = image;
	ring->words = (void *)image->bits;
	ring->added = added;
	ring->hashes = image->params.hashes;
	return ring;
}

/* Sets a bit if it is clear; whether it was. */
static inline bool set_shared(uint64_t *word, uint64_t mask)
{
	/* A locked write costs more, and in time half the bits are set. */
	if (__atomic_load_n(word, __ATOMIC_RELAXED) & mask)
		return false;
	return !(__atomic_fetch_or(word, mask, __ATOMIC_RELAXED) & mask);
}

static inline bool set_own(uint64_t *word, uint64_t mask)
{
	uint64_t old = *word;

	*word = old | mask;
	return !(old & mask);
}

/* The member in a slot sets its bits. */
static inline void ring_set(struct image_ring *ring, uint32_t slot)
{
	const uint64_t *positions =
		ring->positions + (size_t)slot * ring->hashes;
	uint32_t hashes = ring->hashes;
	uint64_t *words = ring->words;
	bool fresh = false;

	/* No branch on own bits: they are random, and half of them set. */
	if (ring->image->shared) {
		for (uint32_t i = 0; i < hashes; i++)
			fresh |= set_shared(words + positions[i] / 64,
					    UINT64_C(1)
						    << WORD_BIT(positions[i]));
	} else {
		for (uint32_t i = 0; i < hashes; i++)
			fresh |= set_own(words + positions[i] / 64,
					 UINT64_C(1) << WORD_BIT(positions[i]));
	}
	ring->added[ring->bucket[slot]] += fresh;
}

void image_ring_add(struct image_ring *ring, uint32_t bucket, const void *key,
		    size_t len)
{
	const struct image *image = ring->image;
	uint64_t base = (uint64_t)image->stride * 8 * bucket;
	uint32_t slot = ring->next;
	uint64_t *positions = ring->positions + (size_t)slot * ring->hashes;

	if (ring->used == RING)
		ring_set(ring, slot);
	else
		ring->used++;
	ring->next = (slot + 1) % RING;
	ring->bucket[slot] = bucket;
	image->layout->positions(&image->params, key, len, positions);
	for (uint32_t i = 0; i < ring->hashes; i++) {
		positions[i] += base;
		__builtin_prefetch(ring->words + positions[i] / 64, 1);
	}
}

void image_ring_flush(struct image_ring *ring)
{
	/* Members left in the order in which they came. */
	for (; ring->used > 0; ring->used--)
		ring_set(ring, (ring->next + RING - ring->used) % RING);
}

void image_ring_free(struct image_ring *ring)
{
	free(ring);
}
