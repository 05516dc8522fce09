/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/recheck.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/job/build.h"
#include "tests/unit/job/job.h"

#define ROWS 300

/* A generation of 300 rows, and keys that are to be asked for again. */
struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct recheck recheck;
	struct missed missed;
	struct recheck_report report;
	struct error err;
};

static void begin(struct work *w)
{
	struct build_options o = {.engine = &engines[ENGINE_REDISBLOOM],
				  .capacity = BUILD_PLANNED,
				  .number = ROWS,
				  .headroom = 20,
				  .error = 0.0001};
	struct build_report report;
	struct feed_part part = {.name = "a"};
	struct feed feed;
	struct scan scan;
	char *text = job_rows(0, ROWS);

	memset(w, 0, sizeof(*w));
	log_init(LOG_QUIET, "test");
	w->spec = job_spec(JOB_KEYSPEC);
	fake_init(&w->f, w->spec);
	part.text = text;
	feed = feed_of(&part, 1, 100);
	scan = job_scan(w->spec, &feed, 1);
	if (build_run(&w->f.base, &scan, &o, &report, &w->err) != 0)
		abort();
	w->recheck.store = &w->f.base;
	w->recheck.m = &fake_find(&w->f, report.m.generation)->m;
	w->recheck.spec = w->spec;
	build_report_release(&report);
	memset(w->f.calls, 0, sizeof(w->f.calls));
	free(text);
}

static void miss(struct work *w, unsigned n)
{
	char key[32];
	int len = sprintf(key, "k:%u", n);
	uint32_t bucket = bloomkey_bucket(w->spec, key, (size_t)len, NULL);

	REQUIRE(missed_add(&w->missed, bucket, key, (size_t)len, &w->err) == 0);
}

static int run(struct work *w)
{
	return recheck_run(&w->recheck, &w->missed, &w->report, &w->err);
}

static void end(struct work *w)
{
	missed_release(&w->missed);
	CHECK(w->f.open == 0);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

static void what_has_come(void)
{
	for (int late = 0; late < 2; late++) {
		struct work w;

		begin(&w);
		w.f.late = late;
		miss(&w, 5);
		miss(&w, 1000001);
		miss(&w, 7);
		miss(&w, 7);
		CHECK(run(&w) == 0);
		CHECK_U64(w.report.whys[MISSED_CAME], 3);
		CHECK_U64(w.report.whys[MISSED_OPEN], 1);
		CHECK_U64(w.missed.keys[1].why, MISSED_OPEN);
		CHECK(!w.report.asked);
		/* Where there is nothing else to ask, once is enough; of
		 * two that are the same one may have told of both. */
		CHECK_U64(w.f.calls[FAKE_ASK], late ? 4 : 3);
		end(&w);
	}
}

static void nothing_was_missed(void)
{
	struct work w;

	begin(&w);
	w.recheck.grace_ms = INT64_C(24) * 3600 * 1000;
	CHECK(run(&w) == 0);
	CHECK_U64(w.f.calls[FAKE_PROBE], 0);
	end(&w);
}

static void after_the_grace(void)
{
	struct work w;
	int64_t start = clock_ns();

	begin(&w);
	miss(&w, 5);
	w.recheck.grace_ms = 100;
	CHECK(run(&w) == 0);
	CHECK(clock_ns() - start >= INT64_C(100000000));
	CHECK_U64(w.report.whys[MISSED_CAME], 1);
	end(&w);
}

static void faults(void)
{
	static const enum fake_op ops[] = {FAKE_PROBE, FAKE_ASK,
					   FAKE_ASK_FLUSH};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct work w;

		begin(&w);
		miss(&w, 5);
		miss(&w, 1000001);
		w.f.fail_at[ops[i]] = 1;
		CHECK(run(&w) == -1);
		CHECK_U64(w.err.code, ERROR_RIGHTS);
		end(&w);
	}
}

static void what_counts(void)
{
	static const enum missed_why counts[] = {MISSED_OPEN, MISSED_LATER,
						 MISSED_UNMOVED, MISSED_BEFORE};
	unsigned n = 0;

	for (int i = 0; i < MISSED_WHYS; i++)
		n += recheck_counts((enum missed_why)i);
	CHECK_U64(n, sizeof(counts) / sizeof(counts[0]));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		CHECK(recheck_counts(counts[i]));
}

int main(void)
{
	UNIT(what_has_come, "recheck: what is found by now has come");
	UNIT(nothing_was_missed, "recheck: where nothing was missed, no wait");
	UNIT(after_the_grace, "recheck: the filter is asked after the grace");
	UNIT(faults, "recheck: faults of the store are told");
	UNIT(what_counts, "recheck: what counts as missing");
	return unit_end();
}
