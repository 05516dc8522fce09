/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tally: how many keys a worker had per bucket, with a mark to go back to
 * where a part of the source is read once more.
 */
#ifndef BLOOMCTL_JOB_TALLY_H
#define BLOOMCTL_JOB_TALLY_H

#include <stdint.h>

#include "lib/base/error.h"

struct tally {
	uint64_t *keys; /* per bucket; owned */
	uint64_t *marked;
	uint64_t *gone; /* what was taken back, in all */
	uint32_t buckets;
};

/* All counts are 0.  0 or -1 (ERROR_INTERNAL); release in both cases. */
int tally_init(struct tally *tally, uint32_t buckets, struct error *err);

/* Remembers the counts, or sets them to what was remembered last. */
void tally_mark(struct tally *tally);
void tally_back(struct tally *tally);

/* Adds the counts to sum, which holds as many; or what was taken back. */
void tally_add(const struct tally *tally, uint64_t *sum);
void tally_add_gone(const struct tally *tally, uint64_t *sum);

/* Legal after zeroing. */
void tally_release(struct tally *tally);

#endif
