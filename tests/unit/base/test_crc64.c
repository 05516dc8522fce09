/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/crc64.h"

#include "tests/unit/unit.h"

/* The check value of the catalogue of CRCs, CRC-64/REDIS. */
static void check_value(void)
{
	CHECK_U64(crc64(0, "123456789", 9), UINT64_C(0xe9c6d914c4b8d9ca));
	CHECK_U64(crc64(0, NULL, 0), 0);
}

/* Polynomial division, bit by bit; of any number of bytes at once or apart. */
static uint64_t plain(const unsigned char *p, size_t len)
{
	uint64_t crc = 0;

	for (size_t i = 0; i < 8 * len; i++) {
		uint64_t bit = p[i / 8] >> i % 8 & 1;

		crc = crc >> 1 ^
		      ((crc ^ bit) & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
	}
	return crc;
}

static void every_length(void)
{
	static unsigned char data[1300];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * i >> 3);
	for (size_t len = 0; len < 40; len++)
		CHECK_U64(crc64(0, data + len, len), plain(data + len, len));
	for (size_t len = 480; len < sizeof(data) - 3; len++)
		CHECK_U64(crc64(0, data + len % 3, len),
			  plain(data + len % 3, len));
}

static void pieces(void)
{
	static unsigned char data[3000];
	uint64_t whole;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 ^ i >> 4);
	whole = plain(data, sizeof(data));
	for (size_t at = 0; at <= sizeof(data); at += 37)
		CHECK_U64(
			crc64(crc64(0, data, at), data + at, sizeof(data) - at),
			whole);
}

int main(void)
{
	UNIT(check_value, "crc64: the catalogue's check value comes out");
	UNIT(every_length, "crc64: any length is divided right");
	UNIT(pieces, "crc64: bytes may come in pieces");
	return unit_end();
}
