/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
	b->data = NULL;
	b->len = 0;
	b->cap = 0;
	b->max = max;
}

void buf_release(struct buf *b)
{
	free(b->data);
	buf_init(b, b->max);
}

int buf_full(const struct buf *b, size_t extra)
{
	return extra > b->max - b->len;
}

int buf_reserve(struct buf *b, size_t extra)
{
	size_t need;
	size_t cap = b->cap;
	char *data;

	if (buf_full(b, extra))
		return -1;
	need = b->len + extra;
	if (need <= b->cap)
		return 0;
	if (cap < 64)
		cap = 64;
	while (cap < need)
		cap = cap > b->max / 2 ? b->max : cap * 2;
	if (cap > b->max)
		cap = b->max;
	data = realloc(b->data, cap);
	if (data == NULL)
		return -1;
	b->data = data;
	b->cap = cap;
	return 0;
}

int buf_add(struct buf *b, const void *data, size_t len)
{
	if (len == 0)
		return 0;
	if (buf_reserve(b, len) != 0)
		return -1;
	memcpy(b->data + b->len, data, len);
	b->len += len;
	return 0;
}

int buf_adds(struct buf *b, const char *text)
{
	return buf_add(b, text, strlen(text));
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || buf_reserve(b, (size_t)n + 1) != 0)
		return -1;
	va_start(ap, fmt);
	(void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->len += (size_t)n;
	return 0;
}

char *buf_string(struct buf *b)
{
	if (buf_reserve(b, 1) != 0)
		return NULL;
	b->data[b->len] = '\0';
	return b->data;
}
