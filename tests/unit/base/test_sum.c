/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/sum.h"

#include "tests/unit/unit.h"

static void known_sums(void)
{
	/* Of XXH64's own tools. */
	CHECK_U64(sum_xxh64("", 0), UINT64_C(0xef46db3751d8e999));
	CHECK_U64(sum_xxh64("a", 1), UINT64_C(0xd24ec4f1a98c6e5b));
	CHECK_U64(sum_xxh64("abc", 3), UINT64_C(0x44bc2cf5ad770999));
}

static void pieces_sum_to_the_whole(void)
{
	char data[1000];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 31 + i / 7);
	for (size_t piece = 1; piece < 130; piece++) {
		struct sum_stream *s = sum_stream_new();

		REQUIRE(s != NULL);
		for (size_t at = 0; at < sizeof(data); at += piece) {
			size_t n = sizeof(data) - at;

			n = n < piece ? n : piece;
			sum_stream_add(s, data + at, n);
			/* Asking changes nothing. */
			CHECK_U64(sum_stream_value(s), sum_xxh64(data, at + n));
		}
		sum_stream_free(s);
	}
}

static void nothing_sums_to_nothing(void)
{
	struct sum_stream *s = sum_stream_new();

	REQUIRE(s != NULL);
	CHECK_U64(sum_stream_value(s), sum_xxh64("", 0));
	sum_stream_add(s, "", 0);
	CHECK_U64(sum_stream_value(s), sum_xxh64("", 0));
	sum_stream_free(s);
	sum_stream_free(NULL);
}

int main(void)
{
	UNIT(known_sums, "sum: it is XXH64 with seed 0");
	UNIT(pieces_sum_to_the_whole, "sum: pieces sum to what the whole does");
	UNIT(nothing_sums_to_nothing, "sum: no bytes are a sum, too");
	return unit_end();
}
