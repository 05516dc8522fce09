/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/catchup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/log.h"
#include "lib/base/stop.h"
#include "lib/job/load.h"
#include "lib/rows/origin.h"

/* Between a pass that failed for a while and the next. */
#define PAUSE_MS 500

/* One pass. */
struct pass {
	struct store *store;
	const struct bloomkey_spec *spec;
	const struct manifest *m;
	const struct catchup *catchup;
	bool live;
	struct horizon from;
	struct horizon to;
	uint64_t rows;
	uint64_t *keys; /* sent, per bucket; owned */
	uint64_t *again;
	struct pass_report done;
	bool standby;
	int64_t began;     /* by clock_ns(), before `to` was read */
	int64_t behind_ms; /* how much `to` was put back for a standby's lag */
};

/*
 * What the rows are that are added must be what they were: another condition
 * selects rows that did not change and were never added.
 */
static int check_selection(const struct pass *p, const struct origin *now,
			   struct error *err)
{
	struct origin built;
	struct error ignored = ERROR_INIT;
	json_t *json = NULL;
	bool same = true;

	origin_init(&built);
	if (p->m->origin != NULL)
		json = json_parse(p->m->origin, strlen(p->m->origin), &ignored);
	if (json != NULL && origin_read(json, &built, &ignored) == 0 &&
	    built.query != NULL && now->query != NULL)
		same = strcmp(built.query, now->query) == 0;
	json_decref(json);
	origin_release(&built);
	if (same)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': it was built of other rows than the "
			"source selects now, so that what changed is not all "
			"that it lacks",
			p->m->generation);
	return error_hint(err, "give the --table, --where or --query of its "
			       "build, or build a new generation");
}

/* A standby shows what its primary had committed some time ago. */
static int check_lag(struct pass *p, const struct origin *now,
		     struct error *err)
{
	const struct source_query *q = p->catchup->query;

	p->standby = now->standby;
	if (!now->standby || q->writer != NULL)
		return 0;
	if (q->overlap_ms >= 0) {
		p->behind_ms = q->overlap_ms;
		return 0;
	}
	(void)error_set(err, ERROR_USAGE,
			"source: server '%s' is a standby, and how far behind "
			"its primary is not known",
			now->place);
	return error_hint(err, "name the primary in --writer, or give an "
			       "--overlap that is longer than it ever lags");
}

static int check_source(struct pass *p, const struct source *source,
			struct error *err)
{
	struct origin now;
	int rc;

	if (source->ops->origin == NULL)
		return 0;
	rc = source->ops->origin(source, &now, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	rc = check_selection(p, &now, err);
	if (rc == 0)
		rc = check_lag(p, &now, err);
	origin_release(&now);
	return rc;
}

/* The columns are the source's, whatever it was asked for the last time. */
static int add_rows(struct pass *p, struct source *source, struct error *err)
{
	struct rejects rejects = {.max = p->catchup->max_rejects};
	struct rowformat format = *p->catchup->format;
	struct load load = {0, NULL, NULL, NULL};
	struct scan scan = {
		.spec = p->spec,
		.source = source,
		.format = &format,
		.rejects = &rejects,
		.jobs = p->catchup->jobs,
		.phase = "catching up",
		.progress = p->catchup->progress,
	};
	int rc;

	if (source->ops->columns != NULL)
		format.names = source->ops->columns(source, &format.name_count);
	rc = scan_jobs(&scan, &scan.jobs, err);
	if (rc == 0)
		rc = load_init(&load, p->store, scan.jobs, p->m->buckets, err);
	if (rc == 0)
		rc = scan_run(&scan, load.table, &p->rows, err);
	if (rc == 0)
		load_keys(&load, p->keys, p->again, p->m->buckets);
	load_release(&load);
	return rc;
}

static int read_and_add(struct pass *p, struct error *err)
{
	const struct catchup *c = p->catchup;
	struct source_query query = *c->query;
	const struct source_options options = {.query = &query};
	struct source *source;
	int rc;

	query.since = &p->from;
	query.stamped = c->stamped;
	p->began = clock_ns();
	if (source_open(&c->word, 1, &options, &source, err) != 0)
		return -1;
	rc = check_source(p, source, err);
	if (rc == 0)
		rc = add_rows(p, source, err);
	if (rc == 0)
		rc = source_horizon(source, &p->to, err);
	source->ops->free(source);
	/* What moves no column is found by ids only. */
	if (rc == 0 && c->stamped)
		p->to.xid = 0;
	return rc;
}

static int check_from(struct pass *p, struct error *err)
{
	bool stamped = p->catchup->stamped;

	/* A filter of which nothing is known lacks what its build did. */
	if (horizon_none(&p->from))
		p->from = p->m->horizon;
	if (stamped ? p->from.since != 0 : p->from.xid != 0)
		return 0;
	if (horizon_none(&p->from))
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': it has no horizon, so what "
				"it lacks cannot be told",
				p->m->generation);
	else
		(void)error_set(err, ERROR_GENERATION,
				"generation '%s': its horizon has no %s",
				p->m->generation,
				stamped ? "stamp" : "transaction");
	if (!stamped && p->from.since != 0)
		return error_hint(err, "catch up by its stamp: --catch-up "
				       "stamp --changed-column NAME");
	return error_hint(err, stamped ? "build a new one with --changed-column"
				       : "build a new one from --table");
}

