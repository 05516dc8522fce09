/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/num.h"

#include <locale.h>

#include "tests/unit/unit.h"

static void digits_only(void)
{
	static const char *const bad[] = {"",    " 1",  "+1",
					  "-1",  "1 ",  "0x1",
					  "1e3", "1.0", "18446744073709551616"};
	uint64_t n = 7;

	CHECK(num_u64("0", &n) == 0);
	CHECK_U64(n, 0);
	CHECK(num_u64("18446744073709551615", &n) == 0);
	CHECK_U64(n, UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(num_u64(bad[i], &n) == -1);
	CHECK_U64(n, UINT64_MAX);
}

static void decimals(void)
{
	static const char *const bad[] = {"",    "-1",  "+1",   ".",   "1e",
					  "nan", "inf", "0x10", "1,5", "1e999",
					  " 1",  "1 ",  "e5"};
	double x;

	CHECK(num_double("0.01", &x) == 0 && x == 0.01);
	CHECK(num_double("1e-3", &x) == 0 && x == 1e-3);
	CHECK(num_double(".5", &x) == 0 && x == 0.5);
	CHECK(num_double("25", &x) == 0 && x == 25);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(num_double(bad[i], &x) == -1);
}

static void units(void)
{
	uint64_t n;

	CHECK(num_bytes("512", &n) == 0 && n == 512);
	CHECK(num_bytes("1K", &n) == 0 && n == 1024);
	CHECK(num_bytes("3MiB", &n) == 0 && n == 3u << 20);
	CHECK(num_bytes("2gb", &n) == 0 && n == UINT64_C(2) << 30);
	CHECK(num_bytes("16777215T", &n) == 0);
	CHECK(num_bytes("16777216T", &n) == -1);
	CHECK(num_bytes("M", &n) == -1);
	CHECK(num_bytes("1X", &n) == -1);
	CHECK(num_bytes("1Kx", &n) == -1);
	CHECK(num_bytes("-1K", &n) == -1);
}

static void texts(void)
{
	char out[NUM_TEXT_MAX];

	CHECK_STR(num_bytes_text(0, out), "0 B");
	CHECK_STR(num_bytes_text(1023, out), "1023 B");
	CHECK_STR(num_bytes_text(1024, out), "1.0 KiB");
	CHECK_STR(num_bytes_text(1536, out), "1.5 KiB");
	CHECK_STR(num_bytes_text((UINT64_C(1) << 20) - 1, out), "1.0 MiB");
	CHECK_STR(num_bytes_text(UINT64_MAX, out), "16.0 EiB");
	CHECK_STR(num_grouped(0, out), "0");
	CHECK_STR(num_grouped(999, out), "999");
	CHECK_STR(num_grouped(1000, out), "1,000");
	CHECK_STR(num_grouped(UINT64_MAX, out), "18,446,744,073,709,551,615");
	CHECK_STR(num_double_text(0.01, out), "0.01");
	CHECK_STR(num_double_text(0.1 + 0.2, out), "0.30000000000000004");
	CHECK_STR(num_fixed(1.0 / 3, 2, out), "0.33");
	CHECK_STR(num_hex(UINT64_C(0xFEDCBA9876543210), out),
		  "fedcba9876543210");
	CHECK_STR(num_hex(1, out), "0000000000000001");
}

static void comma_locale(void)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8",
					    "fr_FR.UTF-8"};
	char out[NUM_TEXT_MAX];
	const char *set = NULL;
	double x;

	for (size_t i = 0; set == NULL && i < sizeof(names) / sizeof(*names);
	     i++)
		set = setlocale(LC_NUMERIC, names[i]);
	if (set == NULL)
		SKIP("localedef makes no locale with a decimal comma here");
	CHECK(num_double("0.25", &x) == 0 && x == 0.25);
	CHECK(num_double("0,25", &x) == -1);
	CHECK_STR(num_double_text(0.25, out), "0.25");
	CHECK_STR(num_fixed(2.5, 1, out), "2.5");
	CHECK_STR(num_bytes_text(1536, out), "1.5 KiB");
	(void)setlocale(LC_NUMERIC, "C");
}

int main(void)
{
	UNIT(digits_only, "num: a whole number is digits and nothing else");
	UNIT(decimals, "num: a decimal has a point, no sign, and is finite");
	UNIT(units, "num: bytes may have a unit, and overflow is refused");
	UNIT(texts, "num: texts are exact at their edges");
	UNIT(comma_locale, "num: a locale's decimal comma changes nothing");
	return unit_end();
}
