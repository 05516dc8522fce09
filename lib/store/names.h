/* SPDX-License-Identifier: BSD-2-Clause
 *
 * names: what sets, generations and bucket files are called.  Everything that
 * is renamed or removed is named by these functions, from the keyspec and the
 * id, and never by what a manifest says.
 */
#ifndef BLOOMCTL_STORE_NAMES_H
#define BLOOMCTL_STORE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/bloomkey/bloomkey.h"

/* Room for "NAME-FP8" and a NUL: 64 + 1 + 8 + 1. */
#define NAMES_SET_MAX 74
/* Room for "20261130T195654Z-1a2b" and a NUL. */
#define NAMES_ID_MAX 24
/* Room for "65535.bloom" and a NUL. */
#define NAMES_BUCKET_MAX 16

/* NAME-FP8: the keyspec's name and 8 digits of its fingerprint. */
void names_set(const struct bloomkey_spec *spec, char out[NAMES_SET_MAX]);

/* A new generation's id: this second in UTC and four random hex digits. */
void names_id_new(int64_t wall_ms, char out[NAMES_ID_MAX]);

/*
 * The same for the next generation of a set whose newest is `newest` ("" for
 * none): greater than it as text in any case, also within its second and on a
 * clock that was set back, since ids are the order of generations.  Behind the
 * last second of the year 9999 there is none: *out is no valid id then.
 */
void names_id_after(int64_t wall_ms, const char *newest,
		    char out[NAMES_ID_MAX]);

/* Whether text has the form of an id. */
bool names_id_valid(const char *text);

/* "007.bloom": zero-padded to the width of buckets - 1. */
void names_bucket(uint32_t bucket, uint32_t buckets,
		  char out[NAMES_BUCKET_MAX]);

#endif
