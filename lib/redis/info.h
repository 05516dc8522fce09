/* SPDX-License-Identifier: BSD-2-Clause
 *
 * info: the lines of INFO, "name:value".
 */
#ifndef BLOOMCTL_REDIS_INFO_H
#define BLOOMCTL_REDIS_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/redis/reply.h"

/*
 * The value of a name, cut to size - 1 bytes, in out.  Whether there is one;
 * out is "" otherwise, also where the reply is no text.
 */
bool info_text(const struct reply *reply, const char *name, char *out,
	       size_t size);

/* The same as a number; false also where it is none. */
bool info_u64(const struct reply *reply, const char *name, uint64_t *out);

#endif
