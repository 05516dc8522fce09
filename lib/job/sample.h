/* SPDX-License-Identifier: BSD-2-Clause
 *
 * sample: questions to a generation whose answers are known.
 *
 * Members that went in must be found; random non-members must be found no
 * more often than the error rate allows.  Both are asked of the filters where
 * they lie, through the store, and not of what the writer believes.
 */
#ifndef BLOOMCTL_JOB_SAMPLE_H
#define BLOOMCTL_JOB_SAMPLE_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/store/store.h"

/* Members kept of each worker, and the longest that is kept, in bytes. */
#define SAMPLE_KEYS 64
#define SAMPLE_LEN  128

/* A uniform sample of the keys that one worker sent. */
struct sample {
	uint64_t seen;
	uint64_t random; /* state of its generator */
	unsigned count;
	struct {
		uint32_t bucket;
		uint32_t len;
		unsigned char key[SAMPLE_LEN];
	} keys[SAMPLE_KEYS];
};

/* Makes an empty sample; seed decides which keys it will keep. */
void sample_init(struct sample *s, uint64_t seed);

/* The next pseudo-random number of a state (splitmix64, Steele et al.). */
uint64_t sample_random(uint64_t *state);

/* Offers a key to the sample (algorithm R, Vitter). */
void sample_offer(struct sample *s, uint32_t bucket, const void *key,
		  size_t len);

/*
 * Asks for the sentinel in every bucket and for all sampled members; one that
 * is not found is ERROR_VERIFY naming its bucket.
 */
int sample_members(struct store *store, const struct manifest *m,
		   const struct bloomkey_spec *spec, const struct sample *s,
		   unsigned samples, struct error *err);

/*
 * The rate of false positives that a good set may show.  The designed one is
 * the mean over many filters; one of m bits strays from it by some k/sqrt(m),
 * and where m is small the k positions of a member also fall together, which
 * adds some 1/m.
 */
double sample_allowed(const struct filter_params *params, double error);

/*
 * Asks for n random non-members, spread over all buckets; *hits is how many
 * were found, and *most (NULL: not wanted) how many may be.  ERROR_VERIFY if
 * there are more: a good set of the designed rate would show that less than
 * once in a million runs; filters of few bits are given the room by which they
 * stray from it.
 */
int sample_absent(struct store *store, const struct manifest *m,
		  const struct bloomkey_spec *spec, uint64_t n, uint64_t seed,
		  uint64_t *hits, uint64_t *most, struct error *err);

#endif
