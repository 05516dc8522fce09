/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>

#include "lib/base/stop.h"
#include "lib/job/swap_private.h"

/*
 * Where `live` or its manifest is lost: what was live last, as far as it can
 * be read.  Readers may still have all its rows.
 */
static const struct manifest *last_live(const struct generations *g)
{
	const struct manifest *last = NULL;

	for (size_t i = 0; i < g->count; i++)
		if (g->list[i].state == MANIFEST_OLD &&
		    (last == NULL || g->list[i].promoted > last->promoted))
			last = &g->list[i];
	return last;
}

int swapcheck_sanity(const struct swapping *s, struct error *err)
{
	const struct generations *g = &s->g;
	const struct manifest *next = s->next;
	const struct manifest *live = s->live;
	static const char hint[] = "if that is right: swap --allow-shrink";

	if (next->keys == 0) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': it holds no row",
				next->generation);
		return error_hint(err, hint);
	}
	if (live == NULL)
		live = last_live(g);
	if (live == NULL && generations_linked(g) != NULL) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': no telling whether it holds "
				"what readers have: '%s' is broken, and none "
				"was live before it",
				next->generation,
				generations_linked(g)->generation);
		return error_hint(err, hint);
	}
	if (live == NULL || live->bucket_keys == NULL ||
	    next->bucket_keys == NULL || live->buckets != next->buckets)
		return 0;
	if ((double)next->keys <
	    (double)live->keys * SWAP_KEPT_PERCENT / 100.0) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': %" PRIu64 " rows, less than "
				"%d %% of the %" PRIu64 " of the live one",
				next->generation, next->keys, SWAP_KEPT_PERCENT,
				live->keys);
		return error_hint(err, hint);
	}
	for (uint32_t b = 0; b < next->buckets; b++) {
		double was = (double)live->bucket_keys[b];
		double least =
			was * SWAP_KEPT_PERCENT / 100.0 - 6.0 * sqrt(was);

		if ((double)next->bucket_keys[b] >= least)
			continue;
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': bucket %" PRIu32 ": %" PRIu64
				" rows, the live one has "
				"%" PRIu64,
				next->generation, b, next->bucket_keys[b],
				live->bucket_keys[b]);
		return error_hint(err, hint);
	}
	return 0;
}

int swapcheck_filters(struct swapping *s, struct error *err)
{
	struct store *store = s->store;
	const struct manifest *m = s->next;
	struct horizon *oldest = &s->next_horizon;
	struct bucket_info info;

	for (uint32_t b = 0; b < m->buckets; b++) {
		if (!s->o->dry_run)
			store->ops->phase(store, "checking", b, m->buckets);
		if (stop_check(err) != 0 ||
		    store->ops->info(store, m, b, true, &info, err) != 0)
			return -1;
		if (m->bucket_keys != NULL && info.keys < m->bucket_keys[b])
			return error_set(
				err, ERROR_DATA,
				"generation '%s': bucket %" PRIu32
				": it holds %" PRIu64 " keys, its manifest "
				"says %" PRIu64,
				m->generation, b, info.keys, m->bucket_keys[b]);
		if (info.ttl_ms >= 0) {
			(void)error_set(err, ERROR_GENERATION,
					"generation '%s': bucket %" PRIu32
					": it has a TTL, and would vanish",
					m->generation, b);
			return error_hint(err, "take the TTL away (PERSIST), "
					       "and find who set it");
		}
		if (b == 0)
			*oldest = info.horizon;
		horizon_oldest(oldest, &info.horizon);
	}
	return 0;
}
