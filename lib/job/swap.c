/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/swap.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "lib/job/generation.h"

/* What a swap that was cut short behind its rename had been. */
enum cut_short { CUT_NOT, CUT_FORWARD, CUT_BACK };

/*
 * Readers have the new generation, and only manifests are behind: that of the
 * live one does not say live, or that of another one still does.
 */
static enum cut_short find_cut(const struct generations *g,
			       const struct manifest *live)
{
	enum cut_short cut = CUT_NOT;

	if (live == NULL)
		return CUT_NOT;
	if (live->recorded != MANIFEST_LIVE)
		cut = live->recorded == MANIFEST_OLD ? CUT_BACK : CUT_FORWARD;
	for (size_t i = 0; i < g->count; i++) {
		const struct manifest *m = &g->list[i];

		if (m != live && m->state == MANIFEST_OLD &&
		    m->recorded == MANIFEST_LIVE)
			cut = strcmp(m->generation, live->generation) > 0
				      ? CUT_BACK
				      : CUT_FORWARD;
	}
	return cut;
}

/* Brings the manifests up to what readers have. */
static int settle(struct store *store, const struct generations *g,
		  struct manifest *live, struct error *err)
{
	for (size_t i = 0; i < g->count; i++) {
		struct manifest *m = &g->list[i];

		if (m == live || m->state != MANIFEST_OLD ||
		    m->recorded != MANIFEST_LIVE)
			continue;
		m->retired = clock_wall_ms();
		if (store->ops->put(store, m, err) != 0)
			return -1;
		m->recorded = MANIFEST_OLD;
	}
	if (live->recorded == MANIFEST_LIVE)
		return 0;
	return store->ops->promote(store, live, NULL, err);
}

/*
 * On a server filters move one by one.  Where those of a generation that has
 * come half way are lost, another one may still take the place of all.
 */
static bool replaceable(struct store *store, const struct error *why)
{
	struct error ignored = ERROR_INIT;
	struct store_facts facts;

	return store->ops->facts(store, &facts, &ignored) == 0 &&
	       facts.server && why->code == ERROR_SWAP;
}

static struct manifest *choose_rollback(const struct generations *g,
					struct manifest *live, const char *set,
					const char *id, struct error *err)
{
	bool named = id != NULL;
	struct manifest *m;

	if (live == NULL && (!named || generations_linked(g) == NULL)) {
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': nothing is live, so nothing to roll "
				"back",
				set);
		return NULL;
	}
	if (id == NULL)
		id = live->previous;
	if (id[0] == '\0') {
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no generation was live before '%s'",
				set, live->generation);
		return NULL;
	}
	/* What a rollback has left is newer than what it went back to: a
	 * second one by mistake must not return to what was found bad. */
	if (!named && strcmp(id, live->generation) > 0) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': newer than the live one, so "
				"going to it is no way back",
				id);
		(void)error_hint(err, "to return to it: swap --rollback -g %s",
				 id);
		return NULL;
	}
	m = generations_find(g, id);
	if (m != NULL && m == live)
		return live;
	if (m == NULL || m->state != MANIFEST_OLD) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': %s, cannot be rolled back to",
				id,
				m == NULL ? "not there"
					  : manifest_state_name(m->state));
		(void)error_hint(err, "bloomctl inspect lists the generations; "
				      "swap -g promotes a complete one");
		return NULL;
	}
	return m;
}

/* The generation of -g, which must be fit to go forward to. */
static struct manifest *choose_named(const struct generations *g,
				     const char *set, const char *id,
				     struct error *err)
{
	struct manifest *m = generations_find(g, id);

	if (m == NULL) {
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no generation '%s'", set, id);
		(void)error_hint(err, "bloomctl inspect lists them");
		return NULL;
	}
	if (m->broken[0] != '\0') {
		(void)error_set(err, ERROR_GENERATION, "generation '%s': %s",
				id, m->broken);
		return NULL;
	}
	if (m->state != MANIFEST_COMPLETE && m->state != MANIFEST_LIVE) {
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': %s, not complete", id,
				manifest_state_name(m->state));
		if (m->state == MANIFEST_OLD)
			(void)error_hint(err,
					 "to go back to it: swap "
					 "--rollback -g %s",
					 id);
		return NULL;
	}
	return m;
}

static struct manifest *choose_newest(const struct generations *g,
				      struct manifest *live, const char *set,
				      struct error *err)
{
	struct manifest *m = generations_newest(g, MANIFEST_COMPLETE);

