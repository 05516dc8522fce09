/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/tally.h"

#include <stdlib.h>
#include <string.h>

int tally_init(struct tally *tally, uint32_t buckets, struct error *err)
{
	tally->buckets = buckets;
	tally->keys = calloc(buckets, sizeof(*tally->keys));
	tally->marked = calloc(buckets, sizeof(*tally->marked));
	return tally->keys != NULL && tally->marked != NULL ? 0
							    : error_nomem(err);
}

void tally_mark(struct tally *tally)
{
	memcpy(tally->marked, tally->keys,
	       tally->buckets * sizeof(*tally->keys));
}

void tally_back(struct tally *tally)
{
	memcpy(tally->keys, tally->marked,
	       tally->buckets * sizeof(*tally->keys));
}

void tally_add(const struct tally *tally, uint64_t *sum)
{
	for (uint32_t b = 0; tally->keys != NULL && b < tally->buckets; b++)
		sum[b] += tally->keys[b];
}

void tally_release(struct tally *tally)
{
	free(tally->keys);
	free(tally->marked);
	memset(tally, 0, sizeof(*tally));
}
