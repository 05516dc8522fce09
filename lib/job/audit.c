/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "lib/job/asking.h"
#include "lib/job/draw.h"
#include "lib/job/generation.h"
#include "lib/job/sample.h"

/* Asks for a worker's keys, or offers them to be drawn. */
struct audit_sink {
	struct sink base;
	struct asking asking;
	struct draw *draw; /* NULL: none are drawn */
	bool sample;       /* only those that are drawn are asked for */
	const struct bloomkey_spec *spec;
	size_t fields;         /* values that are kept of a row */
	const struct row *row; /* that the next key is of */
};

/* One audit of rows. */
struct auditing {
	struct store *store;
	const struct scan *scan;
	struct audit_report *report;
	size_t fields;
	struct draw *draw; /* NULL: none are drawn */
	bool sample;       /* only those that are drawn are asked for */
	uint64_t *keys;    /* asked for, per bucket; NULL: not wanted */
	uint64_t *missing; /* of them not found, per bucket */
};

static int audit_row(struct sink *sink, const struct row *row,
		     struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;

	(void)err;
	s->row = row;
	return 0;
}

static int audit_key(struct sink *sink, uint32_t bucket, const void *key,
		     size_t len, struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;
	uint64_t hash;

	if (s->draw != NULL) {
		(void)bloomkey_bucket(s->spec, key, len, &hash);
		if (draw_offer(s->draw, hash, bucket, key, len,
			       s->sample ? s->fields : 0, s->row->values,
			       s->row->lens, err) != 0)
			return -1;
	}
	if (s->sample)
		return 0;
	return asking_add(&s->asking, bucket, key, len, s->row->values,
			  s->row->lens, err);
}

static int audit_end(struct sink *sink, struct error *err)
{
	return asking_flush(&((struct audit_sink *)sink)->asking, err);
}

/* Answers to what was asked before are waited for: they count. */
static int audit_begin(struct sink *sink, const struct source_part *part,
		       struct error *err)
{
	(void)part;
	return asking_mark(&((struct audit_sink *)sink)->asking, err);
}

static int audit_again(struct sink *sink, struct error *err)
{
	return asking_back(&((struct audit_sink *)sink)->asking, err);
}

static const struct sink_ops audit_ops = {.row = audit_row,
					  .key = audit_key,
					  .end = audit_end,
					  .begin = audit_begin,
					  .again = audit_again};

/* Adds what was asked for and what was missed to the whole. */
static int collect(struct auditing *a, struct asking *asking, struct error *err)
{
	struct audit_report *r = a->report;

	for (uint32_t b = 0; b < r->m.buckets; b++) {
		r->asked += asking->asked.keys[b];
		r->missing += asking->missing.keys[b];
		a->missing[b] += asking->missing.keys[b];
		if (a->keys != NULL)
			a->keys[b] += asking->asked.keys[b];
	}
	return missed_take(&r->missed, &asking->missed, err);
}

/* Asks for the keys that were drawn. */
static int ask_drawn(struct auditing *a, struct error *err)
{
	struct asking asking;
	int rc = asking_init(&asking, a->store, &a->report->m, a->fields, err);
	size_t *lens = calloc(a->fields + 1, sizeof(*lens));

	if (rc == 0 && lens == NULL)
		rc = error_nomem(err);
	for (size_t i = 0; lens != NULL && rc == 0 && i < a->draw->count; i++) {
		const struct missed_key *k = &a->draw->keys[i].key;

		for (size_t f = 0; f < a->fields; f++)
			lens[f] =
				k->values[f] != NULL ? strlen(k->values[f]) : 0;
		rc = (i & 1023) == 0 ? stop_check(err) : 0;
		if (rc == 0)
			rc = asking_add(&asking, k->bucket, k->key, k->len,
					(const void *const *)k->values, lens,
					err);
	}
	if (rc == 0)
		rc = asking_flush(&asking, err);
	if (rc == 0)
		rc = collect(a, &asking, err);
	asking_release(&asking);
	free(lens);
	return rc;
}

static int run_scan(struct auditing *a, struct audit_sink *sinks,
		    struct sink **table, struct error *err)
{
	const struct scan *scan = a->scan;
	struct audit_report *r = a->report;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < scan->jobs; i++) {
		sinks[i].base.ops = &audit_ops;
		sinks[i].draw = a->draw;
		sinks[i].sample = a->sample;
		sinks[i].spec = scan->spec;
		sinks[i].fields = a->fields;
		table[i] = &sinks[i].base;
		rc = asking_init(&sinks[i].asking, a->store, &r->m, a->fields,
				 err);
	}
	if (rc == 0)
		rc = scan_run(scan, table, &r->rows, err);
	if (scan->rejects != NULL)
		r->rejects = scan->rejects->count.total;
	if (rc == 0 && a->draw != NULL) {
		draw_end(a->draw);
		if (a->sample)
			return ask_drawn(a, err);
	}
	for (unsigned i = 0; rc == 0 && i < scan->jobs; i++)
		rc = collect(a, &sinks[i].asking, err);
	if (rc != 0 || r->asked + r->rejects == r->rows)
		return rc;
	return error_set(err, ERROR_INTERNAL,
			 "%" PRIu64 " rows were read and %" PRIu64
			 " were answered for",
			 r->rows, r->asked);
}

