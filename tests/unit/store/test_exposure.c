/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/exposure.h"
#include "tests/unit/unit.h"

static void is_written_and_read(void)
{
	static const struct exposure all[] = {
		{0, 0, 0},
		{1796068614123, 830, 61660},
		{INT64_MAX, INT64_MAX, INT64_MAX},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char text[EXPOSURE_SIZE + 1];
		struct exposure e;

		exposure_text(&all[i], text);
		CHECK_U64(strlen(text), EXPOSURE_SIZE);
		CHECK(exposure_parse(text, EXPOSURE_SIZE, &e) == 0);
		CHECK(memcmp(&e, &all[i], sizeof(e)) == 0);
	}
}

static void is_refused_where_it_is_none(void)
{
	static const struct exposure good = {1796068614123, 830, 61660};
	char text[EXPOSURE_SIZE + 1];
	struct exposure e;

	CHECK(exposure_parse("", 0, &e) == -1);
	for (size_t i = 0; i < EXPOSURE_SIZE; i++) {
		exposure_text(&good, text);
		CHECK(exposure_parse(text, i, &e) == -1);
		text[i] = '-';
		CHECK(exposure_parse(text, EXPOSURE_SIZE, &e) == -1);
		CHECK(e.at == 0 && e.ms == 0 && e.recent_ms == 0);
	}
	/* Above 2^63 - 1. */
	exposure_text(&good, text);
	memset(text, '9', 19);
	CHECK(exposure_parse(text, EXPOSURE_SIZE, &e) == -1);
}

int main(void)
{
	UNIT(is_written_and_read, "exposure: what is written is read");
	UNIT(is_refused_where_it_is_none, "exposure: what is none is refused");
	return unit_end();
}
