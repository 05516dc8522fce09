/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/build.h"

#include "lib/base/log.h"
#include "lib/filter/sizing.h"
#include "tests/unit/job/job.h"

#define ROWS 400

/* A build of 400 rows in two parts, ready to run. */
struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	char *texts[2];
	struct feed_part parts[2];
	struct feed feed;
	struct scan scan;
	struct build_options options;
	struct build_report report;
	struct error err;
	int rc;
};

static void work_begin(struct work *w, unsigned jobs)
{
	memset(w, 0, sizeof(*w));
	w->spec = job_spec(JOB_KEYSPEC);
	fake_init(&w->f, w->spec);
	w->texts[0] = job_rows(0, ROWS / 2);
	w->texts[1] = job_rows(ROWS / 2, ROWS);
	w->parts[0] = (struct feed_part){.name = "a", .text = w->texts[0]};
	w->parts[1] = (struct feed_part){.name = "b", .text = w->texts[1]};
	w->feed = feed_of(w->parts, 2, 100);
	w->scan = job_scan(w->spec, &w->feed, jobs);
	w->scan.phase = "building";
	w->options = (struct build_options){
		.engine = &engines[ENGINE_REDISBLOOM],
		.capacity = BUILD_PLANNED,
		.number = ROWS,
		.headroom = 20,
		.error = 0.01,
		.source = "file:x",
	};
	log_init(LOG_QUIET, "test");
}

static void work_run(struct work *w)
{
	w->rc = build_run(&w->f.base, &w->scan, &w->options, &w->report,
			  &w->err);
	CHECK(w->feed.open == 0);
}

static void work_end(struct work *w)
{
	build_report_release(&w->report);
	fake_done(&w->f);
	free(w->texts[0]);
	free(w->texts[1]);
	bloomkey_free(w->spec);
}

/* The generation that was built; one that is not there fails the test. */
static const struct fake_generation *built(struct work *w)
{
	static const struct fake_generation none;
	const struct fake_generation *g =
		fake_find(&w->f, w->report.m.generation);

	CHECK(g != NULL);
	return g != NULL ? g : &none;
}

static void a_good_build(void)
{
	for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
		const struct fake_generation *g;
		uint64_t keys = 0;
		struct work w;

		work_begin(&w, jobs);
		work_run(&w);
		REQUIRE(w.rc == 0);
		g = built(&w);
		CHECK_U64(g->m.state, MANIFEST_COMPLETE);
		CHECK_U64(w.f.completes, 1);
		CHECK_U64(w.f.calls[FAKE_PUT], 1);
		CHECK_STR(w.f.command, "build");
		CHECK_STR(w.f.phases, "building sealing checking ");
		CHECK_U64(g->m.fence, w.f.fence);
		CHECK_U64(g->m.rows, ROWS);
		CHECK_U64(g->m.keys, ROWS);
		CHECK(g->m.added > ROWS - 20 && g->m.added <= ROWS);
		CHECK_STR(g->m.source, "file:x");
		CHECK_STR(g->m.engine, "redisbloom");
		CHECK_STR(g->m.previous, "");
		CHECK(g->m.started > 0 && g->m.ended >= g->m.started);
		CHECK(g->m.promoted == 0 && g->m.retired == 0);
		CHECK_U64(g->m.capacity,
			  sizing_capacity(sizing_hottest(ROWS, FAKE_BUCKETS),
					  20, 1));
		for (uint32_t b = 0; b < FAKE_BUCKETS; b++) {
			keys += g->m.bucket_keys[b];
			CHECK(g->m.bucket_keys[b] <= w.report.hottest);
		}
		CHECK_U64(keys, ROWS);
		CHECK_U64(g->m.bucket_keys[w.report.hottest_bucket],
			  w.report.hottest);
		CHECK_U64(w.report.probes, 10000);
		CHECK(w.report.probe_hits < 200);
		CHECK_U64(w.report.set_bytes, g->image.size);
		CHECK_U64(w.report.removed, 0);
		work_end(&w);
	}
}

static void capacities(void)
{
	static const struct {
		enum build_capacity how;
		uint64_t number;
	} cases[] = {{BUILD_GIVEN, 1234}, {BUILD_COUNTED, 0}};
	for (size_t i = 0; i < 2; i++) {
		struct work w;

		work_begin(&w, 2);
		w.options.capacity = cases[i].how;
		w.options.number = cases[i].number;
		work_run(&w);
		CHECK(w.rc == 0);
		if (cases[i].how == BUILD_GIVEN)
			CHECK_U64(w.report.m.capacity, 1234);
		else
			CHECK_U64(w.report.m.capacity,
				  sizing_capacity(w.report.hottest, 20, 1));
		CHECK_STR(w.f.phases,
			  i == 0 ? "building sealing checking "
				 : "counting building sealing checking ");
		/* Counting takes a pass of its own. */
		CHECK_U64(w.feed.finished, i == 0 ? 2 : 4);
		CHECK_U64(w.report.m.rows, ROWS);
		CHECK_U64(w.f.calls[FAKE_ADD], ROWS);
		work_end(&w);
	}
}

