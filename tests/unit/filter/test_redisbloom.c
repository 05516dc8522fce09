/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/filter/golden.h"

static const struct layout_ops *const ops = &layout_redisbloom;

static void check_filter(json_t *line)
{
	unsigned char header[LAYOUT_HEADER_MAX], footer[LAYOUT_FOOTER_MAX];
	const char *bits_hex =
		json_string_value(json_object_get(line, "bits_hex"));
	uint64_t added = golden_number_of(line, "added");
	struct filter_params params;
	unsigned char *bits = golden_build(ops, line, &params);

	REQUIRE(bits != NULL);
	golden_check_hex(
		header, ops->header(&params, added, header),
		json_string_value(json_object_get(line, "header_hex")));
	if (bits_hex != NULL)
		golden_check_hex(bits, params.bytes, bits_hex);
	golden_check_sha256(
		bits, params.bytes,
		json_string_value(json_object_get(line, "bits_sha256")));
	CHECK_U64(ops->footer(&params, added, bits, footer), 0);
	free(bits);
}

static void golden_filters(void)
{
	golden_each("redisbloom.jsonl", check_filter);
}

/* Made with floats in Python from the formulas. */
static void sizes(void)
{
	static const struct {
		uint64_t capacity;
		double error;
		uint64_t bytes;
		uint32_t hashes;
	} rows[] = {
		{1, 0.01, 8, 7},
		{1, 0.25, 8, 3}, /* one hash more than log2 says */
		{1, 0.5, 8, 2},
		{1, 0.125, 8, 4},
		{100, 0.25, 40, 3},
		{100, 0.125, 56, 4},
		{1, 1e-15, 16, 50},
		{1000, 0.001, 1800, 10},
		{5000000, 0.01, 5990664, 7},
		{1073741824, 0.01, 1286484760, 7},
		{1073741824, 1e-15, 9648635688, 50},
	};
	struct filter_params params;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		REQUIRE(ops->size(rows[i].capacity, rows[i].error, &params) ==
			0);
		CHECK_U64(params.bytes, rows[i].bytes);
		CHECK_U64(params.bits, rows[i].bytes * 8);
		CHECK_U64(params.hashes, rows[i].hashes);
		CHECK_U64(ops->memory(&params), 32 + 64 + rows[i].bytes);
		CHECK_U64(params.capacity, rows[i].capacity);
		CHECK(params.error == rows[i].error);
	}
}

static void too_many_bits(void)
{
	struct filter_params params;

	CHECK(ops->size(UINT64_C(1) << 59, 0.01, &params) == 0);
	CHECK(params.bits > UINT64_C(1) << 62);
	CHECK(ops->size(UINT64_C(1) << 60, 0.01, &params) == -1);
	CHECK(ops->size(UINT64_MAX, 1e-15, &params) == -1);
}

static void positions_are_below_bits(void)
{
	static const double errors[] = {0.25, 0.01, 1e-15};
	uint64_t positions[LAYOUT_HASHES_MAX];
	struct filter_params params;

	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		REQUIRE(ops->size(1, errors[e], &params) == 0);
		for (uint64_t key = 0; key < 1000; key++) {
			ops->positions(&params, &key, sizeof(key), positions);
			for (uint32_t k = 0; k < params.hashes; k++)
				CHECK(positions[k] < params.bits);
		}
	}
}

int main(void)
{
	UNIT(golden_filters,
	     "redisbloom: filters equal a server's, bit by bit");
	UNIT(sizes, "redisbloom: sizes are the server's");
	UNIT(too_many_bits, "redisbloom: more bits than have numbers are none");
	UNIT(positions_are_below_bits, "redisbloom: positions are below bits");
	return unit_end();
}
