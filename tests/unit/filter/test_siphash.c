/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/siphash.h"

#include "lib/filter/words.h"
#include "tests/unit/unit.h"

/*
 * Published for SipHash-1-3, in the tests of Rust's core library: the key is
 * 00 01 .. 0f, the message 00 01 .. n - 1, the hash 8 bytes, little-endian.
 * Those of fewer than 8 bytes are left out: such a message has no head.
 */
static const struct {
	size_t len;
	uint64_t hash;
} vectors[] = {
	{8, 0x369095118d299a8e},  {9, 0x25a48eb36c063de4},
	{10, 0x79de85ee92ff097f}, {11, 0x70c118c1f94dc352},
	{12, 0x78a384b157b4d9a2}, {13, 0x306f760c1229ffa7},
	{14, 0x605aa111c0f95d34}, {15, 0xd320d86d2a519956},
	{16, 0xcc4fdd1a7d908b66}, {17, 0x9cf2689063dbd80c},
	{23, 0x525a0e7fdae6c123}, {24, 0xf464aeb267349c8c},
	{25, 0x45cd5928705b0979}, {31, 0x2370dd1f8c21d1bc},
	{32, 0x81157b6c16a7b60d}, {40, 0xc1d2363299e41531},
	{47, 0x49fb169c8b5114fd}, {48, 0x9f3143f8df074c46},
	{62, 0xc3b2f6154b6694e0}, {63, 0x9d199062b7bbb3a8},
};

#define VECTORS (sizeof(vectors) / sizeof(vectors[0]))

/* Two keys, of which the second is turned round. */
static void make_keys(unsigned char keys[SIPHASH_PAIR_KEYS])
{
	for (unsigned char i = 0; i < 16; i++) {
		keys[i] = i;
		keys[16 + i] = 15 - i;
	}
}

static void make_message(unsigned char message[64])
{
	for (unsigned char i = 0; i < 64; i++)
		message[i] = i;
}

static void published(void)
{
	unsigned char keys[SIPHASH_PAIR_KEYS], swapped[SIPHASH_PAIR_KEYS];
	unsigned char message[64];
	uint64_t out[2], back[2];

	make_keys(keys);
	memcpy(swapped, keys + 16, 16);
	memcpy(swapped + 16, keys, 16);
	make_message(message);
	for (size_t i = 0; i < VECTORS; i++) {
		siphash13_pair(keys, words_load(message), message + 8,
			       vectors[i].len - 8, out);
		CHECK_U64(out[0], vectors[i].hash);
		siphash13_pair(swapped, words_load(message), message + 8,
			       vectors[i].len - 8, back);
		CHECK_U64(back[1], vectors[i].hash);
		CHECK_U64(back[0], out[1]);
	}
}

/* A sanitizer would see a read of what is not there. */
static void exact_reads(void)
{
	unsigned char keys[SIPHASH_PAIR_KEYS], message[64];
	uint64_t want[2], out[2];

	make_keys(keys);
	make_message(message);
	for (size_t len = 0; len < sizeof(message); len++) {
		unsigned char *copy = malloc(len > 0 ? len : 1);

		REQUIRE(copy != NULL);
		memcpy(copy, message, len);
		siphash13_pair(keys, 7, message, len, want);
		siphash13_pair(keys, 7, copy, len, out);
		CHECK(memcmp(out, want, sizeof(out)) == 0);
		free(copy);
	}
	siphash13_pair(keys, 7, "", 0, want);
	siphash13_pair(keys, 7, NULL, 0, out);
	CHECK(memcmp(out, want, sizeof(out)) == 0);
}

static void unaligned(void)
{
	unsigned char room[SIPHASH_PAIR_KEYS + 64 + 16];
	unsigned char keys[SIPHASH_PAIR_KEYS], message[64];
	uint64_t want[2], out[2];

	make_keys(keys);
	make_message(message);
	siphash13_pair(keys, 1, message, 61, want);
	for (size_t at = 0; at < 16; at++) {
		memcpy(room + at, keys, sizeof(keys));
		memcpy(room + at + sizeof(keys), message, 61);
		siphash13_pair(room + at, 1, room + at + sizeof(keys), 61, out);
		CHECK(memcmp(out, want, sizeof(out)) == 0);
	}
}

int main(void)
{
	UNIT(published, "siphash: published vectors come out, on both sides");
	UNIT(exact_reads, "siphash: nothing beside the data is read");
	UNIT(unaligned, "siphash: keys and data may lie anywhere");
	return unit_end();
}
