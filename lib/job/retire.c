/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/retire.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/job/generation.h"

static int unnamed(const struct manifest *m, bool live, struct error *err)
{
	char rows[NUM_TEXT_MAX];

	(void)error_set(err, ERROR_USAGE,
			"option --retire: it removes set '%s', of which "
			"generation '%s' is %s, with %s rows",
			m->set, m->generation, live ? "live" : "the newest",
			num_grouped(m->keys, rows));
	return error_hint(err,
			  "if no writer and no reader is left, name it: "
			  "--retire -g %s",
			  m->generation);
}

/* It has to be named, and by its present name. */
static int check_id(const struct generations *g, const char *id,
		    struct error *err)
{
	const struct manifest *m = generations_linked(g);
	bool live = m != NULL;

	if (!live)
		m = &g->list[0];
	if (id == NULL)
		return unnamed(m, live, err);
	if (strcmp(id, m->generation) == 0)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': not the one that is %s, which is "
			"'%s'",
			id, live ? "live" : "the newest, and none is live",
			m->generation);
	return error_hint(err, "see who uses the set: bloomctl inspect");
}

static int remove_one(struct store *store, const struct manifest *m,
		      bool dry_run, struct prune_report *report,
		      struct error *err)
{
	if (!dry_run && store->ops->drop(store, m->generation, err) != 0)
		return -1;
	memcpy(report->removed[report->count].generation, m->generation,
	       sizeof(m->generation));
	report->removed[report->count++].state = m->state;
	return 0;
}

/* All but what is named, oldest first, and then that. */
static int remove_all(struct store *store, const struct generations *g,
		      const char *id, bool dry_run, struct prune_report *report,
		      struct error *err)
{
	const struct manifest *named = generations_find(g, id);
	int rc = 0;

	for (size_t i = g->count; rc == 0 && i > 0; i--) {
		if (&g->list[i - 1] == named)
			continue;
		rc = stop_check(err);
		if (rc == 0)
			rc = remove_one(store, &g->list[i - 1], dry_run, report,
					err);
	}
	if (rc == 0)
		rc = stop_check(err);
	if (rc == 0 && !dry_run) {
		store->ops->phase(store, "removing what is live", 0, 0);
		rc = store->ops->retire(store, err);
	}
	return rc == 0 ? remove_one(store, named, dry_run, report, err) : -1;
}

static int run(struct store *store, const char *id, bool dry_run,
	       struct prune_report *report, struct error *err)
{
	struct store_facts facts;
	struct generations g;
	int rc;

	if (generations_read(store, &g, err) != 0)
		return -1;
	report->removed = calloc(g.count + 1, sizeof(*report->removed));
	if (report->removed == NULL)
		rc = error_nomem(err);
	else if (g.count == 0 && store->ops->facts(store, &facts, err) == 0)
		rc = error_set(err, ERROR_SOURCE,
			       "target '%s': it has no generation of the "
			       "keyspec's set",
			       facts.place);
	else
		rc = g.count == 0 ? -1 : check_id(&g, id, err);
	if (rc == 0 && dry_run)
		rc = generations_unlocked(store, g.list[0].set, err);
	if (rc == 0)
		rc = remove_all(store, &g, id, dry_run, report, err);
	generations_release(&g);
	return rc;
}

int retire_run(struct store *store, const char *id, bool dry_run,
	       struct prune_report *report, struct error *err)
{
	uint64_t fence;
	int rc;

	memset(report, 0, sizeof(*report));
	if (dry_run)
		return run(store, id, true, report, err);
	if (store->ops->lock(store, "swap --retire", &fence, err) != 0)
		return -1;
	rc = run(store, id, false, report, err);
	store->ops->unlock(store);
	return rc;
}
