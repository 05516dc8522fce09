/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/inflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Of packed bytes; more than a header and what a stream below wants. */
#define INPUT_SIZE (128u << 10)

/* Members and frames are both units here. */
enum state { BETWEEN, INSIDE, PADDING, END, FAILED };

struct inflate {
	struct stream base;
	struct stream *inner;
	const struct codec *codec;
	z_stream gzip;
	ZSTD_DCtx *zstd;
	uint64_t promised; /* bytes of the frame, by its header */
	uint64_t unpacked; /* of them */
	enum state state;
	struct error err; /* of FAILED: it is told again and again */
	uint64_t units;   /* that are whole */
	size_t head;      /* of the bytes at hand, are a unit's first */
	bool full;        /* the codec may have more output, without input */
	bool ended;       /* inner is at its end */
	size_t at, len;   /* the bytes at hand: input[at] to input[len - 1] */
	unsigned char input[INPUT_SIZE];
};

/* What one step of a codec is given, and what it made of that. */
struct step {
	unsigned char *in;
	size_t in_len;
	unsigned char *out;
	size_t out_len;
	size_t used;
	size_t made;
	bool whole; /* the unit ended, and all of it is out */
};

struct codec {
	const char *name;
	const char *unit;
	size_t magic; /* bytes that tell what it is */
	bool padded;  /* NUL bytes may follow the last unit */
	int (*init)(struct inflate *s);
	/*
	 * How many bytes a unit with these first ones must have to be begun
	 * with; 0: none begins so.
	 */
	size_t (*head)(const unsigned char *first, size_t len);
	int (*step)(struct inflate *s, struct step *step, struct error *err);
	void (*free)(struct inflate *s);
};

static int copy_again(const struct codec *codec, struct error *err)
{
	return error_hint(err, "test the original with %s -t and copy it again",
			  codec->name);
}

static int damaged(const struct codec *codec, const char *why,
		   struct error *err)
{
	error_set(err, ERROR_DATA, "the %s data is damaged%s%s", codec->name,
		  why != NULL ? ": " : "", why != NULL ? why : "");
	return copy_again(codec, err);
}

static int cut_off(const struct codec *codec, struct error *err)
{
	error_set(err, ERROR_DATA, "the %s data is cut off inside a %s",
		  codec->name, codec->unit);
	return copy_again(codec, err);
}

static int gzip_init(struct inflate *s)
{
	return inflateInit2(&s->gzip, 16 + MAX_WBITS) == Z_OK ? 0 : -1;
}

static size_t gzip_head(const unsigned char *first, size_t len)
{
	return memcmp(first, "\x1f\x8b", len < 2 ? len : 2) == 0 ? 2 : 0;
}

static int gzip_step(struct inflate *s, struct step *step, struct error *err)
{
	z_stream *z = &s->gzip;
	/* Its lengths are no size_t. */
	uInt most = step->out_len < 1u << 30 ? (uInt)step->out_len : 1u << 30;
	int rc;

	z->next_in = step->in;
	z->avail_in = (uInt)step->in_len;
	z->next_out = step->out;
	z->avail_out = most;
	rc = inflate(z, Z_NO_FLUSH);
	step->used = step->in_len - z->avail_in;
	step->made = most - z->avail_out;
	step->whole = rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR)
		return error_nomem(err);
	/* Z_BUF_ERROR: there was nothing left, which only it knew. */
	if (rc != Z_OK && rc != Z_BUF_ERROR && rc != Z_STREAM_END)
		return damaged(s->codec, z->msg, err);
	if (step->whole)
		(void)inflateReset(z);
	return 0;
}

static void gzip_free(struct inflate *s)
{
	(void)inflateEnd(&s->gzip);
}

static int zstd_init(struct inflate *s)
{
	s->zstd = ZSTD_createDCtx();
	if (s->zstd == NULL)
		return -1;
	(void)ZSTD_DCtx_setParameter(s->zstd, ZSTD_d_windowLogMax,
				     __builtin_ctz(INFLATE_WINDOW_MAX));
	return 0;
}

