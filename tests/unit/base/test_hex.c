/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/hex.h"

#include "tests/unit/unit.h"

static void round_trip(void)
{
	unsigned char bytes[256], back[256];
	char text[513];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	CHECK(strncmp(hex_text(bytes, 256, text), "000102030405060708090a0b",
		      24) == 0);
	CHECK_STR(text + 500, "fafbfcfdfeff");
	CHECK(hex_bytes(text, back, 256) == 0);
	CHECK(memcmp(bytes, back, 256) == 0);
	CHECK_STR(hex_text(NULL, 0, text), "");
	CHECK(hex_bytes("", back, 0) == 0);
}

static void refuses(void)
{
	static const char *const texts[] = {"",     "0",    "001",  "0000 ",
					    "00 0", "0A0b", "00g0", "0x00",
					    "-000", "00000"};
	unsigned char bytes[2];

	CHECK(hex_bytes("0a0b", bytes, 2) == 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK(hex_bytes(texts[i], bytes, 2) == -1);
}

int main(void)
{
	UNIT(round_trip, "hex: every byte reads back as it was written");
	UNIT(refuses, "hex: other digits, fewer and more are refused");
	return unit_end();
}
