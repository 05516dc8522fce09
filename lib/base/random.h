/* SPDX-License-Identifier: BSD-2-Clause
 *
 * random: bytes that nobody can guess.
 */
#ifndef BLOOMCTL_BASE_RANDOM_H
#define BLOOMCTL_BASE_RANDOM_H

#include <stddef.h>

#include "lib/base/error.h"

/* The most bytes at a time. */
#define RANDOM_MAX 256

/*
 * len bytes, at most RANDOM_MAX, from the system.  ERROR_INTERNAL if it has
 * none; there is no other source to fall back on.
 */
int random_bytes(void *out, size_t len, struct error *err);

#endif
