/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/clock.h"

#include "tests/unit/unit.h"

static void known_times(void)
{
	char out[CLOCK_TEXT_MAX];

	CHECK_STR(clock_text(0, out), "1970-01-01T00:00:00.000Z");
	CHECK_STR(clock_text(INT64_C(1709210096007), out),
		  "2024-02-29T12:34:56.007Z");
}

static void round_trip(void)
{
	char out[CLOCK_TEXT_MAX];
	int64_t ms;

	for (int64_t t = 0; t < INT64_C(4102444800000);
	     t += INT64_C(123456789123)) {
		CHECK(clock_parse(clock_text(t, out), &ms) == 0);
		CHECK_U64((uint64_t)ms, (uint64_t)t);
	}
}

static void other_texts(void)
{
	static const char *const bad[] = {
		"",
		"2024-02-29",
		"2024-02-29 12:34:56.007Z",
		"2024-02-29T12:34:56.007+",
		"2024-02-29T12:34:56,007Z",
		"2024-02-29T12:34:56.007Zx",
		"2024-02-29T12:34:5x.007Z",
	};
	int64_t ms;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(clock_parse(bad[i], &ms) == -1);
}

static void spans(void)
{
	char out[CLOCK_TEXT_MAX];

	CHECK_STR(clock_span(-5, out), "0 s");
	CHECK_STR(clock_span(119999, out), "119 s");
	CHECK_STR(clock_span(120000, out), "2 min");
	CHECK_STR(clock_span(INT64_C(3) * 3600 * 1000, out), "3 h");
	CHECK_STR(clock_span(INT64_C(9) * 86400 * 1000, out), "9 days");
}

int main(void)
{
	UNIT(known_times, "clock: times are RFC 3339 in UTC");
	UNIT(round_trip, "clock: what is written reads back");
	UNIT(other_texts, "clock: any other text is refused");
	UNIT(spans, "clock: spans have the unit that people use");
	return unit_end();
}
