/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/plan.h"

#include "lib/filter/sizing.h"
#include "lib/job/count.h"
#include "tests/unit/job/job.h"

static const struct plan_options usual = {
	.engine = &engines[ENGINE_REDISBLOOM],
	.buckets = 4,
	.keys = 100000,
	.error = 0.01,
	.headroom = 20,
	.planted = 1,
};

static void from_a_number(void)
{
	struct error err = ERROR_INIT;
	struct filter_params params;
	struct plan p;
	uint64_t hottest = sizing_hottest(100000, 4);

	REQUIRE(plan_run(NULL, &usual, &p, &err) == 0);
	CHECK(!p.counted);
	CHECK_U64(p.keys, 100000);
	CHECK_U64(p.hottest, hottest);
	CHECK(hottest > 25000 && hottest < 26000);
	CHECK_U64(p.capacity, sizing_capacity(hottest, 20, 1));
	REQUIRE(engine_size(&engines[ENGINE_REDISBLOOM], p.capacity, 0.01,
			    &params, &err) == 0);
	CHECK_U64(p.params.bytes, params.bytes);
	CHECK_U64(p.memory, layout_redisbloom.memory(&params));
	CHECK_U64(p.set, 4 * p.memory);
	CHECK_U64(p.swap, 8 * p.memory);
	CHECK_U64(p.peak, 12 * p.memory);
	CHECK_U64(p.fewest, 0);
}

static void from_a_source(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	char *text = job_rows(0, 1000);
	struct feed_part part = {.name = "a", .text = text};
	struct feed feed = feed_of(&part, 1, 64);
	struct scan scan = job_scan(spec, &feed, 2);
	struct error err = ERROR_INIT;
	uint64_t keys[FAKE_BUCKETS], rows, sum;
	struct plan p;
	uint32_t at;

	REQUIRE(count_run(&scan, keys, &rows, &err) == 0);
	REQUIRE(plan_run(&scan, &usual, &p, &err) == 0);
	CHECK(p.counted);
	CHECK_U64(p.keys, 1000);
	CHECK_U64(p.hottest, count_hottest(keys, FAKE_BUCKETS, &at, &sum));
	CHECK_U64(p.capacity, sizing_capacity(p.hottest, 20, 1));
	free(text);
	bloomkey_free(spec);
}

