/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_bucketfile: any bytes as the header of a filter file, as they are and
 * with the frame and the checksum put right, which no fuzzer would find.
 * Short input is filled up with zeros.  Aborts where what was read is not
 * written as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "lib/store/bucketfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
#define BUCKETFILE_FIELD(name, offset, bytes) \
	AT_##name = (offset), BYTES_##name = (bytes),
#include "lib/store/bucketfile.def"
#undef BUCKETFILE_FIELD
};

static void require(int holds)
{
	if (!holds)
		abort();
}

static void put(unsigned char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static void decode(const unsigned char *page)
{
	unsigned char again[BUCKETFILE_HEADER];
	struct bucketfile f;
	struct error err = ERROR_INIT;

	if (bucketfile_decode(page, &f, &err) != 0) {
		require(err.code == ERROR_DATA && err.text[0] != '\0');
		return;
	}
	require(f.bucket < f.buckets && f.buckets <= 65536);
	require(f.params.bits > 0 && f.params.bits <= f.params.bytes * 8);
	require(f.params.hashes >= 1 && f.params.hashes <= LAYOUT_HASHES_MAX);
	require(names_id_valid(f.generation));
	require(strlen(f.fingerprint) == BLOOMKEY_FINGERPRINT_LEN);
	require(bucketfile_match(&f, &f, &err) == 0 ||
		f.state == BUCKETFILE_BUILDING);
	bucketfile_encode(&f, again);
	/* Apart from gaps, padding and the sum over them. */
	require(memcmp(page, again, AT_hashes + BYTES_hashes) == 0);
	require(memcmp(page + AT_items, again + AT_items,
		       AT_generation - AT_items) == 0);
	require(memcmp(page + AT_bits_sum, again + AT_bits_sum, 8) == 0);
	require(memcmp(page + AT_seed, again + AT_seed, BYTES_seed) == 0);
	require(f.layout != 1 || layout_seed_none(f.params.seed));
	require(f.layout != 2 || !layout_seed_none(f.params.seed));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char page[BUCKETFILE_HEADER] = {0};

	memcpy(page, data, size < sizeof(page) ? size : sizeof(page));
	decode(page);
	memcpy(page, "BLOOMBKT", BYTES_magic);
	put(page + AT_version, BUCKETFILE_VERSION, BYTES_version);
	put(page + AT_header, BUCKETFILE_HEADER, BYTES_header);
	put(page + AT_header_sum, 0, BYTES_header_sum);
	put(page + AT_header_sum, sum_xxh64(page, sizeof(page)),
	    BYTES_header_sum);
	decode(page);
	return 0;
}
