/* SPDX-License-Identifier: BSD-2-Clause
 *
 * child: a test in a process of its own, for what cannot be taken back, such
 * as a stop.
 */
#ifndef BLOOMCTL_TESTS_UNIT_CHILD_H
#define BLOOMCTL_TESTS_UNIT_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* It may print lines of its own and fail; skips are not passed on. */
static inline void in_child(void (*test)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test();
		exit(unit_bad ? 1 : 0);
	}
	REQUIRE(pid > 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
