/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/inflate.h"

#include <zstd_errors.h>

#include "tests/unit/rows/packed.h"

static void gzip_whole(void)
{
	static unsigned char extra[] = "extra", name[] = "x.csv";
	static unsigned char comment[] = "a comment";
	gz_header head = {.extra = extra,
			  .extra_len = 5,
			  .name = name,
			  .comment = comment,
			  .hcrc = 1};
	struct buf packed, text;

	buf_init(&packed, 4 * BIG);
	buf_init(&text, 4 * BIG);
	gzip(&packed, "", 0, NULL);
	check("empty", &packed, &text, ERROR_NONE, "", "");
	gzip(&packed, BYTES("1,one\n"), &head);
	buf_adds(&text, "1,one\n");
	check("empty and header", &packed, &text, ERROR_NONE, "", "");
	gzip(&packed, "", 0, NULL);
	gzip(&packed, BYTES("2,two\n"), NULL);
	buf_adds(&text, "2,two\n");
	check("four", &packed, &text, ERROR_NONE, "", "");
	buf_add(&packed, "", 1);
	check("one NUL", &packed, &text, ERROR_NONE, "", "");
	for (int i = 0; i < 300000; i++)
		buf_add(&packed, "", 1);
	check("many NUL", &packed, &text, ERROR_NONE, "", "");
	buf_release(&packed);
	buf_release(&text);
	big_text(&text);
	gzip(&packed, text.data, text.len, NULL);
	check("big", &packed, &text, ERROR_NONE, "", "");
	buf_release(&packed);
	buf_release(&text);
}

static void zstd_whole(void)
{
	struct buf packed, text;

	buf_init(&packed, 4 * BIG);
	buf_init(&text, 4 * BIG);
	skippable(&packed, 0, 0);
	check("nothing but skipped", &packed, &text, ERROR_NONE, "", "");
	skippable(&packed, 15, 300000);
	zstd(&packed, "", 0, true);
	zstd(&packed, "", 0, false);
	check("skipped, empty", &packed, &text, ERROR_NONE, "", "");
	zstd(&packed, BYTES("1,one\n"), false);
	buf_adds(&text, "1,one\n");
	skippable(&packed, 7, 3);
	skippable(&packed, 8, 0);
	zstd(&packed, BYTES("2,two\n"), true);
	buf_adds(&text, "2,two\n");
	check("skipped between", &packed, &text, ERROR_NONE, "", "");
	skippable(&packed, 0, 9);
	check("skipped at the end", &packed, &text, ERROR_NONE, "", "");
	/* A window of 128 MiB, and one raw block of one byte. */
	buf_add(&packed, BYTES("\x28\xb5\x2f\xfd\0\x88\x09\0\0x"));
	buf_adds(&text, "x");
	check("the largest window", &packed, &text, ERROR_NONE, "", "");
	buf_release(&packed);
	buf_release(&text);
	big_text(&text);
	zstd(&packed, text.data, text.len, false);
	check("big", &packed, &text, ERROR_NONE, "", "");
	buf_release(&packed);
	zstd(&packed, text.data, text.len, true);
	check("big and bare", &packed, &text, ERROR_NONE, "", "");
	buf_release(&packed);
	buf_release(&text);
}

static void kinds(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum inflate_kind kind;
	} cases[] = {
		{BYTES(""), INFLATE_NONE},
		{BYTES("\x1f"), INFLATE_NONE},
		{BYTES("\x1f\x8b"), INFLATE_GZIP},
		{BYTES("\x1f\x8b\x08\0\0"), INFLATE_GZIP},
		{BYTES("\x1f\x9d\x90\0"), INFLATE_NONE},
		{BYTES("\x28\xb5\x2f"), INFLATE_NONE},
		{BYTES("\x28\xb5\x2f\xfd"), INFLATE_ZSTD},
		{BYTES("\x28\xb5\x2f\xfd\0\0"), INFLATE_ZSTD},
		{BYTES("P*M\x18"), INFLATE_ZSTD},
		{BYTES("_*M\x18zz"), INFLATE_ZSTD},
		{BYTES("O*M\x18zz"), INFLATE_NONE},
		{BYTES("`*M\x18zz"), INFLATE_NONE},
		{BYTES("P*M\x19zz"), INFLATE_NONE},
		{BYTES("1,2\n"), INFLATE_NONE},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_U64(inflate_kind(cases[i].bytes, cases[i].len),
			  cases[i].kind);
}

/* inner's errors, and that nothing is read behind any error. */
static void errors_last(void)
{
	static const char *const wrong[] = {
		"pipe: broken", "bytes that are no gzip follow the last member",
		"pipe: broken", "pipe: broken"};
	struct buf packed;

	buf_init(&packed, BIG);
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct inner in = {
			.base.ops = &inner_ops, .piece = 1, .fails = true};
		struct error err = ERROR_INIT;
		struct stream *s;
		char room[100];
		size_t got;

		packed.len = 0;
		gzip(&packed, BYTES("1,one\n"), NULL);
		buf_add(&packed, i == 1 ? "xyz" : "\0\0\0",
			i == 1 || i == 3 ? 3 : 0);
		in.data = packed.data;
		in.len = packed.len - (i == 2);
		REQUIRE(inflate_open(&in.base, INFLATE_GZIP, &s, &err) == 0);
		CHECK(s->ops->read(s, room, sizeof(room), &got, &err) == 0);
		CHECK(got == 6 && memcmp(room, "1,one\n", 6) == 0);
		CHECK_U64(err.code, ERROR_NONE);
		for (int again = 0; again < 3; again++) {
			memset(&err, 0, sizeof(err));
			CHECK(s->ops->read(s, room, sizeof(room), &got, &err) ==
			      -1);
			CHECK_U64(got, 0);
			CHECK_U64(err.code, i == 1 ? ERROR_DATA : ERROR_SOURCE);
			CHECK_STR(err.text, wrong[i]);
		}
		memset(&err, 0, sizeof(err));
		CHECK(s->ops->finish(s, &err) == -1);
		CHECK_STR(err.text, wrong[i]);
		CHECK_U64(in.finished, 0);
		CHECK_U64(in.ends, i != 1);
		CHECK_U64(in.len, i == 1 ? 2 : 0);
		s->ops->close(s);
		CHECK_U64(in.closed, 1);
	}
	buf_release(&packed);
}

