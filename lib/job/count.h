/* SPDX-License-Identifier: BSD-2-Clause
 *
 * count: how many keys of a source fall into each bucket.  Duplicates count
 * each time, so the counts are never below what the filters will hold.
 */
#ifndef BLOOMCTL_JOB_COUNT_H
#define BLOOMCTL_JOB_COUNT_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/scan.h"

/*
 * Reads the source once.  keys holds one counter per bucket of the keyspec and
 * is overwritten; *rows is the number of rows.  Errors as scan_run().
 */
int count_run(const struct scan *scan, uint64_t *keys, uint64_t *rows,
	      struct error *err);

/* The largest of n counts, its index in *at, and their sum in *sum. */
uint64_t count_hottest(const uint64_t *keys, uint32_t n, uint32_t *at,
		       uint64_t *sum);

#endif
