/* SPDX-License-Identifier: BSD-2-Clause
 *
 * engine: whose filters they are.
 *
 *	--engine WORD ─ engine: limits ─┐
 *	--engine WORD ─ engine: limits ─┴─ layout: which bits
 *
 * Several engines share a layout and differ in what they accept.  A manifest
 * names the engine, a filter file the layout.
 */
#ifndef BLOOMCTL_FILTER_ENGINE_H
#define BLOOMCTL_FILTER_ENGINE_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/filter/layout.h"

struct engine {
	const char *name; /* as --engine and manifests say it */
	const struct layout_ops *layout;
	double error_min; /* the smallest and the largest error rate that */
	double error_max; /* bloomctl lets this engine be asked for */
	uint64_t capacity_max; /* members of one filter */
	uint64_t memory_max;   /* bytes of one filter, as layout->memory()
				  counts; UINT64_MAX: no limit of its own */
	const char *hint;      /* what to do about a filter that is too large */
};

enum engine_id {
	ENGINE_REDISBLOOM,
	ENGINE_REDIS8,
	ENGINE_VALKEY_BLOOM,
	ENGINE_ELASTICACHE,
	ENGINE_COUNT,
};

extern const struct engine engines[ENGINE_COUNT];

/* The engine of a name; NULL if there is none. */
const struct engine *engine_by_name(const char *name);

/* 0, or ERROR_USAGE if an error rate is out of the engine's range. */
int engine_check_error(const struct engine *engine, double error,
		       struct error *err);

/*
 * Sizes a filter, without a seed.  ERROR_USAGE if capacity or error is out of
 * range, ERROR_SPACE with a hint if the filter exceeds what the engine holds.
 */
int engine_size(const struct engine *engine, uint64_t capacity, double error,
		struct filter_params *out, struct error *err);

#endif