/*
 * All of the frame's header.  libzstd is given that alone: where it has header
 * and frame in one piece it takes a shorter way, on which it does not look at
 * the window, and what is refused would depend on how the bytes came.
 */
static size_t zstd_head(const unsigned char *first, size_t len)
{
	static const unsigned char id_size[] = {0, 1, 2, 4};
	static const unsigned char content_size[] = {0, 2, 4, 8};
	size_t magic = len < 4 ? len : 4;
	size_t size;

	if ((first[0] & 0xf0) == 0x50 &&
	    memcmp(first + 1, "\x2a\x4d\x18", magic - 1) == 0)
		return 4 + 4;
	if (memcmp(first, "\x28\xb5\x2f\xfd", magic) != 0)
		return 0;
	if (len < 5)
		return 5;
	size = 5 + id_size[first[4] & 3] + content_size[first[4] >> 6];
	/* One more: a window's descriptor, or the shortest content size. */
	if ((first[4] & 0x20) == 0 || first[4] >> 6 == 0)
		size++;
	return size;
}

static int zstd_failed(struct inflate *s, const struct step *step, size_t rc,
		       struct error *err)
{
	switch (ZSTD_getErrorCode(rc)) {
	case ZSTD_error_memory_allocation:
		return error_nomem(err);
	case ZSTD_error_frameParameter_windowTooLarge:
		error_set(err, ERROR_SOURCE,
			  "the zstd data needs a window of more than %u MiB",
			  INFLATE_WINDOW_MAX >> 20);
		return error_hint(err, "pack it again without --long or with "
				       "--long=27");
	case ZSTD_error_dictionary_wrong:
		error_set(err, ERROR_SOURCE,
			  "the zstd data needs a dictionary, number %u",
			  ZSTD_getDictID_fromFrame(step->in, step->in_len));
		return error_hint(err, "pack it again without a dictionary");
	case ZSTD_error_checksum_wrong:
		return damaged(s->codec, "wrong checksum", err);
	default:
		return damaged(s->codec, NULL, err);
	}
}

static int zstd_step(struct inflate *s, struct step *step, struct error *err)
{
	ZSTD_inBuffer in = {step->in, step->in_len, 0};
	ZSTD_outBuffer out = {step->out, step->out_len, 0};
	size_t rc = ZSTD_decompressStream(s->zstd, &out, &in);

	if (ZSTD_isError(rc))
		return zstd_failed(s, step, rc, err);
	step->used = in.pos;
	step->made = out.pos;
	step->whole = rc == 0;
	if (s->head > 0) {
		s->promised = ZSTD_getFrameContentSize(step->in, step->in_len);
		s->unpacked = 0;
	}
	s->unpacked += out.pos;
	/* libzstd does not look where the last block is an empty one. */
	if (step->whole && s->promised != ZSTD_CONTENTSIZE_UNKNOWN &&
	    s->promised != s->unpacked)
		return damaged(s->codec, "wrong length", err);
	return 0;
}

static void zstd_free(struct inflate *s)
{
	(void)ZSTD_freeDCtx(s->zstd);
}

static const struct codec codecs[] = {
	[INFLATE_GZIP] = {"gzip", "member", 2, true, gzip_init, gzip_head,
			  gzip_step, gzip_free},
	[INFLATE_ZSTD] = {"zstd", "frame", 4, false, zstd_init, zstd_head,
			  zstd_step, zstd_free},
};

/*
 * Reads until need bytes are at hand, or all that there are.  It is asked for
 * as many as a header has at most, so little is moved.
 */
static int fill(struct inflate *s, size_t need, struct error *err)
{
	memmove(s->input, s->input + s->at, s->len - s->at);
	s->len -= s->at;
	s->at = 0;
	while (s->len < need && !s->ended) {
		size_t got;

		if (s->inner->ops->read(s->inner, s->input + s->len,
					sizeof(s->input) - s->len, &got,
					err) != 0)
			return -1;
		s->len += got;
		s->ended = got == 0;
	}
	return 0;
}

