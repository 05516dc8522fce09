/* SPDX-License-Identifier: BSD-2-Clause
 *
 * pieces: bytes in memory as a stream, in pieces of chosen sizes, for the
 * tests of streams that are made of streams.
 */
#ifndef BLOOMCTL_TESTS_UNIT_ROWS_PIECES_H
#define BLOOMCTL_TESTS_UNIT_ROWS_PIECES_H

#include <string.h>

#include "lib/rows/source.h"

struct pieces {
	struct stream base;
	const void *data;
	size_t len;
	size_t at;
	const unsigned char *sizes; /* of the pieces, over and over; or NULL */
	size_t size_count;
	size_t piece;    /* size of each, where sizes is NULL; 0: no limit */
	size_t fails_at; /* read() fails when at is there; SIZE_MAX: never */
	bool not_whole;  /* finish() fails */
	unsigned reads;
	unsigned ends; /* reads that told the end */
	unsigned closes;
};

static inline int pieces_read(struct stream *stream, void *buf, size_t cap,
			      size_t *got, struct error *err)
{
	struct pieces *p = (struct pieces *)stream;
	size_t len = p->len - p->at;
	size_t most = p->piece;

	*got = 0;
	if (p->at >= p->fails_at)
		return error_set(err, ERROR_DATA, "the pieces broke off");
	if (p->sizes != NULL)
		most = (size_t)p->sizes[p->reads % p->size_count] + 1;
	p->reads++;
	if (len > cap)
		len = cap;
	if (most > 0 && len > most)
		len = most;
	if (len > p->fails_at - p->at)
		len = p->fails_at - p->at;
	if (len > 0)
		memcpy(buf, (const char *)p->data + p->at, len);
	else
		p->ends++;
	p->at += len;
	*got = len;
	return 0;
}

static inline int pieces_finish(struct stream *stream, struct error *err)
{
	struct pieces *p = (struct pieces *)stream;

	if (p->not_whole)
		return error_set(err, ERROR_DATA, "the pieces are not whole");
	return 0;
}

static inline void pieces_close(struct stream *stream)
{
	((struct pieces *)stream)->closes++;
}

/* The caller holds p and looks at it when it has been closed. */
static inline struct stream *pieces_init(struct pieces *p, const void *data,
					 size_t len, size_t piece)
{
	static const struct stream_ops ops = {pieces_read, pieces_finish,
					      pieces_close};

	memset(p, 0, sizeof(*p));
	p->base.ops = &ops;
	p->data = data;
	p->len = len;
	p->piece = piece;
	p->fails_at = SIZE_MAX;
	return &p->base;
}

#endif
