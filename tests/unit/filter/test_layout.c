/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/filter/layout.h"

#include "tests/unit/unit.h"

static void check_modulo(uint64_t bits, uint64_t x)
{
	struct filter_params params = {.bits = bits};

	filter_reciprocal(&params);
	if (filter_modulo(&params, x) == x % bits)
		return;
	unit_fail(__FILE__, __LINE__, "filter_modulo(bits, x) == x % bits");
	printf("#   %" PRIu64 " %% %" PRIu64 "\n", x, bits);
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Quotients change at multiples of bits: all of x's edges are there. */
static void check_edges(uint64_t bits, uint64_t *state)
{
	uint64_t last = UINT64_MAX / bits;

	for (uint64_t near = 0; near < 5; near++) {
		uint64_t some = random_next(state) % (last + 1) * bits;

		check_modulo(bits, near);
		check_modulo(bits, UINT64_MAX - near);
		check_modulo(bits, bits + near - 2);
		check_modulo(bits, last * bits + near - 2);
		check_modulo(bits, some + near - 2);
		check_modulo(bits, some + bits - 1 - near);
		check_modulo(bits, (UINT64_C(1) << 63) + near - 2);
	}
}

static void exact_modulo(void)
{
	uint64_t state = 1;

	/* Every small divisor, and those around each power of two. */
	for (uint64_t d = 1; d < 5000; d++)
		check_edges(8 * d, &state);
	for (int shift = 3; shift < 61; shift++) {
		for (uint64_t near = 0; near < 9; near++) {
			uint64_t d = (UINT64_C(1) << shift) + near - 4;

			check_edges(8 * d, &state);
		}
	}
	check_edges(UINT64_MAX - 7, &state);
	for (int i = 0; i < 3000000; i++) {
		uint64_t d = random_next(&state) >> (3 + i % 61);
		uint64_t x = random_next(&state) >> (i % 7 * 9);

		check_modulo(8 * (d > 0 ? d : 1), x);
	}
	/* No reciprocal: the division itself. */
	check_modulo(13, UINT64_MAX);
	check_modulo(UINT64_MAX, UINT64_MAX - 1);
}

static void by_id(void)
{
	CHECK(layout_by_id(1) == &layout_redisbloom);
	CHECK(layout_by_id(2) == &layout_valkeybloom);
	CHECK(layout_by_id(0) == NULL);
	CHECK(layout_by_id(UINT32_MAX) == NULL);
}

/* Servers were seen to have these: 1 % gives 1.004 % at capacity, 25 %
 * gives 27.0 %. */
static void rates(void)
{
	struct filter_params params;

	REQUIRE(layout_redisbloom.size(1000000, 0.01, &params) == 0);
	CHECK(fabs(layout_error_at(&params, 1000000) - 0.01004) < 5e-6);
	CHECK(layout_error_at(&params, 0) == 0);
	CHECK(layout_error_at(&params, 1e12) == 1);
	CHECK(layout_error_of_set(&params, 0) == 0);
	CHECK(layout_error_of_set(&params, params.bits) == 1);
	CHECK(fabs(layout_error_of_set(&params, params.bits / 2) - 1.0 / 128) <
	      1e-12);
	REQUIRE(layout_redisbloom.size(1000000, 0.25, &params) == 0);
	CHECK(fabs(layout_error_at(&params, 1000000) - 0.270) < 5e-4);
}

int main(void)
{
	UNIT(exact_modulo, "layout: the reciprocal gives the exact remainder");
	UNIT(by_id, "layout: is found by its id");
	UNIT(rates, "layout: rates of false positives are the known ones");
	return unit_end();
}
