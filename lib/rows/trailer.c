/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/trailer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"

/* Between its parts; the line that is read and the one that is written. */
#define ROWS  "\\. rows="
#define BYTES " bytes="
#define SUM   " xxh64="

#define SUM_DIGITS 16u

struct trailer_stream {
	struct stream base;
	struct stream *inner;   /* owned */
	struct sum_stream *sum; /* of the bytes passed on; owned */
	uint64_t bytes;         /* passed on */
	bool required;
	bool ended; /* inner has, and all is well so far */
	bool found; /* base.rows is the trailer's */
	struct error err;
	size_t held; /* bytes in tail */
	/*
	 * One byte longer than any trailer: so what stands before it, too, is
	 * here, or the trailer begins the stream.
	 */
	char tail[TRAILER_MAX];
};

size_t trailer_format(const struct trailer *trailer, char out[TRAILER_MAX + 1])
{
	int len = snprintf(out, TRAILER_MAX + 1,
			   ROWS "%" PRIu64 BYTES "%" PRIu64 SUM "%016" PRIx64
				"\n",
			   trailer->rows, trailer->bytes, trailer->xxh64);

	return (size_t)len;
}

static bool take_text(const char **pos, const char *end, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(end - *pos) < len || memcmp(*pos, text, len) != 0)
		return false;
	*pos += len;
	return true;
}

static bool take_number(const char **pos, const char *end, uint64_t *out)
{
	const char *start = *pos;
	const char *p = start;
	uint64_t n = 0;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			return false;
	}
	if (p == start || (*start == '0' && p > start + 1))
		return false;
	*pos = p;
	*out = n;
	return true;
}

static bool take_sum(const char **pos, const char *end, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t n = 0;

	if ((size_t)(end - *pos) < SUM_DIGITS)
		return false;
	for (size_t i = 0; i < SUM_DIGITS; i++) {
		const char *digit =
			memchr(digits, (*pos)[i], sizeof(digits) - 1);

		if (digit == NULL)
			return false;
		n = n << 4 | (uint64_t)(digit - digits);
	}
	*pos += SUM_DIGITS;
	*out = n;
	return true;
}

size_t trailer_find(const void *data, size_t len, struct trailer *out)
{
	const char *start = data;
	const char *end = start + len;
	const char *line, *pos;
	struct trailer t;

	if (len == 0 || end[-1] != '\n')
		return 0;
	/* No trailer is so long: at the cut none can begin. */
	if (len > TRAILER_MAX)
		start = end - TRAILER_MAX;
	for (line = end - 1; line > start && line[-1] != '\n';)
		line--;
	pos = line;
	if (!take_text(&pos, end, ROWS) || !take_number(&pos, end, &t.rows) ||
	    !take_text(&pos, end, BYTES) || !take_number(&pos, end, &t.bytes) ||
	    !take_text(&pos, end, SUM) || !take_sum(&pos, end, &t.xxh64) ||
	    pos != end - 1)
		return 0;
	*out = t;
	return (size_t)(end - line);
}

/* Whether the end would be a trailer if its line did not end in CRLF. */
static bool ends_in_crlf(const struct trailer_stream *s)
{
	struct trailer t;
	char copy[TRAILER_MAX];
	size_t len = s->held;

	if (len < 2 || s->tail[len - 2] != '\r')
		return false;
	memcpy(copy, s->tail, len - 2);
	copy[len - 2] = '\n';
	return trailer_find(copy, len - 1, &t) != 0;
}

static int no_trailer(struct trailer_stream *s)
{
	if (ends_in_crlf(s)) {
		error_set(&s->err, ERROR_DATA,
			  "the trailer's line ends in CRLF: the bytes were "
			  "changed on the way");
		return error_hint(&s->err, "pass the bytes on as they are; "
					   "newlines must not be converted");
	}
	if (s->bytes == 0 && s->held == 0)
		error_set(&s->err, ERROR_DATA,
			  "it is empty and has no trailer: nobody says that "
			  "there are no rows");
	else
		error_set(&s->err, ERROR_DATA,
			  "it ends without a trailer, so nobody says that it "
			  "is whole");
	return error_hint(&s->err, "let bloomctl export write it; "
				   "build, verify and size do without by "
				   "--no-trailer");
}

