/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/engine.h"

#include "tests/unit/unit.h"

static void by_name(void)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++)
		CHECK(engine_by_name(engines[i].name) == &engines[i]);
	CHECK(engine_by_name("redis") == NULL);
	CHECK(engine_by_name("") == NULL);
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
		{10, 0.5000001, ERROR_USAGE},
		{10, 1.0, ERROR_USAGE},
		{10, NAN, ERROR_USAGE},
		{10, INFINITY, ERROR_USAGE},
		{10, -INFINITY, ERROR_USAGE},
		{0, 0.01, ERROR_USAGE},
		{UINT64_C(1) << 60, 0.01, ERROR_SPACE},
		{INT64_MAX, 0.25, ERROR_SPACE},
		{UINT64_C(1) << 63, 0.25, ERROR_SPACE},
		{UINT64_MAX, 0.01, ERROR_SPACE},
		{UINT64_MAX, 1e-15, ERROR_SPACE},
		{UINT64_MAX, NAN, ERROR_USAGE},
	};

	for (size_t e = 0; e < ENGINE_COUNT; e++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			struct error err = ERROR_INIT;
			struct filter_params params;

			CHECK(engine_size(&engines[e], rows[i].capacity,
					  rows[i].error, &params, &err) == -1);
			CHECK_U64(err.code, rows[i].code);
			CHECK((err.hint[0] != '\0') ==
			      (rows[i].code == ERROR_SPACE));
		}
}

static int size(enum engine_id id, uint64_t capacity, double error,
		struct error *err)
{
	struct filter_params params;

	return engine_size(&engines[id], capacity, error, &params, err);
}

/* What one engine takes and another one does not. */
static void ranges(void)
{
	struct error err = ERROR_INIT;

	CHECK(size(ENGINE_REDISBLOOM, 2000000000, 0.5, &err) == 0);
	CHECK(size(ENGINE_REDIS8, 1073741824, 0.25, &err) == 0);
	CHECK(size(ENGINE_REDIS8, 1073741825, 0.25, &err) == -1);
	CHECK_STR(err.text, "capacity 1073741825: a redis8 filter holds at "
			    "most 1073741824");
	CHECK_STR(err.hint, "spread the keys over more buckets");
	CHECK(size(ENGINE_REDIS8, 1, 0.2500001, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK(size(ENGINE_REDIS8, 1, 0.5, &err) == -1);
	CHECK_STR(err.text, "error rate 0.5: redis8 filters can have 1e-15 to "
			    "0.25");
	CHECK_STR(err.hint, "");
	CHECK(size(ENGINE_ELASTICACHE, 1, 0.5, &err) == 0);
	CHECK(size(ENGINE_ELASTICACHE, 112022241, 0.01, &err) == -1);
	CHECK_STR(err.text, "capacity 112022241 at error rate 0.01: a filter "
			    "of 134217729 bytes, and elasticache allows "
			    "134217728");
	CHECK_STR(err.hint, "spread the keys over more buckets");
	CHECK(size(ENGINE_VALKEY_BLOOM, 112022241, 0.01, &err) == -1);
	CHECK(strstr(err.hint, "bf.bloom-memory-usage-limit") != NULL);
}

static void layouts(void)
{
	CHECK(engines[ENGINE_REDISBLOOM].layout == &layout_redisbloom);
	CHECK(engines[ENGINE_REDIS8].layout == &layout_redisbloom);
	CHECK(engines[ENGINE_VALKEY_BLOOM].layout == &layout_valkeybloom);
	CHECK(engines[ENGINE_ELASTICACHE].layout == &layout_valkeybloom);
}

int main(void)
{
	UNIT(by_name, "engine: is found by its name");
	UNIT(layouts, "engine: the servers of one module share a layout");
	UNIT(refusals, "engine: what cannot be sized is refused");
	UNIT(ranges, "engine: a refusal names the limit and the remedy");
	return unit_end();
}
