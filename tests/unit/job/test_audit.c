/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/audit.h"

#include "lib/base/log.h"
#include "lib/job/build.h"
#include "tests/unit/job/job.h"

#define ROWS 300

/* A set with one generation that was built from 300 rows and is live. */
struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct fake_generation *g;
	char *text;
	struct feed_part parts[2];
	struct feed feed;
	struct scan scan;
	struct audit_report report;
	struct error err;
};

static void begin(struct work *w, unsigned jobs)
{
	struct build_options o = {.engine = &engines[ENGINE_REDISBLOOM],
				  .capacity = BUILD_PLANNED,
				  .number = ROWS,
				  .headroom = 20,
				  .error = 0.001};
	struct build_report report;

	memset(w, 0, sizeof(*w));
	log_init(LOG_QUIET, "test");
	w->spec = job_spec(JOB_KEYSPEC);
	fake_init(&w->f, w->spec);
	w->text = job_rows(0, ROWS);
	w->parts[0] = (struct feed_part){.name = "a", .text = w->text};
	w->feed = feed_of(w->parts, 1, 100);
	w->scan = job_scan(w->spec, &w->feed, jobs);
	if (build_run(&w->f.base, &w->scan, &o, &report, &w->err) != 0)
		abort();
	w->g = fake_find(&w->f, report.m.generation);
	w->g->m.state = w->g->recorded = MANIFEST_LIVE;
	build_report_release(&report);
	memset(w->f.calls, 0, sizeof(w->f.calls));
}

/* Other rows come behind. */
static void also(struct work *w, const char *rows)
{
	w->parts[1] = (struct feed_part){.name = "b", .text = rows};
	w->feed.count = 2;
}

static int run(struct work *w, const char *id, uint64_t absent)
{
	const struct audit_options o = {.id = id, .absent = absent};

	return audit_run(&w->f.base, &w->scan, &o, &w->report, &w->err);
}

static void end(struct work *w)
{
	CHECK(w->feed.open == 0);
	CHECK_U64(w->f.calls[FAKE_LOCK] + w->f.calls[FAKE_PUT], 0);
	audit_report_release(&w->report);
	fake_done(&w->f);
	free(w->text);
	bloomkey_free(w->spec);
}

static void all_are_there(void)
{
	for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
		for (int late = 0; late < 2; late++) {
			struct work w;

			begin(&w, jobs);
			also(&w, "5\n5\n");
			w.f.late = late;
			CHECK(run(&w, NULL, 1000) == 0);
			CHECK_STR(w.report.m.generation, w.g->m.generation);
			CHECK_U64(w.report.rows, ROWS + 2);
			CHECK_U64(w.report.missing, 0);
			CHECK_U64(w.report.buckets_hit, 0);
			CHECK_U64(w.report.absent, 1000);
			CHECK(w.report.absent_hits < 20);
			CHECK_U64(w.f.calls[FAKE_ASK], ROWS + 2 + 1000);
			end(&w);
		}
	}
}

/* The buckets of the rows 1000, 1001, ... that are not there. */
static void some_are_missing(void)
{
	for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
		for (int late = 0; late < 2; late++) {
			bool hit[FAKE_BUCKETS] = {false};
			uint32_t buckets = 0, first = FAKE_BUCKETS;
			struct work w;

			begin(&w, jobs);
			also(&w, "1000000\n1000001\n");
			w.f.late = late;
			for (unsigned i = 1000000; i < 1000002; i++) {
				char key[32];
				int len = sprintf(key, "k:%u", i);

				hit[bloomkey_bucket(w.spec, key, (size_t)len,
						    NULL)] = true;
			}
			for (uint32_t b = FAKE_BUCKETS; b-- > 0;) {
				buckets += hit[b];
				first = hit[b] ? b : first;
			}
			CHECK(run(&w, NULL, 0) == -1);
			CHECK_U64(w.err.code, ERROR_VERIFY);
			CHECK(strstr(w.err.text, "2 of 302 rows are missing") !=
			      NULL);
			CHECK(w.err.hint[0] != '\0');
			CHECK_U64(w.report.rows, ROWS + 2);
			CHECK_U64(w.report.missing, 2);
			CHECK_U64(w.report.buckets_hit, buckets);
			CHECK_U64(w.report.first_bucket, first);
			end(&w);
		}
	}
}

