/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the positions of a member cost: nanoseconds per key, for keys of some
 * lengths in a filter of 1 %, by each layout.  Best of 5.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/filter/layout.h"

#define KEYS 2000000
#define RUNS 5

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The sum is printed nowhere, but no compiler knows that. */
static volatile uint64_t nowhere;

static double measure(const struct layout_ops *layout,
		      const struct filter_params *params, size_t len)
{
	uint64_t positions[LAYOUT_HASHES_MAX];
	unsigned char key[128] = {0};
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		double start = seconds();
		uint64_t sum = 0;

		for (uint64_t i = 0; i < KEYS; i++) {
			memcpy(key, &i, sizeof(i));
			layout->positions(params, key, len, positions);
			sum += positions[params->hashes - 1];
		}
		nowhere = sum;
		start = (seconds() - start) * 1e9 / KEYS;
		if (start < best)
			best = start;
	}
	return best;
}

int main(void)
{
	static const struct {
		const char *name;
		const struct layout_ops *ops;
	} layouts[] = {{"redisbloom", &layout_redisbloom},
		       {"valkey-bloom", &layout_valkeybloom}};
	static const size_t lens[] = {8, 20, 40, 100};

	printf("%-14s", "ns/key, bytes:");
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		printf(" %7zu", lens[i]);
	printf("\n");
	for (size_t l = 0; l < sizeof(layouts) / sizeof(layouts[0]); l++) {
		struct filter_params params;

		if (layouts[l].ops->size(1000000, 0.01, &params) != 0)
			return 99;
		memset(params.seed, 0x5a, sizeof(params.seed));
		printf("%-14s", layouts[l].name);
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
			printf(" %7.1f",
			       measure(layouts[l].ops, &params, lens[i]));
		printf("\n");
	}
	return 0;
}
