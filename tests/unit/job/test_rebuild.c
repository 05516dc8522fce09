/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rebuild does in which order, and what it says of a step that fails.
 */
#include "lib/job/rebuild.h"

#include "lib/base/log.h"
#include "tests/unit/job/job.h"

/* A live generation, and a source with a few rows more. */
struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	char *text;
	struct feed_part part;
	struct feed feed;
	struct scan scan;
	struct rebuild_options options;
	struct rebuild_report report;
	unsigned asked; /* calls of before() */
	bool refuse;
	bool lose; /* the lock, meanwhile */
	struct error err;
};

static int before(void *ctx, struct error *err)
{
	struct work *w = ctx;

	w->asked++;
	/* Under the lock, and nothing has moved. */
	CHECK(w->f.locked);
	CHECK_U64(w->f.calls[FAKE_PROMOTE], 0);
	CHECK_U64(w->report.build.m.state, MANIFEST_COMPLETE);
	if (w->lose) {
		w->f.fail_at[FAKE_HELD] = w->f.calls[FAKE_HELD] + 1;
		w->f.fail_code = ERROR_LOCKED;
	}
	return w->refuse ? error_set(err, ERROR_VERIFY, "no") : 0;
}

static void begin(struct work *w)
{
	memset(w, 0, sizeof(*w));
	log_init(LOG_QUIET, "test");
	w->spec = job_spec(JOB_KEYSPEC);
	fake_init(&w->f, w->spec);
	(void)fake_there(&w->f, ID_1, MANIFEST_LIVE, few_keys);
	w->text = job_rows(0, 60);
	w->part = (struct feed_part){.name = "a", .text = w->text};
	w->feed = feed_of(&w->part, 1, 100);
	w->scan = job_scan(w->spec, &w->feed, 1);
	w->options = (struct rebuild_options){
		.build = {.engine = &engines[ENGINE_REDISBLOOM],
			  .capacity = BUILD_PLANNED,
			  .number = 100,
			  .headroom = 20,
			  .error = 0.01},
		.swap = {.unchanging = true, .before = before, .ctx = w},
		.keep = 1,
		.absent = 1000,
	};
}

static int run(struct work *w)
{
	return rebuild_run(&w->f.base, &w->scan, &w->options, &w->report,
			   &w->err);
}

static void end(struct work *w)
{
	CHECK(!w->f.locked);
	CHECK_U64(w->f.faults, 0);
	rebuild_report_release(&w->report);
	fake_done(&w->f);
	bloomkey_free(w->spec);
	free(w->text);
}

static bool says(const struct work *w, const char *part)
{
	if (strstr(w->err.text, part) != NULL)
		return true;
	printf("# '%s' is not in: %s\n", part, w->err.text);
	return false;
}

static void all_steps_have_one_lock(void)
{
	struct work w;

	begin(&w);
	(void)fake_there(&w.f, ID_2, MANIFEST_ABORTED, few_keys);
	CHECK(run(&w) == 0);
	CHECK_STR(w.err.text, "");
	CHECK_U64(w.report.step, REBUILD_DONE);
	CHECK(rebuild_step_name(w.report.step) == NULL);
	CHECK_U64(w.f.calls[FAKE_LOCK], 1);
	CHECK_STR(w.f.command, "rebuild");
	CHECK_U64(w.report.pruned.count, 1);
	CHECK(fake_find(&w.f, ID_2) == NULL);
	CHECK_U64(w.asked, 1);
	CHECK_STR(w.f.promoted, w.report.build.m.generation);
	CHECK_STR(w.f.retired, ID_1);
	CHECK_STR(w.report.live, ID_1);
	CHECK(w.report.verified);
	CHECK_U64(w.report.audit.rows, 60);
	CHECK_U64(w.report.audit.absent, 1000);
	end(&w);
}