static void no_row_verifies_nothing(void)
{
	struct work w;

	begin(&w, 1);
	w.parts[0].text = "";
	CHECK(run(&w, NULL, 1000) == -1);
	CHECK_U64(w.err.code, ERROR_VERIFY);
	CHECK(strstr(w.err.text, "no row") != NULL);
	end(&w);
}

static void too_full(void)
{
	struct work w;

	begin(&w, 1);
	memset(w.g->image.bits, 0xff, w.g->image.size);
	CHECK(run(&w, NULL, 1000) == -1);
	CHECK_U64(w.err.code, ERROR_VERIFY);
	CHECK_U64(w.report.absent_hits, 1000);
	CHECK_U64(w.report.missing, 0);
	audit_report_release(&w.report);
	/* Where none is asked for that cannot be seen. */
	CHECK(run(&w, NULL, 0) == 0);
	CHECK_U64(w.report.absent, 0);
	end(&w);
}

static void which_generation(void)
{
	struct work w;

	begin(&w, 1);
	fake_there(&w.f, ID_1, MANIFEST_OLD, few_keys);
	fake_there(&w.f, ID_2, MANIFEST_ABORTED, few_keys);
	/* None of the rows is in that. */
	CHECK(run(&w, ID_1, 0) == -1);
	CHECK_U64(w.err.code, ERROR_VERIFY);
	CHECK_U64(w.report.missing, ROWS);
	audit_report_release(&w.report);
	CHECK(run(&w, ID_2, 0) == -1);
	CHECK_U64(w.err.code, ERROR_GENERATION);
	audit_report_release(&w.report);
	CHECK(run(&w, ID_7, 0) == -1);
	CHECK_U64(w.err.code, ERROR_GENERATION);
	CHECK(strstr(w.err.text, "in fake:place") != NULL);
	audit_report_release(&w.report);
	w.g->m.fingerprint[0] ^= 1;
	CHECK(run(&w, NULL, 0) == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	end(&w);
}

static void a_damaged_filter(void)
{
	struct work w;

	begin(&w, 3);
	w.g->damaged[1] = true;
	CHECK(run(&w, NULL, 0) == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	end(&w);
}

static void faults(void)
{
	static const enum fake_op ops[] = {FAKE_FACTS, FAKE_LIST, FAKE_PROBE,
					   FAKE_ASK, FAKE_ASK_FLUSH};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		/* The first call, and one further on. */
		for (unsigned more = 0; more < 2; more++) {
			struct work w;

			begin(&w, 2);
			w.f.fail_at[ops[i]] = 1 + more;
			CHECK(run(&w, NULL, 100) ==
			      (i < 2 && more == 1 ? 0 : -1));
			if (i >= 2 || more == 0)
				CHECK_U64(w.err.code, ERROR_RIGHTS);
			end(&w);
		}
	}
}

static void a_source_that_is_cut_off(void)
{
	struct work w;

	begin(&w, 1);
	w.parts[0].fail_finish = true;
	CHECK(run(&w, NULL, 100) == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	CHECK_U64(w.report.absent, 0);
	end(&w);
}

int main(void)
{
	UNIT(all_are_there, "audit: every row is asked for, and found");
	UNIT(some_are_missing, "audit: rows that are missing are counted");
	UNIT(no_row_verifies_nothing,
	     "audit: a source without rows is refused");
	UNIT(too_full, "audit: too many non-members are refused");
	UNIT(which_generation, "audit: it is the live one or the one named");
	UNIT(a_damaged_filter, "audit: a damaged filter is no answer");
	UNIT(faults, "audit: faults of the store are told");
	UNIT(a_source_that_is_cut_off, "audit: half a source verifies nothing");
	return unit_end();
}