static void a_full_filter(void)
{
	struct work w;

	work_begin(&w, 2);
	w.options.capacity = BUILD_GIVEN;
	w.options.number = 50;
	work_run(&w);
	CHECK(w.rc == -1);
	CHECK_U64(w.err.code, ERROR_FULL);
	CHECK_U64(built(&w)->m.state, MANIFEST_ABORTED);
	CHECK_U64(w.f.completes, 0);
	work_end(&w);
}

/* Every operation of the store that a build uses, its first and last call. */
static void each_fault_aborts(void)
{
	static const struct {
		enum fake_op op;
		unsigned at;
		bool reserved; /* whether something was there to be marked */
	} faults[] = {
		{FAKE_FACTS, 1, false},    {FAKE_ENGINE, 1, false},
		{FAKE_LOCK, 1, false},     {FAKE_LIST, 1, false},
		{FAKE_RESERVE, 1, false},  {FAKE_WRITER, 1, true},
		{FAKE_WRITER, 2, true},    {FAKE_ADD, 1, true},
		{FAKE_ADD, ROWS, true},    {FAKE_FLUSH, 1, true},
		{FAKE_FLUSH, 2, true},     {FAKE_SEAL, 1, true},
		{FAKE_PROBE, 1, true},     {FAKE_PROBE, 2, true},
		{FAKE_ASK, 1, true},       {FAKE_ASK, 10000, true},
		{FAKE_ASK_FLUSH, 1, true}, {FAKE_ASK_FLUSH, 2, true},
		{FAKE_PUT, 1, true},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const char *name = fake_names[faults[i].op];
		char text[64];
		struct work w;

		work_begin(&w, 2);
		w.f.fail_at[faults[i].op] = faults[i].at;
		work_run(&w);
		printf("# %s %u: %s\n", name, faults[i].at, w.err.text);
		CHECK(w.rc == -1);
		CHECK_U64(w.err.code, ERROR_RIGHTS);
		(void)snprintf(text, sizeof(text), "fake: %s fails", name);
		CHECK(strstr(w.err.text, text) != NULL);
		CHECK_U64(fake_count(&w.f), faults[i].reserved);
		if (faults[i].reserved) {
			CHECK_U64(built(&w)->m.state, MANIFEST_ABORTED);
			CHECK(built(&w)->m.ended > 0);
			CHECK(built(&w)->m.bucket_keys == NULL);
		}
		CHECK_U64(w.f.completes, 0);
		CHECK(!w.f.locked);
		work_end(&w);
	}
}

static void what_cannot_be_marked_is_dropped(void)
{
	struct work w;

	work_begin(&w, 2);
	w.f.fail_at[FAKE_PUT] = 1;
	w.f.fail_on[FAKE_PUT] = true;
	work_run(&w);
	CHECK(w.rc == -1);
	CHECK_U64(w.f.calls[FAKE_PUT], 2);
	CHECK_U64(w.f.calls[FAKE_DROP], 1);
	CHECK_U64(fake_count(&w.f), 0);
	work_end(&w);
}

static void faults_of_the_source(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct work w;

		work_begin(&w, 2);
		w.parts[1].fail_open = i == 0;
		w.parts[1].fail_read = i == 1 ? 2 : 0;
		w.parts[1].fail_finish = i == 2;
		work_run(&w);
		CHECK(w.rc == -1);
		CHECK_U64(w.err.code, i == 0 ? ERROR_SOURCE : ERROR_DATA);
		CHECK(strncmp(w.err.text, "b: feed: ", 9) == 0);
		CHECK_U64(built(&w)->m.state, MANIFEST_ABORTED);
		CHECK_U64(w.f.calls[FAKE_SEAL], 0);
		CHECK_U64(w.f.completes, 0);
		work_end(&w);
	}
}

static void a_fault_while_counting(void)
{
	struct work w;

	work_begin(&w, 2);
	w.options.capacity = BUILD_COUNTED;
	w.parts[1].fail_finish = true;
	work_run(&w);
	CHECK(w.rc == -1);
	CHECK_U64(w.err.code, ERROR_DATA);
	/* Nothing was begun. */
	CHECK_U64(w.f.calls[FAKE_RESERVE], 0);
	CHECK_U64(fake_count(&w.f), 0);
	work_end(&w);
}