/* The bytes passed on, and those before the trailer that are about to be. */
static int check(struct trailer_stream *s, const struct trailer *t)
{
	if (s->bytes != t->bytes)
		return error_set(&s->err, ERROR_DATA,
				 "the trailer says %" PRIu64
				 " bytes and %" PRIu64 " came: %s",
				 t->bytes, s->bytes,
				 s->bytes < t->bytes
					 ? "the pipe lost some"
					 : "some were added on the way");
	if (sum_stream_value(s->sum) != t->xxh64)
		return error_set(&s->err, ERROR_DATA,
				 "the trailer's checksum is not that of the "
				 "bytes before it");
	return 0;
}

static void pass(struct trailer_stream *s, const void *data, size_t len)
{
	sum_stream_add(s->sum, data, len);
	s->bytes += len;
}

/* Inner has ended: what is held back is judged, the rest of it is passed on. */
static int judge(struct trailer_stream *s, char *buf, size_t *got)
{
	struct trailer t;
	size_t len = trailer_find(s->tail, s->held, &t);

	if (len == 0 && s->required)
		return no_trailer(s);
	pass(s, s->tail, s->held - len);
	if (len > 0) {
		if (check(s, &t) != 0)
			return -1;
		s->found = true;
		s->base.rows = t.rows;
	}
	*got = s->held - len;
	memcpy(buf, s->tail, *got);
	s->ended = true;
	return 0;
}

/* Inner's bytes go behind the held ones, and the last become the held ones. */
static int fill(struct trailer_stream *s, char *buf, size_t cap, size_t *got)
{
	while (*got == 0 && !s->ended) {
		size_t len = 0;

		if (s->inner->ops->read(s->inner, buf + s->held, cap - s->held,
					&len, &s->err) != 0)
			return -1;
		if (len == 0)
			return judge(s, buf, got);
		memcpy(buf, s->tail, s->held);
		len += s->held;
		if (len > TRAILER_MAX)
			*got = len - TRAILER_MAX;
		pass(s, buf, *got);
		s->held = len - *got;
		memcpy(s->tail, buf + *got, s->held);
	}
	return 0;
}

static int trailer_read(struct stream *stream, void *buf, size_t cap,
			size_t *got, struct error *err)
{
	struct trailer_stream *s = (struct trailer_stream *)stream;
	int rc = -1;

	*got = 0;
	if (s->err.code == ERROR_NONE && cap <= TRAILER_MAX)
		error_set(&s->err, ERROR_INTERNAL,
			  "a buffer of %zu bytes for a stream with a trailer",
			  cap);
	if (s->err.code == ERROR_NONE)
		rc = fill(s, buf, cap, got);
	if (rc != 0)
		*err = s->err;
	return rc;
}

static int trailer_finish(struct stream *stream, struct error *err)
{
	struct trailer_stream *s = (struct trailer_stream *)stream;

	if (s->err.code == ERROR_NONE && !s->ended)
		error_set(&s->err, ERROR_INTERNAL, "not read to its end");
	if (s->err.code == ERROR_NONE &&
	    s->inner->ops->finish(s->inner, &s->err) == 0) {
		if (s->found)
			s->base.counted = true;
		else
			stream_count_of(&s->base, s->inner);
		return 0;
	}
	*err = s->err;
	return -1;
}

static void trailer_close(struct stream *stream)
{
	struct trailer_stream *s = (struct trailer_stream *)stream;

	s->inner->ops->close(s->inner);
	sum_stream_free(s->sum);
	free(s);
}

int trailer_open(struct stream *inner, bool required, struct stream **out,
		 struct error *err)
{
	static const struct stream_ops ops = {trailer_read, trailer_finish,
					      trailer_close};
	struct trailer_stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s != NULL)
		s->sum = sum_stream_new();
	if (s == NULL || s->sum == NULL) {
		free(s);
		inner->ops->close(inner);
		return error_nomem(err);
	}
	s->base.ops = &ops;
	s->inner = inner;
	s->required = required;
	*out = &s->base;
	return 0;
}
