/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/count.h"

#include "tests/unit/job/job.h"

static void keys_are_counted_by_bucket(void)
{
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	uint64_t expected[FAKE_BUCKETS] = {0};
	char *text = job_rows(0, 500);
	struct feed_part parts[3] = {{.name = "a", .text = text},
				     {.name = "b", .text = "7\n7\n7\n"},
				     {.name = "c", .text = text}};

	for (unsigned i = 0; i < 500; i++) {
		char key[32];
		int len = sprintf(key, "k:%u", i);

		/* Doubles count each time. */
		expected[bloomkey_bucket(spec, key, (size_t)len, NULL)] +=
			i == 7 ? 5 : 2;
	}
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct feed feed = FEED(parts, 64);
		struct scan scan = job_scan(spec, &feed, jobs);
		uint64_t keys[FAKE_BUCKETS] = {9, 9, 9, 9};
		struct error err = ERROR_INIT;
		uint64_t rows = 0;

		CHECK(count_run(&scan, keys, &rows, &err) == 0);
		CHECK_U64(rows, 1003);
		for (uint32_t b = 0; b < FAKE_BUCKETS; b++)
			CHECK_U64(keys[b], expected[b]);
	}
	free(text);
	bloomkey_free(spec);
}

static void an_error_of_the_scan_is_told(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n", .fail_finish = true}};
	struct bloomkey_spec *spec = job_spec(JOB_KEYSPEC);
	struct feed feed = FEED(parts, 64);
	struct scan scan = job_scan(spec, &feed, 2);
	uint64_t keys[FAKE_BUCKETS];
	struct error err = ERROR_INIT;
	uint64_t rows;

	CHECK(count_run(&scan, keys, &rows, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "a: feed: cut off");
	bloomkey_free(spec);
}

static void the_hottest(void)
{
	static const uint64_t keys[] = {3, 9, 0, 9, 8};
	static const uint64_t none[] = {0, 0};
	uint64_t sum;
	uint32_t at;

	CHECK_U64(count_hottest(keys, 5, &at, &sum), 9);
	CHECK_U64(at, 1);
	CHECK_U64(sum, 29);
	CHECK_U64(count_hottest(none, 2, &at, &sum), 0);
	CHECK_U64(at, 0);
	CHECK_U64(sum, 0);
}

int main(void)
{
	UNIT(keys_are_counted_by_bucket,
	     "count: every key counts in its bucket, whoever read it");
	UNIT(an_error_of_the_scan_is_told, "count: the scan's error is told");
	UNIT(the_hottest, "count: the fullest bucket is the first of the most");
	return unit_end();
}
