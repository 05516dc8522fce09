/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/murmur.h"

#include <string.h>

#define MURMUR_FACTOR UINT64_C(0xc6a4a7935bd1e995)
#define MURMUR_SHIFT  47

static inline uint64_t load_word(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/*
 * The last 1 to 7 of all bytes, the first of them in the lowest place.  With
 * a whole word before them they are the upper end of the last 8 bytes, which
 * takes no loop and no guess at its length.
 */
static inline uint64_t load_tail(const unsigned char *p, size_t len, size_t all)
{
	uint64_t word = 0;

	if (all >= 8)
		return load_word(p + len - 8) >> (64 - 8 * len);
	while (len-- > 0)
		word = word << 8 | p[len];
	return word;
}

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
		hash = (hash ^ scramble(load_word(p))) * MURMUR_FACTOR;
	if (len > 0)
		hash = (hash ^ load_tail(p, len, all)) * MURMUR_FACTOR;
	hash ^= hash >> MURMUR_SHIFT;
	hash *= MURMUR_FACTOR;
	return hash ^ hash >> MURMUR_SHIFT;
}
