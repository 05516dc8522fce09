/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Parts that are cut off and read once more, and parts that come behind.
 */
#include "tests/unit/job/scan.h"

#include "lib/job/count.h"
#include "lib/job/tally.h"
#include "tests/unit/unit.h"

/* Two parts, the first of which fails `fails` times after its second row. */
struct weak {
	struct feed feed;
	unsigned fails;
	unsigned asked;   /* again() */
	unsigned most;    /* that again() allows */
	unsigned extra;   /* parts behind the others */
	unsigned stopped; /* again() is stopped */
};

static const struct feed_part weak_parts[] = {
	{.name = "a", .text = "1\n2\n3\n"},
	{.name = "b", .text = "4\n5\n"},
};

static void weak_hook(void *ctx, size_t part, unsigned read)
{
	struct weak *w = ctx;
	static const struct feed_part broken[] = {
		{.name = "a", .text = "1\n2\n3\n", .fail_read = 3},
		{.name = "b", .text = "4\n5\n"},
	};

	if (part != 0 || read != 1)
		return;
	w->feed.parts = w->fails > 0 ? broken : weak_parts;
	w->fails -= w->fails > 0;
}

static int weak_again(struct source *source, const struct source_part *part,
		      unsigned attempt, const struct error *why,
		      struct error *err)
{
	struct weak *w = (struct weak *)source;

	w->asked++;
	CHECK_U64(attempt, w->asked);
	CHECK_STR(part->name, "a");
	CHECK(strstr(why->text, "read fails") != NULL);
	if (w->stopped)
		return error_set(err, ERROR_INTERRUPTED, "stopped");
	return attempt <= w->most;
}

static int weak_more(struct source *source, struct source_part **parts,
		     size_t *count, struct error *err)
{
	struct weak *w = (struct weak *)source;

	*parts = NULL;
	*count = 0;
	for (unsigned i = 0; i < w->extra; i++) {
		struct source_part *p = source_part_add(parts, count, "b", err);

		if (p == NULL)
			return -1;
		p->index = 1;
	}
	return 0;
}

static const struct source_ops weak_ops = {
	.split = feed_split,
	.open = feed_open,
	.again = weak_again,
	.more = weak_more,
};

static struct weak weak_of(unsigned fails, unsigned most, unsigned extra)
{
	struct weak w = {.fails = fails, .most = most, .extra = extra};

	w.feed = feed_of(weak_parts, 2, 2);
	w.feed.base.ops = &weak_ops;
	w.feed.hook = weak_hook;
	return w;
}

static void run_weak(struct run *r, struct weak *w)
{
	w->feed.ctx = w;
	run_begin(r);
	run_scan(r, &w->feed, 1, NULL);
}

static void test_again(void)
{
	struct weak w = weak_of(2, 3, 0);
	struct run r;

	run_weak(&r, &w);
	CHECK(r.rc == 0);
	CHECK_U64(r.rows, 5);
	CHECK_U64(w.asked, 2);
	/* What was passed on before the cut stays passed on. */
	CHECK_STR(r.keep[0].keys, "k:1 k:2 k:1 k:2 k:1 k:2 k:3 k:4 k:5 ");
	CHECK_U64(ends(&r), 1);
	run_end(&r);
}

static void test_gives_up(void)
{
	struct weak w = weak_of(9, 1, 0);
	struct run r;

	run_weak(&r, &w);
	CHECK(r.rc == -1);
	CHECK(r.err.code == ERROR_DATA);
	CHECK_STR(r.err.text, "a: feed: read fails");
	CHECK_U64(w.asked, 2);
	CHECK_U64(ends(&r), 0);
	run_end(&r);
}

static void test_stopped(void)
{
	struct weak w = weak_of(1, 1, 0);
	struct run r;

	w.stopped = 1;
	run_weak(&r, &w);
	CHECK(r.rc == -1);
	CHECK(r.err.code == ERROR_INTERRUPTED);
	run_end(&r);
}

static void test_more(void)
{
	struct weak w = weak_of(0, 0, 2);
	struct run r;

	run_weak(&r, &w);
	CHECK(r.rc == 0);
	CHECK_U64(r.rows, 9);
	CHECK_STR(r.keep[0].keys, "k:1 k:2 k:3 k:4 k:5 k:4 k:5 k:4 k:5 ");
	CHECK_U64(ends(&r), 1);
	run_end(&r);
}

/* A row that the sink refuses is no cut of the source. */
static void test_sink_fails(void)
{
	struct weak w = weak_of(0, 9, 0);
	struct run r;

	w.feed.ctx = &w;
	run_begin(&r);
	r.keep[0].fail_at = 2;
	run_scan(&r, &w.feed, 1, NULL);
	CHECK(r.err.code == ERROR_FULL);
	CHECK_U64(w.asked, 0);
	run_end(&r);
}

static void test_counts(void)
{
	struct weak w = weak_of(1, 1, 0);
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	uint64_t *keys = calloc(bloomkey_buckets(spec), sizeof(*keys));
	struct error err = ERROR_INIT;
	struct scan scan;
	uint64_t rows;
	uint64_t sum;
	uint32_t at;

	REQUIRE(keys != NULL);
	w.feed.ctx = &w;
	scan = job_scan(spec, &w.feed, 1);
	CHECK(count_run(&scan, keys, &rows, &err) == 0);
	CHECK_U64(rows, 5);
	(void)count_hottest(keys, bloomkey_buckets(spec), &at, &sum);
	CHECK_U64(sum, 5);
	free(keys);
	bloomkey_free(spec);
}

static void test_tally(void)
{
	struct tally t;
	struct error err = ERROR_INIT;
	uint64_t sum[2] = {10, 20};

	REQUIRE(tally_init(&t, 2, &err) == 0);
	t.keys[1] = 3;
	tally_mark(&t);
	t.keys[0] = 5;
	t.keys[1] = 4;
	tally_back(&t);
	tally_add(&t, sum);
	CHECK_U64(sum[0], 10);
	CHECK_U64(sum[1], 23);
	tally_release(&t);
	tally_release(&t);
}

int main(void)
{
	UNIT(test_again, "scan: a part is read again, and its rows count once");
	UNIT(test_gives_up, "scan: a part is given up with its last error");
	UNIT(test_stopped, "scan: a stop ends the wait before the next try");
	UNIT(test_more, "scan: parts that come behind are read before the end");
	UNIT(test_sink_fails,
	     "scan: an error of the sink has nothing read again");
	UNIT(test_counts, "count: what was cut off does not count");
	UNIT(test_tally, "tally: goes back to its mark");
	return unit_end();
}
