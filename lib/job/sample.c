/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/filter/sizing.h"

uint64_t sample_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

void sample_init(struct sample *s, uint64_t seed)
{
	s->seen = 0;
	s->random = seed;
	s->count = 0;
}

void sample_offer(struct sample *s, uint32_t bucket, const void *key,
		  size_t len)
{
	uint64_t at;

	if (len > SAMPLE_LEN)
		return;
	at = s->seen++;
	if (at >= SAMPLE_KEYS) {
		at = sample_random(&s->random) % s->seen;
		if (at >= SAMPLE_KEYS)
			return;
	} else {
		s->count++;
	}
	s->keys[at].bucket = bucket;
	s->keys[at].len = (uint32_t)len;
	memcpy(s->keys[at].key, key, len);
}

struct missed {
	uint64_t misses;
	uint32_t bucket; /* of the first miss */
};

static void on_member(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	struct missed *missed = ctx;

	(void)key;
	(void)len;
	if (!found && missed->misses++ == 0)
		missed->bucket = bucket;
}

static int ask_members(struct probe *probe, const struct bloomkey_spec *spec,
		       const struct sample *s, unsigned samples,
		       struct error *err)
{
	const void *sentinel;
	size_t len = bloomkey_sentinel(spec, &sentinel);

	for (uint32_t b = 0; len > 0 && b < bloomkey_buckets(spec); b++)
		if (stop_check(err) != 0 ||
		    probe->ops->ask(probe, b, sentinel, len, err) != 0)
			return -1;
	for (unsigned i = 0; i < samples; i++)
		for (unsigned k = 0; k < s[i].count; k++)
			if (probe->ops->ask(probe, s[i].keys[k].bucket,
					    s[i].keys[k].key, s[i].keys[k].len,
					    err) != 0)
				return -1;
	return probe->ops->flush(probe, err);
}

int sample_members(struct store *store, const struct manifest *m,
		   const struct bloomkey_spec *spec, const struct sample *s,
		   unsigned samples, struct error *err)
{
	struct missed missed = {0, 0};
	struct probe *probe;
	int rc;

	if (store->ops->probe(store, m, on_member, &missed, &probe, err) != 0)
		return -1;
	rc = ask_members(probe, spec, s, samples, err);
	probe->ops->close(probe);
	if (rc == 0 && missed.misses > 0)
		return error_set(err, ERROR_VERIFY,
				 "generation '%s': bucket %" PRIu32 ": %" PRIu64
				 " members that were added are "
				 "not found",
				 m->generation, missed.bucket, missed.misses);
	return rc;
}

static void on_absent(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	uint64_t *hits = ctx;

	(void)bucket;
	(void)key;
	(void)len;
	if (found)
		(*hits)++;
}

static int ask_absent(struct probe *probe, const struct bloomkey_spec *spec,
		      uint64_t n, uint64_t seed, struct error *err)
{
	char key[64];

	for (uint64_t i = 0; i < n; i++) {
		uint64_t a = sample_random(&seed);
		uint64_t b = sample_random(&seed);
		int len = snprintf(key, sizeof(key),
				   "bloomctl:absent:%016" PRIx64 "%016" PRIx64,
				   a, b);
		uint32_t bucket = bloomkey_bucket(spec, key, (size_t)len, NULL);

		if ((i & 1023) == 0 && stop_check(err) != 0)
			return -1;
		if (probe->ops->ask(probe, bucket, key, (size_t)len, err) != 0)
			return -1;
	}
	return probe->ops->flush(probe, err);
}

double sample_allowed(const struct filter_params *params, double error)
{
	double m = (double)params->bits;
	double rate = error * (1 + 6 * params->hashes / sqrt(m)) + 4 / m;

	return rate < 1 ? rate : 1;
}

int sample_absent(struct store *store, const struct manifest *m,
		  const struct bloomkey_spec *spec, uint64_t n, uint64_t seed,
		  uint64_t *hits, uint64_t *most, struct error *err)
{
	char rate[NUM_TEXT_MAX];
	struct bucket_info info;
	struct probe *probe;
	uint64_t limit;
	int rc;

	*hits = 0;
	if (store->ops->info(store, m, 0, false, &info, err) != 0 ||
	    store->ops->probe(store, m, on_absent, hits, &probe, err) != 0)
		return -1;
	rc = ask_absent(probe, spec, n, seed, err);
	probe->ops->close(probe);
	limit = sizing_binomial(n, sample_allowed(&info.params, m->error),
				SIZING_RISK);
	if (most != NULL)
		*most = limit;
	if (rc == 0 && *hits > limit)
		return error_set(err, ERROR_VERIFY,
				 "generation '%s': %" PRIu64 " of %" PRIu64
				 " random non-members are found, more than the "
				 "error rate of %s allows",
				 m->generation, *hits, n,
				 num_double_text(m->error, rate));
	return rc;
}
