/* SPDX-License-Identifier: BSD-2-Clause
 *
 * replyflat: an answer that is one array of digits, for reply.c.
 *
 *	*3\r\n:1\r\n:0\r\n:1\r\n
 *
 * Adds and questions in batches are answered so, and then it is most of what
 * comes from a server: told at a glance, it need not be parsed by element.
 */
#ifndef BLOOMCTL_REDIS_REPLYFLAT_H
#define BLOOMCTL_REDIS_REPLYFLAT_H

#include <stddef.h>

/* The most elements of one; larger ones are left to the parser. */
#define REPLYFLAT_COUNT_MAX 2000

/* What an element takes, and where in it the digit stands. */
#define REPLYFLAT_STEP  4
#define REPLYFLAT_DIGIT 1

enum replyflat {
	REPLYFLAT_NO,   /* it is something else */
	REPLYFLAT_PART, /* so far it may become one */
	REPLYFLAT_WHOLE,
};

/*
 * Whether bytes begin with one.  Of a whole one *count is how many elements it
 * has, and *first where the first begins; the answer ends behind the last.
 */
enum replyflat replyflat_scan(const char *data, size_t len, size_t *count,
			      size_t *first);

#endif
