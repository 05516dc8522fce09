/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/sizing.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define BUCKETS_MAX 65536

/* ln(sqrt(2 pi)) */
#define LN_SQRT_2PI 0.91893853320467274178

/*
 * What Stirling's formula lacks: ln(x!) - ln(sqrt(2 pi x) (x / e)^x).  The
 * difference of two large numbers for a large x, hence the series there: its
 * next term is below 1e-16 from 16 on.
 */
static double stirling_rest(double x)
{
	static const double series[] = {
		-691.0 / 360360, 1.0 / 1188, -1.0 / 1680,
		1.0 / 1260,      -1.0 / 360, 1.0 / 12,
	};
	double sum = 0;
	int sign;

	if (x < 16)
		return lgamma_r(x + 1, &sign) - (x + 0.5) * log(x) + x -
		       LN_SQRT_2PI;
	for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++)
		sum = sum / (x * x) + series[i];
	return sum / x;
}

/* x ln(x / mean) - x + mean, without cancellation where x is near the mean. */
static double deviance(double x, double mean)
{
	double t = (x - mean) / mean;

	if (t < -0.5 || t > 1)
		return x * log(x / mean) - x + mean;
	return mean * ((1 + t) * log1p(t) - t);
}

/*
 * ln of the probability of exactly x successes, 0 < p < 1, q = 1 - p.  With
 * lgamma alone it would be a difference of numbers up to 1e13, good to two
 * digits; taken apart into Stirling's parts it is good to nine.
 */
static double log_pmf(double n, double p, double q, double x)
{
	double rest = n - x;

	if (x <= 0)
		return n * log1p(-p);
	if (rest <= 0)
		return n * log(p);
	return stirling_rest(n) - stirling_rest(x) - stirling_rest(rest) -
	       deviance(x, n * p) - deviance(rest, n * q) - LN_SQRT_2PI -
	       0.5 * log(x * (rest / n));
}

/*
 * The probability of x or more successes over that of x, by the continued
 * fraction of the incomplete beta function (DLMF 8.17.22) and Lentz's method.
 * x must be above the mean: there it takes some dozens of steps, where the sum
 * of the terms themselves takes up to millions, and agrees with it to 1e-10.
 */
static double tail_ratio(double n, double p, double q, double x)
{
	double rest = n - x + 1;
	double value = 1, c = 1, d = 0;

	for (unsigned step_number = 0; step_number < 1000000; step_number++) {
		double m = step_number;
		double odd = -(x + m) * (x + rest + m) * p /
			     ((x + 2 * m) * (x + 2 * m + 1));
		double even = (m + 1) * (rest - m - 1) * p /
			      ((x + 2 * m + 1) * (x + 2 * m + 2));
		double step;

		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		d = 1 / (1 + even * d);
		c = 1 + even / c;
		step *= c * d;
		value *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return q / value;
}

/* ln of the probability of x or more successes, x above the mean. */
static double log_tail(double n, double p, double q, double x)
{
	return log_pmf(n, p, q, x) + log(tail_ratio(n, p, q, x));
}

/* Whether more than c successes have a probability below tail. */
static bool is_rarer(double n, double p, double c, double tail)
{
	double q = 1 - p;

	if (c >= n)
		return true;
	if (c + 1 > n * p)
		return log_tail(n, p, q, c + 1) < log(tail);
	/* Not more than c successes: n - c failures or more. */
	return -expm1(log_tail(n, q, p, n - c)) < tail;
}

uint64_t sizing_binomial(uint64_t n, double p, double tail)
{
	uint64_t low = 0, high = n;

	if (!(p > 0))
		return 0;
	if (p >= 1)
		return n;
	/* More is rarer, and more than n does not happen. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (is_rarer((double)n, p, (double)middle, tail))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t sizing_hottest(uint64_t keys, uint32_t buckets)
{
	if (buckets <= 1)
		return keys;
	return sizing_binomial(keys, 1.0 / buckets, SIZING_RISK / buckets);
}

uint64_t sizing_capacity(uint64_t count, double headroom, uint64_t planted)
{
	double extra = headroom > 0 ? ceil((double)count * headroom / 100) : 0;
	uint64_t sum;

	/* 2^64, the first double that a uint64_t cannot hold. */
	if (extra >= 18446744073709551616.0 ||
	    __builtin_add_overflow(count, (uint64_t)extra, &sum) ||
	    __builtin_add_overflow(sum, planted, &sum))
		return UINT64_MAX;
	return sum > 0 ? sum : 1;
}

/* What sizing_buckets() is asked. */
struct question {
	const struct engine *engine;
	uint64_t keys;
	double error, headroom;
	uint64_t planted, limit;
};

/* 1 if this many buckets are enough, 0 if not, or -1. */
static int is_enough(const struct question *ask, uint32_t buckets,
		     struct error *err)
{
	struct filter_params params;
	struct error refused = ERROR_INIT;
	uint64_t capacity = sizing_capacity(sizing_hottest(ask->keys, buckets),
					    ask->headroom, ask->planted);

	if (engine_size(ask->engine, capacity, ask->error, &params, &refused) ==
	    0)
		return ask->engine->layout->memory(&params) <= ask->limit;
	if (refused.code == ERROR_SPACE)
		return 0;
	*err = refused;
	return -1;
}

int sizing_buckets(const struct engine *engine, uint64_t keys, double error,
		   double headroom, uint64_t planted, uint64_t limit,
		   uint32_t *out, struct error *err)
{
	const struct question ask = {engine,   keys,    error,
				     headroom, planted, limit};
	uint32_t low = 1, high = BUCKETS_MAX;
	int enough = is_enough(&ask, high, err);

	if (enough < 0)
		return -1;
	if (enough == 0) {
		error_set(err, ERROR_SPACE,
			  "%" PRIu64 " keys: even %d %s filters would take "
			  "more than %" PRIu64 " bytes each",
			  keys, BUCKETS_MAX, engine->name, limit);
		return error_hint(err, "allow larger filters, less headroom or "
				       "a higher error rate");
	}
	/*
	 * For a given c the risk, buckets times the tail above c, falls as
	 * the buckets rise, wherever it is small.  So the fullest never gets
	 * larger, and halving finds the smallest number.
	 */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		enough = is_enough(&ask, middle, err);
		if (enough < 0)
			return -1;
		if (enough)
			high = middle;
		else
			low = middle + 1;
	}
	*out = low;
	return 0;
}

void sizing_hint(const struct engine *engine, uint64_t keys, double error,
		 double headroom, uint64_t planted, uint64_t limit,
		 struct error *err)
{
	struct error none = ERROR_INIT;
	uint32_t fewest;

	if (sizing_buckets(engine, keys, error, headroom, planted, limit,
			   &fewest, &none) == 0)
		(void)error_hint(
			err, "spread the keys over %" PRIu32 " buckets or more",
			fewest);
}
