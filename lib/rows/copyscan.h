/* SPDX-License-Identifier: BSD-2-Clause
 *
 * copyscan: the bytes of COPY text: where rows and fields end, and what the
 * escapes stand for.  The parser splits with it, and the file source cuts and
 * counts.
 */
#ifndef BLOOMCTL_ROWS_COPYSCAN_H
#define BLOOMCTL_ROWS_COPYSCAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Finds the first LF in [pos, end) that no backslash escapes: the end of a
 * row.  *escaped: whether the byte before pos is a backslash that escapes the
 * one at pos; where no LF is found (NULL) it says the same of end, so that a
 * caller can go on with the next bytes.
 */
char *copyscan_row_end(char *pos, char *end, bool *escaped);

/* Where the field at pos ends: at an unescaped tab, or the row's end. */
char *copyscan_field_end(char *pos, char *end);

/* Whether a backslash escapes the byte at pos of the row. */
bool copyscan_is_escaped(const char *row, const char *pos);

/* Replaces the escapes in place, as COPY FROM does; returns the new length. */
size_t copyscan_unescape(char *data, size_t len);

#endif
