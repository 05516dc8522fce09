/* SPDX-License-Identifier: BSD-2-Clause
 *
 * quote: bytes from outside, as they may stand in a message.
 *
 * Printable ASCII stays as it is; a quote, a backslash and every other byte
 * become \xHH, so that a name can neither end its quotes nor steer a terminal.
 */
#ifndef BLOOMCTL_ROWS_QUOTE_H
#define BLOOMCTL_ROWS_QUOTE_H

#include <stddef.h>

/* How many bytes of a column's name are shown, and of a path. */
#define QUOTE_NAME_MAX 64u
#define QUOTE_PATH_MAX 256u

/* What a buffer needs for max bytes: each as \xHH, "..." and NUL. */
#define QUOTE_SIZE(max) (4 * (max) + 4)

/*
 * Writes at most max bytes of data, escaped, and "..." if there were more.
 * out has room for QUOTE_SIZE(max).  Returns out.
 */
const char *quote_bytes(char *out, const void *data, size_t len, size_t max);

#endif
