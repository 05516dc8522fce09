/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/tally.h"

#include <stdlib.h>
#include <string.h>

int tally_init(struct tally *tally, uint32_t buckets, struct error *err)
{
	tally->buckets = buckets;
	tally->keys = calloc(buckets, sizeof(*tally->keys));
	tally->marked = calloc(buckets, sizeof(*tally->marked));
	tally->gone = calloc(buckets, sizeof(*tally->gone));
	return tally->keys != NULL && tally->marked != NULL &&
			       tally->gone != NULL
		       ? 0
		       : error_nomem(err);
}

void tally_mark(struct tally *tally)
{
	memcpy(tally->marked, tally->keys,
	       tally->buckets * sizeof(*tally->keys));
}

void tally_back(struct tally *tally)
{
	for (uint32_t b = 0; b < tally->buckets; b++)
		tally->gone[b] += tally->keys[b] - tally->marked[b];
	memcpy(tally->keys, tally->marked,
	       tally->buckets * sizeof(*tally->keys));
}

void tally_add(const struct tally *tally, uint64_t *sum)
{
	for (uint32_t b = 0; tally->keys != NULL && b < tally->buckets; b++)
		sum[b] += tally->keys[b];
}

void tally_add_gone(const struct tally *tally, uint64_t *sum)
{
	for (uint32_t b = 0; tally->gone != NULL && b < tally->buckets; b++)
		sum[b] += tally->gone[b];
}

void tally_release(struct tally *tally)
{
	free(tally->keys);
	free(tally->marked);
	free(tally->gone);
	memset(tally, 0, sizeof(*tally));
}
