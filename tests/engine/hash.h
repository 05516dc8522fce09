/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hash: where an item's bits are.  SipHash-1-3 by its paper, under two keys.
 */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

enum { SEED_SIZE = 32 };

struct hash {
	uint64_t h[2];
};

/* Of an item of `size` bytes, by the two keys that are the seed. */
void hash_item(struct hash *, const unsigned char seed[SEED_SIZE],
	       const void *item, size_t size);

/* The i-th of its positions in a filter of `bits`. */
uint64_t hash_position(const struct hash *, uint32_t i, uint64_t bits);

uint64_t little_get(const unsigned char *, size_t bytes);
void little_put(unsigned char *, size_t bytes, uint64_t);

#endif
