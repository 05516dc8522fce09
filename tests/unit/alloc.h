/* SPDX-License-Identifier: BSD-2-Clause
 *
 * alloc: allocations that fail, for tests of what is done then.
 *
 * The linker sends malloc() and its like to the functions below, in this
 * program and in the archives it is linked with (-Wl,--wrap, which the
 * makefile gives for each __wrap_ that a test defines).  Unlike a malloc() of
 * the program's own that works with the sanitizers, too.  What a shared
 * library allocates for itself does not come here; jansson can be told to:
 * json_set_alloc_funcs(malloc, free).
 *
 * For one thread, and for one source file of a program.  Where a test was
 * linked without --wrap it is skipped: ALLOC_NEEDED().
 *
 *	ALLOC_NEEDED();
 *	for (n = 1; n < 100; n++) {
 *		alloc_fail(n, true);
 *		rc = f();
 *		met = alloc_pass();
 *		... if (!met) it came through ...
 *	}
 */
#ifndef BLOOMCTL_TESTS_UNIT_ALLOC_H
#define BLOOMCTL_TESTS_UNIT_ALLOC_H

#include "tests/unit/unit.h"

static struct {
	unsigned long made; /* since alloc_fail() */
	unsigned long fails_at;
	bool armed;
	bool on;  /* and all after it */
	bool met; /* whether it came to that */
} alloc;

void *__real_malloc(size_t size) __attribute__((weak));
void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__real_realloc(void *old, size_t size) __attribute__((weak));
char *__real_strdup(const char *text) __attribute__((weak));
char *__real_strndup(const char *text, size_t len) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

/* From now on the n-th allocation fails, and with on all after it; 0: none. */
static inline void alloc_fail(unsigned long n, bool on)
{
	alloc.made = 0;
	alloc.fails_at = n;
	alloc.on = on;
	alloc.met = false;
	alloc.armed = true;
}

/* From now on all pass.  Whether one failed. */
static inline bool alloc_pass(void)
{
	alloc.armed = false;
	return alloc.met;
}

/* Counts an allocation; whether it is one that fails. */
static inline bool alloc_fails(void)
{
	if (!alloc.armed)
		return false;
	if (++alloc.made == alloc.fails_at)
		alloc.met = true;
	else if (!alloc.met || !alloc.on)
		return false;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return alloc_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return alloc_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return alloc_fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
	return alloc_fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
	return alloc_fails() ? NULL : __real_strndup(text, len);
}

#define ALLOC_NEEDED()                                  \
	do {                                            \
		if (__real_malloc == NULL)              \
			SKIP("not linked with --wrap"); \
	} while (0)

#endif
