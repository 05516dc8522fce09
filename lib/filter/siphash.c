/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/siphash.h"

#include "lib/filter/words.h"

struct state {
	uint64_t v0, v1, v2, v3;
};

static inline struct state begin(const unsigned char *key)
{
	uint64_t k0 = words_load(key);
	uint64_t k1 = words_load(key + 8);
	/* The paper's "somepseudorandomlygeneratedbytes". */
	struct state s = {
		k0 ^ UINT64_C(0x736f6d6570736575),
		k1 ^ UINT64_C(0x646f72616e646f6d),
		k0 ^ UINT64_C(0x6c7967656e657261),
		k1 ^ UINT64_C(0x7465646279746573),
	};

	return s;
}

static inline uint64_t rotate(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static inline void sip_round(struct state *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotate(s->v1, 13) ^ s->v0;
	s->v3 = rotate(s->v3, 16) ^ s->v2;
	s->v0 = rotate(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotate(s->v1, 17) ^ s->v2;
	s->v3 = rotate(s->v3, 21) ^ s->v0;
	s->v2 = rotate(s->v2, 32);
}

/*
 * A word goes into both: each step of a round waits for the one before it, so
 * that the second hash costs nearly nothing beside the first.
 */
static inline void absorb(struct state *a, struct state *b, uint64_t word)
{
	a->v3 ^= word;
	b->v3 ^= word;
	sip_round(a);
	sip_round(b);
	a->v0 ^= word;
	b->v0 ^= word;
}

void siphash13_pair(const unsigned char keys[SIPHASH_PAIR_KEYS], uint64_t head,
		    const void *data, size_t len, uint64_t out[2])
{
	const unsigned char *p = data;
	struct state a = begin(keys);
	struct state b = begin(keys + SIPHASH_PAIR_KEYS / 2);
	/* The length of the whole message, modulo 256, in the last word. */
	uint64_t last = (uint64_t)(len + 8) << 56;
	size_t all = len;

	absorb(&a, &b, head);
	for (; len >= 8; len -= 8, p += 8)
		absorb(&a, &b, words_load(p));
	if (len > 0)
		last |= words_load_tail(p, len, all);
	absorb(&a, &b, last);
	a.v2 ^= 0xff;
	b.v2 ^= 0xff;
	for (int i = 0; i < 3; i++) {
		sip_round(&a);
		sip_round(&b);
	}
	out[0] = a.v0 ^ a.v1 ^ a.v2 ^ a.v3;
	out[1] = b.v0 ^ b.v1 ^ b.v2 ^ b.v3;
}
