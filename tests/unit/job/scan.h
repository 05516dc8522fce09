/* SPDX-License-Identifier: BSD-2-Clause
 *
 * scan: what the tests of scan share: sinks that remember, and a run.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_SCAN_H
#define BLOOMCTL_TESTS_UNIT_JOB_SCAN_H

#include "tests/unit/job/job.h"

/* A sink that remembers what it got. */
struct keep {
	struct sink base;
	char keys[4096]; /* "k:1 k:2 " */
	uint64_t count;
	uint64_t wrong; /* keys with another bucket than their own */
	unsigned ends;
	unsigned fail_at; /* the n-th key, from 1 */
	bool fail_end;
	const struct bloomkey_spec *spec;
};

static inline int keep_key(struct sink *sink, uint32_t bucket, const void *key,
			   size_t len, struct error *err)
{
	struct keep *k = (struct keep *)sink;
	size_t used = strlen(k->keys);

	k->wrong += bucket != bloomkey_bucket(k->spec, key, len, NULL);
	if (used + len + 2 < sizeof(k->keys))
		(void)snprintf(k->keys + used, sizeof(k->keys) - used, "%.*s ",
			       (int)len, (const char *)key);
	if (++k->count == k->fail_at)
		return error_set(err, ERROR_FULL, "sink: full");
	return 0;
}

static inline int keep_end(struct sink *sink, struct error *err)
{
	struct keep *k = (struct keep *)sink;

	k->ends++;
	return k->fail_end ? error_set(err, ERROR_SPACE, "sink: no end") : 0;
}

static const struct sink_ops keep_ops = {.key = keep_key, .end = keep_end};

#define JOBS 3

/* One run over a feed. */
struct run {
	struct bloomkey_spec *spec;
	struct keep keep[JOBS];
	struct sink *table[JOBS];
	uint64_t rows;
	struct error err;
	int rc;
};

static inline void run_begin(struct run *r)
{
	memset(r, 0, sizeof(*r));
	r->spec = job_spec(JOB_KEYSPEC);
	for (unsigned i = 0; i < JOBS; i++) {
		r->keep[i].base.ops = &keep_ops;
		r->keep[i].spec = r->spec;
		r->table[i] = &r->keep[i].base;
	}
}

static inline void run_scan(struct run *r, struct feed *feed, unsigned jobs,
			    const struct rowformat *format)
{
	struct scan scan = job_scan(r->spec, feed, jobs);

	if (format != NULL)
		scan.format = format;
	r->rows = 99;
	r->rc = scan_run(&scan, r->table, &r->rows, &r->err);
	CHECK(feed->open == 0);
	for (unsigned i = 0; i < JOBS; i++)
		CHECK_U64(r->keep[i].wrong, 0);
}

static inline void run_end(struct run *r)
{
	bloomkey_free(r->spec);
}

static inline unsigned ends(const struct run *r)
{
	return r->keep[0].ends + r->keep[1].ends + r->keep[2].ends;
}

#endif
