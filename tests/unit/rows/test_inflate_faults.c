/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What inflate says of data that is not whole or not sound.
 */
#include "tests/unit/rows/packed.h"

struct fault {
	const char *bytes; /* behind a whole unit with "1,one\n" */
	size_t len;
	enum error_code code;
	const char *text;
	const char *hint;
};

static void check_faults(bool is_gzip, const struct fault *faults, size_t count)
{
	struct buf packed, text;

	buf_init(&packed, BIG);
	buf_init(&text, BIG);
	buf_adds(&text, "1,one\n");
	for (size_t i = 0; i < count; i++) {
		const struct fault *f = &faults[i];
		char name[40];

		packed.len = 0;
		if (is_gzip)
			gzip(&packed, text.data, text.len, NULL);
		else
			zstd(&packed, text.data, text.len, false);
		buf_add(&packed, f->bytes, f->len);
		snprintf(name, sizeof(name), "fault %zu", i);
		check(name, &packed, &text, f->code, f->text, f->hint);
	}
	buf_release(&packed);
	buf_release(&text);
}

#define GZIP_HINT "test the original with gzip -t and copy it again"
#define ZSTD_HINT "test the original with zstd -t and copy it again"
/* An empty member up to its trailer. */
#define MEMBER "\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0"

static void gzip_faults(void)
{
	static const char cut[] = "the gzip data is cut off inside a member";
	static const char foreign[] =
		"bytes that are no gzip follow the last member";
	static const char padding[] =
		"bytes that are not NUL follow the padding of the gzip data";
#define DAMAGED(why) ERROR_DATA, "the gzip data is damaged: " why, GZIP_HINT
	static const struct fault faults[] = {
		{BYTES("\x1f"), ERROR_DATA, cut, GZIP_HINT},
		{BYTES("\x1f\x8b\x08"), ERROR_DATA, cut, GZIP_HINT},
		{BYTES(MEMBER "\0\0\0\0\0\0\0"), ERROR_DATA, cut, GZIP_HINT},
		{BYTES("x"), ERROR_DATA, foreign, ""},
		{BYTES("\n"), ERROR_DATA, foreign, ""},
		{BYTES("\x1f\x8a"), ERROR_DATA, foreign, ""},
		{BYTES("\x28\xb5\x2f\xfd"), ERROR_DATA, foreign, ""},
		{BYTES("\0x"), ERROR_DATA, padding, ""},
		{BYTES("\0\0" MEMBER "\0\0\0\0\0\0\0\0"), ERROR_DATA, padding,
		 ""},
		{BYTES(MEMBER "\1\0\0\0\0\0\0\0"),
		 DAMAGED("incorrect data check")},
		{BYTES(MEMBER "\0\0\0\0\1\0\0\0"),
		 DAMAGED("incorrect length check")},
		{BYTES("\x1f\x8b\x07\0\0\0\0\0\0\x03"),
		 DAMAGED("unknown compression method")},
		{BYTES("\x1f\x8b\x08\x20\0\0\0\0\0\x03"),
		 DAMAGED("unknown header flags set")},
		{BYTES("\x1f\x8b\x08\x02\0\0\0\0\0\x03\0\0"),
		 DAMAGED("header crc mismatch")},
		{BYTES("\x1f\x8b\x08\0\0\0\0\0\0\x03\x07"),
		 DAMAGED("invalid block type")},
	};
#undef DAMAGED

	check_faults(true, faults, COUNT(faults));
}

static void zstd_faults(void)
{
	static const char cut[] = "the zstd data is cut off inside a frame";
	static const char foreign[] =
		"bytes that are no zstd follow the last frame";
	static const char damaged[] = "the zstd data is damaged";
	static const char length[] = "the zstd data is damaged: wrong length";
	static const char window[] =
		"the zstd data needs a window of more than 128 MiB";
	static const char window_hint[] =
		"pack it again without --long or with --long=27";
#define MAGIC "\x28\xb5\x2f\xfd"
	static const struct fault faults[] = {
		{BYTES("\x28"), ERROR_DATA, cut, ZSTD_HINT},
		{BYTES(MAGIC), ERROR_DATA, cut, ZSTD_HINT},
		{BYTES(MAGIC "\0\0\1\0"), ERROR_DATA, cut, ZSTD_HINT},
		{BYTES("P*M\x18"), ERROR_DATA, cut, ZSTD_HINT},
		{BYTES("_*M\x18\4\0\0\0abc"), ERROR_DATA, cut, ZSTD_HINT},
		{BYTES("x"), ERROR_DATA, foreign, ""},
		{BYTES("\0"), ERROR_DATA, foreign, ""},
		{BYTES("Px"), ERROR_DATA, foreign, ""},
		{BYTES("`*M\x18\0\0\0\0"), ERROR_DATA, foreign, ""},
		{BYTES("\x28\xb5\x2f\xfe"), ERROR_DATA, foreign, ""},
		/* A frame of version 0.5, which libzstd may know. */
		{BYTES("\x25\xb5\x2f\xfd\0\0\0"), ERROR_DATA, foreign, ""},
		{BYTES(MEMBER), ERROR_DATA, foreign, ""},
		/* A bit that must be 0; a block of no type. */
		{BYTES(MAGIC "\x08\0\1\0\0"), ERROR_DATA, damaged, ZSTD_HINT},
		{BYTES(MAGIC "\0\0\x07\0\0"), ERROR_DATA, damaged, ZSTD_HINT},
		/* The text is not as long as it is said to be. */
		{BYTES(MAGIC "\x20\5\1\0\0"), ERROR_DATA, length, ZSTD_HINT},
		{BYTES(MAGIC "\x20\0\x0a\0\0x"), ERROR_DATA, damaged,
		 ZSTD_HINT},
		{BYTES(MAGIC "\x04\0\1\0\0abcd"), ERROR_DATA,
		 "the zstd data is damaged: wrong checksum", ZSTD_HINT},
		{BYTES(MAGIC "\0\x89\1\0\0"), ERROR_SOURCE, window,
		 window_hint},
		/* Also with little text, all of which is at hand. */
		{BYTES(MAGIC "\x80\x89\0\0\0\0\1\0\0"), ERROR_SOURCE, window,
		 window_hint},
		{BYTES(MAGIC "\xa0\1\0\0\x08\1\0\0"), ERROR_SOURCE, window,
		 window_hint},
		{BYTES(MAGIC "\0\xff\1\0\0"), ERROR_SOURCE, window,
		 window_hint},
		{BYTES(MAGIC "\x03\0\xd2\x02\x96\x49\1\0\0"), ERROR_SOURCE,
		 "the zstd data needs a dictionary, number 1234567890",
		 "pack it again without a dictionary"},
	};
#undef MAGIC

	check_faults(false, faults, COUNT(faults));
}

