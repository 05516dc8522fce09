/* SPDX-License-Identifier: BSD-2-Clause
 *
 * record: a JSON object, one member a line, whose last member is a checksum
 * of all bytes before it, so that a text that was cut off or changed shows.
 *
 *	{ members ..., "checksum": "XXH64" }
 *	|<------ summed ----->|
 */
#ifndef BLOOMCTL_BASE_RECORD_H
#define BLOOMCTL_BASE_RECORD_H

#include <inttypes.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"

/* How a text ends; the sum (uint64_t) is over all bytes before it. */
#define RECORD_TAIL ",\n  \"checksum\": \"%016" PRIx64 "\"\n}\n"
#define RECORD_TAIL_LEN \
	(sizeof(",\n  \"checksum\": \"0123456789abcdef\"\n}\n") - 1)

/* Appends the tail to the members of an object that is still open.  0 or -1
 * as buf_add(). */
int record_end(struct buf *members);

/*
 * Whether a text is whole: at most max bytes that end in the sum of those
 * before.  kind is what it should be, as "manifest".  0 or -1 (ERROR_DATA).
 */
int record_check(const char *text, size_t len, size_t max, const char *kind,
		 struct error *err);

#endif
