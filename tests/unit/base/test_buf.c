/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/buf.h"

#include "tests/unit/alloc.h"
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

static int fill(struct buf *b)
{
	char text[300];

	memset(text, 'x', sizeof(text));
	if (buf_adds(b, "abc") != 0 || buf_add(b, text, sizeof(text)) != 0 ||
	    buf_addf(b, "%.*s", (int)sizeof(text), text) != 0 ||
	    buf_reserve(b, 2000) != 0 || buf_string(b) == NULL)
		return -1;
	return 0;
}

static void no_memory(void)
{
	unsigned long n = 1;
	bool met = true;

	ALLOC_NEEDED();
	for (; met && n < 100; n++) {
		struct buf b;
		int rc;

		alloc_fail(n, true);
		buf_init(&b, 10000);
		rc = fill(&b);
		met = alloc_pass();
		CHECK((rc != 0) == met);
		/* What is in it stays, and it is not full. */
		CHECK(b.len <= b.cap && (b.len == 0 || b.data[0] == 'a'));
		CHECK(!buf_full(&b, 1));
		CHECK(!met || fill(&b) == 0);
		buf_release(&b);
		CHECK(b.data == NULL && b.len == 0 && b.cap == 0);
	}
	CHECK(n > 4 && n < 100);
}

int main(void)
{
	UNIT(grows_to_its_maximum, "buf: growth ends at the maximum");
	UNIT(a_request_that_overflows, "buf: sizes do not wrap round");
	UNIT(texts, "buf: text and bytes are appended as they are");
	UNIT(no_memory, "buf: each failing allocation leaves the contents");
	return unit_end();
}
