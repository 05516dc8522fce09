/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What both row fuzzers do: the first two bytes of an input choose format and
 * chunks, the rest is parsed twice, whole and in chunks.  Both must call back
 * the same rows and end the same.
 */
#ifndef BLOOMCTL_TESTS_FUZZ_ROWS_H
#define BLOOMCTL_TESTS_FUZZ_ROWS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rows/rowparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t rows;
	uint64_t hash;
	size_t wanted;
	struct error err;
};

static inline void mix(struct seen *seen, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	/* FNV-1a: it need only tell two parses apart. */
	for (size_t i = 0; i < len; i++)
		seen->hash = (seen->hash ^ bytes[i]) * 0x100000001b3u;
}

static inline int see_row(void *ctx, const struct row *row, struct error *err)
{
	struct seen *seen = ctx;

	(void)err;
	if (row->number != ++seen->rows)
		abort();
	for (size_t i = 0; i < seen->wanted; i++) {
		size_t len = row->values[i] != NULL ? row->lens[i] : SIZE_MAX;

		mix(seen, &len, sizeof(len));
		if (row->values[i] != NULL)
			mix(seen, row->values[i], len);
	}
	return 0;
}

static inline void see(struct seen *seen, const struct rowformat *format,
		       const uint8_t *data, size_t size, size_t chunk)
{
	struct rowparse *parse = NULL;
	int rc;

	memset(seen, 0, sizeof(*seen));
	seen->wanted = format->wanted_count;
	rc = rowparse_new(format, see_row, seen, &parse, &seen->err);
	for (size_t at = 0; rc == 0 && at < size;) {
		size_t n = size - at < chunk ? size - at : chunk;
		char *copy = malloc(n);

		if (copy == NULL)
			abort();
		memcpy(copy, data + at, n);
		rc = rowparse_feed(parse, copy, n, &seen->err);
		free(copy);
		at += n;
	}
	if (rc == 0)
		rc = rowparse_end(parse, true, &seen->err);
	if ((rc != 0) != (seen->err.code != ERROR_NONE))
		abort();
	rowparse_free(parse);
}

static inline int fuzz_rows(enum rowformat_kind kind, const uint8_t *data,
			    size_t size)
{
	static const char *const names[] = {"a", "b", "c"};
	static const char *const wanted[] = {"b", "a"};
	static const char *const nulls[] = {NULL, "NULL", "", "\\N"};
	struct rowformat format = {.kind = kind, .wanted = wanted};
	struct seen whole, cut;

	if (size < 2)
		return 0;
	format.header = (data[0] & 1) != 0;
	format.null = nulls[(data[0] >> 1) & 3];
	format.name_count = (data[0] >> 3) & 3;
	format.names = format.name_count > 0 ? names : NULL;
	format.wanted = format.name_count == 1 ? wanted + 1 : wanted;
	format.wanted_count = format.name_count > 1 ? 2 : 1;
	see(&whole, &format, data + 2, size - 2, SIZE_MAX);
	see(&cut, &format, data + 2, size - 2, 1 + data[1] % 80);
	if (whole.rows != cut.rows || whole.hash != cut.hash ||
	    whole.err.code != cut.err.code ||
	    strcmp(whole.err.text, cut.err.text) != 0 ||
	    strcmp(whole.err.hint, cut.err.hint) != 0) {
		fprintf(stderr, "whole: %s\ncut: %s\n", whole.err.text,
			cut.err.text);
		abort();
	}
	return 0;
}

#endif
