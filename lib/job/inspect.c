/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/stop.h"

static void look(struct store *store, const struct manifest *m, uint32_t bucket,
		 struct inspect_bucket *out, struct error *err)
{
	struct bucket_info info;

	out->bucket = bucket;
	if (store->ops->info(store, m, bucket, true, &info, err) != 0) {
		out->bad = true;
		out->missing = info.missing;
		(void)snprintf(out->why, sizeof(out->why), "%.*s",
			       (int)sizeof(out->why) - 1, err->text);
		return;
	}
	out->items = info.items;
	out->keys = info.keys;
	out->fill = (double)info.items / (double)info.params.capacity;
	out->error_now =
		info.bits_set != UINT64_MAX
			? layout_error_of_set(&info.params, info.bits_set)
			: layout_error_at(&info.params, (double)info.items);
	out->bytes = info.memory;
}

static int by_fill(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Minimum, median, maximum, skew and sums over the filters that are good. */
static int summarize(struct inspect_report *r, struct error *err)
{
	uint32_t n = r->m->buckets;
	double *fills = calloc(n, sizeof(*fills));
	uint64_t keys = 0;
	uint64_t most = 0;
	size_t good = 0;

	if (fills == NULL)
		return error_nomem(err);
	for (uint32_t b = 0; b < n; b++) {
		const struct inspect_bucket *x = &r->buckets[b];

		if (x->bad)
			continue;
		if (good == 0 || x->fill > r->buckets[r->fullest].fill)
			r->fullest = b;
		fills[good++] = x->fill;
		r->bytes += x->bytes;
		r->error_now += x->error_now;
		keys += x->keys;
		most = x->keys > most ? x->keys : most;
	}
	if (good > 0) {
		qsort(fills, good, sizeof(*fills), by_fill);
		r->fill_min = fills[0];
		r->fill_max = fills[good - 1];
		r->fill_median =
			good % 2 != 0
				? fills[good / 2]
				: (fills[good / 2 - 1] + fills[good / 2]) / 2;
		r->error_now /= (double)good;
		r->skew = keys > 0 ? (double)most * (double)good / (double)keys
				   : 1;
	}
	free(fills);
	return 0;
}

/* A report of some of the filters would be none. */
static int stopped(struct inspect_report *r, struct error *err)
{
	if (stop_check(err) == 0)
		return 0;
	r->bad = 0;
	return -1;
}

static int look_at_all(struct store *store, struct inspect_report *r,
		       struct error *err)
{
	struct error first = ERROR_INIT;

	r->buckets = calloc(r->m->buckets, sizeof(*r->buckets));
	if (r->buckets == NULL)
		return error_nomem(err);
	for (uint32_t b = 0; b < r->m->buckets; b++) {
		if (stopped(r, err) != 0)
			return -1;
		look(store, r->m, b, &r->buckets[b], err);
		if (!r->buckets[b].bad)
			continue;
		/* Within a large one, too. */
		if (stopped(r, err) != 0)
			return -1;
		/* Where memory or descriptors are out no filter is bad. */
		if (err->code == ERROR_INTERNAL) {
			r->bad = 0;
			return -1;
		}
		if (r->bad++ == 0)
			first = *err;
	}
	if (summarize(r, err) != 0)
		return -1;
	if (r->bad == 0)
		return 0;
	*err = first;
	if (r->bad > 1)
		(void)error_prefix(err,
				   "%" PRIu32 " of %" PRIu32
				   " filters are bad, the first",
				   r->bad, r->m->buckets);
	return error_hint(err, "%s",
			  r->m->state == MANIFEST_LIVE
				  ? "readers of a bad filter must pass "
				    "through; build and swap, or swap "
				    "--rollback"
				  : "build a new generation");
}

int inspect_run(struct store *store, const struct bloomkey_spec *spec,
		const char *id, struct inspect_report *r, struct error *err)
{
	struct store_facts facts;

	memset(r, 0, sizeof(*r));
	names_set(spec, r->set);
	if (store->ops->facts(store, &facts, err) != 0)
		return -1;
	(void)snprintf(r->place, sizeof(r->place), "%s", facts.place);
	if (store->ops->locked_by(store, r->locked_by, sizeof(r->locked_by),
				  err) != 0 ||
	    generations_read(store, &r->generations, err) != 0)
		return -1;
	/* Where nothing is live yet, the list is the whole answer. */
	if (id == NULL && r->generations.count > 0 &&
	    generations_live(&r->generations) == NULL &&
	    generations_linked(&r->generations) == NULL)
		return 0;
	r->m = generations_choose(&r->generations, id, r->set, r->place, err);
	if (r->m == NULL)
		return -1;
	if (generation_check(r->m, spec, err) != 0) {
		r->m = NULL;
		return -1;
	}
	return look_at_all(store, r, err);
}

void inspect_report_release(struct inspect_report *r)
{
	generations_release(&r->generations);
	free(r->buckets);
	memset(r, 0, sizeof(*r));
}
