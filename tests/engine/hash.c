/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/hash.h"

/* The largest prime below 2^64. */
static const uint64_t prime = UINT64_C(0xffffffffffffffc5);

uint64_t little_get(const unsigned char *at, size_t bytes)
{
	uint64_t value = 0;
	for (size_t i = bytes; i-- > 0;)
		value = value << 8 | at[i];
	return value;
}

void little_put(unsigned char *at, size_t bytes, uint64_t value)
{
	for (size_t i = 0; i < bytes; i++, value >>= 8)
		at[i] = (unsigned char)(value & 0xff);
}

struct sip {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s)
{
	uint64_t *v = s->v;
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
	s->v[3] ^= word;
	sip_round(s);
	s->v[0] ^= word;
}

/* Of the length as eight bytes and then the item, as Rust hashes a slice. */
static uint64_t sip_slice(const unsigned char key[16],
			  const unsigned char *item, size_t size)
{
	uint64_t k0 = little_get(key, 8), k1 = little_get(key + 8, 8);
	struct sip s = {{k0 ^ UINT64_C(0x736f6d6570736575),
			 k1 ^ UINT64_C(0x646f72616e646f6d),
			 k0 ^ UINT64_C(0x6c7967656e657261),
			 k1 ^ UINT64_C(0x7465646279746573)}};
	size_t whole = size / 8;

	sip_word(&s, size);
	for (size_t i = 0; i < whole; i++)
		sip_word(&s, little_get(item + 8 * i, 8));
	sip_word(&s, little_get(item + 8 * whole, size % 8) |
			     (uint64_t)(size + 8) << 56);
	s.v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

void hash_item(struct hash *hash, const unsigned char seed[SEED_SIZE],
	       const void *item, size_t size)
{
	hash->h[0] = sip_slice(seed, item, size);
	hash->h[1] = sip_slice(seed + 16, item, size);
}

uint64_t hash_position(const struct hash *hash, uint32_t i, uint64_t bits)
{
	if (i < 2)
		return hash->h[i] % bits;
	return (hash->h[0] + i * hash->h[1]) % prime % bits;
}
