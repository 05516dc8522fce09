/* SPDX-License-Identifier: BSD-2-Clause
 *
 * RedisBloom, since 2.2.1: filters of one link, NONSCALING, with 64-bit
 * hashes.
 */
#include <math.h>
#include <string.h>

#include "lib/filter/layout.h"
#include "lib/filter/murmur.h"
#include "lib/filter/words.h"

/*
 * The server's own, cut constants for ln(2)^2 and ln(2).  With exact ones an
 * error rate that is a power of 1/2 would get one hash function less.
 */
#define LN2_SQUARED 0.480453013918201
#define LN2         0.693147180559945

#define HASH_SEED UINT64_C(0xc6a4a7935bd1e995)

/* What BF.INFO counts for a filter, and for each of its links. */
#define CHAIN_BYTES 32
#define LINK_BYTES  64

/* NOROUND, FORCE64 and NO_SCALING. */
#define OPTIONS 13
/* The expansion that a NONSCALING filter has without using it. */
#define GROWTH 2

static int redisbloom_size(uint64_t capacity, double error,
			   struct filter_params *out)
{
	double bits;

	memset(out, 0, sizeof(*out));
	out->capacity = capacity;
	out->error = error;
	out->bpe = fabs(-(log(error) / LN2_SQUARED));
	/* Never 0: LAYOUT_ERROR_MAX takes 1.4 bits per member. */
	bits = (double)capacity * out->bpe;
	if (bits >= LAYOUT_BITS_END)
		return -1;
	out->bytes = 8 * (((uint64_t)bits + 63) / 64);
	out->bits = out->bytes * 8;
	out->hashes = (uint32_t)ceil(LN2 * out->bpe);
	filter_reciprocal(out);
	return 0;
}

static uint64_t redisbloom_memory(const struct filter_params *params)
{
	return CHAIN_BYTES + LINK_BYTES + params->bytes;
}

static void redisbloom_positions(const struct filter_params *params,
				 const void *key, size_t len, uint64_t *out)
{
	uint64_t x = murmur64a(key, len, HASH_SEED);
	uint64_t step = murmur64a(key, len, x);
	/* A copy, as out could otherwise change what params says. */
	const struct filter_params local = *params;

	for (uint32_t i = 0; i < local.hashes; i++, x += step)
		out[i] = filter_modulo(&local, x);
}

static size_t redisbloom_header(const struct filter_params *params,
				uint64_t items, unsigned char *out)
{
	unsigned char *p = out;

	p = words_put(p, items, 8); /* of all links */
	p = words_put(p, 1, 4);     /* links */
	p = words_put(p, OPTIONS, 4);
	p = words_put(p, GROWTH, 4);
	p = words_put(p, params->bytes, 8);
	p = words_put(p, params->bits, 8);
	p = words_put(p, items, 8); /* of this link */
	p = words_put_double(p, params->error);
	p = words_put_double(p, params->bpe);
	p = words_put(p, params->hashes, 4);
	p = words_put(p, params->capacity, 8);
	p = words_put(p, 0, 1); /* the modulus is bits, not 2^n */
	return (size_t)(p - out);
}

/* What is loaded is header and bits, and nothing else. */
static size_t redisbloom_footer(const struct filter_params *params,
				uint64_t items, const void *bits,
				unsigned char *out)
{
	(void)params;
	(void)items;
	(void)bits;
	(void)out;
	return 0;
}

const struct layout_ops layout_redisbloom = {
	.id = 1,
	.seeded = false,
	.size = redisbloom_size,
	.memory = redisbloom_memory,
	.positions = redisbloom_positions,
	.header = redisbloom_header,
	.footer = redisbloom_footer,
};
