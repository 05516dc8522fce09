/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/decode.h"

#include "lib/rows/trailer.h"
#include "tests/unit/rows/gzipped.h"
#include "tests/unit/rows/pieces.h"
#include "tests/unit/rows/rows.h"

#define PACKED(bytes) (bytes), sizeof(bytes)
#define CUT(bytes, n) (bytes), sizeof(bytes) - (n)

struct reading {
	struct buf out;
	struct error err;
	bool opened;
	bool counted;
	uint64_t rows;
};

/* Opens and reads p to its end. */
static int read_all(struct pieces *p, bool trailer, size_t cap,
		    struct reading *r)
{
	struct stream *s = &p->base;
	size_t got = 1;
	int rc;

	memset(r, 0, sizeof(*r));
	buf_init(&r->out, 1u << 20);
	rc = decode_open(&p->base, trailer, &s, &r->err);
	r->opened = rc == 0;
	CHECK((s != NULL) == r->opened);
	CHECK_U64(p->closes, r->opened ? 0 : 1);
	while (rc == 0 && got > 0) {
		char *buf = malloc(cap);

		if (buf == NULL)
			abort();
		rc = s->ops->read(s, buf, cap, &got, &r->err);
		if (rc == 0 && got > 0 && buf_add(&r->out, buf, got) != 0)
			abort();
		free(buf);
	}
	if (rc == 0)
		rc = s->ops->finish(s, &r->err);
	if (rc == 0) {
		r->counted = s->counted;
		r->rows = s->rows;
	}
	if (s != NULL)
		s->ops->close(s);
	CHECK_U64(p->closes, 1);
	return rc;
}

struct decode_case {
	const void *data;
	size_t len;
	bool trailer; /* is required */
	const char *out;
	int64_t rows; /* -1: not known */
	enum error_code code;
	const char *text, *hint;
};

static void check(const struct decode_case *c)
{
	static const size_t caps[] = {TRAILER_MAX + 1, 4096};

	for (size_t i = 0; i < 2 * (c->len + 2) && !unit_bad; i++) {
		struct pieces p;
		struct reading r;
		int rc;

		pieces_init(&p, c->data, c->len, i / 2);
		rc = read_all(&p, c->trailer, caps[i % 2], &r);
		CHECK((rc == 0) == (c->code == ERROR_NONE));
		CHECK_U64(r.err.code, c->code);
		CHECK_STR(r.err.text, c->text);
		CHECK_STR(r.err.hint, c->hint);
		if (rc == 0) {
			CHECK_STR(buf_string(&r.out), c->out);
			CHECK(r.counted == (c->rows >= 0));
			CHECK_U64(r.rows, c->rows >= 0 ? (uint64_t)c->rows : 0);
		}
		buf_release(&r.out);
	}
}

#define GOOD(bytes, required, out, rows)                       \
	{                                                      \
		bytes, required, out, rows, ERROR_NONE, "", "" \
	}
#define BAD(bytes, required, code, text, hint)           \
	{                                                \
		bytes, required, "", 0, code, text, hint \
	}

#define LONG "a row that is longer than what is looked at\n"

