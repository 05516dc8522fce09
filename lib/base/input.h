/* SPDX-License-Identifier: BSD-2-Clause
 *
 * input: reading a descriptor that may let us wait, such as a pipe.  A wait
 * ends when a stop is asked for.
 */
#ifndef BLOOMCTL_BASE_INPUT_H
#define BLOOMCTL_BASE_INPUT_H

#include <stddef.h>

#include "lib/base/error.h"

/*
 * Waits at most ms milliseconds (-1: for ever) until there is something to
 * read, or the end.  1 then, 0 when the time is over, -1 for a stop or
 * ERROR_INTERNAL.
 */
int input_wait(int fd, int ms, struct error *err);

/*
 * Waits and reads up to cap bytes, as many as are there; *got is 0 only at
 * the end.  0, or -1: a stop, or ERROR_DATA "cannot read it".
 */
int input_read(int fd, void *buf, size_t cap, size_t *got, struct error *err);

#endif