/* Finds out what follows: a unit, padding, the end or what may not. */
static int pass_between(struct inflate *s, struct error *err)
{
	const struct codec *codec = s->codec;
	size_t have = s->len - s->at;
	size_t need = 1;

	if (have > 0)
		need = codec->head(s->input + s->at, have);
	if (need > 0 && have >= need) {
		s->head = need;
		s->state = INSIDE;
	} else if (need == 0 && codec->padded && s->units > 0 &&
		   s->input[s->at] == 0) {
		s->state = PADDING;
	} else if (need == 0) {
		return error_set(err, ERROR_DATA,
				 "bytes that are no %s follow the last %s",
				 codec->name, codec->unit);
	} else if (!s->ended) {
		return fill(s, need, err);
	} else if (have > 0 || s->units == 0) {
		return cut_off(codec, err);
	} else {
		s->state = END;
	}
	return 0;
}

static int pass_inside(struct inflate *s, void *buf, size_t cap, size_t *got,
		       struct error *err)
{
	struct step step = {.out = (unsigned char *)buf + *got,
			    .out_len = cap - *got};
	int rc;

	if (s->at == s->len && !s->full) {
		if (fill(s, 1, err) != 0)
			return -1;
		if (s->len == 0)
			return cut_off(s->codec, err);
	}
	step.in = s->input + s->at;
	step.in_len = s->head > 0 ? s->head : s->len - s->at;
	rc = s->codec->step(s, &step, err);
	*got += step.made;
	if (rc != 0)
		return -1;
	s->head = 0;
	s->at += step.used;
	s->full = step.made == step.out_len;
	if (step.whole) {
		s->units++;
		s->state = BETWEEN;
	}
	return 0;
}

static int pass_padding(struct inflate *s, struct error *err)
{
	if (s->at == s->len && fill(s, 1, err) != 0)
		return -1;
	if (s->len == 0)
		s->state = END;
	for (; s->at < s->len; s->at++) {
		if (s->input[s->at] != 0)
			return error_set(err, ERROR_DATA,
					 "bytes that are not NUL follow the "
					 "padding of the %s data",
					 s->codec->name);
	}
	return 0;
}

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	struct inflate *s = (struct inflate *)stream;
	int rc = 0;

	*got = 0;
	while (*got < cap && s->state != END && s->state != FAILED) {
		if (s->state == INSIDE)
			rc = pass_inside(s, buf, cap, got, &s->err);
		else if (s->state == PADDING)
			rc = pass_padding(s, &s->err);
		else
			rc = pass_between(s, &s->err);
		if (rc != 0)
			s->state = FAILED;
	}
	/* The bytes before an error go first. */
	if (s->state != FAILED || *got > 0)
		return 0;
	*err = s->err;
	return -1;
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct inflate *s = (struct inflate *)stream;

	if (s->state == FAILED) {
		*err = s->err;
		return -1;
	}
	if (s->state != END)
		return error_set(err, ERROR_INTERNAL,
				 "the %s data was not read to its end",
				 s->codec->name);
	if (s->inner->ops->finish(s->inner, err) != 0)
		return -1;
	stream_count_of(&s->base, s->inner);
	return 0;
}

static void stream_close(struct stream *stream)
{
	struct inflate *s = (struct inflate *)stream;

	s->codec->free(s);
	s->inner->ops->close(s->inner);
	free(s);
}

enum inflate_kind inflate_kind(const void *first, size_t len)
{
	for (int kind = INFLATE_GZIP; kind <= INFLATE_ZSTD; kind++) {
		if (len >= codecs[kind].magic &&
		    codecs[kind].head(first, codecs[kind].magic) != 0)
			return (enum inflate_kind)kind;
	}
	return INFLATE_NONE;
}

int inflate_open(struct stream *inner, enum inflate_kind kind,
		 struct stream **out, struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct inflate *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s != NULL) {
		s->base.ops = &ops;
		s->inner = inner;
		s->codec = &codecs[kind];
		if (s->codec->init(s) == 0) {
			*out = &s->base;
			return 0;
		}
	}
	free(s);
	inner->ops->close(inner);
	return error_nomem(err);
}