static void finishes(void)
{
	struct error err = ERROR_INIT;
	struct buf packed;
	struct stream *s;
	char room[100];
	size_t got;

	buf_init(&packed, BIG);
	zstd(&packed, BYTES("1,one\n"), false);
	for (int fails = 0; fails < 2; fails++) {
		struct inner in = {.base.ops = &inner_ops,
				   .data = packed.data,
				   .len = packed.len,
				   .finish_fails = fails};

		REQUIRE(inflate_open(&in.base, INFLATE_ZSTD, &s, &err) == 0);
		CHECK(s->ops->read(s, room, 3, &got, &err) == 0 && got == 3);
		CHECK(s->ops->finish(s, &err) == -1);
		CHECK_U64(err.code, ERROR_INTERNAL);
		CHECK_STR(err.text, "the zstd data was not read to its end");
		CHECK(s->ops->read(s, room, 9, &got, &err) == 0 && got == 3);
		CHECK(s->ops->read(s, room, 9, &got, &err) == 0 && got == 0);
		CHECK(s->ops->read(s, room, 9, &got, &err) == 0 && got == 0);
		CHECK_U64(in.ends, 1);
		CHECK_U64(in.finished, 0);
		CHECK(s->ops->finish(s, &err) == (fails ? -1 : 0));
		CHECK_U64(in.finished, 1);
		CHECK(s->counted == !fails && s->rows == (fails ? 0 : 7));
		CHECK(!fails || strcmp(err.text, "pipe: no true end") == 0);
		s->ops->close(s);
		CHECK_U64(in.closed, 1);
	}
	buf_release(&packed);
}

/* What the libraries allocate is counted, too, and a frame as one. */
int __real_inflateInit2_(z_stream *z, int bits, const char *version, int size)
	__attribute__((weak));
int __wrap_inflateInit2_(z_stream *z, int bits, const char *version, int size);
ZSTD_DCtx *__real_ZSTD_createDCtx(void) __attribute__((weak));
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
size_t __real_ZSTD_decompressStream(ZSTD_DCtx *d, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in) __attribute__((weak));
size_t __wrap_ZSTD_decompressStream(ZSTD_DCtx *d, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in);

static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
	(void)ctx;
	return alloc_fails() ? NULL : calloc(count, size);
}

static void zlib_free(void *ctx, void *data)
{
	(void)ctx;
	free(data);
}

int __wrap_inflateInit2_(z_stream *z, int bits, const char *version, int size)
{
	z->zalloc = zlib_alloc;
	z->zfree = zlib_free;
	return __real_inflateInit2_(z, bits, version, size);
}

ZSTD_DCtx *__wrap_ZSTD_createDCtx(void)
{
	return alloc_fails() ? NULL : __real_ZSTD_createDCtx();
}

size_t __wrap_ZSTD_decompressStream(ZSTD_DCtx *d, ZSTD_outBuffer *out,
				    ZSTD_inBuffer *in)
{
	if (alloc_fails())
		return (size_t)-ZSTD_error_memory_allocation;
	return __real_ZSTD_decompressStream(d, out, in);
}

static void no_memory(void)
{
	ALLOC_NEEDED();
	for (int is_gzip = 0; is_gzip < 2; is_gzip++) {
		struct buf packed, out;
		bool met = true;
		unsigned long n;

		buf_init(&packed, BIG);
		buf_init(&out, BIG);
		CHECK(buf_reserve(&out, 100) == 0);
		(is_gzip ? gzip(&packed, BYTES("1,one\n"), NULL)
			 : zstd(&packed, BYTES("1,one\n"), true));
		for (n = 1; met && n < 100; n++) {
			struct inner in = {.data = packed.data,
					   .len = packed.len};
			struct error err = ERROR_INIT;
			int rc;

			out.len = 0;
			alloc_fail(n, true);
			rc = unpack(&in, 3, &out, &err);
			met = alloc_pass();
			CHECK(rc == (met ? -1 : 0));
			CHECK_U64(err.code, met ? ERROR_INTERNAL : ERROR_NONE);
			CHECK_STR(err.text, met ? "out of memory" : "");
			CHECK_U64(in.closed, 1);
		}
		CHECK(n > 4 && n < 100);
		buf_release(&packed);
		buf_release(&out);
	}
}

int main(void)
{
	UNIT(kinds, "inflate: the first bytes tell gzip and zstd");
	UNIT(gzip_whole, "inflate: all members of gzip, and NUL behind them");
	UNIT(zstd_whole, "inflate: all frames of zstd, but what is skipped");
	UNIT(errors_last, "inflate: an error ends it, after what came before");
	UNIT(finishes, "inflate: whole is what the stream below says is whole");
	UNIT(no_memory, "inflate: it does without any allocation that fails");
	return unit_end();
}
