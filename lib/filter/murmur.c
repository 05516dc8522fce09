/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/murmur.h"

#include "lib/filter/words.h"

#define MURMUR_FACTOR UINT64_C(0xc6a4a7935bd1e995)
#define MURMUR_SHIFT  47

static inline uint64_t scramble(uint64_t word)
{
	word *= MURMUR_FACTOR;
	word ^= word >> MURMUR_SHIFT;
	return word * MURMUR_FACTOR;
}

uint64_t murmur64a(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t hash = seed ^ (uint64_t)len * MURMUR_FACTOR;
	size_t all = len;

	for (; len >= 8; len -= 8, p += 8)
		hash = (hash ^ scramble(words_load(p))) * MURMUR_FACTOR;
	if (len > 0)
		hash = (hash ^ words_load_tail(p, len, all)) * MURMUR_FACTOR;
	hash ^= hash >> MURMUR_SHIFT;
	hash *= MURMUR_FACTOR;
	return hash ^ hash >> MURMUR_SHIFT;
}
