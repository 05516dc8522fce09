/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/record.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sum.h"

int record_end(struct buf *members)
{
	return buf_addf(members, RECORD_TAIL,
			sum_xxh64(members->data, members->len));
}

int record_check(const char *text, size_t len, size_t max, const char *kind,
		 struct error *err)
{
	char tail[RECORD_TAIL_LEN + 1];
	size_t body;

	if (len <= RECORD_TAIL_LEN || memcmp(text + len - 4, "\"\n}\n", 4) != 0)
		return error_set(err, ERROR_DATA,
				 "cut off at %zu bytes, or no %s", len, kind);
	if (len > max)
		return error_set(err, ERROR_DATA, "longer than %zu bytes", max);
	body = len - RECORD_TAIL_LEN;
	(void)snprintf(tail, sizeof(tail), RECORD_TAIL, sum_xxh64(text, body));
	if (memcmp(text + body, tail, RECORD_TAIL_LEN) != 0)
		return error_set(err, ERROR_DATA,
				 "damaged: its checksum does not match");
	return 0;
}
