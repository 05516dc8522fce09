/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/sizing.h"

#include "tests/unit/unit.h"

/*
 * Made in Python: up to n = 2000 with exact fractions, above with a 60-digit
 * probability (mpmath) times the sum of all ratios of terms; the two rows with
 * the largest tails, and again all of them, with scipy.stats.binom.isf.
 */
static void binomial(void)
{
	static const struct {
		uint64_t n;
		double p, tail;
		uint64_t want;
	} rows[] = {
		{1, 1.0 / 2, 1e-6, 1},
		{10, 1.0 / 2, 1e-6, 10},
		{10, 1.0 / 2, 0.5, 5},
		{100, 1.0 / 65536, 1e-6, 2},
		{1000, 1.0 / 200, 1e-6, 19},
		{1000, 1.0 / 3, 0.9, 314},
		{2000, 1999.0 / 2000, 0.001, 2000},
		{1000000, 1.0 / 200, 5e-9, 5409},
		{1000000, 1.0 / 65536, 1e-6 / 65536, 48},
		{100000000, 1.0 / 200, 5e-9, 504047},
		{100000000, 1.0 / 400, 2.5e-9, 252925},
		{1000000000, 1.0 / 1000, 1e-9, 1006001},
		{1000000000, 3.0 / 4, 1e-12, 750096320},
		{10000000000, 1.0 / 65536, 1e-6 / 65536, 155190},
		{100000000000, 1.0 / 200, 5e-9, 500127827},
		{1000000000000, 1.0 / 2, 5e-7, 500002445819},
		{1000000000000, 1.0 / 200, 5e-9, 5000404215},
		{1000000000000, 1.0 / 65536, 1e-6 / 65536, 15284749},
		{1000000000000, 1.0 / 2, 0.25, 500000337245},
		{1000000000000, 1.0 / 2, 0.999, 499998454884},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_U64(sizing_binomial(rows[i].n, rows[i].p, rows[i].tail),
			  rows[i].want);
}

static void binomial_edges(void)
{
	CHECK_U64(sizing_binomial(0, 0.5, 1e-6), 0);
	CHECK_U64(sizing_binomial(0, 1, 1e-6), 0);
	CHECK_U64(sizing_binomial(7, 1, 1e-6), 7);
	CHECK_U64(sizing_binomial(1000000000000, 1, 1e-6), 1000000000000);
	CHECK_U64(sizing_binomial(7, 0, 1e-6), 0);
	CHECK_U64(sizing_binomial(7, NAN, 1e-6), 0);
	CHECK_U64(sizing_binomial(1, 0.3, 0.31), 0);
	CHECK_U64(sizing_binomial(1, 0.3, 0.29), 1);
	CHECK_U64(sizing_binomial(2, 0.5, 0.26), 1);
	CHECK_U64(sizing_binomial(2, 0.5, 0.24), 2);
	CHECK_U64(sizing_binomial(2, 0.5, 0.76), 0);
}

/* More than c of n, term by term, which is exact enough for small n. */
static long double plain_tail(uint64_t n, long double p, uint64_t c)
{
	long double sum = 0;

	for (uint64_t j = c + 1; j <= n; j++) {
		long double term = 1;

		/* Powers are taken in turn: nothing under- or overflows. */
		for (uint64_t i = 1; i <= j; i++)
			term *= (long double)(n - j + i) / (long double)i * p;
		for (uint64_t i = j; i < n; i++)
			term *= 1 - p;
		sum += term;
	}
	return sum;
}

static void binomial_is_smallest(void)
{
	static const double tails[] = {1e-9, 1e-6, 1e-3, 0.1, 0.6, 0.99};

	for (uint64_t n = 1; n < 60; n++) {
		for (unsigned part = 2; part < 40; part += 3) {
			for (size_t t = 0; t < 6; t++) {
				double p = (double)(part % 7 + 1) / (part + 6);
				uint64_t c = sizing_binomial(n, p, tails[t]);

				CHECK(plain_tail(n, p, c) < tails[t]);
				CHECK(c == 0 ||
				      plain_tail(n, p, c - 1) >= tails[t]);
			}
		}
	}
}

static void check_tie(uint64_t n, double p, uint64_t c, double tail)
{
	CHECK_U64(sizing_binomial(n, p, tail * (1 + 1e-8)), c);
	CHECK_U64(sizing_binomial(n, p, tail * (1 - 1e-8)), c + 1);
}

/*
 * A tail slightly larger or smaller than the true one gives another c.  The
 * table's tails are made as those of binomial(), first way.
 */
static void binomial_ties(void)
{
	static const struct {
		uint64_t n;
		double p;
		uint64_t c;
		double tail;
	} rows[] = {
		{1000000, 1.0 / 200, 5409, 4.96932029580364e-9},
		{100000000, 1.0 / 400, 252925, 2.49782301181196e-9},
		{1000000000, 3.0 / 4, 750096320, 9.9952660967573e-13},
		{10000000000, 1.0 / 65536, 155190, 1.52279571696531e-11},
		{1000000000000, 1.0 / 200, 5000404215, 4.99964448859026e-9},
		{1000000000000, 1.0 / 65536, 15284749, 1.52556112435169e-11},
		{1000000000000, 1.0 / 2, 500002445819, 4.99998667793581e-7},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_tie(rows[i].n, rows[i].p, rows[i].c, rows[i].tail);
	for (uint64_t n = 2; n < 200; n += 3) {
		for (uint64_t c = 0; c < n; c += 1 + n / 9) {
			double p = (double)(n % 13 + 1) / 15;
			double tail = (double)plain_tail(n, p, c);

			if (tail > 1e-12 && tail < 1 - 1e-6)
				check_tie(n, p, c, tail);
		}
	}
}

static void hottest(void)
{
	CHECK_U64(sizing_hottest(0, 200), 0);
	CHECK_U64(sizing_hottest(1, 200), 1);
	CHECK_U64(sizing_hottest(12345, 1), 12345);
	CHECK_U64(sizing_hottest(1000000, 200), 5409);
	CHECK_U64(sizing_hottest(100000000, 200), 504047);
	CHECK_U64(sizing_hottest(1000000000000, 200), 5000404215);
	CHECK_U64(sizing_hottest(1000000000000, 65536), 15284749);
}

/* The search for a number of buckets relies on it. */
static void hottest_never_rises(void)
{
	static const uint64_t keys[] = {
		1, 2, 3, 50, 100000, 3000000, 1000000000, 1000000000000};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		uint64_t last = UINT64_MAX;
		uint32_t step = keys[i] > 100000 ? 61 : 1;

		for (uint32_t n = 1; n <= 65536; n += step) {
			uint64_t now = sizing_hottest(keys[i], n);

			REQUIRE(now <= last);
			last = now;
		}
	}
}

static void capacity(void)
{
	CHECK_U64(sizing_capacity(0, 0, 0), 1);
	CHECK_U64(sizing_capacity(0, 25, 0), 1);
	CHECK_U64(sizing_capacity(0, 25, 1), 1);
	CHECK_U64(sizing_capacity(1000, 25, 1), 1251);
	CHECK_U64(sizing_capacity(1000, 0, 1), 1001);
	CHECK_U64(sizing_capacity(1, 25, 0), 2);
	CHECK_U64(sizing_capacity(1001, 25, 1), 1253);
	CHECK_U64(sizing_capacity(100, 10000, 0), 10100);
	CHECK_U64(sizing_capacity(100, 7, 0), 107);
	CHECK_U64(sizing_capacity(1000, 0.1, 0), 1001);
	CHECK_U64(sizing_capacity(10, -5, 0), 10);
	CHECK_U64(sizing_capacity(10, NAN, 0), 10);
	CHECK_U64(sizing_capacity(UINT64_MAX, 0, 0), UINT64_MAX);
	CHECK_U64(sizing_capacity(UINT64_MAX, 0, 1), UINT64_MAX);
	CHECK_U64(sizing_capacity(UINT64_MAX, 10000, 0), UINT64_MAX);
	CHECK_U64(sizing_capacity(UINT64_MAX / 2, 150, 0), UINT64_MAX);
	CHECK_U64(sizing_capacity(10, INFINITY, 0), UINT64_MAX);
	CHECK_U64(sizing_capacity(UINT64_MAX - 5, 0, 9), UINT64_MAX);
}

static bool fit(uint64_t keys, uint32_t buckets, uint64_t limit)
{
	struct error err = ERROR_INIT;
	struct filter_params params;
	uint64_t most = sizing_hottest(keys, buckets);

	return engine_size(&engines[ENGINE_REDIS8],
			   sizing_capacity(most, 25, 1), 0.01, &params,
			   &err) == 0 &&
	       layout_redisbloom.memory(&params) <= limit;
}

static void buckets_are_fewest(void)
{
	static const struct {
		uint64_t keys, limit;
	} rows[] = {
		{0, 1000},
		{1, 104},
		{1000, 200},
		{1000000, 10000},
		{1000000, 2000000},
		{100000000, 1048576},
		{3000000000, UINT64_MAX}, /* the capacity is the limit */
		{1000000000000, 100000000},
		{1000000000000, 25000000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = ERROR_INIT;
		uint32_t n = 0;

		CHECK(sizing_buckets(&engines[ENGINE_REDIS8], rows[i].keys,
				     0.01, 25, 1, rows[i].limit, &n,
				     &err) == 0);
		CHECK(n >= 1 && n <= 65536);
		CHECK(fit(rows[i].keys, n, rows[i].limit));
		/* Not only the next one: none of a thousand below. */
		for (uint32_t k = 1; k <= 1000 && k < n; k++)
			REQUIRE(!fit(rows[i].keys, n - k, rows[i].limit));
	}
}

static void buckets_refused(void)
{
	struct error err = ERROR_INIT;
	uint32_t n = 7;

	CHECK(sizing_buckets(&engines[ENGINE_REDIS8], 1000000000000, 0.01, 25,
			     1, 1000000, &n, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK_STR(err.text, "1000000000000 keys: even 65536 redis8 filters "
			    "would take more than 1000000 bytes each");
	CHECK(err.hint[0] != '\0');
	CHECK(sizing_buckets(&engines[ENGINE_REDIS8], 1, 0.01, 0, 0, 103, &n,
			     &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK(sizing_buckets(&engines[ENGINE_REDIS8], 1, NAN, 0, 0, 1000, &n,
			     &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK(sizing_buckets(&engines[ENGINE_REDIS8], UINT64_MAX, 0.01, 10000,
			     1, UINT64_MAX, &n, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK_U64(n, 7);
}

int main(void)
{
	UNIT(binomial, "sizing: binomial quantiles are the exact ones");
	UNIT(binomial_edges, "sizing: binomial edges have their plain answers");
	UNIT(binomial_is_smallest, "sizing: a quantile is the smallest");
	UNIT(binomial_ties, "sizing: the tail is right to eight digits");
	UNIT(hottest, "sizing: the fullest bucket is planned for");
	UNIT(hottest_never_rises,
	     "sizing: more buckets, no larger fullest one");
	UNIT(capacity, "sizing: capacity is rounded up, never wraps round");
	UNIT(buckets_are_fewest, "sizing: the fewest buckets within a limit");
	UNIT(buckets_refused,
	     "sizing: too many keys for the limit are refused");
	return unit_end();
}
