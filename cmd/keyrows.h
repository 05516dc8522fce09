/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keyrows: rows from standard input, for the commands that answer about keys.
 *
 * Rows are COPY text, one value for each field of the keyspec in template
 * order, unless --input-format, --columns, --header and --null say otherwise.
 */
#ifndef BLOOMCTL_CMD_KEYROWS_H
#define BLOOMCTL_CMD_KEYROWS_H

#include "cmd/inputs.h"
#include "lib/rows/rowparse.h"

/* Called with each row, and after each part of the input. */
struct keyrows_ops {
	row_fn *row;
	int (*part)(void *ctx, struct error *err); /* NULL: nobody waits */
};

/*
 * Reads rows until the end, or until a function returns -1; what is read at
 * once is handed on at once, so that an answer never waits for more input.
 * in->spec is set.  ERROR_ROWS, ERROR_DATA, ERROR_SOURCE of damaged input.
 */
int keyrows_read(struct inputs *in, const struct opts *opts,
		 const struct keyrows_ops *ops, void *ctx, struct error *err);

#endif
