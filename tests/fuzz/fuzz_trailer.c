/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_trailer: any bytes as a stream, in any pieces, against a model that
 * has them all at once; then with a right trailer behind them, which no fuzzer
 * would find, and with one bit of that changed.
 *
 * Input: flags, size of the caller's buffer, count of the pieces' sizes less
 * one, these sizes, which bit to change (two bytes), and the stream.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "lib/rows/trailer.h"
#include "tests/unit/rows/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct how {
	bool required;
	size_t cap;
	const uint8_t *sizes;
	size_t size_count;
	size_t bit;
};

static void require(int holds)
{
	if (!holds)
		abort();
}

static void *alloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	require(p != NULL);
	return p;
}

/* A name and a number behind it; where that ends, or an empty text. */
static const char *skip(const char *text, const char *name, int base,
			uint64_t *out)
{
	char *end;

	*out = 0;
	if (strncmp(text, name, strlen(name)) != 0)
		return "";
	*out = strtoull(text + strlen(name), &end, base);
	return end;
}

/*
 * The last line, read as leniently as strtoull() does; what the writer would
 * not write just so is none.
 */
static size_t model_find(const char *data, size_t len, struct trailer *out)
{
	char line[TRAILER_MAX + 1] = "", again[TRAILER_MAX + 1];
	size_t start = len > 0 ? len - 1 : 0;
	const char *at;

	while (start > 0 && data[start - 1] != '\n')
		start--;
	if (len - start > TRAILER_MAX)
		return 0;
	memcpy(line, data + start, len - start);
	at = skip(line, "\\. rows=", 10, &out->rows);
	at = skip(at, " bytes=", 10, &out->bytes);
	skip(at, " xxh64=", 16, &out->xxh64);
	if (trailer_format(out, again) != len - start ||
	    memcmp(line, again, len - start) != 0)
		return 0;
	return len - start;
}

/* Reads the stream and holds it to the model.  Whether it was well. */
static bool hold(const char *data, size_t len, const struct how *how)
{
	struct error err = ERROR_INIT;
	struct trailer t = {0, 0, 0};
	size_t found = model_find(data, len, &t);
	size_t body = len - found;
	bool well =
		found > 0 ? t.bytes == body && t.xxh64 == sum_xxh64(data, body)
			  : !how->required;
	struct pieces p;
	struct stream *s;
	size_t at = 0, got = 1;
	int rc = 0;

	pieces_init(&p, data, len, 0);
	p.sizes = how->sizes;
	p.size_count = how->size_count;
	require(trailer_open(&p.base, how->required, &s, &err) == 0);
	while (rc == 0 && got > 0) {
		char *buf = alloc(how->cap);

		rc = s->ops->read(s, buf, how->cap, &got, &err);
		require(got <= how->cap && (rc == 0 || got == 0));
		require(got <= body - at && memcmp(buf, data + at, got) == 0);
		at += got;
		free(buf);
	}
	require((rc == 0) == well);
	require(s->ops->finish(s, &err) == rc);
	if (well) {
		require(at == body);
		require(s->counted == (found > 0) &&
			s->rows == t.rows * s->counted);
	} else {
		require(err.code == ERROR_DATA && err.text[0] != '\0');
	}
	s->ops->close(s);
	require(p.closes == 1 && p.at == len);
	return well;
}

/* The same bytes whole, and with any one bit changed not. */
static void seal(const uint8_t *data, size_t len, struct how *how)
{
	char *text = alloc(len + 1 + TRAILER_MAX + 1);
	struct trailer t;

	memcpy(text, data, len);
	if (len > 0 && text[len - 1] != '\n')
		text[len++] = '\n';
	t.rows = len * how->cap;
	t.bytes = len;
	t.xxh64 = sum_xxh64(text, len);
	len += trailer_format(&t, text + len);
	require(hold(text, len, how));
	how->required = true;
	how->bit %= len * 8;
	text[how->bit / 8] = (char)(text[how->bit / 8] ^ 1 << how->bit % 8);
	/* The trailer's rows are not summed: a digit may become another. */
	if (hold(text, len, how))
		require(how->bit / 8 - t.bytes < 8 + 20);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct how how;
	size_t head;
	char *text;

	if (size < 3)
		return 0;
	how.required = (data[0] & 1) != 0;
	how.cap = TRAILER_MAX + 1 + data[1];
	how.sizes = data + 3;
	how.size_count = 1 + (size_t)data[2] % 8;
	head = 3 + how.size_count + 2;
	if (size < head)
		return 0;
	how.bit = (size_t)data[head - 2] << 8 | data[head - 1];
	/* Its own memory: a byte in front of it is one too far, too. */
	text = alloc(size - head);
	memcpy(text, data + head, size - head);
	hold(text, size - head, &how);
	free(text);
	seal(data + head, size - head, &how);
	return 0;
}
