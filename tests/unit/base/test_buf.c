/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/buf.h"

#include "tests/unit/unit.h"

static void grows_to_its_maximum(void)
{
	struct buf b;

	buf_init(&b, 100);
	for (int i = 0; i < 100; i++)
		CHECK(buf_add(&b, "x", 1) == 0);
	CHECK_U64(b.len, 100);
	CHECK_U64(b.cap, 100);
	CHECK(buf_full(&b, 1));
	CHECK(buf_add(&b, "y", 1) == -1);
	CHECK(buf_string(&b) == NULL);
	CHECK_U64(b.len, 100);
	buf_release(&b);
	CHECK(buf_add(&b, "y", 1) == 0);
	buf_release(&b);
}

static void a_request_that_overflows(void)
{
	struct buf b;

	buf_init(&b, SIZE_MAX);
	CHECK(buf_add(&b, "abc", 3) == 0);
	CHECK(buf_reserve(&b, SIZE_MAX) == -1);
	CHECK_U64(b.len, 3);
	buf_release(&b);
}

static void texts(void)
{
	struct buf b;

	buf_init(&b, 1000);
	CHECK(buf_adds(&b, "a") == 0);
	CHECK(buf_addf(&b, "%d-%s", 12, "zz") == 0);
	CHECK_STR(buf_string(&b), "a12-zz");
	CHECK_U64(b.len, 6);
	CHECK(buf_add(&b, "\0q", 2) == 0);
	CHECK_U64(b.len, 8);
	buf_release(&b);
}

int main(void)
{
	UNIT(grows_to_its_maximum, "buf: growth ends at the maximum");
	UNIT(a_request_that_overflows, "buf: sizes do not wrap round");
	UNIT(texts, "buf: text and bytes are appended as they are");
	return unit_end();
}
