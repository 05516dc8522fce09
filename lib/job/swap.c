/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/swap.h"

#include <string.h>

#include "lib/job/swap_private.h"

/* It is live; what an earlier swap has left undone is done. */
static int finish(struct swapping *s, enum cut_short cut, struct error *err)
{
	s->report->already = cut == CUT_NOT;
	s->report->resumed = cut != CUT_NOT;
	return s->o->dry_run ? 0 : swapcatch_after(s, err);
}

static int promote(struct swapping *s, struct error *err)
{
	const struct swap_options *o = s->o;

	if (s->live != NULL)
		memcpy(s->report->previous, s->live->generation,
		       sizeof(s->report->previous));
	if ((!o->rollback && !o->allow_shrink &&
	     swapcheck_sanity(s, err) != 0) ||
	    swaphorizon_check(s, err) != 0)
		return -1;
	if (!o->dry_run && swapcatch_before(s, err) != 0)
		return -1;
	if (parity_check(s, err) != 0)
		return -1;
	if (o->before != NULL && o->before(o->ctx, err) != 0)
		return -1;
	if (o->dry_run)
		return 0;
	s->store->ops->phase(s->store, "promoting", 0, 0);
	if (s->store->ops->promote(s->store, s->next, s->live, err) != 0)
		return -1;
	return swapcatch_after(s, err);
}

static int run(struct swapping *s, struct error *err)
{
	char set[NAMES_SET_MAX];
	enum cut_short cut;
	int rc;

	names_set(s->spec, set);
	s->live = generations_live(&s->g);
	cut = swapchoose_cut(&s->g, s->live);
	s->next = swapchoose(s->store, &s->g, s->live, set, cut, s->o, err);
	if (s->next == NULL || generation_check(s->next, s->spec, err) != 0 ||
	    swapcheck_filters(s, err) != 0)
		return -1;
	rc = s->next == s->live ? finish(s, cut, err) : promote(s, err);
	/* Also where the last pass failed: it is live all the same. */
	if (rc == 0 || s->next->state == MANIFEST_LIVE) {
		struct error ignored = ERROR_INIT;

		if (manifest_copy(&s->report->m, s->next,
				  rc == 0 ? err : &ignored) != 0)
			rc = -1;
	}
	return rc;
}

int swap_locked(struct store *store, const struct bloomkey_spec *spec,
		const struct swap_options *options, struct swap_report *report,
		struct error *err)
{
	struct swapping s = {
		.store = store, .spec = spec, .o = options, .report = report};
	int rc;

	memset(report, 0, sizeof(*report));
	if (generations_read(store, &s.g, err) != 0)
		return -1;
	rc = run(&s, err);
	generations_release(&s.g);
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
		return swap_locked(store, spec, options, report, err);
	}
	if (store->ops->lock(store,
			     options->rollback ? "swap --rollback" : "swap",
			     &fence, err) != 0)
		return -1;
	rc = swap_locked(store, spec, options, report, err);
	store->ops->unlock(store);
	return rc;
}

int swap_finish_locked(struct store *store, const struct bloomkey_spec *spec,
		       const struct swap_options *options,
		       struct swap_report *report, struct error *err)
{
	struct swap_options o = {.catchup = options->catchup,
				 .unchanging = options->unchanging,
				 .since = options->since};
	char id[NAMES_ID_MAX] = "";
	struct generations g;
	const struct manifest *live;
	enum cut_short cut;

	memset(report, 0, sizeof(*report));
	if (generations_read(store, &g, err) != 0)
		return -1;
	live = generations_live(&g);
	cut = swapchoose_cut(&g, live);
	if (live != NULL)
		memcpy(id, live->generation, sizeof(id));
	generations_release(&g);
	if (cut == CUT_NOT)
		return 0;
	o.generation = id;
	o.rollback = cut == CUT_BACK;
	return swap_locked(store, spec, &o, report, err);
}

void swap_report_release(struct swap_report *report)
{
	manifest_release(&report->m);
}
