/* SPDX-License-Identifier: BSD-2-Clause
 *
 * siphash: SipHash-1-3, the hash behind valkey-bloom's filters.
 *
 * The family is that of J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast
 * short-input PRF" (INDOCRYPT 2012); 1-3 says one round for each word and
 * three at the end.
 */
#ifndef BLOOMCTL_FILTER_SIPHASH_H
#define BLOOMCTL_FILTER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_PAIR_KEYS 32

/*
 * SipHash-1-3 of the same message under two keys of 16 bytes each, one behind
 * the other in keys.  The message is the 8 bytes of head, little-endian, and
 * then len bytes of data, which are borrowed until return, need no alignment,
 * and may be NULL if len is 0.
 */
void siphash13_pair(const unsigned char keys[SIPHASH_PAIR_KEYS], uint64_t head,
		    const void *data, size_t len, uint64_t out[2]);

#endif
