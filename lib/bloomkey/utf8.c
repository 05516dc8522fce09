/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "internal.h"

static bool between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

static bool continues(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/*
 * The length of the sequence at p, of which left bytes are there, or 0.  The
 * bounds of the second byte are what keeps out overlong forms (E0, F0),
 * surrogates (ED) and what lies above U+10FFFF (F4).
 */
static size_t sequence(const unsigned char *p, size_t left)
{
	unsigned char lead = p[0];

	if (lead < 0x80)
		return 1;
	if (between(lead, 0xc2, 0xdf))
		return left >= 2 && continues(p[1]) ? 2 : 0;
	if (between(lead, 0xe0, 0xef)) {
		if (left < 3 || !continues(p[2]))
			return 0;
		return between(p[1], lead == 0xe0 ? 0xa0 : 0x80,
			       lead == 0xed ? 0x9f : 0xbf)
			       ? 3
			       : 0;
	}
	if (between(lead, 0xf0, 0xf4)) {
		if (left < 4 || !continues(p[2]) || !continues(p[3]))
			return 0;
		return between(p[1], lead == 0xf0 ? 0x90 : 0x80,
			       lead == 0xf4 ? 0x8f : 0xbf)
			       ? 4
			       : 0;
	}
	return 0;
}

static uint64_t load8(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static uint32_t load4(const unsigned char *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Whether all bytes are ASCII; the last loads overlap those before. */
static bool all_ascii(const unsigned char *p, size_t len)
{
	const unsigned char *last = p + len;
	uint64_t bits = 0;

	if (len >= 8) {
		for (; last - p > 8; p += 8)
			bits |= load8(p);
		bits |= load8(last - 8);
		return (bits & UINT64_C(0x8080808080808080)) == 0;
	}
	if (len >= 4)
		return ((load4(p) | load4(last - 4)) & 0x80808080) == 0;
	for (; p < last; p++)
		bits |= *p;
	return (bits & 0x80) == 0;
}

bool bk_utf8_valid(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	if (len <= 64 && all_ascii(p, len))
		return true;
	while (len > 0) {
		size_t n;

		if (len >= 8 && all_ascii(p, 8)) {
			p += 8;
			len -= 8;
			continue;
		}
		n = sequence(p, len);
		if (n == 0)
			return false;
		p += n;
		len -= n;
	}
	return true;
}
