/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/audit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/job/generation.h"
#include "lib/job/sample.h"
#include "lib/job/tally.h"

/* Asks for a worker's keys and counts what is not there. */
struct audit_sink {
	struct sink base;
	struct probe *probe;
	struct tally asked;
	struct tally missing; /* of them */
};

static void on_answer(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	struct audit_sink *s = ctx;

	(void)key;
	(void)len;
	s->asked.keys[bucket]++;
	if (!found)
		s->missing.keys[bucket]++;
}

static int audit_key(struct sink *sink, uint32_t bucket, const void *key,
		     size_t len, struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;

	return s->probe->ops->ask(s->probe, bucket, key, len, err);
}

static int audit_end(struct sink *sink, struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;

	return s->probe->ops->flush(s->probe, err);
}

/* Answers to what was asked before are waited for: they count. */
static int audit_begin(struct sink *sink, const struct source_part *part,
		       struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;

	(void)part;
	if (s->probe->ops->flush(s->probe, err) != 0)
		return -1;
	tally_mark(&s->asked);
	tally_mark(&s->missing);
	return 0;
}

static int audit_again(struct sink *sink, struct error *err)
{
	struct audit_sink *s = (struct audit_sink *)sink;

	if (s->probe->ops->flush(s->probe, err) != 0)
		return -1;
	tally_back(&s->asked);
	tally_back(&s->missing);
	return 0;
}

static const struct sink_ops audit_ops = {.key = audit_key,
					  .end = audit_end,
					  .begin = audit_begin,
					  .again = audit_again};

static int sum(const struct audit_sink *sinks, unsigned jobs, uint64_t *keys,
	       struct audit_report *report, struct error *err)
{
	uint64_t all = 0;

	for (uint32_t b = 0; b < report->m.buckets; b++) {
		uint64_t asked = 0;
		uint64_t missing = 0;

		for (unsigned i = 0; i < jobs; i++) {
			asked += sinks[i].asked.keys[b];
			missing += sinks[i].missing.keys[b];
		}
		all += asked;
		if (keys != NULL)
			keys[b] = asked;
		if (missing > 0 && report->buckets_hit++ == 0)
			report->first_bucket = b;
		report->missing += missing;
	}
	if (all + report->rejects == report->rows)
		return 0;
	return error_set(err, ERROR_INTERNAL,
			 "%" PRIu64 " rows were read and %" PRIu64
			 " were answered for",
			 report->rows, all);
}

int audit_rows(struct store *store, const struct scan *scan, uint64_t *keys,
	       struct audit_report *report, struct error *err)
{
	struct audit_sink *sinks = calloc(scan->jobs, sizeof(*sinks));
	struct sink **table = calloc(scan->jobs, sizeof(struct sink *));
	int rc = sinks == NULL || table == NULL ? error_nomem(err) : 0;

	for (unsigned i = 0; rc == 0 && i < scan->jobs; i++) {
		sinks[i].base.ops = &audit_ops;
		table[i] = &sinks[i].base;
		if (tally_init(&sinks[i].asked, report->m.buckets, err) != 0 ||
		    tally_init(&sinks[i].missing, report->m.buckets, err) != 0)
			rc = -1;
		else
			rc = store->ops->probe(store, &report->m, on_answer,
					       &sinks[i], &sinks[i].probe, err);
	}
	if (rc == 0)
		rc = scan_run(scan, table, &report->rows, err);
	if (scan->rejects != NULL)
		report->rejects = scan->rejects->count.total;
	if (rc == 0)
		rc = sum(sinks, scan->jobs, keys, report, err);
	for (unsigned i = 0; sinks != NULL && i < scan->jobs; i++) {
		if (sinks[i].probe != NULL)
			sinks[i].probe->ops->close(sinks[i].probe);
		tally_release(&sinks[i].asked);
		tally_release(&sinks[i].missing);
	}
	free(sinks);
	free(table);
	return rc;
}

static int tell_missing(const struct audit_report *report, struct error *err)
{
	(void)error_set(err, ERROR_VERIFY,
			"generation '%s': %" PRIu64 " of %" PRIu64
			" rows are missing, in %" PRIu32
			" buckets, the first of them %" PRIu32,
			report->m.generation, report->missing,
			report->rows - report->rejects, report->buckets_hit,
			report->first_bucket);
	return error_hint(err, "rows that came after the build are missing "
			       "until the next one; if there are none, build "
			       "and swap again");
}

int audit_run(struct store *store, const struct scan *scan, const char *id,
	      uint64_t absent, struct audit_report *report, struct error *err)
{
	memset(report, 0, sizeof(*report));
	if (generation_pick(store, scan->spec, id, &report->m, err) != 0 ||
	    audit_rows(store, scan, NULL, report, err) != 0)
		return -1;
	if (report->rows == report->rejects)
		return error_set(err, ERROR_VERIFY,
				 "source: it holds no row%s, so nothing is "
				 "verified",
				 report->rows > 0 ? " that has a key" : "");
	if (report->missing > 0)
		return tell_missing(report, err);
	report->absent = absent;
	if (absent > 0 &&
	    sample_absent(store, &report->m, scan->spec, absent,
			  (uint64_t)clock_ns(), &report->absent_hits, err) != 0)
		return -1;
	return 0;
}

void audit_report_release(struct audit_report *report)
{
	manifest_release(&report->m);
}