	if (m != NULL && live != NULL &&
	    strcmp(m->generation, live->generation) < 0)
		m = NULL;
	if (m == NULL && live != NULL)
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no complete generation newer than "
				"the live one, '%s'",
				set, live->generation);
	else if (m == NULL)
		(void)error_set(err, ERROR_GENERATION,
				"set '%s': no complete generation", set);
	if (m == NULL)
		(void)error_hint(err, "build one: bloomctl build");
	return m;
}

static struct manifest *choose(const struct generations *g,
			       struct manifest *live, const char *set,
			       enum cut_short cut, const struct swap_options *o,
			       struct error *err)
{
	struct manifest *newest = generations_newest(g, MANIFEST_COMPLETE);

	/* The same command again finishes what it has begun. */
	if (o->rollback && cut == CUT_BACK &&
	    (o->generation == NULL ||
	     strcmp(o->generation, live->generation) == 0))
		return live;
	if (!o->rollback && cut == CUT_FORWARD && o->generation == NULL &&
	    (newest == NULL ||
	     strcmp(newest->generation, live->generation) < 0))
		return live;
	if (g->count == 0) {
		(void)error_set(err, ERROR_SOURCE, "set '%s': not there", set);
		(void)error_hint(err, "build it first: bloomctl build");
		return NULL;
	}
	if (o->rollback)
		return choose_rollback(g, live, set, o->generation, err);
	if (o->generation != NULL)
		return choose_named(g, set, o->generation, err);
	return choose_newest(g, live, set, err);
}

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

/* An empty table is more often a mistake than a fact. */
static int check_sanity(const struct generations *g,
			const struct manifest *next,
			const struct manifest *live, struct error *err)
{
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

/* Every filter is there, whole, and what the manifest says it is. */
static int check_filters(struct store *store, const struct manifest *m,
			 bool dry_run, struct error *err)
{
	struct bucket_info info;

	for (uint32_t b = 0; b < m->buckets; b++) {
		if (!dry_run)
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
	}
	return 0;
}

/*
 * Finishes what was cut short, and says where to go then.  Where it cannot be
 * finished, only to another generation than the one that has come half way.
 */
static struct manifest *
settle_and_choose(struct store *store, const struct generations *g,
		  struct manifest *live, const char *set, enum cut_short cut,
		  const struct swap_options *o, struct error *err)
{
	struct error unsettled = ERROR_INIT;
	struct manifest *next = NULL;

	if (cut == CUT_NOT || o->dry_run ||
	    settle(store, g, live, &unsettled) == 0)
		return choose(g, live, set, cut, o, err);
	if (replaceable(store, &unsettled))
		next = choose(g, live, set, cut, o, err);
	if (next != NULL && next != live)
		return next;
	*err = unsettled;
	return NULL;
}

static int run_locked(struct store *store, const struct bloomkey_spec *spec,
		      const struct swap_options *o, struct swap_report *report,
		      struct error *err)
{
	char set[NAMES_SET_MAX];
	struct generations g;
	struct manifest *live;
	struct manifest *next;
	enum cut_short cut;
	int rc;

	names_set(spec, set);
	if (generations_read(store, &g, err) != 0)
		return -1;
	live = generations_live(&g);
	cut = find_cut(&g, live);
	next = settle_and_choose(store, &g, live, set, cut, o, err);
	rc = next != NULL ? generation_check(next, spec, err) : -1;
	if (rc == 0)
		rc = check_filters(store, next, o->dry_run, err);
	if (rc == 0 && next == live) {
		report->already = cut == CUT_NOT;
		report->resumed = cut != CUT_NOT;
	} else if (rc == 0) {
		if (live != NULL)
			memcpy(report->previous, live->generation,
			       sizeof(report->previous));
		if (!o->rollback && !o->allow_shrink)
			rc = check_sanity(&g, next, live, err);
		if (rc == 0 && !o->dry_run) {
			store->ops->phase(store, "promoting", 0, 0);
			rc = store->ops->promote(store, next, live, err);
		}
	}
	if (rc == 0)
		rc = manifest_copy(&report->m, next, err);
	generations_release(&g);
	return rc;
}

int swap_run(struct store *store, const struct bloomkey_spec *spec,
	     const struct swap_options *options, struct swap_report *report,
	     struct error *err)
{
	char set[NAMES_SET_MAX];
	uint64_t fence;
	int rc;

	memset(report, 0, sizeof(*report));
	names_set(spec, set);
	if (options->dry_run) {
		if (generations_unlocked(store, set, err) != 0)
			return -1;
		return run_locked(store, spec, options, report, err);
	}
	if (store->ops->lock(store,
			     options->rollback ? "swap --rollback" : "swap",
			     &fence, err) != 0)
		return -1;
	rc = run_locked(store, spec, options, report, err);
	store->ops->unlock(store);
	return rc;
}

void swap_report_release(struct swap_report *report)
{
	manifest_release(&report->m);
}
