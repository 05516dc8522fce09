/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/random.h"
#include "lib/base/stop.h"
#include "lib/filter/image.h"
#include "lib/filter/sizing.h"
#include "lib/job/count.h"
#include "lib/job/generation.h"
#include "lib/job/load.h"
#include "lib/job/phase.h"
#include "lib/job/sample.h"
#include "lib/rows/origin.h"

/* Random non-members asked of a generation before it is called complete. */
#define ABSENT_PROBES 10000

static void find_hottest(struct build_report *report)
{
	struct manifest *m = &report->m;

	report->hottest = count_hottest(m->bucket_keys, m->buckets,
					&report->hottest_bucket, &m->keys);
}

/* Rows of the last scan that have no key. */
static uint64_t rejected(const struct scan *scan)
{
	return scan->rejects != NULL ? scan->rejects->count.total : 0;
}

static int count(const struct scan *scan, struct build_report *report,
		 struct error *err)
{
	struct manifest *m = &report->m;
	struct scan run = *scan;

	run.phase = "counting";
	if (count_run(&run, m->bucket_keys, &m->rows, err) != 0)
		return -1;
	m->rejects = rejected(scan);
	find_hottest(report);
	return 0;
}

/* Members that are in every filter before the first key. */
static uint64_t planted(const struct scan *scan)
{
	const void *sentinel;

	return bloomkey_sentinel(scan->spec, &sentinel) > 0;
}

/* What all filters take, 0 if that cannot be told in 64 bits. */
static uint64_t set_bytes(const struct build_report *report,
			  const struct layout_ops *layout)
{
	uint64_t bytes;

	if (!report->server)
		return image_size(&report->params, report->m.buckets);
	if (__builtin_mul_overflow(layout->memory(&report->params),
				   (uint64_t)report->m.buckets, &bytes))
		return 0;
	return bytes;
}

/* Decides the capacity of every filter and what the filters are then. */
static int plan(const struct scan *scan, const struct build_options *o,
		struct build_report *report, struct error *err)
{
	struct manifest *m = &report->m;
	uint64_t keys = o->number;

	switch (o->capacity) {
	case BUILD_GIVEN:
		m->capacity = o->number;
		break;
	case BUILD_PLANNED:
		m->capacity =
			sizing_capacity(sizing_hottest(o->number, m->buckets),
					o->headroom, planted(scan));
		break;
	case BUILD_COUNTED:
		if (count(scan, report, err) != 0)
			return -1;
		keys = m->keys;
		m->capacity = sizing_capacity(report->hottest, o->headroom,
					      planted(scan));
		break;
	}
	if (engine_size(o->engine, m->capacity, o->error, &report->params,
			err) != 0) {
		if (err->code == ERROR_SPACE && o->capacity != BUILD_GIVEN)
			sizing_hint(o->engine, keys, o->error, o->headroom,
				    planted(scan), o->engine->memory_max, err);
		return -1;
	}
	memcpy(report->params.seed, m->seed, sizeof(m->seed));
	m->bytes = report->params.bytes;
	report->set_bytes = set_bytes(report, o->engine->layout);
	return 0;
}

/*
 * Removes what dead builds have left, for the lock is ours and none is alive,
 * and gives the new generation its id, behind all that have been.
 */
static int begin_locked(struct store *store, struct build_report *report,
			struct error *err)
{
	struct generations g;
	int rc = generations_read(store, &g, err);

	if (rc == 0)
		rc = generations_next_id(&g, &report->m, err);
	if (rc == 0)
		rc = generations_drop_dead(store, &g, &report->removed, err);
	generations_release(&g);
	return rc;
}

static int load_and_seal(struct store *store, const struct scan *scan,
			 struct build_report *report, struct error *err)
{
	struct manifest *m = &report->m;
	struct load load = {0, NULL, NULL, NULL};
	int rc = load_init(&load, store, scan->jobs, m->buckets, err);

