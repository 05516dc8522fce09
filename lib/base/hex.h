/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hex: bytes as lower-case hexadecimal digits, and back.
 */
#ifndef BLOOMCTL_BASE_HEX_H
#define BLOOMCTL_BASE_HEX_H

#include <stddef.h>

/* 2 * len digits and a NUL.  Returns out. */
const char *hex_text(const void *bytes, size_t len, char *out);

/* Reads what hex_text() writes, exactly 2 * len digits.  0 or -1. */
int hex_bytes(const char *text, void *bytes, size_t len);

#endif
