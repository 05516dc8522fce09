/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/bloomkey/bloomkey.h"
#include "tests/unit/unit.h"

static void reasons(void)
{
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_NULL), "null");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_TOO_LONG), "too-long");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_ENCODING), "encoding");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_EMPTY), "empty");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_DELIMITER), "delimiter");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_UUID), "uuid");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_INT), "int");
	CHECK_STR(bloomkey_reason(BLOOMKEY_REJECT_DIGITS), "digits");
}

static void codes(void)
{
	CHECK(BLOOMKEY_REJECT_NULL == -10);
	CHECK(BLOOMKEY_REJECT_TOO_LONG == -11);
	CHECK(BLOOMKEY_REJECT_ENCODING == -12);
	CHECK(BLOOMKEY_REJECT_EMPTY == -13);
	CHECK(BLOOMKEY_REJECT_DELIMITER == -14);
	CHECK(BLOOMKEY_REJECT_UUID == -15);
	CHECK(BLOOMKEY_REJECT_INT == -16);
	CHECK(BLOOMKEY_REJECT_DIGITS == -17);
	CHECK(BLOOMKEY_ESECRET == -4 && BLOOMKEY_EIO == -5);
	CHECK(BLOOMKEY_OK == 0 && BLOOMKEY_EINVAL == -1 &&
	      BLOOMKEY_ENOMEM == -2 && BLOOMKEY_ERANGE == -3);
}

static void catalogue(void)
{
	size_t rows = 0, known = 0;

#define BLOOMKEY_REJECT_ROW(name, code, reason)  \
	rows++;                                  \
	CHECK(BLOOMKEY_REJECT_##name == (code)); \
	CHECK_STR(bloomkey_reason(code), reason);
#include "lib/bloomkey/reject.def"
#undef BLOOMKEY_REJECT_ROW
	for (int code = -1000; code <= 1000; code++)
		known += bloomkey_reason(code) != NULL;
	CHECK_U64(known, rows);
	CHECK(bloomkey_reason(BLOOMKEY_OK) == NULL);
	CHECK(bloomkey_reason(BLOOMKEY_ERANGE) == NULL);
	CHECK(bloomkey_reason(BLOOMKEY_ESECRET) == NULL);
	CHECK(bloomkey_reason(BLOOMKEY_EIO) == NULL);
	CHECK(bloomkey_reason(INT32_MIN) == NULL);
	CHECK(bloomkey_reason(INT32_MAX) == NULL);
}

int main(void)
{
	UNIT(reasons, "reject: each code has its word");
	UNIT(codes, "reject: codes never change");
	UNIT(catalogue, "reject: header and catalogue are the same set");
	return unit_end();
}
