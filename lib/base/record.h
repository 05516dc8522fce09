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
#include "lib/base/json.h"

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

/* Members of a record.  A reference is the caller's; NULL: no memory. */

/* ms since 1970 as RFC 3339, or null for 0. */
json_t *record_time(int64_t ms);

/* A text, its bytes that are no UTF-8 escaped (show_copy()); null for NULL. */
json_t *record_bytes(const char *text);

/* Reads record_time() back.  0 or -1 (ERROR_DATA). */
int record_get_time(const json_t *json, const char *name, int64_t *out,
		    struct error *err);

/* Reads a text, or NULL for null; *out is owned by the caller. */
int record_get_bytes(const json_t *json, const char *name, char **out,
		     struct error *err);

/* ERROR_DATA that names a member.  Always returns -1. */
int record_wrong(const char *name, struct error *err);

#endif
