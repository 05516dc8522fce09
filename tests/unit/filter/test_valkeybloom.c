/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/valkeybloom.h"

#include "lib/filter/engine.h"
#include "tests/unit/filter/golden.h"

static const struct layout_ops *const ops = &layout_valkeybloom;

/* The payload of DUMP, put together; owned by the caller. */
static unsigned char *dump(const struct filter_params *params, uint64_t items,
			   const unsigned char *bits, size_t *len)
{
	unsigned char header[LAYOUT_HEADER_MAX], footer[LAYOUT_FOOTER_MAX];
	size_t before = ops->header(params, items, header);
	size_t behind = ops->footer(params, items, bits, footer);
	unsigned char *all = malloc(before + params->bytes + behind);

	if (all == NULL)
		abort();
	memcpy(all, header, before);
	memcpy(all + before, bits, params->bytes);
	memcpy(all + before + params->bytes, footer, behind);
	*len = before + params->bytes + behind;
	return all;
}

static void check_filter(json_t *line)
{
	const char *hex = json_string_value(json_object_get(line, "dump_hex"));
	uint64_t card = golden_number_of(line, "card");
	struct filter_params params;
	unsigned char *bits = golden_build(ops, line, &params);
	unsigned char *all;
	size_t len;

	REQUIRE(bits != NULL);
	all = dump(&params, card, bits, &len);
	if (hex != NULL)
		golden_check_hex(all, len, hex);
	golden_check_sha256(
		all, len,
		json_string_value(json_object_get(line, "dump_sha256")));
	free(all);
	free(bits);
}

static void golden_filters(void)
{
	golden_each("valkey-bloom.jsonl", check_filter);
}

/* Bytes made with floats in Python from the formula; hashes as servers have. */
static void sizes(void)
{
	static const struct {
		uint64_t capacity;
		double error;
		uint64_t bytes;
		uint32_t hashes;
	} rows[] = {
		{1, 0.01, 2, 11},
		{1, 0.5, 1, 6},
		{1, 1e-15, 9, 50},
		{1000000, 0.5, 180337, 1},
		{1000000, 0.1, 599067, 3},
		{1000000, 0.05, 779404, 4},
		{1000000, 0.02, 1017796, 6},
		{1000000, 0.01, 1198133, 7},
		{1000000, 0.005, 1378470, 8},
		{1000000, 0.001, 1797199, 10},
		{1000000, 0.0001, 2396265, 13},
		{1000000, 1e-5, 2995331, 17},
		{1000000, 1e-6, 3594397, 20},
		{5000000, 0.01, 5990662, 7},
	};
	struct filter_params params;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		REQUIRE(ops->size(rows[i].capacity, rows[i].error, &params) ==
			0);
		CHECK_U64(params.bytes, rows[i].bytes);
		CHECK_U64(params.bits, rows[i].bytes * 8);
		CHECK_U64(params.hashes, rows[i].hashes);
		CHECK_U64(ops->memory(&params), rows[i].bytes + 264);
		CHECK_U64(params.capacity, rows[i].capacity);
		CHECK(params.error == rows[i].error);
		CHECK(layout_seed_none(params.seed));
	}
	CHECK(ops->size(UINT64_C(1) << 59, 0.01, &params) == 0);
	CHECK(ops->size(UINT64_C(1) << 60, 0.01, &params) == -1);
	CHECK(ops->size(UINT64_MAX, 1e-15, &params) == -1);
}

/* The largest that servers took; one more was refused. */
static void largest(void)
{
	static const struct {
		double error;
		uint64_t capacity;
	} rows[] = {
		{0.1, 224044480},   {0.05, 172205468},   {0.02, 131870768},
		{0.01, 112022240},  {0.005, 97367040},   {0.001, 74681493},
		{0.0001, 56011120}, {0.00001, 44808896},
	};
	static const enum engine_id both[] = {ENGINE_VALKEY_BLOOM,
					      ENGINE_ELASTICACHE};

	for (size_t e = 0; e < 2; e++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			const struct engine *engine = &engines[both[e]];
			struct error err = ERROR_INIT;
			struct filter_params params;

			CHECK(engine_size(engine, rows[i].capacity,
					  rows[i].error, &params, &err) == 0);
			CHECK(ops->memory(&params) <= 134217728);
			CHECK(engine_size(engine, rows[i].capacity + 1,
					  rows[i].error, &params, &err) == -1);
			CHECK_U64(err.code, ERROR_SPACE);
			CHECK(strstr(err.hint, "more buckets") != NULL);
		}
}

/*
 * The filter of 10 members has 96 bits, and so do these all; the golden items
 * 0 to 3.  Worked out in Python: SipHash-1-3 of the length as 8 bytes and the
 * item, then the two moduli.
 */
static void known_positions(void)
{
	struct filter_params params;
	uint64_t at[LAYOUT_HASHES_MAX];
	char key[64];
	static const uint64_t want[4][7] = {
		{86, 17, 88, 9, 58, 11, 28},
		{65, 70, 45, 51, 57, 63, 37},
		{45, 28, 5, 33, 93, 25, 53},
		{12, 29, 6, 35, 0, 29, 58},
	};

	REQUIRE(ops->size(10, 0.01, &params) == 0);
	CHECK_U64(params.bits, 96);
	for (size_t i = 0; i < sizeof(params.seed); i++)
		params.seed[i] = (unsigned char)(255 - i);
	for (uint64_t i = 0; i < 4; i++) {
		ops->positions(&params, key, golden_item(key, sizeof(key), i),
			       at);
		for (uint32_t k = 0; k < params.hashes; k++)
			CHECK_U64(at[k], want[i][k]);
	}
}