static void what_was_lost_is_noticed(void)
{
	for (unsigned i = 0; i < 3; i++) {
		struct work w;

		work_begin(&w, 2);
		w.f.lose_every = i == 0 ? 3 : 0;
		w.f.lose_sentinel = i == 1;
		w.f.say_yes = i == 2;
		work_run(&w);
		CHECK(w.rc == -1);
		CHECK_U64(w.err.code, ERROR_VERIFY);
		CHECK(strstr(w.err.text, i == 2 ? "random non-members"
						: "are not found") != NULL);
		CHECK_U64(built(&w)->m.state, MANIFEST_ABORTED);
		CHECK_U64(w.f.completes, 0);
		work_end(&w);
	}
}

/* A server that is lost midway, and is there again for the last word. */
static void a_server_lost_midway(void)
{
	struct work w;

	work_begin(&w, 2);
	w.f.server = true;
	w.f.fail_code = ERROR_TEMPORARY;
	w.f.fail_at[FAKE_FLUSH] = 1;
	w.f.fail_on[FAKE_FLUSH] = true;
	work_run(&w);
	CHECK(w.rc == -1);
	CHECK_U64(w.err.code, ERROR_TEMPORARY);
	CHECK_U64(built(&w)->m.state, MANIFEST_ABORTED);
	CHECK(!w.f.locked);
	work_end(&w);
}

struct engine_case {
	const struct engine *named;
	const struct engine *there;
	double error;
	const char *built; /* NULL: refused */
	const char *text;
};

/* A server is asked for its engine, and a folder takes what is named. */
static void engines_in_force(void)
{
	static const struct engine_case cases[] = {
		{NULL, NULL, 0.01, "redisbloom", NULL},
		{&engines[ENGINE_ELASTICACHE], NULL, 0.01, "elasticache", NULL},
		{NULL, &engines[ENGINE_REDIS8], 0.01, "redis8", NULL},
		{&engines[ENGINE_REDIS8], &engines[ENGINE_REDIS8], 0.01,
		 "redis8", NULL},
		{&engines[ENGINE_VALKEY_BLOOM], &engines[ENGINE_REDIS8], 0.01,
		 NULL,
		 "option --engine: valkey-bloom: the filters of target "
		 "'fake:place' are of redis8"},
		/* What redisbloom would take. */
		{NULL, &engines[ENGINE_REDIS8], 0.4, NULL,
		 "error rate 0.4: redis8 filters can have"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct engine_case *c = &cases[i];
		struct work w;

		work_begin(&w, 1);
		w.options.engine = c->named;
		w.options.error = c->error;
		w.f.engine = c->there;
		work_run(&w);
		if (c->built != NULL) {
			CHECK(w.rc == 0);
			CHECK_STR(built(&w)->m.engine, c->built);
		} else {
			CHECK_U64(w.err.code, ERROR_USAGE);
			CHECK(strstr(w.err.text, c->text) != NULL);
			CHECK_U64(w.f.calls[FAKE_LOCK], 0);
		}
		work_end(&w);
	}
}

/* There the filters are; here they are only while they are built. */
static void bytes_of_a_server(void)
{
	struct work w;

	work_begin(&w, 1);
	w.f.server = true;
	work_run(&w);
	CHECK(w.rc == 0);
	CHECK_U64(w.report.set_bytes,
		  FAKE_BUCKETS * layout_redisbloom.memory(&w.report.params));
	work_end(&w);
}

int main(void)
{
	UNIT(a_good_build, "build: what is whole is called complete, once");
	UNIT(capacities, "build: capacity is given, planned or counted");
	UNIT(a_full_filter, "build: a full filter aborts it");
	UNIT(each_fault_aborts,
	     "build: each fault of the store aborts, never completes");
	UNIT(what_cannot_be_marked_is_dropped,
	     "build: what cannot be marked aborted is dropped");
	UNIT(faults_of_the_source, "build: each fault of the source aborts");
	UNIT(a_fault_while_counting,
	     "build: a fault while counting begins none");
	UNIT(what_was_lost_is_noticed,
	     "build: lost members and full filters are no generation");
	UNIT(a_server_lost_midway,
	     "build: a server lost midway leaves an aborted generation");
	UNIT(engines_in_force, "build: the engine is the server's, or named");
	UNIT(bytes_of_a_server, "build: a server's bytes are those there");
	return unit_end();
}
