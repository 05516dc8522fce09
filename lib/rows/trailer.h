/* SPDX-License-Identifier: BSD-2-Clause
 *
 * trailer: the last line of a pipe, by which a reader knows that it had all.
 *
 *	row\nrow\n\. rows=2 bytes=8 xxh64=0123456789abcdef\n
 *
 * Bytes and sum (XXH64, seed 0) are those of everything before the line; rows
 * are without headers.  Only who knows that its input was whole may write
 * one: a filter does not know how its producer ended.
 */
#ifndef BLOOMCTL_ROWS_TRAILER_H
#define BLOOMCTL_ROWS_TRAILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/rows/source.h"

/* The longest trailer, with its newline: two numbers of 20 digits each. */
#define TRAILER_MAX 80

struct trailer {
	uint64_t rows;
	uint64_t bytes;
	uint64_t xxh64;
};

/* Writes one with its newline and a NUL; its length without the NUL. */
size_t trailer_format(const struct trailer *trailer, char out[TRAILER_MAX + 1]);

/*
 * Reads one from the end of bytes.  Where these end in a trailer, and it
 * begins them or stands behind a newline, it is *out and its length is
 * returned; else 0.  Exactly what trailer_format() writes is one.
 */
size_t trailer_find(const void *data, size_t len, struct trailer *out);

/*
 * Makes the stream of inner's bytes without their trailer.  inner is taken
 * over: closed with *out, and closed at once on failure.  -1 is
 * ERROR_INTERNAL (no memory).
 *
 * At the end of inner read() fails with ERROR_DATA: bytes or sum are not
 * those of the trailer, or, if it is required, there is none.  Without a
 * trailer that is required the bytes are passed on as they are.  finish() is
 * inner's and sets counted and rows from the trailer.  read() wants a buffer
 * of more than TRAILER_MAX bytes and copies none but the last TRAILER_MAX.
 */
int trailer_open(struct stream *inner, bool required, struct stream **out,
		 struct error *err);

#endif
