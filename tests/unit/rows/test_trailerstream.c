/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The stream of trailer.c; its line is tested in test_trailer.c.
 */
#include "lib/base/sum.h"
#include "lib/rows/trailer.h"
#include "tests/unit/rows/pieces.h"
#include "tests/unit/rows/rows.h"

static const char lost[] = "it ends without a trailer, so nobody says that it "
			   "is whole";
static const char nothing[] = "it is empty and has no trailer: nobody says "
			      "that there are no rows";
static const char remedy[] = "let bloomctl export write it; build, verify "
			     "and size do without by --no-trailer";

#define LONGEST                          \
	"\\. rows=18446744073709551615 " \
	"bytes=18446744073709551615 xxh64=ffffffffffffffff\n"

struct reading {
	struct buf out;
	struct error err;
	bool counted;
	uint64_t rows;
};

/* Reads p to its end through buffers of cap bytes, each of its own memory. */
static int read_all(struct pieces *p, bool required, size_t cap,
		    struct reading *r)
{
	struct error again = ERROR_INIT;
	struct stream *s = NULL;
	size_t got = 1;
	int rc;

	memset(r, 0, sizeof(*r));
	buf_init(&r->out, 1u << 20);
	rc = trailer_open(&p->base, required, &s, &r->err);
	while (rc == 0 && got > 0) {
		char *buf = malloc(cap);

		if (buf == NULL)
			abort();
		rc = s->ops->read(s, buf, cap, &got, &r->err);
		CHECK(rc == 0 || got == 0);
		CHECK(got <= cap);
		if (got > 0 && buf_add(&r->out, buf, got) != 0)
			abort();
		free(buf);
	}
	if (rc == 0)
		rc = s->ops->finish(s, &r->err);
	if (rc == 0) {
		r->counted = s->counted;
		r->rows = s->rows;
	} else if (s != NULL) {
		char buf[TRAILER_MAX + 1];

		/* The first error is returned again and again. */
		CHECK(s->ops->read(s, buf, sizeof(buf), &got, &again) == -1);
		CHECK_STR(again.text, r->err.text);
		CHECK(s->ops->finish(s, &again) == -1);
		CHECK_STR(again.text, r->err.text);
		CHECK_STR(again.hint, r->err.hint);
	}
	if (s != NULL)
		s->ops->close(s);
	CHECK_U64(p->closes, 1);
	CHECK(p->ends <= 1);
	return rc;
}

static const size_t caps[] = {TRAILER_MAX + 1, TRAILER_MAX + 2, 100,
			      TRAILER_MAX * 2, 65536};

#define CAPS (sizeof(caps) / sizeof(caps[0]))

/*
 * Reads len bytes in pieces of every size.  rows: what the trailer says, and
 * kept bytes come out; or -1 and the error is text and hint.
 */
static void check_all(const char *data, size_t len, bool required, int64_t rows,
		      size_t kept, const char *text, const char *hint)
{
	for (size_t piece = 0; piece <= len + 1; piece++) {
		for (size_t i = 0; i < CAPS; i++) {
			struct pieces p;
			struct reading r;
			int rc;

			pieces_init(&p, data, len, piece);
			rc = read_all(&p, required, caps[i], &r);
			CHECK((rc == 0) == (text == NULL));
			CHECK_STR(r.err.text, text != NULL ? text : "");
			CHECK_STR(r.err.hint, hint != NULL ? hint : "");
			CHECK_U64(r.err.code,
				  text != NULL ? ERROR_DATA : ERROR_NONE);
			CHECK(r.out.len <= len);
			CHECK(r.out.len == 0 ||
			      memcmp(r.out.data, data, r.out.len) == 0);
			if (text == NULL) {
				CHECK_U64(r.out.len, kept);
				CHECK(r.counted == (rows >= 0));
				CHECK_U64(r.rows, rows >= 0 ? rows : 0);
			}
			buf_release(&r.out);
			if (unit_bad)
				return;
		}
	}
}

/* Rows of digits and a newline, len bytes with their trailer in all. */
static size_t make(char *out, size_t body)
{
	struct trailer t = {.rows = 3 + body, .bytes = body};
	char text[TRAILER_MAX + 1];
	size_t len;

	for (size_t i = 0; i < body; i++)
		out[i] = i + 1 == body ? '\n' : (char)('0' + i % 10);
	t.xxh64 = sum_xxh64(out, body);
	len = trailer_format(&t, text);
	memcpy(out + body, text, len);
	return body + len;
}

static void passes(void)
{
	static const size_t bodies[] = {0,  1,  2,   30,  39,  40,  41,  79, 80,
					81, 82, 119, 120, 121, 160, 161, 200};
	char data[300];

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		size_t body = bodies[i];
		size_t len = make(data, body);

		check_all(data, len, true, 3 + (int64_t)body, body, NULL, NULL);
		check_all(data, len, false, 3 + (int64_t)body, body, NULL,
			  NULL);
	}
}

