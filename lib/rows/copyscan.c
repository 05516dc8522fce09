/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/copyscan.h"

#include <string.h>

static char *find(char *pos, int c, char *end)
{
	char *at = memchr(pos, c, (size_t)(end - pos));

	return at != NULL ? at : end;
}

char *copyscan_row_end(char *pos, char *end, bool *escaped)
{
	char *newline;

	if (*escaped && pos < end) {
		pos++;
		*escaped = false;
	}
	newline = find(pos, '\n', end);
	while (pos < end) {
		char *backslash;

		if (newline < pos)
			newline = find(pos, '\n', end);
		backslash = find(pos, '\\', newline);
		if (backslash == newline)
			return newline < end ? newline : NULL;
		if (backslash + 1 == end) {
			*escaped = true;
			return NULL;
		}
		pos = backslash + 2;
	}
	return NULL;
}

static int octal(char c)
{
	return c >= '0' && c <= '7' ? c - '0' : -1;
}

static int hexdigit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The byte that \ddd or \xhh stands for; *in is behind it afterwards. */
static char numeric(const char **in, const char *end)
{
	const char *p = *in;
	unsigned value = 0;
	int digits = 0;

	if (*p == 'x') {
		p++;
		for (; digits < 2 && p < end && hexdigit(*p) >= 0; digits++)
			value = value * 16 + (unsigned)hexdigit(*p++);
		if (digits == 0)
			value = 'x';
	} else {
		for (; digits < 3 && p < end && octal(*p) >= 0; digits++)
			value = value * 8 + (unsigned)octal(*p++);
	}
	*in = p;
	return (char)(unsigned char)(value & 0xff);
}

size_t copyscan_unescape(char *data, size_t len)
{
	static const char from[] = "bfnrtv", to[] = "\b\f\n\r\t\v";
	const char *end = data + len;
	char *out = find(data, '\\', data + len);
	const char *in = out;

	while (in < end) {
		const char *known;

		if (*in != '\\' || in + 1 == end) {
			*out++ = *in++;
			continue;
		}
		in++;
		if (*in == 'x' || octal(*in) >= 0) {
			*out++ = numeric(&in, end);
			continue;
		}
		known = memchr(from, *in, sizeof(from) - 1);
		*out++ = known != NULL ? to[known - from] : *in;
		in++;
	}
	return (size_t)(out - data);
}

char *copyscan_field_end(char *pos, char *end)
{
	for (; pos < end && *pos != '\t'; pos++) {
		if (*pos == '\\')
			pos++;
	}
	return pos < end ? pos : end;
}

bool copyscan_is_escaped(const char *row, const char *pos)
{
	size_t run = 0;

	while (pos > row && pos[-1] == '\\') {
		pos--;
		run++;
	}
	return run % 2 == 1;
}