#define PRIME UINT64_C(18446744073709551557)

/*
 * Sums are taken modulo 2^64, then modulo PRIME, then modulo bits, but the
 * first two only modulo bits.  Worked out in Python.
 */
static void moduli(void)
{
	static const struct {
		uint64_t hash[2], want[7];
	} rows[] = {
		{{UINT64_MAX, 0}, {63, 0, 58, 58, 58, 58, 58}},
		{{PRIME, 0}, {5, 0, 0, 0, 0, 0, 0}},
		{{PRIME - 1, 0}, {4, 0, 4, 4, 4, 4, 4}},
		{{0, UINT64_MAX}, {0, 63, 57, 56, 55, 54, 53}},
		{{0, PRIME}, {0, 5, 42, 79, 20, 57, 94}},
		{{UINT64_MAX - 99, 20}, {60, 20, 4, 19, 39, 0, 20}},
		{{UINT64_MAX - 99, 9}, {60, 9, 78, 87, 0, 4, 13}},
		{{UINT64_C(12345678901234567890),
		  UINT64_C(9876543210987654321)},
		 {18, 81, 20, 37, 22, 39, 24}},
	};
	struct filter_params params;

	REQUIRE(ops->size(10, 0.01, &params) == 0);
	CHECK(params.bits == 96 && params.hashes == 7);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t at[LAYOUT_HASHES_MAX] = {0};

		valkeybloom_place(&params, rows[i].hash, at);
		for (uint32_t k = 0; k < params.hashes; k++)
			CHECK_U64(at[k], rows[i].want[k]);
		CHECK(at[params.hashes] == 0);
	}
	params.hashes = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t at[2] = {0};

		valkeybloom_place(&params, rows[i].hash, at);
		CHECK(at[0] == rows[i].want[0] && at[1] == 0);
	}
}

/* Each byte of a seed matters, and keys of every length have positions. */
static void positions_of_any_key(void)
{
	static const double errors[] = {0.5, 0.01, 1e-15};
	uint64_t at[LAYOUT_HASHES_MAX], other[LAYOUT_HASHES_MAX];
	struct filter_params params;

	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		REQUIRE(ops->size(100003, errors[e], &params) == 0);
		for (size_t len = 0; len < 80; len++) {
			unsigned char *key = malloc(len > 0 ? len : 1);

			REQUIRE(key != NULL);
			memset(key, (int)len, len);
			ops->positions(&params, key, len, at);
			for (uint32_t k = 0; k < params.hashes; k++)
				CHECK(at[k] < params.bits);
			free(key);
		}
	}
	ops->positions(&params, "k", 1, at);
	for (size_t i = 0; i < sizeof(params.seed); i++) {
		params.seed[i] ^= 1;
		ops->positions(&params, "k", 1, other);
		CHECK(memcmp(at, other, sizeof(at[0]) * params.hashes) != 0);
		params.seed[i] ^= 1;
	}
}

/*
 * Numbers in a dump take 1, 2, 5 or 9 bytes: below 2^6, 2^14, 2^32, and above.
 * Nobody has a filter of the last kind, but the header is not to be wrong.
 */
static void lengths_in_headers(void)
{
	static const struct {
		uint64_t items;
		const char *hex;
	} rows[] = {
		{0, "0200"},
		{63, "023f"},
		{64, "024040"},
		{16383, "027fff"},
		{16384, "028000004000"},
		{UINT32_MAX, "0280ffffffff"},
		{UINT64_C(1) << 32, "02810000000100000000"},
	};
	unsigned char header[LAYOUT_HEADER_MAX];
	struct filter_params params;

	REQUIRE(ops->size(10, 0.01, &params) == 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = ops->header(&params, rows[i].items, header);

		/* Before it stand 34 bytes and a capacity of two. */
		golden_check_hex(header + 36, strlen(rows[i].hex) / 2,
				 rows[i].hex);
		CHECK_U64(len, 36 + strlen(rows[i].hex) / 2 + 2 + 45);
	}
	params.bytes = params.capacity = UINT64_C(1) << 40;
	CHECK(ops->header(&params, UINT64_C(1) << 40, header) <=
	      LAYOUT_HEADER_MAX);
}

int main(void)
{
	UNIT(golden_filters,
	     "valkey-bloom: dumps equal a server's, byte by byte");
	UNIT(sizes, "valkey-bloom: sizes are the server's");
	UNIT(largest, "valkey-bloom: the largest filters are the server's, and "
		      "one member more is refused");
	UNIT(known_positions, "valkey-bloom: positions are those worked out");
	UNIT(moduli, "valkey-bloom: the moduli come in their order, and both");
	UNIT(positions_of_any_key,
	     "valkey-bloom: any key has positions, and any seed its own");
	UNIT(lengths_in_headers, "valkey-bloom: numbers in a dump take as many "
				 "bytes as they need");
	return unit_end();
}
