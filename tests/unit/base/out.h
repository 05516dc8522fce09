/* SPDX-License-Identifier: BSD-2-Clause
 *
 * out: what the tests of out.c share.
 */
#ifndef BLOOMCTL_TESTS_BASE_OUT_H
#define BLOOMCTL_TESTS_BASE_OUT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/out.h"
#include "lib/base/stop.h"
#include "tests/unit/unit.h"

#define MUCH (1u << 20)

static struct out out;
static unsigned char sent[MUCH];

/* In a process of its own, 60 seconds at most: a stop cannot be taken back. */
static inline void in_child(void (*test)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct error err = ERROR_INIT;

		(void)alarm(60);
		if (stop_init(&err) == 0)
			test();
		else
			unit_bad = true;
		fflush(stdout);
		_exit(unit_bad ? 1 : 0);
	}
	REQUIRE(pid > 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void fill(void)
{
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (unsigned char)(i * 2654435761u >> 13);
}

/* From here on nothing can be opened, and so nothing once more; poll() wants
 * a limit of two, and all below three are open. */
static inline void open_no_more(void)
{
	struct rlimit limit = {0, 0};

	REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = 3;
	REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

#endif
