/* SPDX-License-Identifier: BSD-2-Clause
 *
 * decode: from the bytes that a source keeps to the bytes of its rows.
 *
 *	raw bytes → unpacked, if they are packed → without their trailer → rows
 *
 * What the bytes are is told by the first of them, never by a name.
 */
#ifndef BLOOMCTL_ROWS_DECODE_H
#define BLOOMCTL_ROWS_DECODE_H

#include <stdbool.h>

#include "lib/rows/source.h"

/*
 * Makes the stream of the rows of raw, which is taken over: closed with *out,
 * and closed at once on failure.  Reads the first bytes.  trailer: whether
 * there must be one; one that is there is held in any case.  -1: ERROR_SOURCE
 * for bytes that are something else than rows, or packed twice; the errors of
 * raw and of unpacking; ERROR_INTERNAL.
 */
int decode_open(struct stream *raw, bool trailer, struct stream **out,
		struct error *err);

#endif
