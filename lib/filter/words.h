/* SPDX-License-Identifier: BSD-2-Clause
 *
 * words: little-endian numbers in bytes, on every machine, inline for the
 * hashes.
 */
#ifndef BLOOMCTL_FILTER_WORDS_H
#define BLOOMCTL_FILTER_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t words_load(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/*
 * The last 1 to 7 of `all` bytes, the first of them in the lowest place.  With
 * a whole word before them they are the upper end of the last 8 bytes, which
 * takes no loop and no guess at its length.
 */
static inline uint64_t words_load_tail(const unsigned char *p, size_t len,
				       size_t all)
{
	uint64_t word = 0;

	if (all >= 8)
		return words_load(p + len - 8) >> (64 - 8 * len);
	while (len-- > 0)
		word = word << 8 | p[len];
	return word;
}

/* Writes the width low bytes of value; returns what is behind them. */
static inline unsigned char *words_put(unsigned char *p, uint64_t value,
				       int width)
{
	for (int i = 0; i < width; i++)
		*p++ = (unsigned char)(value >> (8 * i));
	return p;
}

/* The same of a double, IEEE 754. */
static inline unsigned char *words_put_double(unsigned char *p, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return words_put(p, word, 8);
}

#endif
