/* SPDX-License-Identifier: BSD-2-Clause
 *
 * sizing: how many members the fullest of N buckets will get, and from that
 * what a set takes.  Pure arithmetic.
 */
#ifndef BLOOMCTL_FILTER_SIZING_H
#define BLOOMCTL_FILTER_SIZING_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/filter/engine.h"

/* The probability with which a plan may be exceeded by any bucket. */
#define SIZING_RISK 1e-6

/*
 * The smallest c for which the probability that a binomial variable (trials
 * n, success p) exceeds c is below tail, tail in (0, 1).  The exact tail, not
 * an approximation of the distribution: its logarithm is right to 1e-8 for n
 * up to 1e12.  p <= 0 gives 0, p >= 1 gives n.
 */
uint64_t sizing_binomial(uint64_t n, double p, double tail);

/*
 * The smallest c such that the probability that ANY of `buckets` buckets gets
 * more than c of `keys` keys, spread by a hash, is below SIZING_RISK.
 *
 * By the union bound: each bucket's own risk is below SIZING_RISK / buckets.
 * 1 - (1 - p)^buckets would take the buckets as independent, but a key in one
 * is missing in all others, which makes that value slightly too small; the
 * union bound is never too small, and the two differ by less than one part in
 * a million here.
 */
uint64_t sizing_hottest(uint64_t keys, uint32_t buckets);

/*
 * count plus headroom percent (0 to 10,000), rounded up, plus `planted` for
 * the sentinel; at least 1.  UINT64_MAX on overflow.
 */
uint64_t sizing_capacity(uint64_t count, double headroom, uint64_t planted);

/*
 * The smallest number of buckets, 1 to 65,536, with which every filter of a
 * set of `keys` keys takes at most `limit` bytes (as its layout counts)
 * at this error rate and headroom.  ERROR_SPACE if 65,536 are too few.
 */
int sizing_buckets(const struct engine *engine, uint64_t keys, double error,
		   double headroom, uint64_t planted, uint64_t limit,
		   uint32_t *out, struct error *err);

/*
 * The hint of an error that says that a filter is too large: how many buckets
 * are enough.  Where no number is, it is left as it is.
 */
void sizing_hint(const struct engine *engine, uint64_t keys, double error,
		 double headroom, uint64_t planted, uint64_t limit,
		 struct error *err);

#endif
