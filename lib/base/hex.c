/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/hex.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

const char *hex_text(const void *bytes, size_t len, char *out)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[p[i] >> 4];
		out[2 * i + 1] = digits[p[i] & 15];
	}
	out[2 * len] = '\0';
	return out;
}

int hex_bytes(const char *text, void *bytes, size_t len)
{
	unsigned char *p = bytes;

	if (strlen(text) != 2 * len || strspn(text, digits) != 2 * len)
		return -1;
	for (size_t i = 0; i < len; i++) {
		size_t high = (size_t)(strchr(digits, text[2 * i]) - digits);
		size_t low = (size_t)(strchr(digits, text[2 * i + 1]) - digits);

		p[i] = (unsigned char)(high << 4 | low);
	}
	return 0;
}
