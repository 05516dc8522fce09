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
	struct error err = ERROR_INIT;
	struct filter_params params;
	unsigned char *bits;
	uint64_t added, absent = 0;
	size_t len;

	REQUIRE(ops->size(number_of(line, "capacity"),
			  json_number_value(json_object_get(line, "error")),
			  &params, &err) == 0);
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
	struct error err = ERROR_INIT;
	struct filter_params params;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		REQUIRE(ops->size(rows[i].capacity, rows[i].error, &params,
				  &err) == 0);
		CHECK_U64(params.bytes, rows[i].bytes);
		CHECK_U64(params.bits, rows[i].bytes * 8);
		CHECK_U64(params.hashes, rows[i].hashes);
		CHECK_U64(ops->memory(&params), 32 + 64 + rows[i].bytes);
		CHECK_U64(params.capacity, rows[i].capacity);
		CHECK(params.error == rows[i].error);
	}
}

static void refusals(void)
{
	static const struct {
		uint64_t capacity;
		double error;
		enum error_code code;
	} rows[] = {
		{10, 0.0, ERROR_USAGE},
		{10, -0.01, ERROR_USAGE},
		{10, 9e-16, ERROR_USAGE},
		{10, 0.2500001, ERROR_USAGE},
		{10, 1.0, ERROR_USAGE},
		{10, NAN, ERROR_USAGE},
		{10, INFINITY, ERROR_USAGE},
		{10, -INFINITY, ERROR_USAGE},
		{0, 0.01, ERROR_USAGE},
		{1073741825, 0.01, ERROR_SPACE},
		{UINT64_MAX, 0.01, ERROR_SPACE},
		{UINT64_MAX, 1e-15, ERROR_SPACE},
		{UINT64_MAX, NAN, ERROR_USAGE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = ERROR_INIT;
		struct filter_params params;

		CHECK(ops->size(rows[i].capacity, rows[i].error, &params,
				&err) == -1);
		CHECK_U64(err.code, rows[i].code);
	}
}

static void limit_is_named(void)
{
	struct error err = ERROR_INIT;
	struct filter_params params;

	CHECK(ops->size(2000000000, 0.01, &params, &err) == -1);
	CHECK_STR(err.text, "capacity 2000000000: a redisbloom filter holds at "
			    "most 1073741824");
	CHECK_STR(err.hint, "spread the keys over more buckets");
	CHECK(ops->size(1, 0.5, &params, &err) == -1);
	CHECK_STR(err.text, "error rate 0.5: redisbloom filters can have 1e-15 "
			    "to 0.25");
	CHECK_STR(err.hint, "");
}

static void check_modulo(uint64_t bits, uint64_t x)
{
	struct filter_params params = {.bits = bits};

	filter_reciprocal(&params);
	if (filter_modulo(&params, x) == x % bits)
		return;
	unit_fail(__FILE__, __LINE__, "filter_modulo(bits, x) == x % bits");
	printf("#   %" PRIu64 " %% %" PRIu64 "\n", x, bits);
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Quotients change at multiples of bits: all of x's edges are there. */
static void check_edges(uint64_t bits, uint64_t *state)
{
	uint64_t last = UINT64_MAX / bits;

	for (uint64_t near = 0; near < 5; near++) {
		uint64_t some = random_next(state) % (last + 1) * bits;

		check_modulo(bits, near);
		check_modulo(bits, UINT64_MAX - near);
		check_modulo(bits, bits + near - 2);
		check_modulo(bits, last * bits + near - 2);
		check_modulo(bits, some + near - 2);
		check_modulo(bits, some + bits - 1 - near);
		check_modulo(bits, (UINT64_C(1) << 63) + near - 2);
	}
}

static void exact_modulo(void)
{
	uint64_t state = 1;

	/* Every small divisor, and those around each power of two. */
	for (uint64_t d = 1; d < 5000; d++)
		check_edges(8 * d, &state);
	for (int shift = 3; shift < 61; shift++) {
		for (uint64_t near = 0; near < 9; near++) {
			uint64_t d = (UINT64_C(1) << shift) + near - 4;

			check_edges(8 * d, &state);
		}
	}
	check_edges(UINT64_MAX - 7, &state);
	for (int i = 0; i < 3000000; i++) {
		uint64_t d = random_next(&state) >> (3 + i % 61);
		uint64_t x = random_next(&state) >> (i % 7 * 9);

		check_modulo(8 * (d > 0 ? d : 1), x);
	}
	/* No reciprocal: the division itself. */
	check_modulo(13, UINT64_MAX);
	check_modulo(UINT64_MAX, UINT64_MAX - 1);
}

static void positions_are_below_bits(void)
{
	static const double errors[] = {0.25, 0.01, 1e-15};
	uint64_t positions[LAYOUT_HASHES_MAX];
	struct error err = ERROR_INIT;
	struct filter_params params;

	for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
		REQUIRE(ops->size(1, errors[e], &params, &err) == 0);
		for (uint64_t key = 0; key < 1000; key++) {
			ops->positions(&params, &key, sizeof(key), positions);
			for (uint32_t k = 0; k < params.hashes; k++)
				CHECK(positions[k] < params.bits);
		}
	}
}

static void by_name_and_id(void)
{
	CHECK(layout_by_name("redisbloom") == ops);
	CHECK(layout_by_name("redis") == NULL);
	CHECK(layout_by_name("") == NULL);
	CHECK(layout_by_id(ops->id) == ops);
	CHECK(layout_by_id(0) == NULL);
	CHECK(layout_by_id(UINT32_MAX) == NULL);
}

/* Servers were seen to have these: 1 % gives 1.004 % at capacity, 25 %
 * gives 27.0 %. */
static void rates(void)
{
	struct error err = ERROR_INIT;
	struct filter_params params;

	REQUIRE(ops->size(1000000, 0.01, &params, &err) == 0);
	CHECK(fabs(layout_error_at(&params, 1000000) - 0.01004) < 5e-6);
	CHECK(layout_error_at(&params, 0) == 0);
	CHECK(layout_error_at(&params, 1e12) == 1);
	CHECK(layout_error_of_set(&params, 0) == 0);
	CHECK(layout_error_of_set(&params, params.bits) == 1);
	CHECK(fabs(layout_error_of_set(&params, params.bits / 2) - 1.0 / 128) <
	      1e-12);
	REQUIRE(ops->size(1000000, 0.25, &params, &err) == 0);
	CHECK(fabs(layout_error_at(&params, 1000000) - 0.270) < 5e-4);
}

int main(void)
{
	UNIT(golden_filters,
	     "redisbloom: filters equal a server's, bit by bit");
	UNIT(sizes, "redisbloom: sizes are the server's");
	UNIT(refusals, "redisbloom: what cannot be sized is refused");
	UNIT(limit_is_named, "redisbloom: a refusal names limit and remedy");
	UNIT(exact_modulo, "layout: the reciprocal gives the exact remainder");
	UNIT(positions_are_below_bits, "redisbloom: positions are below bits");
	UNIT(by_name_and_id, "layout: is found by name and by id");
	UNIT(rates, "layout: rates of false positives are the known ones");
	return unit_end();
}
