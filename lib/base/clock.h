/* SPDX-License-Identifier: BSD-2-Clause
 *
 * clock: times as people write them, and durations as machines measure them.
 */
#ifndef BLOOMCTL_BASE_CLOCK_H
#define BLOOMCTL_BASE_CLOCK_H

#include <stdint.h>

/* Room for "2026-11-30T19:56:54.123Z" and a NUL. */
#define CLOCK_TEXT_MAX 32

/* Milliseconds since 1970, UTC: what a record says.  May be set back. */
int64_t clock_wall_ms(void);

/* Nanoseconds of a clock that never goes back: for durations and waits. */
int64_t clock_ns(void);

/* RFC 3339 in UTC with milliseconds.  Returns out. */
const char *clock_text(int64_t wall_ms, char out[CLOCK_TEXT_MAX]);

/* Reads what clock_text() writes.  0 or -1. */
int clock_parse(const char *text, int64_t *wall_ms);

/*
 * Reads any time of RFC 3339: "2026-11-30T19:56:54Z", with a fraction (of
 * which milliseconds count) or an offset such as +01:00, too.  0 or -1.
 */
int clock_parse_time(const char *text, int64_t *wall_ms);

/*
 * Reads a duration into milliseconds: digits and one of s, m, h, d, as "30s";
 * no sign, no blank, no fraction.  0, or -1, also where it is too long to
 * count.
 */
int clock_parse_span(const char *text, int64_t *ms);

/* "3 s", "4 min", "2 h", "5 days" of a number of milliseconds.  Returns out. */
const char *clock_span(int64_t ms, char out[CLOCK_TEXT_MAX]);

#endif