static void an_error_of_the_source(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n", .fail_read = 1}};
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct feed feed = FEED(parts, 64);
	struct scan scan = job_scan(spec, &feed, 1);
	struct error err = ERROR_INIT;
	struct plan p;

	CHECK(plan_run(&scan, &usual, &p, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	bloomkey_free(spec);
}

static void no_keys(void)
{
	struct plan_options o = usual;
	struct error err = ERROR_INIT;
	struct plan p;

	o.keys = 0;
	o.planted = 0;
	CHECK(plan_run(NULL, &o, &p, &err) == 0);
	CHECK_U64(p.hottest, 0);
	CHECK_U64(p.capacity, 1);
}

static void within_a_limit(void)
{
	struct plan_options o = usual;
	struct error err = ERROR_INIT;
	struct plan p, q;

	o.limit = 10000;
	REQUIRE(plan_run(NULL, &o, &p, &err) == 0);
	CHECK(p.fewest > 4);
	/* So many keep within it, and one less does not. */
	o.buckets = p.fewest;
	REQUIRE(plan_run(NULL, &o, &q, &err) == 0);
	CHECK(q.memory <= 10000);
	o.buckets = p.fewest - 1;
	REQUIRE(plan_run(NULL, &o, &q, &err) == 0);
	CHECK(q.memory > 10000);
}

static void limit_of_the_engine(void)
{
	struct plan_options o = usual;
	struct error err = ERROR_INIT;
	struct plan p, q;
	char hint[80];

	CHECK(plan_run(NULL, &o, &p, &err) == 0);
	CHECK_U64(p.limit, 0);
	o.engine = &engines[ENGINE_ELASTICACHE];
	o.buckets = 16;
	o.keys = 500000000;
	REQUIRE(plan_run(NULL, &o, &p, &err) == 0);
	CHECK_U64(p.limit, 134217728);
	CHECK_U64(p.memory, p.params.bytes + 264);
	CHECK(p.fewest > 4 && p.fewest < 16);
	/* A larger limit is none, a smaller one is. */
	o.limit = UINT64_C(1) << 30;
	REQUIRE(plan_run(NULL, &o, &q, &err) == 0);
	CHECK_U64(q.limit, 134217728);
	CHECK_U64(q.fewest, p.fewest);
	o.limit = UINT64_C(1) << 26;
	REQUIRE(plan_run(NULL, &o, &q, &err) == 0);
	CHECK_U64(q.limit, o.limit);
	CHECK(q.fewest > p.fewest);
	/* What is said to be enough is, and one less is not. */
	o.limit = 0;
	o.buckets = p.fewest;
	CHECK(plan_run(NULL, &o, &q, &err) == 0);
	o.buckets = p.fewest - 1;
	CHECK(plan_run(NULL, &o, &q, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK(strstr(err.text, "elasticache allows 134217728") != NULL);
	(void)snprintf(hint, sizeof(hint),
		       "spread the keys over %u buckets or more",
		       (unsigned)p.fewest);
	CHECK_STR(err.hint, hint);
	/* Also where what it holds is a number of members. */
	o = usual;
	o.engine = &engines[ENGINE_REDIS8];
	o.buckets = 1;
	o.keys = UINT64_C(3) << 30;
	CHECK(plan_run(NULL, &o, &q, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK_STR(err.hint, "spread the keys over 4 buckets or more");
	/* Even of 65,536 each would be too large. */
	o.keys = UINT64_C(1) << 60;
	CHECK(plan_run(NULL, &o, &q, &err) == -1);
	CHECK_STR(err.hint, engines[ENGINE_REDIS8].hint);
}

static void what_does_not_fit(void)
{
	struct plan_options o = usual;
	struct error err = ERROR_INIT;
	struct plan p;

	o.limit = 1;
	CHECK(plan_run(NULL, &o, &p, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	o.limit = 0;
	o.engine = &engines[ENGINE_REDIS8];
	o.keys = UINT64_C(1) << 40;
	err.code = ERROR_NONE;
	CHECK(plan_run(NULL, &o, &p, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	o.keys = usual.keys;
	o.error = 0.5;
	CHECK(plan_run(NULL, &o, &p, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
}

/* A layout whose filters take so much that a set of them wraps round. */
static uint64_t huge(const struct filter_params *params)
{
	(void)params;
	return UINT64_MAX / 6;
}

static void sums_do_not_wrap(void)
{
	struct layout_ops layout = layout_redisbloom;
	struct engine engine = engines[ENGINE_REDISBLOOM];
	struct plan_options o = usual;
	struct error err = ERROR_INIT;
	struct plan p;

	layout.memory = huge;
	engine.layout = &layout;
	o.engine = &engine;
	REQUIRE(plan_run(NULL, &o, &p, &err) == 0);
	CHECK_U64(p.set, UINT64_MAX / 6 * 4);
	CHECK_U64(p.swap, UINT64_MAX);
	CHECK_U64(p.peak, UINT64_MAX);
}

int main(void)
{
	UNIT(from_a_number, "plan: a number of keys gives the set's figures");
	UNIT(from_a_source, "plan: a source is counted");
	UNIT(an_error_of_the_source, "plan: an error of the source is told");
	UNIT(no_keys, "plan: no keys take a filter of one");
	UNIT(within_a_limit, "plan: the fewest buckets within a limit");
	UNIT(limit_of_the_engine, "plan: the engine's own limit is kept to");
	UNIT(what_does_not_fit, "plan: what does not fit is refused");
	UNIT(sums_do_not_wrap, "plan: sums end at the largest number");
	return unit_end();
}
