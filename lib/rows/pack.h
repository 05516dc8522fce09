/* SPDX-License-Identifier: BSD-2-Clause
 *
 * pack: bytes as a gzip member or a zstd frame, or as they are; the other
 * direction of inflate.
 *
 * One pack writes many files, one behind the other.  What it writes depends
 * on its bytes only: no name and no time is in it.
 */
#ifndef BLOOMCTL_ROWS_PACK_H
#define BLOOMCTL_ROWS_PACK_H

#include <stddef.h>

#include "lib/base/error.h"

enum pack_kind { PACK_NONE, PACK_GZIP, PACK_ZSTD, PACK_KINDS };

/* Takes packed bytes, borrowed until return; 0 or -1. */
typedef int pack_write(void *ctx, const void *data, size_t len,
		       struct error *err);

struct pack;

/* -1 is ERROR_INTERNAL (no memory). */
int pack_new(enum pack_kind kind, pack_write *write, void *ctx,
	     struct pack **out, struct error *err);

/* Begins a file; what was left of one before is forgotten. */
void pack_begin(struct pack *pack);

/* Packs bytes.  0 or -1: write()'s own, or ERROR_INTERNAL (no memory). */
int pack_add(struct pack *pack, const void *data, size_t len,
	     struct error *err);

/* Writes what is left, and the end that says that the file is whole. */
int pack_end(struct pack *pack, struct error *err);

/* NULL is legal. */
void pack_free(struct pack *pack);

/* "none", "gzip", "zstd". */
const char *pack_name(enum pack_kind kind);

/* The kind of a name, or PACK_KINDS. */
enum pack_kind pack_by_name(const char *name);

/* What a file's name ends with: "", ".gz", ".zst". */
const char *pack_suffix(enum pack_kind kind);

#endif
