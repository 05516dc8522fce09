/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/quote.h"

#include <string.h>

const char *quote_bytes(char *out, const void *data, size_t len, size_t max)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *in = data;
	size_t count = len < max ? len : max;
	char *to = out;

	for (size_t i = 0; i < count; i++) {
		unsigned char c = in[i];

		if (c >= 0x20 && c <= 0x7e && c != '\\' && c != '\'') {
			*to++ = (char)c;
			continue;
		}
		*to++ = '\\';
		*to++ = 'x';
		*to++ = hex[c >> 4];
		*to++ = hex[c & 15];
	}
	if (count < len) {
		memcpy(to, "...", 3);
		to += 3;
	}
	*to = '\0';
	return out;
}
