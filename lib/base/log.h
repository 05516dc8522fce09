/* SPDX-License-Identifier: BSD-2-Clause
 *
 * log: lines on standard error.  By default warnings and notes; -v steps,
 * -vv details; -q nothing but errors (which main prints).  Levels never
 * change what is done.  Neither secrets nor row values go into a line.
 *
 * Whoever reads them may be slow, and is waited for, but no longer than a
 * stop: then a line that has no room is dropped (lib/base/out.h), as it is
 * where standard error cannot be written to.  Threads may call all but
 * log_init().
 */
#ifndef BLOOMCTL_BASE_LOG_H
#define BLOOMCTL_BASE_LOG_H

#include <stddef.h>

enum log_level {
	LOG_QUIET,
	LOG_WARN,   /* something that is not as it should be */
	LOG_NOTE,   /* something an operator should know; the default */
	LOG_STEP,   /* -v */
	LOG_DETAIL, /* -vv */
};

/* Bytes of the longest line, with its newline. */
#define LOG_LINE_MAX (64u << 10)

/* Sets the level and the name that begins each line; name is borrowed. */
void log_init(enum log_level level, const char *name);

/* Whether a line of this level would be printed. */
int log_wants(enum log_level level);

/*
 * Prints "NAME: text" and a newline, in one write where there is room.  What
 * is longer than LOG_LINE_MAX ends with "...".
 */
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints text as it is, whatever the level, with no other line within it. */
void log_text(const char *text, size_t len);

#define log_warn(...)   log_line(LOG_WARN, __VA_ARGS__)
#define log_note(...)   log_line(LOG_NOTE, __VA_ARGS__)
#define log_step(...)   log_line(LOG_STEP, __VA_ARGS__)
#define log_detail(...) log_line(LOG_DETAIL, __VA_ARGS__)

#endif
