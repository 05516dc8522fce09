/* SPDX-License-Identifier: BSD-2-Clause
 *
 * inflate: a stream of gzip or zstd as the bytes that were packed.
 *
 *	gzip: [member][member]...[NUL padding]
 *	zstd: [frame][skippable frame][frame]...
 *
 * Every member and frame is unpacked, one behind the other, and each must be
 * whole and pass its own checksum.  After the last only NUL bytes may follow
 * (gzip); anything else is an error, as is an end inside a member.  Memory is
 * bounded: a zstd window of more than INFLATE_WINDOW_MAX is refused.
 */
#ifndef BLOOMCTL_ROWS_INFLATE_H
#define BLOOMCTL_ROWS_INFLATE_H

#include <stddef.h>

#include "lib/rows/source.h"

/*
 * The largest window, in bytes: no zstd makes a larger one that was not asked
 * to by --long=28 or more.
 */
#define INFLATE_WINDOW_MAX (128u << 20)

enum inflate_kind { INFLATE_NONE, INFLATE_GZIP, INFLATE_ZSTD };

/*
 * What the first bytes of a stream are; 4 are enough.  A stream that begins
 * with a skippable frame is zstd.
 */
enum inflate_kind inflate_kind(const void *first, size_t len);

/*
 * Makes the stream of what inner holds packed, kind being what
 * inflate_kind() said of its first bytes.  inner is taken over: closed with
 * *out, and closed at once on failure.  -1 is ERROR_INTERNAL (no memory).
 *
 * read() fails with ERROR_DATA: the data is damaged, ends inside a member, or
 * is followed by something else; ERROR_SOURCE: the window is too large, or a
 * dictionary is needed; ERROR_INTERNAL: no memory; and inner's own errors.
 * The bytes before the error are read first; then it is returned again and
 * again.  finish() is inner's finish(), after the end only.  Texts name no
 * file; the caller does.
 */
int inflate_open(struct stream *inner, enum inflate_kind kind,
		 struct stream **out, struct error *err);

#endif
