/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/adopt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/job/generation.h"
#include "lib/job/phase.h"

/* An adoption that was cut short: the same generation goes on. */
static const struct manifest *unfinished(const struct generations *g)
{
	const struct manifest *m = generations_linked(g);

	return m != NULL && m->state == MANIFEST_BROKEN &&
			       m->recorded == MANIFEST_BUILDING
		       ? m
		       : NULL;
}

static int begin(struct store *store, const struct bloomkey_spec *spec,
		 double error, const char *source, struct manifest *m,
		 struct error *err)
{
	const struct manifest *half;
	struct generations g;
	unsigned removed = 0;
	int rc = 0;

	names_set(spec, m->set);
	memcpy(m->fingerprint, bloomkey_fingerprint(spec),
	       sizeof(m->fingerprint));
	m->started = clock_wall_ms();
	m->state = MANIFEST_BUILDING;
	m->buckets = bloomkey_buckets(spec);
	m->error = error;
	m->source = source != NULL ? strdup(source) : NULL;
	if (source != NULL && m->source == NULL)
		return error_nomem(err);
	if (generations_read(store, &g, err) != 0)
		return -1;
	half = unfinished(&g);
	if (generations_live(&g) != NULL)
		rc = error_set(err, ERROR_GENERATION,
			       "set '%s': generation '%s' is live: there is "
			       "nothing to adopt",
			       m->set, generations_live(&g)->generation);
	else if (half != NULL)
		memcpy(m->generation, half->generation, sizeof(m->generation));
	else
		rc = generations_next_id(&g, m, err);
	if (rc == 0)
		rc = generations_drop_dead(store, &g, &removed, err);
	generations_release(&g);
	return rc;
}

static int check_parity(const struct audit_report *r, struct error *err)
{
	uint64_t asked = r->rows - r->rejects;
	uint64_t found = asked - r->missing;

	if (asked == 0)
		return error_set(err, ERROR_VERIFY,
				 "source: it holds no row%s, so nothing is "
				 "known of the filters",
				 r->rows > 0 ? " that has a key" : "");
	if ((double)found >= (double)asked * ADOPT_FOUND / 1000)
		return 0;
	(void)error_set(err, ERROR_VERIFY,
			"set '%s': only %" PRIu64 " of %" PRIu64
			" rows are found in its live filters: their writers "
			"derive other keys or buckets than this keyspec",
			r->m.set, found, asked);
	return error_hint(err, "compare one row with a writer's: bloomctl key, "
			       "and scripts/verify-writer");
}

static int take_over(struct store *store, const struct scan *scan,
		     struct audit_report *r, struct error *err)
{
	struct manifest *m = &r->m;
	uint64_t *keys = calloc(m->buckets, sizeof(*keys));
	int rc = keys != NULL ? store->ops->adopt(store, m, err)
			      : error_nomem(err);

	if (rc == 0)
		rc = audit_rows(store, scan, keys, r, err);
	if (rc == 0)
		rc = check_parity(r, err);
	if (rc != 0) {
		free(keys);
		return -1;
	}
	m->bucket_keys = keys;
	m->rows = r->rows;
	m->rejects = r->rejects;
	m->keys = r->rows - r->rejects;
	return store->ops->adopt(store, m, err);
}

static int run_locked(struct store *store, const struct scan *scan,
		      double error, const char *source, struct audit_report *r,
		      struct error *err)
{
	struct manifest *m = &r->m;
	struct error ignored = ERROR_INIT;

	if (begin(store, scan->spec, error, source, m, err) != 0 ||
	    store->ops->survey(store, m, err) != 0 ||
	    store->ops->put(store, m, err) != 0)
		return -1;
	if (take_over(store, scan, r, err) != 0) {
		(void)store->ops->disown(store, m, &ignored);
		return -1;
	}
	m->state = MANIFEST_LIVE;
	m->ended = m->promoted = clock_wall_ms();
	return store->ops->put(store, m, err);
}

int adopt_run(struct store *store, const struct scan *scan, double error,
	      const char *source, struct audit_report *report,
	      struct error *err)
{
	struct scan run = *scan;
	struct phase phase;
	int rc;

	memset(report, 0, sizeof(*report));
	if (store->ops->survey == NULL) {
		(void)error_set(err, ERROR_USAGE,
				"option --adopt: all filters of a folder are "
				"bloomctl's own");
		return error_hint(err, "it is for a server with filters that "
				       "something else has made");
	}
	if (scan_jobs(scan, &run.jobs, err) != 0 ||
	    store->ops->lock(store, "swap --adopt", &report->m.fence, err) != 0)
		return -1;
	run.phase = "adopting";
	phase_watch(&phase, store, &run);
	rc = run_locked(store, &run, error, source, report, err);
	store->ops->unlock(store);
	return rc;
}
