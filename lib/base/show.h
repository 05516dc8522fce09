/* SPDX-License-Identifier: BSD-2-Clause
 *
 * show: bytes from outside, as messages, records and answers may hold them.
 */
#ifndef BLOOMCTL_BASE_SHOW_H
#define BLOOMCTL_BASE_SHOW_H

#include <stddef.h>

#include "lib/base/buf.h"

/*
 * Appends a key or a value as COPY text: valid UTF-8 without control
 * characters stands as it is, a backslash is doubled, control characters are
 * \n, \t and so on or \xHH, and so is each byte that is no UTF-8.  0 or -1.
 */
int show_copy(struct buf *out, const void *data, size_t len);

/*
 * Makes a text one line of valid UTF-8, in place: control characters and
 * bytes that are no UTF-8 become "?".  For messages, whatever went into them.
 */
void show_clean(char *text);

/* Appends bytes as lower-case hexadecimal digits.  0 or -1. */
int show_hex(struct buf *out, const void *data, size_t len);

/* How many bytes show_command() writes, with its NUL. */
#define SHOW_COMMAND_MAX 80

/*
 * A command as messages and records name it: its first word, if that is
 * plain, and "..." for the rest, which may hold a password.  Returns out.
 */
const char *show_command(const char *command, char out[SHOW_COMMAND_MAX]);

#endif
