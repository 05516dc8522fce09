/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/record.h"

#include <string.h>

#include "tests/unit/unit.h"

#define MEMBERS "{\n  \"a\": 1"

static size_t make(char out[128])
{
	struct buf b;
	size_t len;

	buf_init(&b, 128);
	CHECK(buf_adds(&b, MEMBERS) == 0);
	CHECK(record_end(&b) == 0);
	len = b.len;
	CHECK_U64(len, strlen(MEMBERS) + RECORD_TAIL_LEN);
	memcpy(out, b.data, len);
	buf_release(&b);
	return len;
}

static void whole(void)
{
	char text[128];
	struct error err = ERROR_INIT;
	size_t len = make(text);

	CHECK(record_check(text, len, len, "list", &err) == 0);
	CHECK_STR(err.text, "");
}

/* Every byte that is lost, and every bit that is turned. */
static void damaged(void)
{
	char text[128];
	struct error err = ERROR_INIT;
	size_t len = make(text);

	for (size_t n = 0; n < len; n++)
		CHECK(record_check(text, n, 128, "list", &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(record_check("", 0, 128, "list", &err) == -1);
	CHECK_STR(err.text, "cut off at 0 bytes, or no list");
	for (size_t i = 0; i < len * 8; i++) {
		text[i / 8] ^= (char)(1 << i % 8);
		CHECK(record_check(text, len, 128, "list", &err) == -1);
		text[i / 8] ^= (char)(1 << i % 8);
	}
	text[3] ^= 1;
	CHECK(record_check(text, len, 128, "list", &err) == -1);
	CHECK_STR(err.text, "damaged: its checksum does not match");
	text[3] ^= 1;
	CHECK(record_check(text, len, len - 1, "list", &err) == -1);
	CHECK(strstr(err.text, "longer than ") == err.text);
}

int main(void)
{
	UNIT(whole, "record: a text is whole with the sum of its bytes");
	UNIT(damaged, "record: no byte is lost or turned unseen");
	return unit_end();
}
