/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/filter/sizing.h"
#include "lib/job/count.h"

static int count(const struct scan *scan, struct plan *out, struct error *err)
{
	uint32_t buckets = bloomkey_buckets(scan->spec);
	uint64_t *keys = calloc(buckets, sizeof(*keys));
	uint64_t rows;
	uint32_t at;
	int rc = keys == NULL ? error_nomem(err)
			      : count_run(scan, keys, &rows, err);

	if (rc == 0)
		out->hottest = count_hottest(keys, buckets, &at, &out->keys);
	free(keys);
	return rc;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t limit(const struct plan_options *o)
{
	uint64_t most = o->engine->memory_max;

	if (o->limit > 0 && o->limit < most)
		most = o->limit;
	return most < UINT64_MAX ? most : 0;
}

int plan_run(const struct scan *scan, const struct plan_options *o,
	     struct plan *out, struct error *err)
{
	memset(out, 0, sizeof(*out));
	out->counted = scan != NULL;
	if (scan != NULL) {
		if (count(scan, out, err) != 0)
			return -1;
	} else {
		out->keys = o->keys;
		out->hottest = sizing_hottest(o->keys, o->buckets);
	}
	out->capacity = sizing_capacity(out->hottest, o->headroom, o->planted);
	out->limit = limit(o);
	if (out->limit > 0 &&
	    sizing_buckets(o->engine, out->keys, o->error, o->headroom,
			   o->planted, out->limit, &out->fewest, err) != 0)
		return -1;
	if (engine_size(o->engine, out->capacity, o->error, &out->params,
			err) != 0) {
		if (err->code == ERROR_SPACE)
			sizing_hint(o->engine, out->keys, o->error, o->headroom,
				    o->planted,
				    out->limit > 0 ? out->limit : UINT64_MAX,
				    err);
		return -1;
	}
	out->memory = o->engine->layout->memory(&out->params);
	out->set = times(out->memory, o->buckets);
	out->swap = times(out->set, 2);
	out->peak = times(out->set, 3);
	return 0;
}
