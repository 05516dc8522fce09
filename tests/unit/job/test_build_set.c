/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A build among the other generations of its set.
 */
#include "lib/base/log.h"
#include "lib/job/build.h"
#include "tests/unit/job/job.h"

struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct feed_part part;
	struct feed feed;
	struct scan scan;
	struct build_options options;
	struct build_report report;
	struct error err;
};

int __real_getentropy(void *out, size_t len);
int __wrap_getentropy(void *out, size_t len);

static bool no_entropy;

int __wrap_getentropy(void *out, size_t len)
{
	return no_entropy ? -1 : __real_getentropy(out, len);
}

static void work_begin(struct work *w)
{
	memset(w, 0, sizeof(*w));
	w->spec = job_spec(JOB_KEYSPEC);
	fake_init(&w->f, w->spec);
	w->part = (struct feed_part){.name = "a", .text = "1\n2\n3\n"};
	w->feed = feed_of(&w->part, 1, 100);
	w->scan = job_scan(w->spec, &w->feed, 1);
	w->options = (struct build_options){
		.engine = &engines[ENGINE_REDISBLOOM],
		.capacity = BUILD_PLANNED,
		.number = 10,
		.error = 0.01,
	};
	log_init(LOG_QUIET, "test");
}

static int work_run(struct work *w)
{
	return build_run(&w->f.base, &w->scan, &w->options, &w->report,
			 &w->err);
}

static void work_end(struct work *w)
{
	build_report_release(&w->report);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

static void abandoned_ones_go(void)
{
	struct work w;

	work_begin(&w);
	fake_there(&w.f, ID_1, MANIFEST_OLD, few_keys);
	fake_there(&w.f, ID_2, MANIFEST_LIVE, few_keys);
	fake_there(&w.f, ID_3, MANIFEST_COMPLETE, few_keys);
	fake_there(&w.f, ID_4, MANIFEST_ABORTED, few_keys);
	fake_there(&w.f, ID_5, MANIFEST_BUILDING, few_keys);
	CHECK(work_run(&w) == 0);
	CHECK_U64(w.report.removed, 2);
	CHECK(fake_find(&w.f, ID_4) == NULL);
	CHECK(fake_find(&w.f, ID_5) == NULL);
	CHECK_U64(fake_count(&w.f), 4);
	/* What is live is as it was. */
	CHECK_U64(fake_find(&w.f, ID_2)->m.state, MANIFEST_LIVE);
	CHECK_U64(w.f.calls[FAKE_PROMOTE], 0);
	work_end(&w);
}

static void one_that_cannot_go_ends_it(void)
{
	struct work w;

	work_begin(&w);
	fake_there(&w.f, ID_4, MANIFEST_ABORTED, few_keys);
	w.f.fail_at[FAKE_DROP] = 1;
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_RIGHTS);
	CHECK_U64(w.report.removed, 0);
	CHECK_U64(w.f.calls[FAKE_RESERVE], 0);
	work_end(&w);
}

static void the_lock_of_another(void)
{
	struct work w;

	work_begin(&w);
	fake_there(&w.f, ID_5, MANIFEST_BUILDING, few_keys);
	w.f.held = "build of pid 7";
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_LOCKED);
	/* What the other one builds stays. */
	CHECK_U64(fake_count(&w.f), 1);
	build_report_release(&w.report);
	w.options.dry_run = true;
	w.err.code = ERROR_NONE;
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_LOCKED);
	CHECK(strstr(w.err.text, "build of pid 7") != NULL);
	work_end(&w);
}

static void room(void)
{
	for (int dry = 0; dry < 2; dry++) {
		struct work w;
		uint64_t need;

		work_begin(&w);
		w.options.dry_run = dry;
		CHECK(work_run(&w) == 0);
		need = w.report.set_bytes;
		CHECK(need > 0);
		build_report_release(&w.report);
		w.f.room = need;
		CHECK(work_run(&w) == 0);
		build_report_release(&w.report);
		w.f.calls[FAKE_RESERVE] = 0;
		w.f.room = need - 1;
		CHECK(work_run(&w) == -1);
		CHECK_U64(w.err.code, ERROR_SPACE);
		CHECK(strstr(w.err.text, "fake:place") == w.err.text);
		CHECK_U64(w.f.calls[FAKE_RESERVE], dry ? 0 : 1);
		work_end(&w);
	}
}

static void a_dry_run_changes_nothing(void)
{
	struct work w;

	work_begin(&w);
	fake_there(&w.f, ID_4, MANIFEST_ABORTED, few_keys);
	w.options.dry_run = true;
	w.options.capacity = BUILD_COUNTED;
	CHECK(work_run(&w) == 0);
	CHECK_U64(w.report.m.rows, 3);
	CHECK(w.report.m.capacity >= 3);
	CHECK(!w.report.target_missing);
	CHECK_U64(w.f.calls[FAKE_LOCK], 0);
	CHECK_U64(w.f.calls[FAKE_RESERVE] + w.f.calls[FAKE_PUT] +
			  w.f.calls[FAKE_DROP],
		  0);
	build_report_release(&w.report);
	CHECK(build_run(NULL, &w.scan, &w.options, &w.report, &w.err) == 0);
	CHECK(w.report.target_missing);
	work_end(&w);
}

