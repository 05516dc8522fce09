/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/murmur.h"

#include "tests/unit/unit.h"

#define BLOOM_SEED UINT64_C(0xc6a4a7935bd1e995)

/*
 * SMHasher's own check of an implementation: the hash of all hashes of
 * {}, {0}, {0, 1} ... {0 .. 254} with seeds 256, 255 ... 1; its low 32 bits
 * are published for every hash that it knows.
 */
static void smhasher_verification(void)
{
	unsigned char key[256] = {0}, hashes[256 * 8];

	for (int i = 0; i < 256; i++) {
		uint64_t hash = murmur64a(key, (size_t)i, 256 - (uint64_t)i);

		for (int j = 0; j < 8; j++)
			hashes[8 * i + j] = (unsigned char)(hash >> (8 * j));
		key[i] = (unsigned char)i;
	}
	CHECK_U64(murmur64a(hashes, sizeof(hashes), 0) & 0xffffffff,
		  0x1F0D3804);
}

/* Made with whole numbers in Python from the algorithm's description. */
static void known_hashes(void)
{
	static const struct {
		const char *key;
		size_t len;
		uint64_t with_zero, with_bloom;
	} rows[] = {
		{"", 0, 0, 0x1ab11ea5a7b2c56e},
		{"a", 1, 0x71717d2d36b6b11, 0x4292cee227b9150a},
		{"\0", 1, 0x5825f5f3bd962979, 0},
		{"abcdefg", 7, 0x241aa52b0a62005d, 0x9fa0b24601c1e9a9},
		{"abcdefgh", 8, 0xafdb0257ff41aa98, 0xd435df7a565a8af1},
		{"abcdefghi", 9, 0xc9b9d84356146ac2, 0xa2c004e44bd0a465},
		{"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		 15, 0xdc402e6db87fc63a, 0x5ab08c61456f74ff},
		{"card:0000000000000000:merchant:MID_0", 36, 0x295b2b541db695c0,
		 0x9c426f4bf04055a2},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_U64(murmur64a(rows[i].key, rows[i].len, 0),
			  rows[i].with_zero);
		CHECK_U64(murmur64a(rows[i].key, rows[i].len, BLOOM_SEED),
			  rows[i].with_bloom);
	}
}

static void unaligned_keys(void)
{
	static const char key[] = "card:0000000000000000:merchant:MID_0";
	size_t len = sizeof(key) - 1;
	unsigned char room[64];

	for (size_t at = 0; at < 16; at++) {
		memcpy(room + at, key, len);
		CHECK_U64(murmur64a(room + at, len, 0), 0x295b2b541db695c0);
	}
}

/* A sanitizer would see a read of what is not there. */
static void exact_reads(void)
{
	for (size_t len = 0; len < 40; len++) {
		unsigned char *key = malloc(len > 0 ? len : 1);
		uint64_t hash;

		REQUIRE(key != NULL);
		memset(key, 'x', len);
		hash = murmur64a(key, len, 1);
		CHECK_U64(murmur64a(key, len, 1), hash);
		free(key);
	}
	CHECK_U64(murmur64a(NULL, 0, 0), 0);
}

int main(void)
{
	UNIT(smhasher_verification, "murmur: SMHasher's check value is met");
	UNIT(known_hashes, "murmur: known keys have their known hashes");
	UNIT(unaligned_keys, "murmur: a key may begin at any address");
	UNIT(exact_reads, "murmur: no byte but the key's is read");
	return unit_end();
}
