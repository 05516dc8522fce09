/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/report/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A table is at most a line for each of 65,536 buckets. */
#define TABLE_MAX (64u << 20)

void table_init(struct table *t, size_t columns)
{
	memset(t, 0, sizeof(*t));
	t->columns = columns;
	buf_init(&t->cells, TABLE_MAX);
}

void table_release(struct table *t)
{
	buf_release(&t->cells);
}

/* Characters, not bytes: continuation bytes of UTF-8 do not count. */
static size_t width(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xC0) != 0x80;
	return n;
}

int table_add(struct table *t, const char *text)
{
	size_t column = t->rows % t->columns;
	size_t w = width(text);

	if (buf_add(&t->cells, text, strlen(text) + 1) != 0) {
		t->full = buf_full(&t->cells, strlen(text) + 1) != 0;
		return -1;
	}
	if (w > t->width[column])
		t->width[column] = w;
	t->rows++;
	return 0;
}

int table_addf(struct table *t, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return table_add(t, text);
}

bool table_full(const struct table *t)
{
	return t->full;
}

static int pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		if (buf_add(out, " ", 1) != 0)
			return -1;
	return 0;
}

int table_text(const struct table *t, const int *right, struct buf *out)
{
	const char *cell = t->cells.data;

	for (size_t i = 0; i < t->rows; i++, cell += strlen(cell) + 1) {
		size_t column = i % t->columns;
		size_t gap = t->width[column] - width(cell);
		int last = column + 1 == t->columns;

		if (right[column] != 0 && pad(out, gap) != 0)
			return -1;
		if (buf_adds(out, cell) != 0)
			return -1;
		if (right[column] == 0 && !last && pad(out, gap) != 0)
			return -1;
		/* Nothing is to be seen at the end of a line, so it goes. */
		while (last && out->len > 0 && out->data[out->len - 1] == ' ')
			out->len--;
		if (buf_adds(out, last ? "\n" : "  ") != 0)
			return -1;
	}
	return 0;
}

static int add_quoted(struct buf *out, const char *cell)
{
	if (strpbrk(cell, ",\"\r\n") == NULL)
		return buf_adds(out, cell);
	if (buf_add(out, "\"", 1) != 0)
		return -1;
	for (; *cell != '\0'; cell++)
		if (buf_add(out, *cell == '"' ? "\"\"" : cell,
			    *cell == '"' ? 2 : 1) != 0)
			return -1;
	return buf_add(out, "\"", 1);
}

int table_csv(const struct table *t, struct buf *out)
{
	const char *cell = t->cells.data;

	for (size_t i = 0; i < t->rows; i++, cell += strlen(cell) + 1)
		if (add_quoted(out, cell) != 0 ||
		    buf_adds(out, (i + 1) % t->columns == 0 ? "\n" : ",") != 0)
			return -1;
	return 0;
}
