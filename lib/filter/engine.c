/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/engine.h"

#include <inttypes.h>
#include <string.h>

/* What valkey-bloom lets an object take unless it is told otherwise. */
#define VALKEY_MEMORY (UINT64_C(128) << 20)

#define MORE_BUCKETS "spread the keys over more buckets"

/*
 * The servers' own ranges, within those of layout.h: RedisBloom 2.x and
 * valkey-bloom take any error rate below 1 and any capacity that a signed
 * number holds, Redis 8 less of both.
 */
const struct engine engines[ENGINE_COUNT] = {
	[ENGINE_REDISBLOOM] = {"redisbloom", &layout_redisbloom,
			       LAYOUT_ERROR_MIN, LAYOUT_ERROR_MAX, INT64_MAX,
			       UINT64_MAX, MORE_BUCKETS},
	[ENGINE_REDIS8] = {"redis8", &layout_redisbloom, LAYOUT_ERROR_MIN, 0.25,
			   UINT64_C(1) << 30, UINT64_MAX, MORE_BUCKETS},
	[ENGINE_VALKEY_BLOOM] = {"valkey-bloom", &layout_valkeybloom,
				 LAYOUT_ERROR_MIN, LAYOUT_ERROR_MAX, INT64_MAX,
				 VALKEY_MEMORY,
				 MORE_BUCKETS
				 "; this is the default of "
				 "bf.bloom-memory-usage-limit, and bloomctl "
				 "plans for no other"},
	/* Its limit is the service's, and nobody can raise it. */
	[ENGINE_ELASTICACHE] = {"elasticache", &layout_valkeybloom,
				LAYOUT_ERROR_MIN, LAYOUT_ERROR_MAX, INT64_MAX,
				VALKEY_MEMORY, MORE_BUCKETS},
};

const struct engine *engine_by_name(const char *name)
{
	for (size_t i = 0; i < ENGINE_COUNT; i++) {
		if (strcmp(engines[i].name, name) == 0)
			return &engines[i];
	}
	return NULL;
}

int engine_check_error(const struct engine *engine, double error,
		       struct error *err)
{
	/* Written so that NaN fails too. */
	if (error >= engine->error_min && error <= engine->error_max)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "error rate %g: %s filters can have %g to %g", error,
			 engine->name, engine->error_min, engine->error_max);
}

int engine_size(const struct engine *engine, uint64_t capacity, double error,
		struct filter_params *out, struct error *err)
{
	if (engine_check_error(engine, error, err) != 0)
		return -1;
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