/* Not even with a buffer that is full whenever there is output. */
static void before_a_cut(void)
{
	struct buf packed, text;

	buf_init(&packed, BIG);
	buf_init(&text, BIG);
	buf_add(&packed, BYTES("\x28\xb5\x2f\xfd\0\0\x30\0\0"
			       "1,one\n"));
	buf_adds(&text, "1,one\n");
	check("a block and no more", &packed, &text, ERROR_DATA,
	      "the zstd data is cut off inside a frame", ZSTD_HINT);
	buf_release(&packed);
	buf_release(&text);
}

/* It was gzip when it was looked at. */
static void another_kind(void)
{
	struct inner in = {.data = "\0\0", .len = 2, .kind = INFLATE_GZIP};
	struct error err = ERROR_INIT;
	struct buf out;

	buf_init(&out, BIG);
	CHECK(unpack(&in, 1000, &out, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_U64(out.len, 0);
	buf_release(&out);
}

/* Every prefix fails, but those that end with a unit. */
static void check_prefixes(const struct buf *packed, const size_t *ends,
			   enum inflate_kind kind, const char *wrong)
{
	for (size_t len = 0; len <= packed->len; len++) {
		for (size_t piece = 0; piece < 2; piece++) {
			struct inner in = {.data = packed->data,
					   .len = len,
					   .piece = piece,
					   .kind = kind};
			struct error err = ERROR_INIT;
			struct buf out;
			bool whole = len == ends[0] || len == ends[1] ||
				     len == ends[2];

			buf_init(&out, BIG);
			CHECK(unpack(&in, piece ? 1 : 1000, &out, &err) ==
			      (whole ? 0 : -1));
			CHECK_STR(err.text, whole ? "" : wrong);
			CHECK(out.len <= 12 &&
			      (out.len == 0 ||
			       memcmp(out.data, "1,one\n2,two\n", out.len) ==
				       0));
			CHECK(len < packed->len || out.len == 12);
			buf_release(&out);
		}
	}
}

static void prefixes(void)
{
	size_t ends[3];
	struct buf packed;

	buf_init(&packed, BIG);
	gzip(&packed, BYTES("1,one\n"), NULL);
	ends[0] = ends[1] = packed.len;
	gzip(&packed, BYTES("2,two\n"), NULL);
	ends[2] = packed.len;
	check_prefixes(&packed, ends, INFLATE_GZIP,
		       "the gzip data is cut off inside a member");
	packed.len = 0;
	zstd(&packed, BYTES("1,one\n"), true);
	ends[0] = packed.len;
	skippable(&packed, 3, 20);
	ends[1] = packed.len;
	zstd(&packed, BYTES("2,two\n"), false);
	ends[2] = packed.len;
	check_prefixes(&packed, ends, INFLATE_ZSTD,
		       "the zstd data is cut off inside a frame");
	buf_release(&packed);
}

/* Whatever bit is turned over: an error, or the text as it was. */
static void check_bits(const struct buf *packed, const struct buf *text)
{
	char *copy = malloc(packed->len);
	size_t wrong = 0;

	REQUIRE(copy != NULL);
	for (size_t bit = 0; bit < packed->len * 8; bit++) {
		struct inner in = {.data = copy, .len = packed->len};
		struct error err = ERROR_INIT;
		struct buf out;

		memcpy(copy, packed->data, packed->len);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		if (inflate_kind(copy, packed->len) == INFLATE_NONE)
			continue;
		buf_init(&out, BIG);
		if (unpack(&in, 1000, &out, &err) != 0)
			wrong++;
		else
			CHECK(out.len == text->len &&
			      memcmp(out.data, text->data, out.len) == 0);
		buf_release(&out);
	}
	CHECK(wrong > packed->len * 7);
	free(copy);
}

static void bits(void)
{
	struct buf packed, text;

	buf_init(&packed, BIG);
	buf_init(&text, BIG);
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%d,name %d\n", i, i * i);
	gzip(&packed, text.data, text.len, NULL);
	check_bits(&packed, &text);
	packed.len = 0;
	zstd(&packed, text.data, text.len, false);
	check_bits(&packed, &text);
	buf_release(&packed);
	buf_release(&text);
}

int main(void)
{
	UNIT(gzip_faults, "inflate: what is wrong with gzip is said");
	UNIT(zstd_faults, "inflate: what is wrong with zstd is said");
	UNIT(before_a_cut, "inflate: nothing before a cut is lost");
	UNIT(another_kind, "inflate: NUL bytes alone are no gzip");
	UNIT(prefixes, "inflate: data that is cut off anywhere is refused");
	UNIT(bits, "inflate: no bit that was turned over changes the text");
	return unit_end();
}