static void a_step_that_fails_is_named(void)
{
	static const struct {
		enum fake_op op;
		enum rebuild_step step;
		const char *says;
		bool promoted;
	} cases[] = {
		{FAKE_FITS, REBUILD_DOCTOR, "step 'doctor': room: fake", false},
		{FAKE_RESERVE, REBUILD_BUILD, "step 'build': fake", false},
		{FAKE_SEAL, REBUILD_BUILD, "step 'build': fake", false},
		{FAKE_PROMOTE, REBUILD_SWAP, "step 'swap': fake", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct work w;

		begin(&w);
		w.f.fail_at[cases[i].op] = 1;
		w.f.fail_code = ERROR_DATA;
		CHECK(run(&w) == -1);
		CHECK_U64(w.err.code, ERROR_DATA);
		CHECK_U64(w.report.step, cases[i].step);
		CHECK(says(&w, cases[i].says));
		CHECK(says(&w, "'" ID_1 "' stays live"));
		CHECK_U64(w.f.calls[FAKE_RESERVE],
			  cases[i].step > REBUILD_DOCTOR);
		CHECK_U64(fake_find(&w.f, ID_1)->m.state, MANIFEST_LIVE);
		end(&w);
	}
}

/* From then on it is the swap that says what is live. */
static void once_something_moved(void)
{
	struct work w;

	begin(&w);
	w.f.fail_at[FAKE_PROMOTE] = 1;
	w.f.fail_code = ERROR_SWAP;
	CHECK(run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_SWAP);
	CHECK_STR(w.err.text, "step 'swap': fake: promote fails");
	end(&w);
}

static void no_is_no(void)
{
	struct work w;

	begin(&w);
	w.refuse = true;
	CHECK(run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_VERIFY);
	CHECK(says(&w, "step 'swap': no; '"));
	CHECK(says(&w, "' is complete, '" ID_1 "' stays live"));
	CHECK_U64(w.f.calls[FAKE_PROMOTE], 0);
	end(&w);
}

/* A lock that was lost while a hook took its time. */
static void a_lost_lock_moves_nothing(void)
{
	struct work w;

	begin(&w);
	w.lose = true;
	CHECK(run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_LOCKED);
	CHECK_U64(w.f.calls[FAKE_PROMOTE], 0);
	end(&w);
}

static void rows_that_are_missing(void)
{
	struct work w;
	unsigned asks;

	/* As many questions as the build has. */
	begin(&w);
	w.refuse = true;
	CHECK(run(&w) == -1);
	asks = w.f.calls[FAKE_ASK];
	end(&w);
	begin(&w);
	w.f.fail_at[FAKE_ASK] = asks + 1;
	w.f.fail_code = ERROR_DATA;
	CHECK(run(&w) == -1);
	CHECK_U64(w.report.step, REBUILD_VERIFY);
	CHECK(says(&w, "step 'verify': "));
	CHECK(says(&w, "; it is live"));
	CHECK_STR(w.f.promoted, w.report.build.m.generation);
	end(&w);
}

static void read_once(void)
{
	struct work w;

	begin(&w);
	w.feed.base.once = true;
	CHECK(run(&w) == 0);
	CHECK(!w.report.verified);
	CHECK_U64(w.report.audit.rows, 0);
	end(&w);
}

static void a_dry_run(void)
{
	struct work w;

	begin(&w);
	w.options.build.dry_run = true;
	CHECK(run(&w) == 0);
	CHECK_U64(w.f.calls[FAKE_LOCK], 0);
	CHECK_U64(w.f.calls[FAKE_RESERVE], 0);
	CHECK_U64(w.f.calls[FAKE_PROMOTE], 0);
	CHECK_U64(w.asked, 0);
	CHECK_STR(w.report.live, ID_1);
	end(&w);
	begin(&w);
	w.f.held = "somebody";
	w.options.build.dry_run = true;
	CHECK(run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_LOCKED);
	end(&w);
}

int main(void)
{
	UNIT(all_steps_have_one_lock, "rebuild: all steps have one lock");
	UNIT(a_step_that_fails_is_named, "rebuild: a step that fails is named");
	UNIT(once_something_moved, "rebuild: 84 is told by the swap");
	UNIT(no_is_no, "rebuild: who is asked before the swap may say no");
	UNIT(a_lost_lock_moves_nothing, "rebuild: a lost lock moves nothing");
	UNIT(rows_that_are_missing, "rebuild: verify fails when it is live");
	UNIT(read_once, "rebuild: what is read once is not asked for again");
	UNIT(a_dry_run, "rebuild: a dry run changes nothing");
	return unit_end();
}
