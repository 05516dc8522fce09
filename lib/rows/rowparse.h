/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rowparse: bytes in, rows out.
 *
 * Bytes are fed in chunks of any size; the parser calls back once per row
 * with the columns that were asked for, in the order in which they were asked
 * for, whatever their order in the file.  A row borrows the chunk or the
 * parser's own buffer: it is gone when the callback returns.  Chunks are
 * written to (text is unescaped in place).
 *
 * The first error ends the parse; every later call returns it again.
 */
#ifndef BLOOMCTL_ROWS_ROWPARSE_H
#define BLOOMCTL_ROWS_ROWPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* The longest row, in bytes: more is ERROR_DATA. */
#define ROWPARSE_ROW_MAX (8u << 20)

struct row {
	const void *const *values; /* NULL is SQL's NULL */
	const size_t *lens;        /* in bytes */
	uint64_t number;           /* from 1, without header rows */
};

/* 0 to go on; -1 with *err set ends the parse with that error. */
typedef int row_fn(void *ctx, const struct row *row, struct error *err);

enum rowformat_kind {
	ROWFORMAT_CSV,
	ROWFORMAT_TEXT, /* PostgreSQL's COPY text */
};

struct rowformat {
	enum rowformat_kind kind;
	bool header;              /* the first row is not data */
	bool bom_is_data;         /* without a header: a first value may begin
				     with U+FEFF; else it is refused */
	const char *null;         /* the text of NULL; NULL: the kind's own */
	const char *const *names; /* the file's columns, where told; or NULL:
				     then the header names them */
	size_t name_count;
	const char *const *wanted; /* the columns that a row shall hold */
	size_t wanted_count;
	uint64_t rows_before; /* of the file, in front of what is fed: rows are
				 numbered from there on */
};

struct rowparse;

struct rowparse_ops {
	int (*feed)(struct rowparse *parse, char *data, size_t len,
		    struct error *err);
	int (*end)(struct rowparse *parse, bool at_end, struct error *err);
	void (*free)(struct rowparse *parse);
};

struct rowparse {
	const struct rowparse_ops *ops;
	uint64_t rows; /* called back so far */
};

/*
 * Makes a parser.  format and what it points to is borrowed until the parser
 * is freed.  Without a header a wanted column that names[] lacks or holds
 * twice is ERROR_ROWS at once, else when the header has been read.
 */
int rowparse_new(const struct rowformat *format, row_fn *fn, void *ctx,
		 struct rowparse **out, struct error *err);

/* Feeds len bytes, which the parser may write to. */
static inline int rowparse_feed(struct rowparse *parse, char *data, size_t len,
				struct error *err)
{
	return parse->ops->feed(parse, data, len, err);
}

/*
 * After the last byte.  at_end: whether the bytes ended where the file does
 * (COPY text rows may not go on after "\.").  An open quote, a row without
 * its newline (COPY text), or a header that never came is ERROR_DATA.
 */
static inline int rowparse_end(struct rowparse *parse, bool at_end,
			       struct error *err)
{
	return parse->ops->end(parse, at_end, err);
}

static inline void rowparse_free(struct rowparse *parse)
{
	if (parse != NULL)
		parse->ops->free(parse);
}

#endif
