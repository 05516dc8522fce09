/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/bloomkey/internal.h"
#include "tests/unit/unit.h"

/*
 * At every offset that the step of eight bytes can meet it at, and in memory
 * that ends where the bytes end.
 */
static bool valid_everywhere(const char *bytes, size_t len, bool expected)
{
	for (size_t before = 0; before <= 66; before++) {
		for (size_t after = 0; after <= 17; after++) {
			size_t all = before + len + after;
			char *p = malloc(all > 0 ? all : 1);
			bool valid;

			if (p == NULL)
				abort();
			memset(p, 'a', all);
			memcpy(p + before, bytes, len);
			valid = bk_utf8_valid(p, all);
			free(p);
			if (valid != expected)
				return false;
		}
	}
	return true;
}

#define VALID(s)   CHECK(valid_everywhere(s, sizeof(s) - 1, true))
#define INVALID(s) CHECK(valid_everywhere(s, sizeof(s) - 1, false))

static void legal(void)
{
	VALID("");
	VALID("\0");
	VALID("\x01\x7f");
	VALID("\xc2\x80");
	VALID("\xdf\xbf");
	VALID("\xe0\xa0\x80");
	VALID("\xed\x9f\xbf");
	VALID("\xee\x80\x80");
	VALID("\xef\xbf\xbf");
	VALID("\xef\xbb\xbf");
	VALID("\xf0\x90\x80\x80");
	VALID("\xf4\x8f\xbf\xbf");
	VALID("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

static void overlong(void)
{
	INVALID("\xc0\x80");
	INVALID("\xc0\xaf");
	INVALID("\xc1\xbf");
	INVALID("\xe0\x80\x80");
	INVALID("\xe0\x9f\xbf");
	INVALID("\xf0\x80\x80\x80");
	INVALID("\xf0\x8f\xbf\xbf");
}

static void surrogates(void)
{
	INVALID("\xed\xa0\x80");
	INVALID("\xed\xbf\xbf");
	INVALID("\xed\xa0\xbd\xed\xb8\x80");
}

static void too_high(void)
{
	INVALID("\xf4\x90\x80\x80");
	INVALID("\xf5\x80\x80\x80");
	INVALID("\xf8\x88\x80\x80\x80");
	INVALID("\xfe");
	INVALID("\xff");
}

static void broken(void)
{
	INVALID("\x80");
	INVALID("\xbf");
	INVALID("\xc3");
	INVALID("\xe2\x82");
	INVALID("\xe2");
	INVALID("\xf0\x9f\x98");
	INVALID("\xf0\x9f");
	INVALID("\xf0");
	INVALID("\xc3\xc3\xa9");
	INVALID("\xe2\x82\x41");
	INVALID("\xe2\x41\x82");
	INVALID("\xf0\x9f\x98\x41");
	INVALID("\xf0\x9f\x41\x80");
	INVALID("\xf0\x41\x98\x80");
	INVALID("\xc3\xa9\xa9");
}

/* Decodes by the definition: the shortest form, and no surrogate. */
static bool scalar(const unsigned char *p, size_t len)
{
	static const uint32_t first[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t c;

	if (len == 1)
		return p[0] < 0x80;
	if ((uint32_t)p[0] >> (7 - len) != (1u << (len + 1)) - 2)
		return false;
	c = p[0] & ((1u << (7 - len)) - 1);
	for (size_t i = 1; i < len; i++) {
		if (p[i] >> 6 != 2)
			return false;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c >= first[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* What three bytes are, cut in every way. */
static bool three(const unsigned char *p)
{
	if (scalar(p, 3))
		return true;
	if (scalar(p, 1))
		return (scalar(p + 1, 1) && scalar(p + 2, 1)) ||
		       scalar(p + 1, 2);
	return scalar(p, 2) && scalar(p + 2, 1);
}

static void exhaustive(void)
{
	for (uint32_t n = 0; n < 1u << 24; n++) {
		unsigned char p[4] = {(unsigned char)(n >> 16),
				      (unsigned char)(n >> 8), (unsigned char)n,
				      0};

		if (bk_utf8_valid(p, 3) != three(p)) {
			CHECK(bk_utf8_valid(p, 3) == three(p));
			return;
		}
	}
	for (uint32_t n = 0; n < 1u << 24; n++) {
		unsigned char p[4] = {(unsigned char)(0xf0 | n >> 20),
				      (unsigned char)(n >> 12),
				      (unsigned char)(n >> 4 & 0xff),
				      (unsigned char)(0x80 | (n & 15))};

		if (bk_utf8_valid(p, 4) != scalar(p, 4)) {
			CHECK(bk_utf8_valid(p, 4) == scalar(p, 4));
			return;
		}
	}
}

int main(void)
{
	UNIT(legal, "utf8: the first and the last of each length are legal");
	UNIT(overlong, "utf8: overlong forms are refused");
	UNIT(surrogates, "utf8: surrogates are refused");
	UNIT(too_high, "utf8: nothing lies above U+10FFFF");
	UNIT(broken, "utf8: lone, missing and wrong continuations are refused");
	UNIT(exhaustive, "utf8: every three bytes agree with the definition");
	return unit_end();
}
