/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rowcore: what every row parser has, for those who write one.
 *
 * A parser puts this struct first in its own.  It splits bytes into fields;
 * the core knows the columns, checks the length of rows, numbers them, calls
 * back, and keeps the first error, which every later call returns again.
 */
#ifndef BLOOMCTL_ROWS_ROWCORE_H
#define BLOOMCTL_ROWS_ROWCORE_H

#include "lib/rows/columns.h"
#include "lib/rows/rowparse.h"

struct rowcore {
	struct rowparse base;
	const struct rowformat *format; /* borrowed */
	row_fn *fn;
	void *ctx;
	struct columns columns;
	const void **values; /* per wanted column; owned */
	size_t *lens;        /* likewise */
	uint64_t rows;       /* called back, or about to be */
	bool header_due;     /* the next row is the header */
	bool failed;
	struct error err; /* if failed */
};

/*
 * Fills a core; with format->names the columns are found at once.  0 or -1
 * (ERROR_ROWS, ERROR_INTERNAL); rowcore_release() is legal in both cases.
 */
int rowcore_init(struct rowcore *core, const struct rowparse_ops *ops,
		 const struct rowformat *format, row_fn *fn, void *ctx,
		 struct error *err);
void rowcore_release(struct rowcore *core);

/*
 * Ends the parse with core->err, which the caller has set, and copies it to
 * err.  Always returns -1; also to be called first in feed and end when
 * core->failed.
 */
int rowcore_fail(struct rowcore *core, struct error *err);

/* Puts "row N" or "header row" in front of core->err; always returns -1. */
int rowcore_prefix(struct rowcore *core);

/* One field of the header row.  0 or -1 with core->err. */
int rowcore_header_field(struct rowcore *core, const void *name, size_t len);

/*
 * The header row is over and had count fields.  0 or -1 with core->err; the
 * columns are known then.
 */
int rowcore_header_end(struct rowcore *core, size_t count);

/* A row has count fields: 0 or, if that is wrong, -1 with core->err. */
int rowcore_length(struct rowcore *core, size_t count);

/* Calls back with core->values and core->lens.  0 or -1 with core->err. */
static inline int rowcore_row(struct rowcore *core)
{
	struct row row = {core->values, core->lens, core->rows};

	core->base.rows++;
	return core->fn(core->ctx, &row, &core->err);
}

/*
 * Refuses a byte order mark where no header is due; remedy says how to write a
 * value that begins so.  PostgreSQL writes no mark, so an editor may have put
 * it there, or the value begins with U+FEFF: either guess could make a key
 * that no writer makes.  Always returns -1 with core->err.
 */
int rowcore_bom(struct rowcore *core, const char *remedy);

/* After the last byte: 0, or -1 with core->err when no header came. */
int rowcore_end(struct rowcore *core);

/* The parsers.  As rowparse_new(). */
int copytext_new(const struct rowformat *format, row_fn *fn, void *ctx,
		 struct rowparse **out, struct error *err);
int csv_new(const struct rowformat *format, row_fn *fn, void *ctx,
	    struct rowparse **out, struct error *err);

#endif
