/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/prune.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/stop.h"
#include "lib/job/generation.h"

/* How many generations retired after this one. */
static uint64_t retired_after(const struct generations *g,
			      const struct manifest *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < g->count; i++)
		if (&g->list[i] != m && g->list[i].state == MANIFEST_OLD &&
		    (g->list[i].retired > m->retired ||
		     (g->list[i].retired == m->retired && &g->list[i] < m)))
			n++;
	return n;
}

static bool needed(const struct generations *g, const struct manifest *live,
		   const struct manifest *m, uint64_t keep)
{
	/* Whatever is read of it just now, it is what a rollback needs. */
	if (live != NULL && strcmp(m->generation, live->previous) == 0)
		return true;
	if (m->linked || m->unread)
		return true;
	switch (m->state) {
	case MANIFEST_LIVE:
		return true;
	case MANIFEST_COMPLETE:
		return live == NULL ||
		       (strcmp(m->generation, live->generation) > 0 &&
			m == generations_newest(g, MANIFEST_COMPLETE));
	case MANIFEST_OLD:
		/* Without a live one there is no knowing which is needed. */
		return live == NULL || retired_after(g, m) < keep;
	case MANIFEST_BUILDING:
	case MANIFEST_ABORTED:
	case MANIFEST_BROKEN:
		break;
	}
	return false;
}

/* Without a dry run the lock would have found that. */
static int no_set(struct store *store, struct error *err)
{
	struct store_facts facts;

	if (store->ops->facts(store, &facts, err) != 0)
		return -1;
	return error_set(err, ERROR_SOURCE,
			 "target '%s': the keyspec's set is not in it",
			 facts.place);
}

static int run(struct store *store, uint64_t keep, bool dry_run,
	       struct prune_report *report, struct error *err)
{
	struct generations g;
	const struct manifest *live;
	int rc = 0;

	if (generations_read(store, &g, err) != 0)
		return -1;
	if (dry_run && g.count == 0)
		rc = no_set(store, err);
	live = generations_live(&g);
	report->removed = calloc(g.count + 1, sizeof(*report->removed));
	if (report->removed == NULL)
		rc = error_nomem(err);
	if (rc == 0 && dry_run && g.count > 0)
		rc = generations_unlocked(store, g.list[0].set, err);
	/* Oldest first: what is cut short has removed the least needed. */
	for (size_t i = g.count; rc == 0 && i > 0; i--) {
		const struct manifest *m = &g.list[i - 1];

		if (needed(&g, live, m, keep))
			continue;
		rc = stop_check(err);
		if (rc == 0 && !dry_run)
			store->ops->phase(store, "removing", g.count - i,
					  g.count);
		if (rc == 0 && !dry_run)
			rc = store->ops->drop(store, m->generation, err);
		if (rc != 0)
			break;
		memcpy(report->removed[report->count].generation, m->generation,
		       sizeof(m->generation));
		report->removed[report->count++].state = m->state;
	}
	generations_release(&g);
	return rc;
}

int prune_run(struct store *store, uint64_t keep, bool dry_run,
	      struct prune_report *report, struct error *err)
{
	uint64_t fence;
	int rc;

	memset(report, 0, sizeof(*report));
	if (dry_run)
		return run(store, keep, true, report, err);
	if (store->ops->lock(store, "swap --prune", &fence, err) != 0)
		return -1;
	rc = run(store, keep, false, report, err);
	store->ops->unlock(store);
	return rc;
}

int prune_locked(struct store *store, uint64_t keep,
		 struct prune_report *report, struct error *err)
{
	memset(report, 0, sizeof(*report));
	return run(store, keep, false, report, err);
}

void prune_report_release(struct prune_report *report)
{
	free(report->removed);
	report->removed = NULL;
	report->count = 0;
}