	if (rc == 0)
		rc = scan_run(scan, load.table, &m->rows, err);
	if (rc == 0)
		rc = origin_text(scan->source, &m->origin, err);
	if (rc == 0)
		rc = source_horizon(scan->source, &m->horizon, err);
	if (rc == 0) {
		load_keys(&load, m->bucket_keys, m->bucket_again, m->buckets);
		find_hottest(report);
		m->rejects = rejected(scan);
		/* Two counts on two ways: what was read, and what was sent. */
		if (m->keys + m->rejects != m->rows)
			rc = error_set(err, ERROR_INTERNAL,
				       "%" PRIu64 " rows were read and %" PRIu64
				       " keys were sent",
				       m->rows, m->keys);
	}
	load_close_writers(&load);
	if (rc == 0) {
		store->ops->phase(store, "sealing", 0, 0);
		rc = store->ops->seal(store, m, err);
	}
	if (rc == 0)
		store->ops->phase(store, "checking", 0, 0);
	if (rc == 0)
		rc = sample_members(store, m, scan->spec, load.samples,
				    load.jobs, err);
	if (rc == 0) {
		report->probes = ABSENT_PROBES;
		rc = sample_absent(store, m, scan->spec, ABSENT_PROBES,
				   (uint64_t)clock_ns(), &report->probe_hits,
				   NULL, err);
	}
	load_release(&load);
	if (rc == 0)
		rc = stop_check(err);
	return rc;
}

/*
 * A build that failed leaves its manifest, marked, for people to see; where
 * even that cannot be written it leaves nothing.  One that lost its lock may
 * change nothing more, and failed for that: what it missed another run has
 * removed.
 */
static void abort_build(struct store *store, struct manifest *m,
			struct error *err)
{
	struct error why = ERROR_INIT;

	m->state = MANIFEST_ABORTED;
	m->ended = clock_wall_ms();
	free(m->bucket_keys);
	m->bucket_keys = NULL;
	if (store->ops->put(store, m, &why) == 0)
		return;
	if (why.code == ERROR_LOCKED)
		*err = why;
	else
		(void)store->ops->drop(store, m->generation, &why);
}

static int run_locked(struct store *store, const struct scan *scan,
		      const struct build_options *o,
		      struct build_report *report, struct error *err)
{
	struct manifest *m = &report->m;
	bool reserved = false;
	int rc = plan(scan, o, report, err);

	if (rc == 0)
		rc = begin_locked(store, report, err);
	if (rc == 0) {
		log_step("generation '%s': %" PRIu32 " filters of capacity "
			 "%" PRIu64,
			 m->generation, m->buckets, m->capacity);
		reserved = true;
		rc = store->ops->reserve(store, m, o->engine->layout,
					 &report->params, scan->jobs, err);
	}
	if (rc == 0)
		rc = load_and_seal(store, scan, report, err);
	if (rc == 0) {
		m->state = MANIFEST_COMPLETE;
		m->ended = clock_wall_ms();
		rc = store->ops->put(store, m, err);
	}
	if (rc != 0 && reserved)
		abort_build(store, m, err);
	return rc;
}

static int run_dry(struct store *store, const struct scan *scan,
		   const struct build_options *o, struct build_report *report,
		   struct error *err)
{
	report->target_missing = store == NULL;
	if (store != NULL &&
	    generations_unlocked(store, report->m.set, err) != 0)
		return -1;
	if (plan(scan, o, report, err) != 0)
		return -1;
	/* Rows without a key and a source that is cut off show only so. */
	if (o->capacity != BUILD_COUNTED && count(scan, report, err) != 0)
		return -1;
	if (report->hottest + planted(scan) > report->m.capacity) {
		(void)error_set(err, ERROR_FULL,
				"bucket %" PRIu32 ": %" PRIu64 " keys, "
				"duplicates counted, for a capacity of "
				"%" PRIu64,
				report->hottest_bucket, report->hottest,
				report->m.capacity);
		return error_hint(err, "give a larger --capacity or --keys, or "
				       "--capacity auto");
	}
	if (store != NULL)
		return store->ops->fits(store, &report->params, scan->jobs,
					err);
	if (report->set_bytes == 0 || report->set_bytes > mem_available())
		return error_set(err, ERROR_SPACE,
				 "set '%s': its filters are larger than the "
				 "memory that is available",
				 report->m.set);
	return 0;
}

static int manifest_begin(const struct scan *scan,
			  const struct build_options *o,
			  struct build_report *report, struct error *err)
{
	struct manifest *m = &report->m;