static void sizes_that_do_not_go(void)
{
	struct work w;

	work_begin(&w);
	w.options.engine = &engines[ENGINE_REDIS8];
	w.options.capacity = BUILD_GIVEN;
	w.options.number = UINT64_C(1) << 40;
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_SPACE);
	CHECK_U64(fake_count(&w.f), 0);
	work_end(&w);
}

/* The seed of a build with an engine; zeroed if there was none. */
static void seed_of(enum engine_id id, unsigned char seed[LAYOUT_SEED_LEN])
{
	struct work w;

	work_begin(&w);
	w.options.engine = &engines[id];
	CHECK(work_run(&w) == 0);
	CHECK_STR(w.report.m.engine, engines[id].name);
	CHECK(memcmp(w.report.m.seed, w.report.params.seed, LAYOUT_SEED_LEN) ==
	      0);
	memcpy(seed, w.report.m.seed, LAYOUT_SEED_LEN);
	work_end(&w);
}

static void seeds(void)
{
	unsigned char one[LAYOUT_SEED_LEN], two[LAYOUT_SEED_LEN];

	seed_of(ENGINE_REDISBLOOM, one);
	CHECK(layout_seed_none(one));
	seed_of(ENGINE_REDIS8, one);
	CHECK(layout_seed_none(one));
	seed_of(ENGINE_VALKEY_BLOOM, one);
	seed_of(ENGINE_VALKEY_BLOOM, two);
	CHECK(!layout_seed_none(one) && !layout_seed_none(two));
	CHECK(memcmp(one, two, sizeof(one)) != 0);
	seed_of(ENGINE_ELASTICACHE, two);
	CHECK(!layout_seed_none(two));
}

static void no_seed(void)
{
	struct work w;

	no_entropy = true;
	work_begin(&w);
	w.options.engine = &engines[ENGINE_VALKEY_BLOOM];
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_INTERNAL);
	CHECK(strstr(w.err.text, "random bytes") != NULL);
	CHECK_U64(fake_count(&w.f), 0);
	CHECK_U64(w.f.calls[FAKE_LOCK], 0);
	work_end(&w);
	no_entropy = false;
}

static void stop_at_end(void *ctx, size_t part, unsigned read)
{
	(void)ctx;
	(void)part;
	if (read == 2)
		raise(SIGTERM);
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct work w;

	REQUIRE(stop_init(&err) == 0);
	work_begin(&w);
	/* The last read: the scan is through, and does not see it. */
	w.feed.hook = stop_at_end;
	CHECK(work_run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_TERMINATED);
	CHECK_U64(w.f.all[0].m.state, MANIFEST_ABORTED);
	CHECK_U64(w.f.completes, 0);
	work_end(&w);
}

static void a_stop_aborts(void)
{
	job_fork(stopped);
}

static void the_newest_of_all(void)
{
	static const char future[] = "29990101T000000Z-ffff";
	struct work w;

	/* Its clock was set back meanwhile. */
	work_begin(&w);
	fake_there(&w.f, future, MANIFEST_LIVE, few_keys);
	CHECK(work_run(&w) == 0);
	CHECK(names_id_valid(w.report.m.generation));
	CHECK(strcmp(w.report.m.generation, future) > 0);
	CHECK_U64(fake_count(&w.f), 2);
	CHECK_U64(fake_find(&w.f, future)->m.state, MANIFEST_LIVE);
	work_end(&w);
}

/* Whoever has the lock keeps it, and its fence is the generation's. */
static void under_a_lock(void)
{
	struct work w;
	uint64_t fence = 0;

	work_begin(&w);
	REQUIRE(w.f.base.ops->lock(&w.f.base, "test", &fence, &w.err) == 0);
	CHECK(build_locked(&w.f.base, &w.scan, &w.options, fence, &w.report,
			   &w.err) == 0);
	CHECK_U64(w.report.m.state, MANIFEST_COMPLETE);
	CHECK(fence != 0);
	CHECK_U64(w.report.m.fence, fence);
	CHECK(w.f.locked);
	CHECK_U64(w.f.calls[FAKE_LOCK], 1);
	CHECK_STR(w.f.command, "test");
	w.f.base.ops->unlock(&w.f.base);
	work_end(&w);
}

int main(void)
{
	UNIT(abandoned_ones_go, "build: abandoned generations go, no others");
	UNIT(one_that_cannot_go_ends_it,
	     "build: an abandoned one that cannot go ends it");
	UNIT(the_lock_of_another, "build: another's lock is respected");
	UNIT(room, "build: what just fits is built, one byte less is refused");
	UNIT(a_dry_run_changes_nothing, "build: a dry run changes nothing");
	UNIT(sizes_that_do_not_go, "build: a size that is none begins nothing");
	UNIT(seeds, "build: each generation of a seeded layout has its own");
	UNIT(no_seed, "build: without a seed nothing begins");
	UNIT(a_stop_aborts, "build: a stop at the very end aborts");
	UNIT(the_newest_of_all,
	     "build: its id is newer than all that are there");
	UNIT(under_a_lock, "build: whoever has the lock keeps it");
	return unit_end();
}
