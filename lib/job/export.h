/* SPDX-License-Identifier: BSD-2-Clause
 *
 * export: the rows of a source as bytes, with the trailer behind them that
 * says that they are whole.  They are parsed on the way, to be counted and
 * because bytes that are no rows get no trailer.
 */
#ifndef BLOOMCTL_JOB_EXPORT_H
#define BLOOMCTL_JOB_EXPORT_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/job/scan.h"
#include "lib/rows/source.h"
#include "lib/rows/trailer.h"

struct export
{
	struct source *source;
	const struct rowformat *format; /* no column is wanted */
	struct progress progress;

	/* Takes bytes, in order; borrowed until return.  0 or -1 ends it. */
	int (*write)(void *ctx, const void *data, size_t len,
		     struct error *err);
	void *ctx;
};

/*
 * Copies a source of one part, unpacked and without a trailer of its own;
 * *done is what the trailer says, or how far it came.  ERROR_USAGE for a
 * source of several parts; ERROR_ROWS, ERROR_DATA, ERROR_SOURCE for rows that
 * are none or not whole; write()'s own; a stop.  After an error no trailer was
 * written.
 */
int export_run(const struct export *e, struct trailer *done, struct error *err);

#endif
