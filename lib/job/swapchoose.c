/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "lib/base/clock.h"
#include "lib/job/swap_private.h"

enum cut_short swapchoose_cut(const struct generations *g,
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

struct manifest *swapchoose(struct store *store, const struct generations *g,
			    struct manifest *live, const char *set,
			    enum cut_short cut, const struct swap_options *o,
			    struct error *err)
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
