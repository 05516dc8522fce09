/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rowkey: the key of a row, and of the one row that a command is asked about,
 * from the command line or from standard input.
 */
#ifndef BLOOMCTL_CMD_ROWKEY_H
#define BLOOMCTL_CMD_ROWKEY_H

#include "cmd/inputs.h"

/* Room for a key escaped (show_copy()), \xHH a byte, and a NUL. */
#define ROWKEY_SHOWN_MAX ((size_t)4 * BLOOMKEY_MAX + 1)

struct rowkey {
	unsigned char bytes[BLOOMKEY_MAX];
	struct bloomkey_result at;
	int reject; /* why there is no key, BLOOMKEY_REJECT_...; or 0 */
	char filter[BLOOMKEY_FILTER_MAX + 1];
	bool keep;     /* rowkey_one() keeps what it took the key of: */
	char **values; /* of each field, NULL: SQL's; owned; NULL: the row was
			  the key itself */
	size_t count;  /* of values */
	bool nul;      /* one of them has a NUL, and goes on behind it */
};

/* Frees what is kept; a zeroed struct is legal. */
void rowkey_release(struct rowkey *key);

/*
 * Derives the key of values in template order, or takes the one value that is
 * the key where the input's rows are keys, and finds its filter's name.  0,
 * also where out->reject says that there is no key; or -1 with *err:
 * ERROR_INTERNAL.
 */
int rowkey_derive(const struct inputs *in, const void *const *values,
		  const size_t *lens, struct rowkey *out, struct error *err);

/*
 * The key of the command's arguments or, with --stdin, of the one row on
 * standard input.  ERROR_USAGE if there is another number of values or of
 * rows, or if a keyed field would stand on the command line; ERROR_ROWS if
 * they have no key, with out->reject, or if they are other columns than those
 * of the keyspec.
 */
int rowkey_one(struct inputs *in, const struct opts *opts, struct rowkey *out,
	       struct error *err);

#endif
