/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/crc64.h"

/* The polynomial with its lowest bit first. */
#define POLYNOMIAL UINT64_C(0x95ac9329ac4bc9b5)

/* What goes in at a time, a table for each byte of it. */
#define SLICE 8

/* Fewer bytes than this are not worth the tables. */
#define FEW 512

/* A byte that goes in behind crc. */
static inline uint64_t step(uint64_t crc, unsigned char byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	return crc;
}

/*
 * table[n][b] is what byte b does with n bytes behind it.  Made anew each
 * time, which takes some microseconds, so that there is neither a global
 * state nor 2,048 numbers to read in the source.
 */
static void make_tables(uint64_t table[SLICE][256])
{
	for (unsigned b = 0; b < 256; b++)
		table[0][b] = step(0, (unsigned char)b);
	for (int n = 1; n < SLICE; n++)
		for (unsigned b = 0; b < 256; b++) {
			uint64_t crc = table[n - 1][b];

			table[n][b] = crc >> 8 ^ table[0][crc & 0xff];
		}
}

static uint64_t slices(uint64_t crc, const unsigned char *p, size_t count)
{
	uint64_t table[SLICE][256];

	make_tables(table);
	for (; count > 0; count--, p += SLICE) {
		uint64_t next = 0;

		for (int i = 0; i < SLICE; i++)
			next ^= table[SLICE - 1 - i]
				     [(crc >> (8 * i) & 0xff) ^ p[i]];
		crc = next;
	}
	return crc;
}

uint64_t crc64(uint64_t crc, const void *data, size_t len)
{
	const unsigned char *p = data;

	if (len >= FEW) {
		crc = slices(crc, p, len / SLICE);
		p += len - len % SLICE;
		len %= SLICE;
	}
	for (; len > 0; len--)
		crc = step(crc, *p++);
	return crc;
}
