/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/show.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The longest word of a command that is shown. */
#define SHOWN_WORD_MAX 64

static const char hex_digits[] = "0123456789abcdef";

/*
 * The length of the UTF-8 character that begins at p, 0 if there is none: no
 * overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629, 4).
 */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	unsigned char low = 0x80;
	unsigned char high = 0xBF;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		n = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		n = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		n = 4;
	else
		return 0;
	if (n > left)
		return 0;
	if (p[0] == 0xE0)
		low = 0xA0;
	else if (p[0] == 0xED)
		high = 0x9F;
	else if (p[0] == 0xF0)
		low = 0x90;
	else if (p[0] == 0xF4)
		high = 0x8F;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

/* Whether the character is one of U+0080 to U+009F, which steer terminals. */
static int is_c1(const unsigned char *p, size_t n)
{
	return n == 2 && p[0] == 0xC2 && p[1] < 0xA0;
}

static int add_escaped(struct buf *out, unsigned char c)
{
	static const char from[] = "\b\f\n\r\t\v\\";
	static const char to[] = "bfnrtv\\";
	const char *at = c != 0 ? strchr(from, c) : NULL;
	char text[4] = {'\\', 'x', hex_digits[c >> 4], hex_digits[c & 15]};

	if (at == NULL)
		return buf_add(out, text, 4);
	text[1] = to[at - from];
	return buf_add(out, text, 2);
}

int show_copy(struct buf *out, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t i = 0;

	while (i < len) {
		size_t n = utf8_len(p + i, len - i);
		int plain = n > 0 && p[i] >= 0x20 && p[i] != 0x7F &&
			    p[i] != '\\' && !is_c1(p + i, n);

		if (plain ? buf_add(out, p + i, n) != 0
			  : add_escaped(out, p[i]) != 0)
			return -1;
		i += plain ? n : 1;
	}
	return 0;
}

void show_clean(char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		const unsigned char *p = (const unsigned char *)text;
		size_t n = utf8_len(p, left);

		if (n == 0 || p[0] < 0x20 || p[0] == 0x7F || is_c1(p, n)) {
			*text = '?';
			n = n == 2 ? 2 : 1;
			if (n == 2)
				text[1] = '?';
		}
		text += n;
		left -= n;
	}
}

int show_hex(struct buf *out, const void *data, size_t len)
{
	const unsigned char *p = data;
	char *to;

	if (buf_reserve(out, 2 * len) != 0)
		return -1;
	if (len == 0)
		return 0;
	to = out->data + out->len;
	for (size_t i = 0; i < len; i++) {
		*to++ = hex_digits[p[i] >> 4];
		*to++ = hex_digits[p[i] & 15];
	}
	out->len += 2 * len;
	return 0;
}

const char *show_command(const char *command, char out[SHOW_COMMAND_MAX])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+-";
	size_t len;
	bool more;

	command += strspn(command, " \t\n");
	len = strspn(command, plain);
	more = command[len] != '\0';
	/* Part of a word may be the beginning of anything. */
	if (len == 0 || len > SHOWN_WORD_MAX ||
	    (more && strchr(" \t\n;&|<>()", command[len]) == NULL)) {
		len = 0;
		more = true;
	}
	(void)snprintf(out, SHOW_COMMAND_MAX, "%.*s%s%s", (int)len, command,
		       len > 0 && more ? " " : "", more ? "..." : "");
	return out;
}
