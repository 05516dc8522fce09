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
	const struct engine *engine = &engines[ENGINE_REDISBLOOM];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error err = ERROR_INIT;
		struct filter_params params;

		CHECK(engine_size(engine, rows[i].capacity, rows[i].error,
				  &params, &err) == -1);
		CHECK_U64(err.code, rows[i].code);
	}
}

static void limit_is_named(void)
{
	struct error err = ERROR_INIT;
	struct filter_params params;
	const struct engine *engine = &engines[ENGINE_REDISBLOOM];

	CHECK(engine_size(engine, 2000000000, 0.01, &params, &err) == -1);
	CHECK_STR(err.text, "capacity 2000000000: a redisbloom filter holds at "
			    "most 1073741824");
	CHECK_STR(err.hint, "spread the keys over more buckets");
	CHECK(engine_size(engine, 1, 0.5, &params, &err) == -1);
	CHECK_STR(err.text, "error rate 0.5: redisbloom filters can have 1e-15 "
			    "to 0.25");
	CHECK_STR(err.hint, "");
}

int main(void)
{
	UNIT(by_name, "engine: is found by its name");
	UNIT(refusals, "engine: what cannot be sized is refused");
	UNIT(limit_is_named, "engine: a refusal names limit and remedy");
	return unit_end();
}
