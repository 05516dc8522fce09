/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/asking.h"

#include "lib/base/log.h"
#include "lib/job/build.h"
#include "tests/unit/job/job.h"

#define ROWS 300

/* A generation of 300 rows, and who asks in it. */
struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct manifest *m;
	struct asking a;
	struct error err;
};

static void begin(struct work *w, bool late, size_t fields)
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
	w->m = &fake_find(&w->f, report.m.generation)->m;
	build_report_release(&report);
	w->f.late = late;
	REQUIRE(asking_init(&w->a, &w->f.base, w->m, fields, &w->err) == 0);
	free(text);
}

static void end(struct work *w)
{
	asking_release(&w->a);
	CHECK(w->f.open == 0);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

/* Asks for a row, whose value is its number in words of that length. */
static int ask(struct work *w, unsigned n, size_t len)
{
	char *value = malloc(len + 1);
	const void *values[] = {value, NULL};
	const size_t lens[] = {len, 0};
	char key[32];
	int rc;

	if (value == NULL)
		abort();
	memset(value, '0' + (int)(n % 10), len);
	rc = sprintf(key, "k:%u", n);
	rc = asking_add(&w->a, bloomkey_bucket(w->spec, key, (size_t)rc, NULL),
			key, (size_t)rc, values, lens, &w->err);
	free(value);
	return rc;
}

static uint64_t sum(const struct tally *t)
{
	uint64_t n = 0;

	for (uint32_t b = 0; b < t->buckets; b++)
		n += t->keys[b];
	return n;
}

static void values_of_what_is_missed(void)
{
	for (int late = 0; late < 2; late++) {
		struct work w;

		begin(&w, late, 2);
		for (unsigned i = 0; i < ROWS; i++)
			REQUIRE(ask(&w, i, 3) == 0);
		/* Twice the same. */
		REQUIRE(ask(&w, 1000001, 4) == 0);
		REQUIRE(ask(&w, 1000002, 5) == 0);
		REQUIRE(ask(&w, 1000002, 5) == 0);
		REQUIRE(asking_flush(&w.a, &w.err) == 0);
		CHECK_U64(sum(&w.a.asked), ROWS + 3);
		CHECK_U64(sum(&w.a.missing), 3);
		REQUIRE(w.a.missed.count == 3);
		for (size_t i = 0; i < 3; i++) {
			struct missed_key *k = &w.a.missed.keys[i];
			bool first = memcmp(k->key, "k:1000001", k->len) == 0;

			REQUIRE(k->values != NULL);
			CHECK_STR(k->values[0], first ? "1111" : "22222");
			CHECK(k->values[1] == NULL);
		}
		end(&w);
	}
}

/* More rows than a block holds, of which the first and the last are missed. */
static void blocks(void)
{
	struct work w;

	begin(&w, true, 2);
	REQUIRE(ask(&w, 1000001, 4) == 0);
	for (unsigned i = 0; i < 600; i++)
		REQUIRE(ask(&w, i % ROWS, 60000) == 0);
	REQUIRE(ask(&w, 1000002, 5) == 0);
	REQUIRE(asking_flush(&w.a, &w.err) == 0);
	CHECK_U64(sum(&w.a.asked), 602);
	CHECK(w.a.block.cap < 33u << 20);
	REQUIRE(w.a.missed.count == 2);
	CHECK_STR(w.a.missed.keys[0].values[0], "1111");
	CHECK_STR(w.a.missed.keys[1].values[0], "22222");
	end(&w);
}

static void what_is_taken_back(void)
{
	struct work w;

	begin(&w, true, 2);
	REQUIRE(ask(&w, 1000001, 4) == 0);
	REQUIRE(asking_mark(&w.a, &w.err) == 0);
	REQUIRE(ask(&w, 1000002, 5) == 0);
	REQUIRE(ask(&w, 5, 5) == 0);
	REQUIRE(asking_back(&w.a, &w.err) == 0);
	CHECK_U64(sum(&w.a.asked), 1);
	CHECK_U64(sum(&w.a.missing), 1);
	CHECK(w.a.missed.count == 1);
	/* And it is asked again. */
	REQUIRE(ask(&w, 1000003, 6) == 0);
	REQUIRE(asking_flush(&w.a, &w.err) == 0);
	CHECK_U64(sum(&w.a.missing), 2);
	REQUIRE(w.a.missed.count == 2);
	CHECK_STR(w.a.missed.keys[1].values[0], "333333");
	end(&w);
}

static void no_more_than_there_is_room(void)
{
	struct work w;

	begin(&w, true, 0);
	for (unsigned i = 0; i < MISSED_MAX + 500; i++)
		REQUIRE(ask(&w, 1000000 + i, 1) == 0);
	REQUIRE(asking_flush(&w.a, &w.err) == 0);
	CHECK(sum(&w.a.missing) > MISSED_MAX + 450);
	CHECK_U64(w.a.missed.count, MISSED_MAX);
	CHECK(w.a.missed.keys[0].values == NULL);
	end(&w);
}

int main(void)
{
	UNIT(values_of_what_is_missed,
	     "asking: what is missed is kept with its row's values");
	UNIT(blocks, "asking: rows wait in a block, however many there are");
	UNIT(what_is_taken_back, "asking: what is taken back does not count");
	UNIT(no_more_than_there_is_room, "asking: so many are kept, all count");
	return unit_end();
}
