/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/report/table.h"
#include "tests/unit/alloc.h"
#include "tests/unit/unit.h"

#define BAR_10 "##########"
#define BAR_20 BAR_10 BAR_10
#define BAR_40 BAR_20 BAR_20

static void check(const double *values, size_t n, unsigned bins,
		  const char *expected)
{
	struct buf out;

	buf_init(&out, 10000);
	CHECK(chart_histogram(values, n, bins, "%", &out) == 0);
	CHECK_STR(buf_string(&out), expected);
	buf_release(&out);
}

static void bars(void)
{
	static const double values[] = {0, 1, 1.5, 2, 10, 6, 7, 5};

	/* A bound belongs to the bin above it, and the last one to the last. */
	check(values, 8, 2,
	      "   0.00 -    5.00 %  " BAR_40 " 4\n"
	      "   5.00 -   10.00 %  " BAR_40 " 4\n");
	check(values, 8, 5,
	      "   0.00 -    2.00 %  " BAR_40 " 3\n"
	      "   2.00 -    4.00 %  ############## 1\n"
	      "   4.00 -    6.00 %  ############## 1\n"
	      "   6.00 -    8.00 %  " BAR_20 "####### 2\n"
	      "   8.00 -   10.00 %  ############## 1\n");
}

static void empty_bins(void)
{
	static const double values[] = {-1, 2, 2};

	check(values, 3, 3,
	      "  -1.00 -    0.00 %  " BAR_20 " 1\n"
	      "   0.00 -    1.00 %  0\n"
	      "   1.00 -    2.00 %  " BAR_40 " 2\n");
}

static void one_of_very_many(void)
{
	static double values[100000];
	struct buf out;

	values[0] = 1;
	buf_init(&out, 10000);
	CHECK(chart_histogram(values, 100000, 2, "", &out) == 0);
	/* What is there is seen. */
	CHECK(strstr(buf_string(&out), "  # 1\n") != NULL);
	CHECK(strstr(buf_string(&out), "  " BAR_40 " 99999\n") != NULL);
	buf_release(&out);
}

static void equal_values(void)
{
	static const double values[] = {3, 3, 3};

	check(values, 3, 10, "   3.00 -    3.00 %  " BAR_40 " 3\n");
	check(values, 1, 10, "   3.00 -    3.00 %  " BAR_40 " 1\n");
}

static void no_values(void)
{
	check(NULL, 0, 10, "   0.00 -    0.00 %  0\n");
}

static void every_value_has_a_bin(void)
{
	for (unsigned bins = 1; bins < 30; bins++) {
		double values[97];
		uint64_t sum = 0;
		struct buf out;
		char *line;

		for (size_t i = 0; i < 97; i++)
			values[i] = 0.1 * (double)(i * i % 61);
		buf_init(&out, 10000);
		CHECK(chart_histogram(values, 97, bins, "x", &out) == 0);
		for (line = strtok(buf_string(&out), "\n"); line != NULL;
		     line = strtok(NULL, "\n"))
			sum += strtoull(strrchr(line, ' '), NULL, 10);
		CHECK_U64(sum, 97);
		buf_release(&out);
	}
}

static void no_memory(void)
{
	static const double values[] = {0, 1, 2, 3};
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	for (; met && n < 100; n++) {
		struct buf out;
		int rc;

		buf_init(&out, 10000);
		alloc_fail(n, true);
		rc = chart_histogram(values, 4, 4, "%", &out);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		buf_release(&out);
	}
	CHECK(n > 3 && n < 100);
}

static void no_room(void)
{
	static const double values[] = {0, 1, 2, 3};

	for (size_t max = 0; max < 100; max++) {
		struct buf out;

		buf_init(&out, max);
		CHECK(chart_histogram(values, 4, 4, "%", &out) == -1);
		buf_release(&out);
	}
}

int main(void)
{
	UNIT(bars, "chart: each bin has its bar and its count");
	UNIT(empty_bins, "chart: an empty bin has no bar");
	UNIT(one_of_very_many, "chart: one of very many is seen");
	UNIT(equal_values, "chart: equal values are one bar");
	UNIT(no_values, "chart: no values are an empty bar");
	UNIT(every_value_has_a_bin, "chart: every value is in one bin");
	UNIT(no_memory, "chart: each failing allocation is told");
	UNIT(no_room, "chart: a full buffer is told");
	return unit_end();
}
