/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exposure: for how long a row could be in no filter, as the last run found it
 * that caught up, on record with the set for whoever keeps recent-writes.
 */
#ifndef BLOOMCTL_STORE_EXPOSURE_H
#define BLOOMCTL_STORE_EXPOSURE_H

#include <stddef.h>
#include <stdint.h>

struct exposure {
	int64_t at;        /* when that was, ms since 1970; 0: never */
	int64_t ms;        /* the exposure */
	int64_t recent_ms; /* how long recent-writes must be kept */
};

/* The record: three numbers of 19 digits, two blanks and a newline. */
#define EXPOSURE_SIZE 60

/* Writes the record and a NUL; numbers are not below 0. */
void exposure_text(const struct exposure *e, char out[EXPOSURE_SIZE + 1]);

/* Reads it; -1 if it is none, and *out is all 0. */
int exposure_parse(const char *text, size_t len, struct exposure *out);

#endif
