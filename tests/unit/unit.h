/* SPDX-License-Identifier: BSD-2-Clause
 *
 * unit: TAP for the C tests, one program per module.
 *
 *	static void adds_bytes(void) { CHECK_U64(f(1), 2); }
 *	int main(void) { UNIT(adds_bytes, "buf: bytes are appended"); return
 *unit_end(); }
 *
 * A test's name is a claim.  A failed CHECK says where and what, and the test
 * goes on; REQUIRE leaves the test.  The runner counts the TAP lines.
 */
#ifndef BLOOMCTL_TESTS_UNIT_H
#define BLOOMCTL_TESTS_UNIT_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned unit_number, unit_failures;
static bool unit_bad;
static const char *unit_skipped;

static inline void unit_fail(const char *file, int line, const char *what)
{
	unit_bad = true;
	printf("# %s:%d: %s\n", file, line, what);
}

static inline void unit_run(void (*test)(void), const char *claim)
{
	unit_bad = false;
	unit_skipped = NULL;
	test();
	unit_number++;
	if (unit_bad)
		unit_failures++;
	printf("%sok %u - %s%s%s\n", unit_bad ? "not " : "", unit_number, claim,
	       unit_skipped != NULL ? " # SKIP " : "",
	       unit_skipped != NULL ? unit_skipped : "");
	fflush(stdout);
}

static inline int unit_end(void)
{
	printf("1..%u\n", unit_number);
	return unit_failures == 0 ? 0 : 1;
}

#define UNIT(test, claim) unit_run(test, claim)
#define SKIP(why)                     \
	do {                          \
		unit_skipped = (why); \
		return;               \
	} while (0)
#define CHECK(cond)                                           \
	do {                                                  \
		if (!(cond))                                  \
			unit_fail(__FILE__, __LINE__, #cond); \
	} while (0)
#define REQUIRE(cond)                                         \
	do {                                                  \
		if (!(cond)) {                                \
			unit_fail(__FILE__, __LINE__, #cond); \
			return;                               \
		}                                             \
	} while (0)
#define CHECK_U64(a, b)                                                    \
	do {                                                               \
		uint64_t unit_a = (a), unit_b = (b);                       \
		if (unit_a != unit_b) {                                    \
			unit_fail(__FILE__, __LINE__, #a " == " #b);       \
			printf("#   %" PRIu64 " != %" PRIu64 "\n", unit_a, \
			       unit_b);                                    \
		}                                                          \
	} while (0)
#define CHECK_STR(a, b)                                              \
	do {                                                         \
		const char *unit_a = (a), *unit_b = (b);             \
		if (unit_a == NULL || unit_b == NULL ||              \
		    strcmp(unit_a, unit_b) != 0) {                   \
			unit_fail(__FILE__, __LINE__, #a " == " #b); \
			printf("#   \"%s\" != \"%s\"\n",             \
			       unit_a != NULL ? unit_a : "(null)",   \
			       unit_b != NULL ? unit_b : "(null)");  \
		}                                                    \
	} while (0)

#endif
