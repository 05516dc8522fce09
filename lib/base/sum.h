/* SPDX-License-Identifier: BSD-2-Clause
 *
 * sum: checksums of files and records (XXH64, seed 0).  Against accidents,
 * not against an adversary.
 */
#ifndef BLOOMCTL_BASE_SUM_H
#define BLOOMCTL_BASE_SUM_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 of len bytes with seed 0. */
uint64_t sum_xxh64(const void *data, size_t len);

/* The same over bytes that come piece by piece. */
struct sum_stream;

/* A stream that has seen no byte; NULL if memory is out. */
struct sum_stream *sum_stream_new(void);

void sum_stream_add(struct sum_stream *s, const void *data, size_t len);

/* The sum of all bytes so far; the stream may go on. */
uint64_t sum_stream_value(const struct sum_stream *s);

/* NULL is legal. */
void sum_stream_free(struct sum_stream *s);

#endif
