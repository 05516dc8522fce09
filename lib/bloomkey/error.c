/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

int bk_error(struct bloomkey_error *err, unsigned line, const char *fmt, ...)
{
	va_list ap;

	if (err != NULL) {
		err->line = line;
		va_start(ap, fmt);
		(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return BLOOMKEY_EINVAL;
}

struct bk_escaped bk_escape(struct bk_slice bytes)
{
	static const char hex[] = "0123456789abcdef";
	struct bk_escaped escaped;
	/* Room for the longest escape, the dots and a NUL. */
	const size_t room = sizeof(escaped.text) - sizeof("\\xHH...");
	size_t used = 0;

	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char c = (unsigned char)bytes.data[i];

		if (used > room) {
			memcpy(escaped.text + used, "...", 3);
			used += 3;
			break;
		}
		if (c >= 0x20 && c <= 0x7e && c != '\\') {
			escaped.text[used++] = (char)c;
		} else {
			escaped.text[used++] = '\\';
			escaped.text[used++] = 'x';
			escaped.text[used++] = hex[c >> 4];
			escaped.text[used++] = hex[c & 15];
		}
	}
	escaped.text[used] = '\0';
	return escaped;
}
