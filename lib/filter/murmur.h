/* SPDX-License-Identifier: BSD-2-Clause
 *
 * murmur: MurmurHash64A, the hash behind RedisBloom's filters.
 */
#ifndef BLOOMCTL_FILTER_MURMUR_H
#define BLOOMCTL_FILTER_MURMUR_H

#include <stddef.h>
#include <stdint.h>

/*
 * MurmurHash64A of len bytes, read as little-endian words on every machine.
 * data is borrowed until return, needs no alignment, and may be NULL if len
 * is 0.
 */
uint64_t murmur64a(const void *data, size_t len, uint64_t seed);

#endif
