/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"

static void look(struct store *store, const struct manifest *m, uint32_t bucket,
		 struct inspect_bucket *out, struct error *err)
{
	struct bucket_info info;

	out->bucket = bucket;
	out->ttl_ms = -1;
	out->slot = -1;
	if (store->ops->info(store, m, bucket, true, &info, err) != 0) {
		out->bad = true;
		out->missing = info.missing;
		out->foreign = info.foreign;
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
	out->ttl_ms = info.ttl_ms;
	out->slot = info.slot;
	out->horizon = info.horizon;
	memcpy(out->instead, info.instead, sizeof(out->instead));
}

static int by_fill(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* That of the set, from which on nothing is surely in all of its filters. */
static struct horizon oldest(const struct inspect_report *r)
{
	struct horizon found = r->buckets[0].horizon;

	for (uint32_t b = 1; b < r->m->buckets; b++)
		horizon_oldest(&found, &r->buckets[b].horizon);
	return found;
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
	r->horizon = oldest(r);
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

/* Where memory, descriptors or the server are gone, no filter is bad. */
static bool ends_all(const struct inspect_report *r, enum error_code code)
{
	switch (code) {
	case ERROR_INTERNAL:
	case ERROR_UNREACHED:
	case ERROR_TEMPORARY:
	case ERROR_ENGINE:
		return true;
	case ERROR_RIGHTS:
		/* Those of a file are its own. */
		return r->server;
	default:
		return false;
	}
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
		if (ends_all(r, err->code)) {
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

/* Of filters with one fault: how many, and the first of them. */
struct tally {
	enum finding_level level;
	const char *what;
	const char *remedy;
	uint32_t count;
	char first[256];
};

static void count(struct tally *t, const char *text)
{
	if (t->count++ == 0)
		(void)snprintf(t->first, sizeof(t->first), "%s", text);
}

static void add_tally(struct findings *f, const struct tally *t)
{
	if (t->count == 1)
		findings_add(f, t->level, t->what, t->remedy, "%s", t->first);
	else if (t->count > 1)
		findings_add(f, t->level, t->what, t->remedy,
			     "%" PRIu32 ", the first: %s", t->count, t->first);
}

/* Whole filters that are not what readers get, or not for long. */
static void of_good(const struct inspect_bucket *x, struct tally *expiring,
		    struct tally *mixed)
{
	char left[CLOCK_TEXT_MAX];
	char text[96];

	if (x->ttl_ms >= 0) {
		(void)snprintf(text, sizeof(text),
			       "bucket %" PRIu32 " has a TTL of %s", x->bucket,
			       clock_span(x->ttl_ms, left));
		count(expiring, text);
	}
	if (x->instead[0] != '\0') {
		(void)snprintf(text, sizeof(text),
			       "bucket %" PRIu32 " is still of '%s'", x->bucket,
			       x->instead);
		count(mixed, text);
	}
}

static void of_buckets(struct inspect_report *r)
{
	static const char again[] = "readers must pass through; build and swap";
	struct tally missing = {FINDING_ERROR, "missing filters", again, 0, ""};
	struct tally foreign = {FINDING_ERROR, "foreign filters", again, 0, ""};
	struct tally damaged = {FINDING_ERROR, "damaged filters", again, 0, ""};
	struct tally expiring = {
		FINDING_ERROR, "vanishing filters",
		"take the TTL away (PERSIST), and find who set it", 0, ""};
	struct tally mixed = {FINDING_WARNING, "mixed generations",
			      "finish the swap: run it again", 0, ""};

	for (uint32_t b = 0; r->buckets != NULL && b < r->m->buckets; b++) {
		const struct inspect_bucket *x = &r->buckets[b];

		if (x->bad)
			count(x->missing   ? &missing
			      : x->foreign ? &foreign
					   : &damaged,
			      x->why);
		else
			of_good(x, &expiring, &mixed);
	}
	add_tally(&r->findings, &missing);
	add_tally(&r->findings, &foreign);
	add_tally(&r->findings, &damaged);
	add_tally(&r->findings, &expiring);
	add_tally(&r->findings, &mixed);
}

/* What is not as it should be, from all that was seen. */
static int judge(struct inspect_report *r, int rc, struct error *err)
{
	if (rc != 0 && r->bad == 0 && err->code == ERROR_DATA &&
	    r->generations.count > 0)
		findings_add_error(&r->findings, "generation", err);
	else if (rc == 0 && r->m == NULL)
		findings_add(&r->findings, FINDING_ERROR, "generation",
			     "promote one: bloomctl swap", "none is live");
	if (r->m != NULL && (rc == 0 || r->bad > 0))
		of_buckets(r);
	findings_of_nodes(&r->findings, r->nodes, r->node_count);
	findings_of_generations(&r->findings, &r->generations, r->locked_by);
	return rc != 0 ? rc : findings_end(&r->findings, err);
}

/* Who may read filters need not have the right to see more of a server. */
static int read_nodes(struct store *store, struct inspect_report *r,
		      struct error *err)
{
	if (store->ops->nodes(store, &r->nodes, &r->node_count, err) == 0)
		return 0;
	if (err->code != ERROR_RIGHTS)
		return -1;
	findings_add_unseen(&r->findings, err);
	*err = (struct error)ERROR_INIT;
	return 0;
}

static int inspect(struct store *store, const struct bloomkey_spec *spec,
		   const char *id, struct inspect_report *r, struct error *err)
{
	struct store_facts facts;

	if (store->ops->facts(store, &facts, err) != 0)
		return -1;
	(void)snprintf(r->place, sizeof(r->place), "%s", facts.place);
	r->server = facts.server;
	if (store->ops->locked_by(store, false, r->locked_by,
				  sizeof(r->locked_by), err) != 0 ||
	    store->ops->locked_by(store, true, r->synced_by,
				  sizeof(r->synced_by), err) != 0 ||
	    store->ops->exposure(store, &r->exposure, err) != 0 ||
	    generations_read(store, &r->generations, err) != 0 ||
	    read_nodes(store, r, err) != 0)
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
	if (r->m->state == MANIFEST_LIVE && r->m->promoted != 0) {
		r->age_ms = clock_wall_ms() - r->m->promoted;
		if (r->age_ms < 0)
			r->age_ms = 0; /* another clock is ahead of ours */
	}
	return look_at_all(store, r, err);
}

int inspect_run(struct store *store, const struct bloomkey_spec *spec,
		const char *id, struct inspect_report *r, struct error *err)
{
	memset(r, 0, sizeof(*r));
	names_set(spec, r->set);
	r->age_ms = -1;
	return judge(r, inspect(store, spec, id, r, err), err);
}

void inspect_report_release(struct inspect_report *r)
{
	generations_release(&r->generations);
	findings_release(&r->findings);
	free(r->nodes);
	free(r->buckets);
	memset(r, 0, sizeof(*r));
}
