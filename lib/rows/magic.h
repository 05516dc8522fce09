/* SPDX-License-Identifier: BSD-2-Clause
 *
 * magic: files that are no rows, told by their first bytes.
 *
 * Read as CSV or COPY text they would give a puzzling error at best and, as
 * one column of bytes, wrong keys at worst; so they are named and refused.
 * gzip and zstd are not among them: these are unpacked (inflate.h).
 */
#ifndef BLOOMCTL_ROWS_MAGIC_H
#define BLOOMCTL_ROWS_MAGIC_H

#include <stddef.h>

#include "lib/base/error.h"

/* How many first bytes are enough. */
#define MAGIC_SIZE 16u

struct magic {
	const char *name;   /* "gzip" */
	const char *remedy; /* what to do, for a hint */
};

/* What the first bytes are, or NULL: nothing known, so perhaps rows. */
const struct magic *magic_find(const void *data, size_t len);

/* Says so: ERROR_SOURCE with the remedy.  Always returns -1. */
int magic_refuse(const struct magic *magic, struct error *err);

#endif
