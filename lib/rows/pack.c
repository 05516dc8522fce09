/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/pack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* What is written at once. */
#define OUT_SIZE (128u << 10)

/*
 * Rows are packed while they come from a database, which waits: fast ones.  Of
 * rows of cards gzip makes 3 to 5 % more than by default, in half the time.
 */
#define GZIP_LEVEL 2
#define ZSTD_LEVEL 1

/* A window of 32 KiB, with a header and trailer of gzip. */
#define GZIP_WINDOW (15 + 16)

struct pack {
	enum pack_kind kind;
	pack_write *write;
	void *ctx;
	z_stream zlib;
	ZSTD_CCtx *zstd;
	unsigned char *out;
};

static const struct {
	const char *name;
	const char *suffix;
} kinds[PACK_KINDS] = {{"none", ""}, {"gzip", ".gz"}, {"zstd", ".zst"}};

const char *pack_name(enum pack_kind kind)
{
	return kinds[kind].name;
}

const char *pack_suffix(enum pack_kind kind)
{
	return kinds[kind].suffix;
}

enum pack_kind pack_by_name(const char *name)
{
	unsigned kind = 0;

	while (kind < PACK_KINDS && strcmp(kinds[kind].name, name) != 0)
		kind++;
	return (enum pack_kind)kind;
}

static int init(struct pack *p)
{
	if (p->kind == PACK_NONE)
		return 0;
	p->out = malloc(OUT_SIZE);
	if (p->out == NULL)
		return -1;
	if (p->kind == PACK_GZIP)
		return deflateInit2(&p->zlib, GZIP_LEVEL, Z_DEFLATED,
				    GZIP_WINDOW, MAX_MEM_LEVEL,
				    Z_DEFAULT_STRATEGY) == Z_OK
			       ? 0
			       : -1;
	p->zstd = ZSTD_createCCtx();
	if (p->zstd == NULL)
		return -1;
	(void)ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel,
				     ZSTD_LEVEL);
	(void)ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

int pack_new(enum pack_kind kind, pack_write *write, void *ctx,
	     struct pack **out, struct error *err)
{
	struct pack *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (p == NULL)
		return error_nomem(err);
	p->kind = kind;
	p->write = write;
	p->ctx = ctx;
	if (init(p) != 0) {
		free(p->out);
		free(p);
		return error_nomem(err);
	}
	*out = p;
	return 0;
}

void pack_begin(struct pack *p)
{
	if (p->kind == PACK_GZIP)
		(void)deflateReset(&p->zlib);
	else if (p->kind == PACK_ZSTD)
		(void)ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_only);
}

/* len is at most UINT_MAX. */
static int gzip(struct pack *p, const void *data, size_t len, int flush,
		struct error *err)
{
	size_t n;
	int rc;

	/* zlib takes a const pointer as one that is not. */
	memcpy(&p->zlib.next_in, &data, sizeof(data));
	p->zlib.avail_in = (uInt)len;
	do {
		p->zlib.next_out = p->out;
		p->zlib.avail_out = OUT_SIZE;
		rc = deflate(&p->zlib, flush);
		n = OUT_SIZE - p->zlib.avail_out;
		if (n > 0 && p->write(p->ctx, p->out, n, err) != 0)
			return -1;
	} while (p->zlib.avail_out == 0 && rc != Z_STREAM_END);
	return 0;
}

static int zstd(struct pack *p, const void *data, size_t len,
		ZSTD_EndDirective end, struct error *err)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {p->out, OUT_SIZE, 0};

		left = ZSTD_compressStream2(p->zstd, &out, &in, end);
		/* With these parameters memory is all that it can lack. */
		if (ZSTD_isError(left))
			return error_nomem(err);
		if (out.pos > 0 && p->write(p->ctx, p->out, out.pos, err) != 0)
			return -1;
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

int pack_add(struct pack *p, const void *data, size_t len, struct error *err)
{
	const char *at = data;

	if (p->kind == PACK_NONE)
		return len > 0 ? p->write(p->ctx, data, len, err) : 0;
	if (p->kind == PACK_ZSTD)
		return zstd(p, data, len, ZSTD_e_continue, err);
	while (len > 0) {
		size_t n = len < INT_MAX ? len : INT_MAX;

		if (gzip(p, at, n, Z_NO_FLUSH, err) != 0)
			return -1;
		at += n;
		len -= n;
	}
	return 0;
}

int pack_end(struct pack *p, struct error *err)
{
	switch (p->kind) {
	case PACK_GZIP:
		return gzip(p, "", 0, Z_FINISH, err);
	case PACK_ZSTD:
		return zstd(p, "", 0, ZSTD_e_end, err);
	default:
		return 0;
	}
}

void pack_free(struct pack *p)
{
	if (p == NULL)
		return;
	if (p->kind == PACK_GZIP)
		(void)deflateEnd(&p->zlib);
	(void)ZSTD_freeCCtx(p->zstd);
	free(p->out);
	free(p);
}
