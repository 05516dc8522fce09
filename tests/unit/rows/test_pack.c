/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/pack.h"

#include <stdlib.h>

#include "lib/base/buf.h"
#include "lib/rows/inflate.h"
#include "tests/unit/rows/pieces.h"
#include "tests/unit/unit.h"

#define MANY (3u << 20)

struct taken {
	struct buf out;
	unsigned writes;
	unsigned fail_at; /* from 1; 0: none */
};

static int take(void *ctx, const void *data, size_t len, struct error *err)
{
	struct taken *t = ctx;

	CHECK(len > 0);
	if (++t->writes == t->fail_at)
		return error_set(err, ERROR_SPACE, "full");
	return buf_add(&t->out, data, len) == 0 ? 0 : error_nomem(err);
}

/* What inflate makes of it, which holds it to its own sums. */
static void check_unpacks(enum pack_kind kind, const struct buf *packed,
			  const void *want, size_t len)
{
	static const enum inflate_kind kinds[] = {
		[PACK_GZIP] = INFLATE_GZIP, [PACK_ZSTD] = INFLATE_ZSTD};
	struct pieces p;
	struct stream *s = pieces_init(&p, packed->data, packed->len, 0);
	struct error err = ERROR_INIT;
	char *text = malloc(len + 1);
	size_t at = 0;
	size_t got = 1;

	CHECK(text != NULL);
	if (text == NULL)
		return;
	if (kind != PACK_NONE) {
		CHECK(inflate_kind(packed->data, packed->len) == kinds[kind]);
		CHECK(inflate_open(s, kinds[kind], &s, &err) == 0);
	}
	while (got > 0 && at <= len) {
		CHECK(s->ops->read(s, text + at, len + 1 - at, &got, &err) ==
		      0);
		at += got;
	}
	CHECK(s->ops->finish(s, &err) == 0);
	CHECK_U64(at, len);
	CHECK(memcmp(text, want, len) == 0);
	s->ops->close(s);
	free(text);
}

static void check_kind(enum pack_kind kind, const char *text, size_t len,
		       size_t piece)
{
	struct taken t = {.fail_at = 0};
	struct error err = ERROR_INIT;
	struct pack *pack;

	buf_init(&t.out, 2 * MANY);
	CHECK(pack_new(kind, take, &t, &pack, &err) == 0);
	/* The second is a file of its own: of the first nothing is left. */
	for (int file = 0; file < 2; file++) {
		pack_begin(pack);
		CHECK(pack_add(pack, "lost", file == 0 ? 4 : 0, &err) == 0);
		t.out.len = 0;
		pack_begin(pack);
		for (size_t at = 0; at < len; at += piece)
			CHECK(pack_add(pack, text + at,
				       len - at < piece ? len - at : piece,
				       &err) == 0);
		CHECK(pack_end(pack, &err) == 0);
		check_unpacks(kind, &t.out, text, len);
	}
	pack_free(pack);
	buf_release(&t.out);
}

/* Bytes that hardly pack, and lines that do. */
static char *many(void)
{
	char *text = malloc(MANY);
	uint32_t x = 1;

	for (size_t i = 0; text != NULL && i < MANY; i++) {
		x = x * 1664525 + 1013904223;
		text[i] = i < MANY / 2 ? (char)(x >> 24) : "card:1\n"[i % 7];
	}
	return text;
}

static void comes_back(void)
{
	char *text = many();

	CHECK(text != NULL);
	for (int kind = 0; text != NULL && kind < PACK_KINDS; kind++) {
		check_kind((enum pack_kind)kind, "", 0, 1);
		check_kind((enum pack_kind)kind, "1\n", 2, 1);
		check_kind((enum pack_kind)kind, text, MANY, MANY);
		check_kind((enum pack_kind)kind, text, MANY, 65537);
	}
	free(text);
}

static void same_bytes(void)
{
	for (int kind = 0; kind < PACK_KINDS; kind++) {
		struct taken t[2] = {{.writes = 0}, {.writes = 0}};
		struct error err = ERROR_INIT;

		for (int i = 0; i < 2; i++) {
			struct pack *pack;

			buf_init(&t[i].out, 1000);
			CHECK(pack_new((enum pack_kind)kind, take, &t[i], &pack,
				       &err) == 0);
			CHECK(pack_add(pack, "1\n2\n", 4, &err) == 0);
			CHECK(pack_end(pack, &err) == 0);
			pack_free(pack);
		}
		CHECK_U64(t[0].out.len, t[1].out.len);
		CHECK(memcmp(t[0].out.data, t[1].out.data, t[0].out.len) == 0);
		buf_release(&t[0].out);
		buf_release(&t[1].out);
	}
}

static void write_fails(void)
{
	char *text = many();

	CHECK(text != NULL);
	for (int kind = 0; text != NULL && kind < PACK_KINDS; kind++) {
		for (unsigned at = 1; at < 4; at++) {
			struct taken t = {.fail_at = at};
			struct error err = ERROR_INIT;
			struct pack *pack;
			int rc = 0;

			buf_init(&t.out, 2 * MANY);
			CHECK(pack_new((enum pack_kind)kind, take, &t, &pack,
				       &err) == 0);
			for (size_t i = 0; rc == 0 && i < MANY; i += MANY / 4)
				rc = pack_add(pack, text + i, MANY / 4, &err);
			if (rc == 0)
				rc = pack_end(pack, &err);
			CHECK(rc == -1);
			CHECK_U64(err.code, ERROR_SPACE);
			CHECK_U64(t.writes, at);
			pack_free(pack);
			buf_release(&t.out);
		}
	}
	free(text);
}

static void names(void)
{
	CHECK(pack_by_name("none") == PACK_NONE);
	CHECK(pack_by_name("gzip") == PACK_GZIP);
	CHECK(pack_by_name("zstd") == PACK_ZSTD);
	CHECK(pack_by_name("gz") == PACK_KINDS);
	CHECK(pack_by_name("") == PACK_KINDS);
	CHECK_STR(pack_suffix(PACK_NONE), "");
	CHECK_STR(pack_suffix(PACK_GZIP), ".gz");
	CHECK_STR(pack_suffix(PACK_ZSTD), ".zst");
	for (int kind = 0; kind < PACK_KINDS; kind++)
		CHECK((int)pack_by_name(pack_name((enum pack_kind)kind)) ==
		      kind);
	pack_free(NULL);
}

int main(void)
{
	UNIT(comes_back, "pack: what is packed is what is unpacked");
	UNIT(same_bytes, "pack: the same bytes are packed the same way");
	UNIT(write_fails, "pack: a write that fails ends it");
	UNIT(names, "pack: kinds have names and suffixes");
	return unit_end();
}