static int run(struct pass *p, struct error *err)
{
	struct store *s = p->store;
	int rc;

	if (s->ops->pass_begin(s, p->m, p->live, p->catchup->jobs, &p->from,
			       err) != 0)
		return -1;
	rc = check_from(p, err);
	if (rc == 0)
		rc = read_and_add(p, err);
	if (rc == 0)
		return s->ops->pass_end(s, &p->to, p->keys, &p->done, err);
	s->ops->pass_drop(s);
	return rc;
}

static void take(struct catchup_report *r, const struct pass *p)
{
	int64_t took = (clock_ns() - p->began) / 1000000;

	if (r->passes++ == 0)
		r->from = p->from;
	r->to = p->to;
	r->standby = p->standby;
	r->rows += p->rows;
	r->acknowledged += p->done.acknowledged;
	r->added += p->done.added;
	r->last_ms = took;
	r->ended = p->to.read_at + p->behind_ms + took;
	r->fill = p->done.fill;
	r->fullest = p->done.fullest;
}

/* A pass, and *changed filters that were not what they had been before it. */
static int pass_once(struct pass *p, struct catchup_report *report,
		     uint32_t *changed, struct error *err)
{
	int rc;

	p->keys = calloc(p->m->buckets, sizeof(*p->keys));
	p->again = calloc(p->m->buckets, sizeof(*p->again));
	rc = p->keys == NULL || p->again == NULL ? error_nomem(err)
						 : run(p, err);
	free(p->keys);
	free(p->again);
	if (rc != 0)
		return -1;
	take(report, p);
	log_step("pass %u: %" PRIu64 " rows changed, %" PRIu64 " new, %" PRId64
		 " ms; filters moved: %" PRIu32 ", changed: %" PRIu32,
		 report->passes, p->rows, p->done.added, report->last_ms,
		 p->done.moved, p->done.changed);
	*changed = p->done.changed;
	if (p->done.failed == 0)
		return 0;
	*err = p->done.why;
	return -1;
}

static int unsteady(const struct manifest *m, uint32_t changed,
		    struct error *err)
{
	(void)error_set(err, ERROR_TEMPORARY,
			"set '%s': %" PRIu32
			" filters were changed by others during each of %d "
			"passes",
			m->set, changed, CATCHUP_ROUNDS);
	return error_hint(err, "run it again when no swap is under way");
}

int64_t catchup_recent_ms(const struct catchup *catchup, int64_t longest)
{
	return 2 * longest + catchup->query->wait_ms;
}

void catchup_record(struct store *store, int64_t at, int64_t exposure_ms,
		    int64_t recent_ms)
{
	const struct exposure e = {at, exposure_ms, recent_ms};
	struct error err = ERROR_INIT;

	if (at > 0 && exposure_ms > 0 &&
	    store->ops->set_exposure(store, &e, &err) != 0)
		log_warn("%s; what recent-writes must do is not on record",
			 err.text);
}

int catchup_live(struct store *store, const struct bloomkey_spec *spec,
		 const struct manifest *m, const struct catchup *catchup,
		 struct catchup_report *report, struct error *err)
{
	uint32_t changed = 0;

	memset(report, 0, sizeof(*report));
	for (int round = 0; round < CATCHUP_ROUNDS; round++) {
		struct pass p = {.store = store,
				 .spec = spec,
				 .m = m,
				 .catchup = catchup,
				 .live = true};

		if (pass_once(&p, report, &changed, err) == 0) {
			if (changed == 0)
				return 0;
		} else if (err->code != ERROR_TEMPORARY || stop_asked() ||
			   round + 1 == CATCHUP_ROUNDS) {
			return -1;
		} else {
			log_note("%s; it is tried again", err->text);
			*err = (struct error)ERROR_INIT;
		}
		if (input_wait_for(-1, 0, PAUSE_MS, err) < 0)
			return -1;
	}
	return unsteady(m, changed, err);
}

int catchup_shadow(struct store *store, const struct bloomkey_spec *spec,
		   const struct manifest *m, const struct catchup *catchup,
		   struct catchup_report *report, struct error *err)
{
	int64_t best = INT64_MAX;
	int tries = 0;
	int rounds = 0;

	memset(report, 0, sizeof(*report));
	while (tries < CATCHUP_TRIES) {
		struct pass p = {.store = store,
				 .spec = spec,
				 .m = m,
				 .catchup = catchup};
		uint32_t changed;

		store->ops->phase(store, "catching up", 0, 0);
		if (pass_once(&p, report, &changed, err) != 0)
			return -1;
		if (changed > 0) {
			if (++rounds == CATCHUP_ROUNDS)
				return unsteady(m, changed, err);
			continue;
		}
		if (report->last_ms <= CATCHUP_SHORT)
			return 0;
		tries = report->last_ms < best ? 0 : tries + 1;
		if (report->last_ms < best)
			best = report->last_ms;
	}
	return 0;
}