static void refuses(void)
{
	static const char changed[] = "the trailer's checksum is not that of "
				      "the bytes before it";
	static const char crlf[] = "the trailer's line ends in CRLF: the bytes "
				   "were changed on the way";
	char data[400];
	size_t len = make(data, 100);

	/* Lost in front; the checksum would say so, too. */
	check_all(data + 2, len - 2, true, -1, 0,
		  "the trailer says 100 bytes and 98 came: the pipe lost some",
		  NULL);
	check_all(data + 2, len - 2, false, -1, 0,
		  "the trailer says 100 bytes and 98 came: the pipe lost some",
		  NULL);
	check_all(data + 100, len - 100, true, -1, 0,
		  "the trailer says 100 bytes and 0 came: the pipe lost some",
		  NULL);
	data[50] ^= 1;
	check_all(data, len, true, -1, 0, changed, NULL);
	check_all(data, len, false, -1, 0, changed, NULL);
	data[50] ^= 1;
	data[len - 2] = data[len - 2] == '0' ? '1' : '0';
	check_all(data, len, true, -1, 0, changed, NULL);
	/* One pipe behind the other. */
	len = make(data, 60);
	len += make(data + len, 10);
	check_all(data, len, true, -1, 0,
		  "the trailer says 10 bytes and 113 came: some were added on "
		  "the way",
		  NULL);
	len = make(data, 100);
	data[len - 1] = '\r';
	data[len++] = '\n';
	check_all(data, len, true, -1, 0, crlf,
		  "pass the bytes on as they are; newlines must not be "
		  "converted");
	check_all(data, len, false, -1, len, NULL, NULL);
}

static void misses(void)
{
	char data[300];
	size_t len = make(data, 100);

	check_all("", 0, true, -1, 0, nothing, remedy);
	check_all("", 0, false, -1, 0, NULL, NULL);
	/* Cut anywhere, in the trailer or before. */
	for (size_t n = 1; n < len; n += n < 90 ? 17 : 1)
		check_all(data, n, true, -1, 0, lost, remedy);
	check_all(data, 100, false, -1, 100, NULL, NULL);
	check_all(data, len - 1, false, -1, len - 1, NULL, NULL);
	/* Glued to a row that has no newline, as long as can be. */
	check_all("x" LONGEST, sizeof(LONGEST), true, -1, 0, lost, remedy);
	check_all("\n" LONGEST, sizeof(LONGEST), true, -1, 0,
		  "the trailer says 18446744073709551615 bytes and 1 came: the "
		  "pipe lost some",
		  NULL);
	data[99] = 'x';
	check_all(data, len, true, -1, 0, lost, remedy);
	check_all(data, len, false, -1, len, NULL, NULL);
}

static void passes_errors_on(void)
{
	char data[300];
	size_t len = make(data, 150);

	for (size_t at = 0; at <= len; at++) {
		struct pieces p;
		struct reading r;

		pieces_init(&p, data, len, 7);
		p.fails_at = at;
		CHECK(read_all(&p, at % 2 == 0, 100, &r) == -1);
		CHECK_STR(r.err.text, "the pieces broke off");
		CHECK(r.out.len <= at && r.out.len + TRAILER_MAX >= at);
		buf_release(&r.out);
	}
}

static void asks_inner(void)
{
	char data[300];
	struct pieces p;
	struct reading r;

	pieces_init(&p, data, make(data, 150), 0);
	p.not_whole = true;
	CHECK(read_all(&p, true, 1000, &r) == -1);
	CHECK_STR(r.err.text, "the pieces are not whole");
	buf_release(&r.out);
	/* What inner knows of its rows is known without a trailer, too. */
	pieces_init(&p, "a\n", 2, 0);
	p.base.counted = true;
	p.base.rows = 77;
	CHECK(read_all(&p, false, 1000, &r) == 0);
	CHECK(r.counted);
	CHECK_U64(r.rows, 77);
	buf_release(&r.out);
	pieces_init(&p, data, make(data, 150), 0);
	p.base.counted = true;
	p.base.rows = 77;
	CHECK(read_all(&p, false, 1000, &r) == 0);
	CHECK(r.counted);
	CHECK_U64(r.rows, 153);
	buf_release(&r.out);
}

static void misused(void)
{
	char data[300], buf[TRAILER_MAX + 1];
	struct error err = ERROR_INIT;
	struct stream *s;
	struct pieces p;
	size_t got;

	pieces_init(&p, data, make(data, 150), 0);
	REQUIRE(trailer_open(&p.base, true, &s, &err) == 0);
	CHECK(s->ops->read(s, buf, TRAILER_MAX, &got, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, "a buffer of 80 bytes for a stream with a trailer");
	CHECK_U64(p.reads, 0);
	s->ops->close(s);
	pieces_init(&p, data, make(data, 150), 0);
	REQUIRE(trailer_open(&p.base, true, &s, &err) == 0);
	CHECK(s->ops->read(s, buf, sizeof(buf), &got, &err) == 0);
	CHECK(s->ops->finish(s, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, "not read to its end");
	s->ops->close(s);
	CHECK_U64(p.closes, 1);
}

static void without_memory(void)
{
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	for (; met && n < 10; n++) {
		struct error err = ERROR_INIT;
		struct stream *s = NULL;
		struct pieces p;
		int rc;

		pieces_init(&p, "a\n", 2, 0);
		alloc_fail(n, false);
		rc = trailer_open(&p.base, true, &s, &err);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		CHECK((s == NULL) == met);
		CHECK_U64(p.closes, met);
		if (met)
			CHECK_STR(err.text, "out of memory");
		else
			s->ops->close(s);
		CHECK_U64(p.closes, 1);
	}
	CHECK_U64(n, 4);
}

int main(void)
{
	UNIT(passes, "trailer: what stands before a right one is passed on");
	UNIT(refuses, "trailer: one that is not of the bytes is refused");
	UNIT(misses, "trailer: without one a stream is not whole");
	UNIT(passes_errors_on, "trailer: an error ends the stream");
	UNIT(asks_inner, "trailer: the inner stream has the last word");
	UNIT(misused, "trailer: a small buffer and an early end are told");
	UNIT(without_memory, "trailer: each failing allocation is survived");
	return unit_end();
}