static void rows_come_out(void)
{
	static const struct decode_case cases[] = {
		GOOD(BYTES(""), false, "", -1),
		GOOD(BYTES("a"), false, "a", -1),
		GOOD(BYTES("exactly16 bytes\n"), false, "exactly16 bytes\n",
		     -1),
		GOOD(BYTES(LONG LONG), false, LONG LONG, -1),
		GOOD(PACKED(packed_gzip), false, PACKED_ROWS, -1),
		GOOD(PACKED(packed_zstd), false, PACKED_ROWS, -1),
		GOOD(PACKED(packed_empty), false, "", -1),
		/* A trailer is held to, whether it is required or not. */
		GOOD(BYTES(PACKED_ROWS PACKED_TRAILER), false, PACKED_ROWS, 3),
		GOOD(BYTES(PACKED_ROWS PACKED_TRAILER), true, PACKED_ROWS, 3),
		GOOD(PACKED(packed_trailer), false, PACKED_ROWS, 3),
		GOOD(PACKED(packed_trailer), true, PACKED_ROWS, 3),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(&cases[i]);
}

static void others_are_refused(void)
{
	static const char lost[] = "it ends without a trailer, so nobody says "
				   "that it is whole";
	static const char none[] = "it is empty and has no trailer: nobody "
				   "says that there are no rows";
	static const char remedy[] =
		"let bloomctl export write it; build, verify "
		"and size do without by --no-trailer";
	static const char dump[] = "it is pg_dump's custom format by its first "
				   "bytes, not rows";
	static const char copy[] = "write the table by COPY instead";
	static const char test[] = "test the original with gzip -t and copy it "
				   "again";
	static const char cut[] = "the gzip data is cut off inside a member";
	static const char twice[] = "it is packed twice";
	static const char once[] = "unpack it once and name the result";
	static const struct decode_case cases[] = {
		BAD(BYTES("PGDMP"), false, ERROR_SOURCE, dump, copy),
		BAD(PACKED(packed_dump), false, ERROR_SOURCE, dump, copy),
		BAD(PACKED(packed_twice), false, ERROR_SOURCE, twice, once),
		BAD(PACKED(packed_both), true, ERROR_SOURCE, twice, once),
		BAD(CUT(packed_gzip, 1), false, ERROR_DATA, cut, test),
		BAD(CUT(packed_gzip, 20), false, ERROR_DATA, cut, test),
		BAD(BYTES(""), true, ERROR_DATA, none, remedy),
		BAD(PACKED(packed_empty), true, ERROR_DATA, none, remedy),
		BAD(PACKED(packed_gzip), true, ERROR_DATA, lost, remedy),
		BAD(BYTES(LONG), true, ERROR_DATA, lost, remedy),
		BAD(BYTES("x\n" PACKED_TRAILER), false, ERROR_DATA,
		    "the trailer says 6 bytes and 2 came: the pipe lost some",
		    ""),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(&cases[i]);
}

static void errors_are_passed_on(void)
{
	static const struct {
		const void *data;
		size_t len;
	} streams[] = {
		{BYTES(LONG LONG LONG)}, {PACKED(packed_gzip)},
		{PACKED(packed_zstd)},   {PACKED(packed_trailer)},
		{PACKED(packed_twice)},  {BYTES("")},
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct pieces p;
		struct reading r;

		for (size_t at = 0; at <= streams[i].len; at++) {
			pieces_init(&p, streams[i].data, streams[i].len, 7);
			p.fails_at = at;
			CHECK(read_all(&p, false, 100, &r) == -1);
			/* What is no rows may be told before. */
			CHECK(strcmp(r.err.text, "the pieces broke off") == 0 ||
			      streams[i].data == packed_twice);
			CHECK(!r.opened || at >= 16);
			buf_release(&r.out);
		}
		if (streams[i].data == packed_twice)
			continue;
		pieces_init(&p, streams[i].data, streams[i].len, 0);
		p.not_whole = true;
		CHECK(read_all(&p, false, 100, &r) == -1);
		CHECK_STR(r.err.text, "the pieces are not whole");
		CHECK(r.opened);
		buf_release(&r.out);
		/* What the source knows of its rows, the trailer aside. */
		pieces_init(&p, streams[i].data, streams[i].len, 0);
		p.base.counted = true;
		p.base.rows = 77;
		CHECK(read_all(&p, false, 100, &r) == 0);
		CHECK(r.counted);
		CHECK_U64(r.rows, streams[i].data == packed_trailer ? 3 : 77);
		buf_release(&r.out);
	}
}

static bool survive(const void *data, size_t len, unsigned long n)
{
	struct error err = ERROR_INIT;
	struct stream *s;
	struct pieces p;
	char buf[100];
	size_t got = 1;
	bool met;
	int rc;

	pieces_init(&p, data, len, 0);
	alloc_fail(n, false);
	rc = decode_open(&p.base, false, &s, &err);
	CHECK_U64(p.closes, rc == 0 ? 0 : 1);
	while (rc == 0 && got > 0)
		rc = s->ops->read(s, buf, sizeof(buf), &got, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	if (rc != 0)
		CHECK_STR(err.text, "out of memory");
	if (s != NULL)
		s->ops->close(s);
	CHECK_U64(p.closes, 1);
	return met;
}

static void without_memory(void)
{
	unsigned long n = 1;

	ALLOC_NEEDED();
	while (n < 20 && survive(BYTES(LONG), n))
		n++;
	/* A look, a trailer's stream and its sum. */
	CHECK_U64(n, 4);
	for (n = 1; n < 20 && survive(PACKED(packed_gzip), n);)
		n++;
	/* And one that unpacks, and a look inside. */
	CHECK(n >= 6 && n < 20);
	for (n = 1; n < 20 && survive(PACKED(packed_zstd), n);)
		n++;
	CHECK(n >= 6 && n < 20);
}

int main(void)
{
	UNIT(rows_come_out, "decode: rows come out of what they are kept in");
	UNIT(others_are_refused, "decode: what is no rows is refused");
	UNIT(errors_are_passed_on, "decode: errors and counts are passed on");
	UNIT(without_memory, "decode: each failing allocation is survived");
	return unit_end();
}
