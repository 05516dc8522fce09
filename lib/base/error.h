/* SPDX-License-Identifier: BSD-2-Clause
 *
 * error: what went wrong, as a code, a sentence and perhaps a hint.
 *
 * A function that can fail takes a struct error last and returns 0 or -1 (or
 * a pointer or NULL).  The function that meets the fault calls error_set()
 * once; callers add only what they know by error_prefix().  Nothing is
 * allocated, so an error can be reported when memory is out.  Texts are one
 * line of valid UTF-8, whatever names went into them (show_clean()).  Only
 * main() prints one.  Text: object first, factual, lower case, no full stop:
 * "file 'x.csv': row 7: ...".  Row values never go into it.
 */
#ifndef BLOOMCTL_BASE_ERROR_H
#define BLOOMCTL_BASE_ERROR_H

enum error_code {
	ERROR_NONE = 0,
#define ERROR_ROW(name, status, text) ERROR_##name = (status),
#include "lib/base/error.def"
#undef ERROR_ROW
};

struct error {
	enum error_code code; /* also the exit status */
	char text[512];
	char hint[320]; /* empty, or what to do, without "hint: " */
};

#define ERROR_INIT                 \
	{                          \
		ERROR_NONE, "", "" \
	}

/*
 * Sets code and text and clears the hint; too long a text is cut at the end.
 * Always returns -1, so that callers can return it.  err is never NULL.
 */
int error_set(struct error *err, enum error_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set(), with ": " and the text of errno value errnum behind. */
int error_errno(struct error *err, enum error_code code, int errnum,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * The code that an errno value of the target's file system means: no space,
 * quota or file too big ERROR_SPACE; no rights or read-only ERROR_RIGHTS; out
 * of memory or descriptors ERROR_INTERNAL; anything else ERROR_DATA.
 */
enum error_code error_code_of_errno(int errnum);

/* Puts "TEXT: " in front of the text.  Always returns -1. */
int error_prefix(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets the hint: one line, what the operator can do.  Always returns -1. */
int error_hint(struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "out of memory": ERROR_INTERNAL.  Always returns -1. */
int error_nomem(struct error *err);

/*
 * That they always return -1 is said to compilers and analysers too, which
 * otherwise follow paths on which an error was set and none returned.
 */
static inline int error_failed(int rc)
{
	(void)rc;
	return -1;
}

#define error_set(...)    error_failed(error_set(__VA_ARGS__))
#define error_errno(...)  error_failed(error_errno(__VA_ARGS__))
#define error_prefix(...) error_failed(error_prefix(__VA_ARGS__))
#define error_hint(...)   error_failed(error_hint(__VA_ARGS__))
#define error_nomem(err)  error_failed(error_nomem(err))

#endif
