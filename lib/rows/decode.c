/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/decode.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rows/inflate.h"
#include "lib/rows/magic.h"
#include "lib/rows/trailer.h"

/* A stream whose first bytes have been looked at. */
struct peek {
	struct stream base;
	struct stream *inner; /* owned */
	char first[MAGIC_SIZE];
	size_t len; /* bytes in first; fewer than it holds only at the end */
	size_t at;  /* of them handed on */
};

static int peek_read(struct stream *stream, void *buf, size_t cap, size_t *got,
		     struct error *err)
{
	struct peek *p = (struct peek *)stream;

	if (p->at == p->len)
		return p->inner->ops->read(p->inner, buf, cap, got, err);
	*got = p->len - p->at < cap ? p->len - p->at : cap;
	memcpy(buf, p->first + p->at, *got);
	p->at += *got;
	return 0;
}

static int peek_finish(struct stream *stream, struct error *err)
{
	struct peek *p = (struct peek *)stream;

	if (p->inner->ops->finish(p->inner, err) != 0)
		return -1;
	stream_count_of(&p->base, p->inner);
	return 0;
}

static void peek_close(struct stream *stream)
{
	struct peek *p = (struct peek *)stream;

	p->inner->ops->close(p->inner);
	free(p);
}

/* Takes inner over, also on failure. */
static struct peek *peek_open(struct stream *inner, struct error *err)
{
	static const struct stream_ops ops = {peek_read, peek_finish,
					      peek_close};
	struct peek *p = calloc(1, sizeof(*p));
	size_t got = 1;

	if (p == NULL) {
		inner->ops->close(inner);
		(void)error_nomem(err);
		return NULL;
	}
	p->base.ops = &ops;
	p->inner = inner;
	while (got > 0 && p->len < sizeof(p->first)) {
		if (inner->ops->read(inner, p->first + p->len,
				     sizeof(p->first) - p->len, &got,
				     err) != 0) {
			peek_close(&p->base);
			return NULL;
		}
		p->len += got;
	}
	return p;
}

static int refuse(const struct peek *p, bool unpacked, struct error *err)
{
	const struct magic *magic = magic_find(p->first, p->len);

	if (unpacked && inflate_kind(p->first, p->len) != INFLATE_NONE) {
		(void)error_set(err, ERROR_SOURCE, "it is packed twice");
		return error_hint(err, "unpack it once and name the result");
	}
	return magic != NULL ? magic_refuse(magic, err) : 0;
}

/* Looks at the first bytes, and unpacks; *stream is taken over on failure. */
static int look(struct stream **stream, bool unpacked, struct error *err)
{
	struct peek *p = peek_open(*stream, err);
	enum inflate_kind kind;

	if (p == NULL)
		return -1;
	if (refuse(p, unpacked, err) != 0) {
		peek_close(&p->base);
		return -1;
	}
	*stream = &p->base;
	kind = inflate_kind(p->first, p->len);
	if (kind == INFLATE_NONE)
		return 0;
	if (inflate_open(&p->base, kind, stream, err) != 0)
		return -1;
	return look(stream, true, err);
}

int decode_open(struct stream *raw, bool trailer, struct stream **out,
		struct error *err)
{
	*out = NULL;
	if (look(&raw, false, err) != 0)
		return -1;
	return trailer_open(raw, trailer, out, err);
}
