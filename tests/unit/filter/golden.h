/* SPDX-License-Identifier: BSD-2-Clause
 *
 * golden: filters as real servers hold them, tests/golden.
 */
#ifndef BLOOMCTL_TESTS_FILTER_GOLDEN_H
#define BLOOMCTL_TESTS_FILTER_GOLDEN_H

#include <jansson.h>
#include <openssl/sha.h>

#include "lib/filter/layout.h"
#include "tests/unit/unit.h"

/* Item i of the golden filters: see tests/golden/README.md. */
static inline size_t golden_item(char *out, size_t size, uint64_t i)
{
	return (size_t)snprintf(out, size,
				"card:%016" PRIx64 ":merchant:MID_%" PRIu64,
				i * UINT64_C(0x9E3779B97F4A7C15), i % 97);
}

static inline bool golden_is_member(const struct layout_ops *ops,
				    const struct filter_params *params,
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
static inline uint64_t golden_add_items(const struct layout_ops *ops,
					const struct filter_params *params,
					unsigned char *bits, uint64_t items)
{
	uint64_t positions[LAYOUT_HASHES_MAX], added = 0;
	char key[64];

	for (uint64_t i = 0; i < items; i++) {
		added += !golden_is_member(ops, params, bits, i);
		ops->positions(params, key, golden_item(key, sizeof(key), i),
			       positions);
		for (uint32_t k = 0; k < params->hashes; k++)
			bits[positions[k] / 8] |=
				(unsigned char)(1U << positions[k] % 8);
	}
	return added;
}

static inline void golden_check_hex(const unsigned char *data, size_t len,
				    const char *hex)
{
	char *mine = malloc(2 * len + 1);

	REQUIRE(mine != NULL);
	mine[0] = '\0';
	for (size_t i = 0; i < len; i++)
		(void)snprintf(mine + 2 * i, 3, "%02x", data[i]);
	CHECK_STR(mine, hex);
	free(mine);
}

static inline uint64_t golden_number_of(json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static inline uint64_t golden_size_in_info(json_t *info)
{
	for (size_t i = 0; i + 1 < json_array_size(info); i += 2) {
		const char *name = json_string_value(json_array_get(info, i));

		if (name != NULL && strcmp(name, "Size") == 0)
			return (uint64_t)json_integer_value(
				json_array_get(info, i + 1));
	}
	return 0;
}

static inline void golden_check_sha256(const void *data, size_t len,
				       const char *hex)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256(data, len, digest);
	golden_check_hex(digest, sizeof(digest), hex);
}

/*
 * What every line has: sizes the filter, adds the items, and compares memory,
 * the adds that were answered 1 and the false positives.  params->seed is set
 * from the line.  The bits are the caller's to free; NULL on failure.
 */
static inline unsigned char *golden_build(const struct layout_ops *ops,
					  json_t *line,
					  struct filter_params *params)
{
	const char *seed = json_string_value(json_object_get(line, "seed_hex"));
	unsigned char *bits = NULL;
	uint64_t added, absent = 0;

	if (ops->size(golden_number_of(line, "capacity"),
		      json_number_value(json_object_get(line, "error")),
		      params) == 0)
		bits = calloc(1, params->bytes);
	if (bits == NULL)
		return NULL;
	for (size_t i = 0; seed != NULL && i < sizeof(params->seed); i++) {
		char digits[3] = {seed[2 * i], seed[2 * i + 1], '\0'};

		params->seed[i] = (unsigned char)strtoul(digits, NULL, 16);
	}
	CHECK_U64(ops->memory(params),
		  golden_size_in_info(json_object_get(line, "info")));
	added = golden_add_items(ops, params, bits,
				 golden_number_of(line, "items"));
	CHECK_U64(added, golden_number_of(line, "added"));
	CHECK_U64(added, golden_number_of(line, "card"));
	for (uint64_t i = 0; i < 1000; i++)
		absent += golden_is_member(ops, params, bits, 1000000 + i);
	CHECK_U64(absent,
		  golden_number_of(line, "false_positives_of_absent_1000"));
	return bits;
}

/* Every line of a file below tests/golden. */
static inline void golden_each(const char *name, void (*check)(json_t *line))
{
	const char *top = getenv("BLOOMCTL_SRCDIR");
	char path[4096];
	json_error_t why;
	json_t *line;
	FILE *file;
	unsigned lines = 0;

	(void)snprintf(path, sizeof(path), "%s/tests/golden/%s",
		       top != NULL ? top : ".", name);
	file = fopen(path, "r");
	REQUIRE(file != NULL);
	while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &why)) !=
	       NULL) {
		check(line);
		json_decref(line);
		lines++;
	}
	CHECK(json_error_code(&why) == json_error_premature_end_of_input);
	CHECK(lines >= 6);
	(void)fclose(file);
}

#endif
