/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/size.h"

#include "tests/engine/engine.h"
#include "tests/engine/object.h"

#include <float.h>
#include <math.h>

uint64_t size_bytes(int64_t capacity, double error)
{
	double bytes =
		ceil((double)capacity * log(error) / (-8.0 * M_LN2 * M_LN2));
	/* What is no size of an object is above every limit. */
	return bytes < 0x1p62 ? (uint64_t)bytes : UINT64_C(1) << 62;
}

uint32_t size_hashes(uint64_t bytes, int64_t capacity)
{
	double hashes = round(8.0 * (double)bytes / (double)capacity * M_LN2);
	return hashes < 1 ? 1 : (uint32_t)hashes;
}

double size_error(double error, double tightening, uint64_t n)
{
	return n == 0 ? error : error * pow(tightening, (double)n);
}

bool size_fits(uint64_t memory)
{
	return memory <= (uint64_t)atomic_load(&engine.limit);
}

const char *shape_grow(const struct shape *shape, int64_t wanted, int64_t *most)
{
	uint64_t memory = OBJECT_FIXED;
	int64_t capacity = shape->capacity;

	*most = 0;
	for (uint64_t n = 0;; n++) {
		double error = size_error(shape->error, shape->tightening, n);
		int64_t sum;
		if (error < DBL_MIN)
			return "ERR provided VALIDATESCALETO causes false "
			       "positive to degrade to 0";
		memory += FILTER_FIXED + size_bytes(capacity, error);
		if (!size_fits(memory) ||
		    __builtin_add_overflow(*most, capacity, &sum))
			return "ERR provided VALIDATESCALETO causes bloom "
			       "object to exceed memory limit";
		*most = sum;
		if (wanted > 0 && sum >= wanted)
			return NULL;
		if (__builtin_mul_overflow(capacity, shape->expansion,
					   &capacity))
			return "ERR provided VALIDATESCALETO causes bloom "
			       "object to exceed memory limit";
	}
}
