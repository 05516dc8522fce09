/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/layout.h"

#include <math.h>
#include <stddef.h>

static const struct layout_ops *const layouts[] = {
	&layout_redisbloom,
	&layout_valkeybloom,
};

#define LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

const struct layout_ops *layout_by_id(uint32_t id)
{
	for (size_t i = 0; i < LAYOUTS; i++) {
		if (layouts[i]->id == id)
			return layouts[i];
	}
	return NULL;
}

bool layout_seed_none(const unsigned char seed[LAYOUT_SEED_LEN])
{
	for (size_t i = 0; i < LAYOUT_SEED_LEN; i++) {
		if (seed[i] != 0)
			return false;
	}
	return true;
}

void filter_reciprocal(struct filter_params *params)
{
	params->magic = 0;
	params->shift = 0;
#ifdef __SIZEOF_INT128__
	uint64_t divisor = params->bits >> 3;

	if (divisor == 0 || params->bits % 8 != 0)
		return;
	while (UINT64_C(1) << params->shift < divisor)
		params->shift++;
	params->magic =
		(uint64_t)(((filter_wide)1 << (61 + params->shift)) / divisor) +
		1;
#endif
}

double layout_error_at(const struct filter_params *params, double items)
{
	double set =
		-expm1(-(double)params->hashes * items / (double)params->bits);

	return pow(set, params->hashes);
}

double layout_error_of_set(const struct filter_params *params, uint64_t set)
{
	return pow((double)set / (double)params->bits, params->hashes);
}
