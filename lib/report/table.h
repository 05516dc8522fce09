/* SPDX-License-Identifier: BSD-2-Clause
 *
 * table: rows of text as aligned columns or as CSV, and histograms as bars.
 * Text goes to a buffer; printing is the caller's.
 */
#ifndef BLOOMCTL_REPORT_TABLE_H
#define BLOOMCTL_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

/* The most columns of a table. */
#define TABLE_COLUMNS_MAX 24

struct table {
	size_t columns;
	size_t rows;
	bool full;                       /* a cell did not fit */
	struct buf cells;                /* texts, each ended by NUL */
	size_t width[TABLE_COLUMNS_MAX]; /* characters of the widest cell */
};

/* Begins a table; its first row is the heading. */
void table_init(struct table *t, size_t columns);
void table_release(struct table *t);

/*
 * Adds one cell after the other, row by row.  0 or -1: out of memory, or, as
 * table_full() says from then on, 64 MiB are full.
 */
int table_add(struct table *t, const char *text);
int table_addf(struct table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool table_full(const struct table *t);

/*
 * Appends the table: columns two blanks apart, right-aligned where `right`
 * has a non-zero element for them.  0 or -1 (out of memory).
 */
int table_text(const struct table *t, const int *right, struct buf *out);

/* Appends it as CSV (RFC 4180 quoting, LF).  0 or -1. */
int table_csv(const struct table *t, struct buf *out);

/*
 * Appends a histogram of n values between least and most, in `bins` rows of
 * a range, a bar and a count.  unit stands behind the bounds.  0 or -1.
 */
int chart_histogram(const double *values, size_t n, unsigned bins,
		    const char *unit, struct buf *out);

#endif
