/* SPDX-License-Identifier: BSD-2-Clause
 *
 * packed: what the test of inflate packs and unpacks with.
 *
 * Every case is unpacked in pieces of several sizes into buffers of several,
 * and the stream below says how it was used.
 */
#ifndef BLOOMCTL_TESTS_UNIT_ROWS_PACKED_H
#define BLOOMCTL_TESTS_UNIT_ROWS_PACKED_H

#define ZLIB_CONST /* input is const */
#include <zlib.h>
#include <zstd.h>

#include "lib/base/buf.h"
#include "lib/rows/inflate.h"
#include "tests/unit/rows/rows.h"

#define BIG          (1u << 20)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The stream below: some bytes, in pieces, and then an end or an error. */
struct inner {
	struct stream base;
	const char *data;
	size_t len;
	size_t piece;           /* bytes per read; 0: all that fit */
	enum inflate_kind kind; /* NONE: what it is by its first bytes */
	bool fails;             /* at its end */
	bool finish_fails;
	unsigned ends; /* how often it was read at its end */
	unsigned finished;
	unsigned closed;
};

static inline int inner_read(struct stream *stream, void *buf, size_t cap,
			     size_t *got, struct error *err)
{
	struct inner *in = (struct inner *)stream;
	size_t n = in->len < cap ? in->len : cap;

	CHECK(cap > 80);
	if (in->piece > 0 && n > in->piece)
		n = in->piece;
	*got = n;
	in->ends += n == 0;
	if (n == 0 && in->fails)
		return error_set(err, ERROR_SOURCE, "pipe: broken");
	memcpy(buf, in->data, n);
	in->data += n;
	in->len -= n;
	return 0;
}

static inline int inner_finish(struct stream *stream, struct error *err)
{
	struct inner *in = (struct inner *)stream;

	in->finished++;
	if (in->finish_fails)
		return error_set(err, ERROR_DATA, "pipe: no true end");
	in->base.counted = true;
	in->base.rows = 7;
	return 0;
}

static inline void inner_close(struct stream *stream)
{
	((struct inner *)stream)->closed++;
}

static const struct stream_ops inner_ops = {inner_read, inner_finish,
					    inner_close};

/* Unpacks all of it, appending to out; 0 or -1. */
static inline int unpack(struct inner *in, size_t cap, struct buf *out,
			 struct error *err)
{
	static char room[256 << 10];
	enum inflate_kind kind = in->kind;
	struct stream *stream = NULL;
	size_t got = 1;
	int rc;

	in->base.ops = &inner_ops;
	if (kind == INFLATE_NONE)
		kind = inflate_kind(in->data, in->len);
	rc = inflate_open(&in->base, kind, &stream, err);
	while (rc == 0 && got > 0) {
		rc = stream->ops->read(stream, room, cap, &got, err);
		CHECK(got <= cap && (rc == 0 || got == 0));
		CHECK(buf_add(out, room, got) == 0);
	}
	if (rc == 0)
		rc = stream->ops->finish(stream, err);
	if (stream != NULL)
		stream->ops->close(stream);
	return rc;
}

/* In pieces of several sizes: this text, or an error with the text. */
static inline void check(const char *name, const struct buf *packed,
			 const struct buf *text, enum error_code code,
			 const char *wrong, const char *hint)
{
	static const size_t pieces[] = {0, 0, 1, 1, 7};
	static const size_t caps[] = {256 << 10, 1, 1, 256 << 10, 1000};
	bool bad = unit_bad;

	for (size_t i = 0; i < COUNT(caps); i++) {
		struct inner in = {.data = (const char *)packed->data,
				   .len = packed->len,
				   .piece = pieces[i]};
		struct error err = ERROR_INIT;
		struct buf out;

		buf_init(&out, 4 * BIG);
		CHECK(unpack(&in, caps[i], &out, &err) ==
		      (code == ERROR_NONE ? 0 : -1));
		CHECK_U64(err.code, code);
		CHECK_STR(err.text, wrong);
		CHECK_STR(err.hint, hint);
		CHECK_U64(out.len, text->len);
		CHECK(out.len == text->len &&
		      (out.len == 0 ||
		       memcmp(out.data, text->data, out.len) == 0));
		CHECK_U64(in.finished, code == ERROR_NONE);
		CHECK_U64(in.closed, 1);
		CHECK(in.ends <= 1);
		buf_release(&out);
	}
	if (unit_bad && !bad)
		printf("#   first in case: %s\n", name);
}

static inline void gzip(struct buf *out, const void *text, size_t len,
			gz_header *head)
{
	static unsigned char room[2 * BIG];
	z_stream z = {0};

	CHECK(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
			   Z_DEFAULT_STRATEGY) == Z_OK);
	if (head != NULL)
		CHECK(deflateSetHeader(&z, head) == Z_OK);
	z.next_in = text;
	z.avail_in = (uInt)len;
	z.next_out = room;
	z.avail_out = sizeof(room);
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	CHECK(buf_add(out, room, sizeof(room) - z.avail_out) == 0);
	deflateEnd(&z);
}

static inline void zstd(struct buf *out, const void *text, size_t len,
			bool bare)
{
	static unsigned char room[2 * BIG];
	ZSTD_CCtx *z = ZSTD_createCCtx();
	size_t n;

	ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, !bare);
	ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, !bare);
	n = ZSTD_compress2(z, room, sizeof(room), text, len);
	CHECK(!ZSTD_isError(n));
	CHECK(buf_add(out, room, n) == 0);
	ZSTD_freeCCtx(z);
}

/* A frame that is to be skipped: "P*M\x18", its length and so many bytes. */
static inline void skippable(struct buf *out, unsigned variant, size_t len)
{
	unsigned char head[8] = {(unsigned char)(0x50 + variant), 0x2a, 0x4d,
				 0x18};

	for (int i = 0; i < 4; i++)
		head[4 + i] = (unsigned char)(len >> (8 * i));
	CHECK(buf_add(out, head, 8) == 0);
	while (len-- > 0)
		CHECK(buf_add(out, "\xfd", 1) == 0);
}

/* Text that neither packs to nothing nor fits into one piece. */
static inline void big_text(struct buf *out)
{
	uint64_t x = 1;

	while (out->len < BIG / 2) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		buf_addf(out, "%" PRIu64 ",%x\n", x >> 40, (unsigned)out->len);
	}
}

#endif
