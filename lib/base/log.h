/* SPDX-License-Identifier: BSD-2-Clause
 *
 * log: lines on standard error.  By default warnings and notes; -v steps,
 * -vv details; -q nothing but errors (which main prints).  Levels never
 * change what is done.  Neither secrets nor row values go into a line.
 */
#ifndef BLOOMCTL_BASE_LOG_H
#define BLOOMCTL_BASE_LOG_H

enum log_level {
	LOG_QUIET,
	LOG_WARN,   /* something that is not as it should be */
	LOG_NOTE,   /* something an operator should know; the default */
	LOG_STEP,   /* -v */
	LOG_DETAIL, /* -vv */
};

/* Sets the level and the name that begins each line; name is borrowed. */
void log_init(enum log_level level, const char *name);

/* Whether a line of this level would be printed. */
int log_wants(enum log_level level);

/* Prints "NAME: text" and a newline, in one write. */
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_warn(...)   log_line(LOG_WARN, __VA_ARGS__)
#define log_note(...)   log_line(LOG_NOTE, __VA_ARGS__)
#define log_step(...)   log_line(LOG_STEP, __VA_ARGS__)
#define log_detail(...) log_line(LOG_DETAIL, __VA_ARGS__)

#endif
