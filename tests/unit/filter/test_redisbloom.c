/* SPDX-License-Identifier: BSD-2-Clause */
#include <jansson.h>
#include <openssl/sha.h>

#include "lib/filter/layout.h"
#include "tests/unit/unit.h"

static const struct layout_ops *const ops = &layout_redisbloom;

/* Item i of the golden filters: see tests/golden/README.md. */
static size_t golden_item(char *out, size_t size, uint64_t i)
{
	return (size_t)snprintf(out, size,
				"card:%016" PRIx64 ":merchant:MID_%" PRIu64,
				i * UINT64_C(0x9E3779B97F4A7C15), i % 97);
}

static bool is_member(const struct filter_params *params,
		      const unsigned char *bits, uint64_t i)
{
	uint64_t positions[LAYOUT_HASHES_MAX];
	char key[64];

	ops->positions(params, key, golden_item(key, sizeof(key), i),
		       positions);
	for (uint32_t k = 0; k < params->hashes; k++) {
		if (!layout_bit(bits, positions[k]))
			return false;
	}
	return true;
}

/* Adds items and returns how many set a bit. */
static uint64_t add_items(const struct filter_params *params,
			  unsigned char *bits, uint64_t items)
{
	uint64_t positions[LAYOUT_HASHES_MAX], added = 0;
	char key[64];

	for (uint64_t i = 0; i < items; i++) {
		added += !is_member(params, bits, i);
		ops->positions(params, key, golden_item(key, sizeof(key), i),
			       positions);
		for (uint32_t k = 0; k < params->hashes; k++)
			bits[positions[k] / 8] |=
				(unsigned char)(1U << positions[k] % 8);
	}
	return added;
}

static void check_hex(const unsigned char *data, size_t len, const char *hex)
{
	char *mine = malloc(2 * len + 1);

	REQUIRE(mine != NULL);
	mine[0] = '\0';
	for (size_t i = 0; i < len; i++)
		(void)snprintf(mine + 2 * i, 3, "%02x", data[i]);
	CHECK_STR(mine, hex);
	free(mine);
}

static uint64_t number_of(json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static uint64_t size_in_info(json_t *info)
{
	for (size_t i = 0; i + 1 < json_array_size(info); i += 2) {
		const char *name = json_string_value(json_array_get(info, i));

		if (name != NULL && strcmp(name, "Size") == 0)
			return (uint64_t)json_integer_value(
				json_array_get(info, i + 1));
	}
	return 0;
}

static void check_filter(json_t *line)
{
	unsigned char header[LAYOUT_HEADER_MAX], digest[SHA256_DIGEST_LENGTH];
	const char *bits_hex =
		json_string_value(json_object_get(line, "bits_hex"));
	struct filter_params params;
	unsigned char *bits;
	uint64_t added, absent = 0;
	size_t len;

	REQUIRE(ops->size(number_of(line, "capacity"),
			  json_number_value(json_object_get(line, "error")),
			  &params) == 0);
	CHECK_U64(ops->memory(&params),
		  size_in_info(json_object_get(line, "info")));
	bits = calloc(1, params.bytes);
	REQUIRE(bits != NULL);
	added = add_items(&params, bits, number_of(line, "items"));
	CHECK_U64(added, number_of(line, "added"));
	len = ops->header(&params, added, header);
	check_hex(header, len,
		  json_string_value(json_object_get(line, "header_hex")));
	if (bits_hex != NULL)
		check_hex(bits, params.bytes, bits_hex);
	SHA256(bits, params.bytes, digest);
	check_hex(digest, sizeof(digest),
		  json_string_value(json_object_get(line, "bits_sha256")));
	for (uint64_t i = 0; i < 1000; i++)
		absent += is_member(&params, bits, 1000000 + i);
	CHECK_U64(absent, number_of(line, "false_positives_of_absent_1000"));
	free(bits);
}

static void golden_filters(void)
{
	const char *top = getenv("BLOOMCTL_SRCDIR");
	char path[4096];
	json_error_t why;
	json_t *line;
	FILE *file;
	unsigned lines = 0;

	(void)snprintf(path, sizeof(path), "%s/tests/golden/redisbloom.jsonl",
		       top != NULL ? top : ".");
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &why)) !=
	       NULL) {
		check_filter(line);
		json_decref(line);
		lines++;
	}
	CHECK(json_error_code(&why) == json_error_premature_end_of_input);
	CHECK(lines >= 6);
	(void)fclose(file);
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
