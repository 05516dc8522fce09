/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/names.h"
#include "tests/unit/store/scratch.h"

static void names_a_set(void)
{
	struct bloomkey_spec *spec = scratch_spec(1, "");
	char set[NAMES_SET_MAX];
	char expected[NAMES_SET_MAX];

	names_set(spec, set);
	(void)snprintf(expected, sizeof(expected), "t-%.8s",
		       bloomkey_fingerprint(spec));
	CHECK_STR(set, expected);
	bloomkey_free(spec);
}

static void names_a_generation(void)
{
	char id[NAMES_ID_MAX];
	char other[NAMES_ID_MAX];
	unsigned same = 0;

	names_id_new(1796068614123, id);
	CHECK(names_id_valid(id));
	CHECK(strncmp(id, "20261130T195654Z-", 17) == 0);
	for (int i = 0; i < 100; i++) {
		names_id_new(1796068614123, other);
		same += strcmp(id, other) == 0;
	}
	CHECK(same < 5);
	names_id_new(1796068615000, other);
	CHECK(strcmp(id, other) < 0);
}

static void refuses_other_forms(void)
{
	static const char *const bad[] = {
		"",
		".",
		"..",
		"live",
		"20261130T195654Z-1a2",
		"20261130T195654Z-1a2b5",
		"20261130T195654Z-1A2B",
		"20261130T195654Z-1a2g",
		"20261130 195654Z-1a2b",
		"2026113aT195654Z-1a2b",
		"20261130T195654Z_1a2b",
		"20261130T195654Z-1a2b.gone",
		"../61130T195654Z-1a2b",
	};

	CHECK(names_id_valid("20261130T195654Z-1a2b"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!names_id_valid(bad[i]));
}

static void names_bucket_files(void)
{
	static const struct {
		uint32_t bucket;
		uint32_t buckets;
		const char *name;
	} cases[] = {
		{0, 1, "0.bloom"},         {9, 10, "9.bloom"},
		{7, 11, "07.bloom"},       {99, 100, "99.bloom"},
		{7, 101, "007.bloom"},     {7, 200, "007.bloom"},
		{0, 65536, "00000.bloom"}, {65535, 65536, "65535.bloom"},
	};
	char name[NAMES_BUCKET_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		names_bucket(cases[i].bucket, cases[i].buckets, name);
		CHECK_STR(name, cases[i].name);
	}
}

int main(void)
{
	UNIT(names_a_set, "names: a set is its name and 8 digits");
	UNIT(names_a_generation, "names: ids are valid, differ and sort");
	UNIT(refuses_other_forms, "names: what has another form is no id");
	UNIT(names_bucket_files, "names: bucket files are padded with zeros");
	return unit_end();
}