	memset(m, 0, sizeof(*m));
	names_set(scan->spec, m->set);
	memcpy(m->fingerprint, bloomkey_fingerprint(scan->spec),
	       sizeof(m->fingerprint));
	m->started = clock_wall_ms();
	m->state = MANIFEST_BUILDING;
	(void)strncpy(m->engine, o->engine->name, sizeof(m->engine) - 1);
	m->buckets = bloomkey_buckets(scan->spec);
	m->error = o->error;
	m->source = o->source != NULL ? strdup(o->source) : NULL;
	m->bucket_keys = calloc(m->buckets, sizeof(*m->bucket_keys));
	m->bucket_again = calloc(m->buckets, sizeof(*m->bucket_again));
	if (m->bucket_keys == NULL || m->bucket_again == NULL ||
	    (o->source != NULL && m->source == NULL))
		return error_nomem(err);
	/* A server draws one for each filter, and keeps it to itself. */
	if (o->engine->layout->seeded && !report->server)
		return random_bytes(m->seed, sizeof(m->seed), err);
	return 0;
}

/* Whose filters they will be, and whether those can have the error rate. */
static int choose_engine(struct store *store, const struct build_options *given,
			 struct build_options *o, struct build_report *report,
			 struct error *err)
{
	const struct engine *there = NULL;
	struct store_facts facts = {"", false};

	if (store != NULL && (store->ops->facts(store, &facts, err) != 0 ||
			      store->ops->engine(store, &there, err) != 0))
		return -1;
	report->server = facts.server;
	if (there != NULL && given->engine != NULL &&
	    strcmp(given->engine->name, there->name) != 0) {
		(void)error_set(err, ERROR_USAGE,
				"option --engine: %s: the filters of target "
				"'%s' are of %s",
				given->engine->name, facts.place, there->name);
		return error_hint(err, "leave the option out: a server is "
				       "asked");
	}
	*o = *given;
	if (there != NULL)
		o->engine = there;
	else if (o->engine == NULL)
		o->engine = &engines[ENGINE_REDISBLOOM];
	if (facts.server && there == NULL)
		log_note("%s: whose filters it has is not known before the "
			 "first build: those of %s are planned for",
			 facts.place, o->engine->name);
	return engine_check_error(o->engine, o->error, err);
}

/* All that can be said against a build before its lock. */
static int prepare(struct store *store, const struct scan *scan,
		   const struct build_options *given, struct build_options *o,
		   struct scan *run, struct build_report *report,
		   struct error *err)
{
	memset(report, 0, sizeof(*report));
	*run = *scan;
	if (scan->source->once && given->capacity == BUILD_COUNTED) {
		(void)error_set(err, ERROR_USAGE,
				"the source can be read only once, and "
				"--capacity auto would read it twice");
		return error_hint(err, "give --keys N or --capacity N");
	}
	if (choose_engine(store, given, o, report, err) != 0 ||
	    manifest_begin(scan, o, report, err) != 0)
		return -1;
	/* A worker without a part would cost atomic bits and do nothing. */
	return scan_jobs(scan, &run->jobs, err);
}

static int build(struct store *store, struct scan *run,
		 const struct build_options *o, struct build_report *report,
		 struct error *err)
{
	struct phase phase;

	phase_watch(&phase, store, run);
	return run_locked(store, run, o, report, err);
}

int build_run(struct store *store, const struct scan *scan,
	      const struct build_options *options, struct build_report *report,
	      struct error *err)
{
	struct build_options o;
	struct scan run;
	int rc;

	if (prepare(store, scan, options, &o, &run, report, err) != 0)
		return -1;
	if (o.dry_run)
		return run_dry(store, &run, &o, report, err);
	if (store->ops->lock(store, "build", &report->m.fence, err) != 0)
		return -1;
	rc = build(store, &run, &o, report, err);
	store->ops->unlock(store);
	return rc;
}

int build_locked(struct store *store, const struct scan *scan,
		 const struct build_options *options, uint64_t fence,
		 struct build_report *report, struct error *err)
{
	struct build_options o;
	struct scan run;

	if (prepare(store, scan, options, &o, &run, report, err) != 0)
		return -1;
	report->m.fence = fence;
	return build(store, &run, &o, report, err);
}

void build_report_release(struct build_report *report)
{
	manifest_release(&report->m);
}
