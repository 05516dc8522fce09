/* SPDX-License-Identifier: BSD-2-Clause
 *
 * buf: a growing byte buffer with a ceiling.
 *
 *	data            len          cap <= max
 *	|xxxxxxxxxxxxxxxx|.............|
 *
 * Every buffer is given its maximum when it is made; growth past it is an
 * error and not a larger buffer.  Contents are bytes and may hold NUL.
 */
#ifndef BLOOMCTL_BASE_BUF_H
#define BLOOMCTL_BASE_BUF_H

#include <stddef.h>

struct buf {
	char *data; /* owned; NULL while cap is 0 */
	size_t len;
	size_t cap;
	size_t max;
};

/* Makes an empty buffer that may grow to max bytes; allocates nothing. */
void buf_init(struct buf *b, size_t max);

/* Frees the contents; the buffer is as after buf_init(). */
void buf_release(struct buf *b);

/*
 * Makes room for extra more bytes.  0, or -1 if that would exceed max or
 * memory is out (buf_full() tells them apart); contents are unchanged then.
 */
int buf_reserve(struct buf *b, size_t extra);

/* Whether extra more bytes would exceed max. */
int buf_full(const struct buf *b, size_t extra);

/* Appends bytes; 0 or -1 as buf_reserve(). */
int buf_add(struct buf *b, const void *data, size_t len);

/* Appends the bytes of a string without its NUL; 0 or -1. */
int buf_adds(struct buf *b, const char *text);

/* Appends formatted text; 0 or -1. */
int buf_addf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The contents ended by a NUL that is not counted, or NULL as for -1. */
char *buf_string(struct buf *b);

#endif
