/* SPDX-License-Identifier: BSD-2-Clause
 *
 * valkey-bloom 1.0, also in ElastiCache for Valkey: NONSCALING objects of one
 * filter with a seed of their own, as DUMP gives them and RESTORE takes them.
 */
#include "lib/filter/valkeybloom.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/base/crc64.h"
#include "lib/filter/siphash.h"
#include "lib/filter/words.h"

static_assert(LAYOUT_SEED_LEN == SIPHASH_PAIR_KEYS,
	      "the seed is the two keys of the hash");

#define LN2 0.693147180559945309417232121458

/* The largest prime below 2^64. */
#define PRIME UINT64_C(0xffffffffffffffc5)

/* What BF.INFO counts for an object of one filter beside the bits. */
#define OBJECT_BYTES 264

/* The module type "bloomfltr" with encoding version 1, big-endian. */
static const unsigned char module_id[] = {0x6e, 0x5a, 0x28, 0x99,
					  0xf9, 0x6d, 0xac, 0x01};

/* What an RDB file and a DUMP call their parts. */
#define RDB_TYPE_MODULE 7
#define RDB_LEN_64      0x81
#define RDB_LEN_32      0x80
#define RDB_LEN_14      0x40
#define RDB_END         0
#define RDB_UINT        2
#define RDB_DOUBLE      4
#define RDB_STRING      5
/* The newest version of RDB that every server with this module takes. */
#define RDB_VERSION 11

/* Before the bits: version, bytes of bits, hashes and seed. */
#define BLOB_VERSION 1
#define BLOB_HEADER  (1 + 8 + 4 + LAYOUT_SEED_LEN)

static int valkeybloom_size(uint64_t capacity, double error,
			    struct filter_params *out)
{
	double n = (double)capacity;
	double bytes = ceil(n * log(error) / (-8 * (LN2 * LN2)));

	memset(out, 0, sizeof(*out));
	if (bytes >= LAYOUT_BITS_END / 8)
		return -1;
	out->capacity = capacity;
	out->error = error;
	out->bpe = -log(error) / (LN2 * LN2);
	out->bytes = (uint64_t)bytes;
	out->bits = out->bytes * 8;
	out->hashes = (uint32_t)round((double)out->bits / n * LN2);
	if (out->hashes < 1)
		out->hashes = 1;
	filter_reciprocal(out);
	return 0;
}

static uint64_t valkeybloom_memory(const struct filter_params *params)
{
	return OBJECT_BYTES + params->bytes;
}

void valkeybloom_place(const struct filter_params *params,
		       const uint64_t hash[2], uint64_t *out)
{
	/* Copies, as out could otherwise change what they say. */
	const struct filter_params local = *params;
	uint64_t step = hash[1];
	uint64_t x = hash[0];

	out[0] = filter_modulo(&local, x);
	if (local.hashes == 1)
		return;
	out[1] = filter_modulo(&local, step);
	x += 2 * step;
	/* Only from the third on is there a second modulus before bits. */
	for (uint32_t i = 2; i < local.hashes; i++, x += step)
		out[i] = filter_modulo(&local, x >= PRIME ? x - PRIME : x);
}

static void valkeybloom_positions(const struct filter_params *params,
				  const void *key, size_t len, uint64_t *out)
{
	uint64_t hash[2];

	/* Rust hashes a slice with its length in front. */
	siphash13_pair(params->seed, len, key, len, hash);
	valkeybloom_place(params, hash, out);
}

/* A number with its most significant byte first. */
static unsigned char *put_big(unsigned char *p, uint64_t value, int width)
{
	for (int i = width - 1; i >= 0; i--)
		*p++ = (unsigned char)(value >> (8 * i));
	return p;
}

/* A length as RDB writes it, which is also how it writes whole numbers. */
static unsigned char *put_length(unsigned char *p, uint64_t value)
{
	if (value < UINT64_C(1) << 6)
		return put_big(p, value, 1);
	if (value < UINT64_C(1) << 14)
		return put_big(p, RDB_LEN_14 << 8 | value, 2);
	*p++ = value <= UINT32_MAX ? RDB_LEN_32 : RDB_LEN_64;
	return put_big(p, value, value <= UINT32_MAX ? 4 : 8);
}

static unsigned char *put_uint(unsigned char *p, uint64_t value)
{
	*p++ = RDB_UINT;
	return put_length(p, value);
}

static unsigned char *put_double(unsigned char *p, double value)
{
	*p++ = RDB_DOUBLE;
	return words_put_double(p, value);
}

/*
 * Capacity and items stand before the blob, as released 1.0 servers are said
 * to write them.  Sources of before that release, with the same encoding
 * version, have the blob first: who restores asks the server for a dump of
 * its own, and looks at the order, before it trusts this one.
 */
static size_t valkeybloom_header(const struct filter_params *params,
				 uint64_t items, unsigned char *out)
{
	unsigned char *p = out;

	*p++ = RDB_TYPE_MODULE;
	*p++ = RDB_LEN_64;
	memcpy(p, module_id, sizeof(module_id));
	p += sizeof(module_id);
	p = put_uint(p, 1); /* filters */
	p = put_uint(p, 0); /* expansion: NONSCALING */
	p = put_double(p, params->error);
	p = put_double(p, 0.5); /* tightening, which is not used */
	p = put_uint(p, 1);     /* the seed was drawn for this object */
	p = put_uint(p, params->capacity);
	p = put_uint(p, items);
	*p++ = RDB_STRING;
	p = put_length(p, BLOB_HEADER + params->bytes);
	*p++ = BLOB_VERSION;
	p = words_put(p, params->bytes, 8);
	p = words_put(p, params->hashes, 4);
	memcpy(p, params->seed, sizeof(params->seed));
	return (size_t)(p + sizeof(params->seed) - out);
}

static size_t valkeybloom_footer(const struct filter_params *params,
				 uint64_t items, const void *bits,
				 unsigned char *out)
{
	unsigned char header[LAYOUT_HEADER_MAX];
	unsigned char *p = out;
	uint64_t crc;

	*p++ = RDB_END;
	p = words_put(p, RDB_VERSION, 2);
	crc = crc64(0, header, valkeybloom_header(params, items, header));
	crc = crc64(crc, bits, (size_t)params->bytes);
	crc = crc64(crc, out, (size_t)(p - out));
	return (size_t)(words_put(p, crc, 8) - out);
}

const struct layout_ops layout_valkeybloom = {
	.id = 2,
	.seeded = true,
	.size = valkeybloom_size,
	.memory = valkeybloom_memory,
	.positions = valkeybloom_positions,
	.header = valkeybloom_header,
	.footer = valkeybloom_footer,
};
