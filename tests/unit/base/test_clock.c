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

static void any_rfc3339(void)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"2024-02-29T12:34:56Z", INT64_C(1709210096000)},
		{"2024-02-29t12:34:56.007z", INT64_C(1709210096007)},
		{"2024-02-29 12:34:56.0079999999Z", INT64_C(1709210096007)},
		{"2024-02-29T12:34:56.5Z", INT64_C(1709210096500)},
		{"2024-02-29T13:34:56+01:00", INT64_C(1709210096000)},
		{"2024-02-29T07:04:56-05:30", INT64_C(1709210096000)},
		{"2024-02-29T12:34:56-00:00", INT64_C(1709210096000)},
		{"2016-12-31T23:59:60Z", INT64_C(1483228800000)},
		{"1969-12-31T23:59:59Z", -1000},
		{"0000-01-01T00:00:00Z", INT64_C(-62167219200000)},
		{"9999-12-31T23:59:59Z", INT64_C(253402300799000)},
	};
	static const char *const bad[] = {
		"",
		"2024-02-29",
		"2024-02-29T12:34Z",
		"2024-02-29T12:34:56",
		"2024-02-29T12:34:56.Z",
		"2024-02-29T12:34:56,5Z",
		"2024-02-29T12:34:56ZZ",
		"2024-02-29T12:34:56Z ",
		" 2024-02-29T12:34:56Z",
		"2024-02-29T12:34:56+01",
		"2024-02-29T12:34:56+0100",
		"2024-02-29T12:34:56+24:00",
		"2024-02-29T12:34:56+01:60",
		"2024-02-29T12:34:56+01:00Z",
		"2023-02-29T12:34:56Z",
		"2100-02-29T12:34:56Z",
		"2024-04-31T12:34:56Z",
		"2024-00-01T12:34:56Z",
		"2024-13-01T12:34:56Z",
		"2024-01-00T12:34:56Z",
		"2024-01-01T24:00:00Z",
		"2024-01-01T12:60:00Z",
		"2024-01-01T12:00:61Z",
		"24-01-01T12:00:00Z",
		"+2024-01-01T12:00:00Z",
		"2024-1-1T12:00:00Z",
	};
	int64_t ms;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ms = 1;
		CHECK(clock_parse_time(good[i].text, &ms) == 0);
		CHECK_U64((uint64_t)ms, (uint64_t)good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(clock_parse_time(bad[i], &ms) == -1);
		if (clock_parse_time(bad[i], &ms) == 0)
			printf("# %s\n", bad[i]);
	}
}

static void written_spans(void)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {
		{"0s", 0},
		{"30s", 30000},
		{"10m", 600000},
		{"2h", 7200000},
		{"1d", 86400000},
		{"007s", 7000},
		{"9223372036854775s", INT64_C(9223372036854775000)},
		{"106751991167d", INT64_C(9223372036828800000)},
	};
	static const char *const bad[] = {
		"",
		"s",
		"30",
		"-30s",
		"+30s",
		" 30s",
		"30s ",
		"30 s",
		"30\ts",
		"1.5h",
		"1,5h",
		"30S",
		"2H",
		"30ms",
		"1w",
		"1h30m",
		"0x1s",
		"1e3s",
		"s30",
		"30ss",
		"9223372036854776s",
		"106751991168d",
		"9223372036854775808s",
		"18446744073709551616s",
		"99999999999999999999999999d",
	};
	int64_t ms;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ms = -1;
		CHECK(clock_parse_span(good[i].text, &ms) == 0);
		CHECK_U64((uint64_t)ms, (uint64_t)good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(clock_parse_span(bad[i], &ms) == -1);
		if (clock_parse_span(bad[i], &ms) == 0)
			printf("# %s\n", bad[i]);
	}
}

int main(void)
{
	UNIT(known_times, "clock: times are RFC 3339 in UTC");
	UNIT(round_trip, "clock: what is written reads back");
	UNIT(other_texts, "clock: any other text is refused");
	UNIT(any_rfc3339, "clock: times of RFC 3339 are read, and no others");
	UNIT(written_spans, "clock: durations have a unit and no sign");
	UNIT(spans, "clock: spans have the unit that people use");
	return unit_end();
}