static void count_buckets(struct audit_report *r, const uint64_t *missing)
{
	r->buckets_hit = 0;
	for (uint32_t b = 0; b < r->m.buckets; b++)
		if (missing[b] > 0 && r->buckets_hit++ == 0)
			r->first_bucket = b;
}

static int run_rows(struct auditing *a, struct error *err)
{
	unsigned jobs = a->scan->jobs;
	struct audit_sink *sinks = calloc(jobs, sizeof(*sinks));
	struct sink **table = calloc(jobs, sizeof(struct sink *));
	int rc;

	a->missing = calloc(a->report->m.buckets, sizeof(*a->missing));
	rc = sinks == NULL || table == NULL || a->missing == NULL
		     ? error_nomem(err)
		     : run_scan(a, sinks, table, err);
	for (unsigned i = 0; sinks != NULL && i < jobs; i++)
		asking_release(&sinks[i].asking);
	free(sinks);
	free(table);
	if (rc == 0)
		count_buckets(a->report, a->missing);
	return rc;
}

int audit_rows(struct store *store, const struct scan *scan, uint64_t *keys,
	       struct audit_report *report, struct error *err)
{
	struct auditing a = {
		.store = store, .scan = scan, .report = report, .keys = keys};
	int rc = run_rows(&a, err);

	free(a.missing);
	missed_release(&report->missed);
	return rc;
}

/* What does not count any more is taken off. */
static int recheck(struct auditing *a, const struct audit_options *o,
		   struct error *err)
{
	struct audit_report *r = a->report;
	struct recheck again = o->recheck;

	again.store = a->store;
	again.m = &r->m;
	again.spec = a->scan->spec;
	if (recheck_run(&again, &r->missed, &r->again, err) != 0)
		return -1;
	for (size_t i = 0; i < r->missed.count; i++) {
		const struct missed_key *key = &r->missed.keys[i];

		if (recheck_counts(key->why))
			continue;
		r->missing--;
		a->missing[key->bucket]--;
	}
	count_buckets(r, a->missing);
	return 0;
}

static int ask_rows(struct auditing *a, const struct audit_options *o,
		    struct error *err)
{
	int rc;

	if (o->recheck.database != NULL)
		a->fields = bloomkey_fields(a->scan->spec);
	a->sample = o->sample > 0;
	rc = run_rows(a, err);
	if (rc == 0)
		rc = recheck(a, o, err);
	free(a->missing);
	return rc;
}

/*
 * Takes those from the keys that were drawn which no primary has, and which do
 * not count: their rows have gone, or are in recent-writes.
 */
static void drop_missed(struct draw *draw, const struct missed *missed)
{
	for (size_t i = 0; i < missed->count; i++) {
		const struct missed_key *m = &missed->keys[i];

		for (size_t d = 0; m->why != MISSED_CAME && d < draw->count;
		     d++) {
			struct missed_key *k = &draw->keys[d].key;

			if (k->bucket != m->bucket || k->len != m->len ||
			    memcmp(k->key, m->key, k->len) != 0)
				continue;
			missed_key_release(k);
			draw->keys[d--] = draw->keys[--draw->count];
		}
	}
}

static int ask_replicas(struct auditing *a, const struct audit_options *o,
			struct error *err)
{
	const struct replicas_question q = {
		.server = o->recheck.server,
		.options = o->recheck.options,
		.spec = a->scan->spec,
		.m = &a->report->m,
		.keys = a->draw->keys,
		.count = a->draw->count,
		.grace_ms = o->recheck.grace_ms,
	};

	return replicas_run(&q, &a->report->replicas, err);
}

/* All that keys of rows are asked for. */
static int ask_members(struct auditing *a, const struct audit_options *o,
		       struct error *err)
{
	struct audit_report *r = a->report;

	if (ask_rows(a, o, err) != 0)
		return -1;
	if (r->rows == r->rejects && !o->fresh)
		return error_set(err, ERROR_VERIFY,
				 "source: it holds no row%s, so nothing is "
				 "verified",
				 r->rows > 0 ? " that has a key" : "");
	if (r->missing > 0)
		return audit_tell(r, o, err);
	if (!o->replicas)
		return 0;
	drop_missed(a->draw, &r->missed);
	return ask_replicas(a, o, err);
}

int audit_run(struct store *store, const struct scan *scan,
	      const struct audit_options *options, struct audit_report *report,
	      struct error *err)
{
	struct auditing a = {.store = store, .scan = scan, .report = report};
	uint64_t drawn = options->sample;
	struct draw draw;
	int rc;

	memset(report, 0, sizeof(*report));
	if (drawn == 0 && options->replicas)
		drawn = REPLICAS_KEYS;
	if (generation_pick(store, scan->spec, options->id, &report->m, err) !=
		    0 ||
	    (drawn > 0 &&
	     draw_init(&draw, drawn, (uint64_t)clock_ns(), err) != 0))
		return -1;
	a.draw = drawn > 0 ? &draw : NULL;
	rc = ask_members(&a, options, err);
	if (drawn > 0)
		draw_release(&draw);
	if (rc != 0)
		return -1;
	report->absent = options->absent;
	if (report->absent > 0 &&
	    sample_absent(store, &report->m, scan->spec, report->absent,
			  (uint64_t)clock_ns(), &report->absent_hits,
			  &report->absent_most, err) != 0)
		return -1;
	return 0;
}

void audit_report_release(struct audit_report *report)
{
	manifest_release(&report->m);
	missed_release(&report->missed);
	replicas_release(&report->replicas);
}
