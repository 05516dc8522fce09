/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rows: what the tests of the row parsers share.
 *
 * A parse is told as text, so that two can be compared at a glance:
 *
 *	1 <a> ~        row 1: the value "a", and NULL
 *	! 74 row 2: …  how it ended, if not well
 *
 * Every case is run with the bytes cut in several ways, each chunk in memory
 * of its own size, so that a sanitizer sees a byte too far.
 */
#ifndef BLOOMCTL_TESTS_UNIT_ROWS_H
#define BLOOMCTL_TESTS_UNIT_ROWS_H

#include "lib/base/buf.h"
#include "lib/rows/rowparse.h"
#include "tests/unit/alloc.h"
#include "tests/unit/unit.h"

/* A string with its length, NUL bytes and all. */
#define BYTES(text) (text), sizeof(text) - 1

static inline void tell_value(struct buf *out, const void *value, size_t len)
{
	const unsigned char *bytes = value;

	if (value == NULL) {
		buf_adds(out, " ~");
		return;
	}
	buf_adds(out, " <");
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] > 0x20 && bytes[i] < 0x7f && bytes[i] != '\\')
			buf_add(out, &bytes[i], 1);
		else
			buf_addf(out, "\\%02x", bytes[i]);
	}
	buf_adds(out, ">");
}

struct telling {
	struct buf out;
	size_t wanted;
};

static inline int tell_row(void *ctx, const struct row *row, struct error *err)
{
	struct telling *t = ctx;

	(void)err;
	buf_addf(&t->out, "%" PRIu64, row->number);
	for (size_t i = 0; i < t->wanted; i++)
		tell_value(&t->out, row->values[i], row->lens[i]);
	buf_adds(&t->out, "\n");
	return 0;
}

/* Feeds data in chunks of the given size; 0 or -1. */
static inline int feed_chunks(struct rowparse *parse, const char *data,
			      size_t len, size_t chunk, struct error *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < len;) {
		size_t n = len - at < chunk ? len - at : chunk;
		char *copy = malloc(n);

		if (copy == NULL)
			return error_nomem(err);
		memcpy(copy, data + at, n);
		rc = rowparse_feed(parse, copy, n, err);
		free(copy);
		at += n;
	}
	return rc;
}

/* Parses data; the telling is the caller's to free. */
static inline char *tell(const struct rowformat *format, const char *data,
			 size_t len, size_t chunk)
{
	struct telling t = {.wanted = format->wanted_count};
	struct error err = ERROR_INIT, again = ERROR_INIT;
	struct rowparse *parse = NULL;

	buf_init(&t.out, 256u << 20);
	if (rowparse_new(format, tell_row, &t, &parse, &err) != 0 ||
	    feed_chunks(parse, data, len, chunk, &err) != 0 ||
	    rowparse_end(parse, true, &err) != 0) {
		buf_addf(&t.out, "! %d %s\n", (int)err.code, err.text);
		/* The first error is returned again and again. */
		if (parse != NULL && (rowparse_end(parse, true, &again) != -1 ||
				      strcmp(again.text, err.text) != 0))
			buf_adds(&t.out, "the error was forgotten\n");
	}
	rowparse_free(parse);
	return buf_string(&t.out);
}

static const size_t chunk_sizes[] = {1, 2, 3, 7, 64, SIZE_MAX};

#define CHUNK_SIZES (sizeof(chunk_sizes) / sizeof(chunk_sizes[0]))

struct rows_case {
	const char *claim;
	const char *in;
	size_t len;
	const char *out;
	const char *null;         /* as in struct rowformat, ... */
	const char *const *names; /* ended by NULL */
	bool header;
	bool bom_is_data;
	const char *const *wanted; /* ended by NULL; NULL: "a" */
};

static inline size_t count_names(const char *const *names)
{
	size_t count = 0;

	while (names != NULL && names[count] != NULL)
		count++;
	return count;
}

static inline void run_case(enum rowformat_kind kind, const struct rows_case *c)
{
	static const char *const a[] = {"a", NULL};
	struct rowformat format = {.kind = kind,
				   .header = c->header,
				   .bom_is_data = c->bom_is_data,
				   .null = c->null,
				   .names = c->names,
				   .wanted = c->wanted != NULL ? c->wanted : a};

	format.name_count = count_names(c->names);
	format.wanted_count = count_names(format.wanted);
	for (size_t i = 0; i < CHUNK_SIZES; i++) {
		char *told = tell(&format, c->in, c->len, chunk_sizes[i]);

		if (told == NULL || strcmp(told, c->out) != 0) {
			printf("# %s, chunks of %zu:\n", c->claim,
			       chunk_sizes[i]);
			CHECK_STR(told, c->out);
		}
		free(told);
	}
}

#define RUN_CASES(kind, cases)                                               \
	for (size_t rows_i = 0; rows_i < sizeof(cases) / sizeof((cases)[0]); \
	     rows_i++)                                                       \
	run_case((kind), &(cases)[rows_i])

static inline int ignore_row(void *ctx, const struct row *row,
			     struct error *err)
{
	(void)ctx;
	(void)row;
	(void)err;
	return 0;
}

/*
 * The n-th allocation of a parse fails, and with on all after it.  Whether it
 * came to that.  Libcsv tries again with less, so one failure may do no harm.
 */
static inline bool fail_allocation(const struct rowformat *format,
				   const char *data, size_t len,
				   unsigned long n, bool on)
{
	char *copy = malloc(len);
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;
	size_t half = len / 2;
	bool failed, met;

	if (copy == NULL)
		return false;
	memcpy(copy, data, len);
	alloc_fail(n, on);
	failed = rowparse_new(format, ignore_row, NULL, &parse, &err) ||
		 rowparse_feed(parse, copy, half, &err) ||
		 rowparse_feed(parse, copy + half, len - half, &err) ||
		 rowparse_end(parse, true, &err);
	rowparse_free(parse);
	met = alloc_pass();
	CHECK(!failed || met);
	CHECK(failed || !met || !on);
	if (failed) {
		CHECK_U64(err.code, ERROR_INTERNAL);
		CHECK_STR(err.text, "out of memory");
	}
	free(copy);
	return met;
}

/* Each allocation of a parse fails in turn, until it comes through. */
static inline void fail_allocations(const struct rowformat *format,
				    const char *data, size_t len)
{
	unsigned long n = 1;

	while (n < 1000 && fail_allocation(format, data, len, n, true)) {
		fail_allocation(format, data, len, n, false);
		n++;
	}
	CHECK(n > 4 && n < 1000);
}

#endif
