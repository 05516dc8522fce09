/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/engine.h"

#include <inttypes.h>
#include <string.h>

const struct engine engines[ENGINE_COUNT] = {
	/* Redis 8's limits; RedisBloom 2.x takes more. */
	[ENGINE_REDISBLOOM] =
		{
			.name = "redisbloom",
			.layout = &layout_redisbloom,
			.error_min = 1e-15,
			.error_max = 0.25,
			.capacity_max = UINT64_C(1) << 30,
			.memory_max = UINT64_MAX,
			.hint = "spread the keys over more buckets",
		},
};

const struct engine *engine_by_name(const char *name)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++) {
		if (strcmp(engines[i].name, name) == 0)
			return &engines[i];
	}
	return NULL;
}

int engine_size(const struct engine *engine, uint64_t capacity, double error,
		struct filter_params *out, struct error *err)
{
	/* Written so that NaN fails too. */
	if (!(error >= engine->error_min && error <= engine->error_max))
		return error_set(err, ERROR_USAGE,
				 "error rate %g: %s filters can have %g to %g",
				 error, engine->name, engine->error_min,
				 engine->error_max);
	if (capacity == 0)
		return error_set(err, ERROR_USAGE,
				 "capacity 0: a filter holds at least 1");
	if (capacity > engine->capacity_max) {
		error_set(err, ERROR_SPACE,
			  "capacity %" PRIu64 ": a %s filter holds at most "
			  "%" PRIu64,
			  capacity, engine->name, engine->capacity_max);
		return error_hint(err, "%s", engine->hint);
	}
	if (engine->layout->size(capacity, error, out) != 0) {
		error_set(err, ERROR_SPACE,
			  "capacity %" PRIu64 " at error rate %g: more bits "
			  "than can be numbered",
			  capacity, error);
		return error_hint(err, "%s", engine->hint);
	}
	if (engine->layout->memory(out) > engine->memory_max) {
		error_set(err, ERROR_SPACE,
			  "capacity %" PRIu64 " at error rate %g: a filter of "
			  "%" PRIu64 " bytes, and %s allows %" PRIu64,
			  capacity, error, engine->layout->memory(out),
			  engine->name, engine->memory_max);
		return error_hint(err, "%s", engine->hint);
	}
	return 0;
}
