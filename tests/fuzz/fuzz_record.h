/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fuzz_record: for what decodes records: bytes as they are, and with a tail
 * that is right, which no fuzzer would find.
 */
#ifndef BLOOMCTL_TESTS_FUZZ_RECORD_H
#define BLOOMCTL_TESTS_FUZZ_RECORD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"
#include "lib/base/sum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int holds)
{
	if (!holds)
		abort();
}

static inline void fuzz_record(const uint8_t *data, size_t size,
			       void (*decode)(const char *text, size_t len))
{
	char *text;
	size_t body = size;

	decode((const char *)data, size);
	/* A seed has a tail of its own, which is replaced. */
	if (size > RECORD_TAIL_LEN &&
	    memcmp(data + size - RECORD_TAIL_LEN, ",\n  \"checksum\"", 14) == 0)
		body = size - RECORD_TAIL_LEN;
	text = malloc(body + RECORD_TAIL_LEN + 1);
	require(text != NULL);
	memcpy(text, data, body);
	(void)snprintf(text + body, RECORD_TAIL_LEN + 1, RECORD_TAIL,
		       sum_xxh64(text, body));
	decode(text, body + RECORD_TAIL_LEN);
	free(text);
}

#endif
