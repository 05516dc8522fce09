/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/sum.h"

#include <stdlib.h>

/* Inlined, the analyser would judge xxHash's code as ours. */
#ifndef __clang_analyzer__
#define XXH_INLINE_ALL
#else
#define XXH_STATIC_LINKING_ONLY
#endif
#include <xxhash.h>

uint64_t sum_xxh64(const void *data, size_t len)
{
	return XXH64(data, len, 0);
}

struct sum_stream {
	XXH64_state_t state;
};

struct sum_stream *sum_stream_new(void)
{
	struct sum_stream *s = malloc(sizeof(*s));

	if (s != NULL)
		(void)XXH64_reset(&s->state, 0);
	return s;
}

void sum_stream_add(struct sum_stream *s, const void *data, size_t len)
{
	(void)XXH64_update(&s->state, data, len);
}

uint64_t sum_stream_value(const struct sum_stream *s)
{
	return XXH64_digest(&s->state);
}

void sum_stream_free(struct sum_stream *s)
{
	free(s);
}
