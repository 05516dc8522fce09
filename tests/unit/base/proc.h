/* SPDX-License-Identifier: BSD-2-Clause
 *
 * proc: what the tests of commands share.
 */
#ifndef BLOOMCTL_TESTS_UNIT_BASE_PROC_H
#define BLOOMCTL_TESTS_UNIT_BASE_PROC_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/proc.h"
#include "tests/unit/unit.h"

extern char **environ;

/* How many descriptors are open, and one for the look. */
static inline unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* What the runner of the tests left open shall not count as ours. */
static inline void close_on_exec(void)
{
	for (int fd = 3; fd < 256; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static inline bool no_child(void)
{
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD;
}

/* Runs a command to its end and holds its output to a text; its status. */
static inline int run_command(const char *command, const char *text)
{
	struct error err = ERROR_INIT;
	char out[1024];
	struct proc p;
	size_t len = 0, got = 1;
	int status = -1;

	if (proc_start(&p, command, environ, &err) != 0) {
		CHECK_STR(err.text, "");
		return -1;
	}
	while (got > 0 && len < sizeof(out) - 1) {
		if (proc_read(&p, out + len, sizeof(out) - 1 - len, &got,
			      &err) != 0)
			break;
		len += got;
	}
	if (err.code == ERROR_NONE)
		(void)proc_wait(&p, &status, &err);
	proc_end(&p);
	out[len] = '\0';
	CHECK_STR(err.text, "");
	CHECK_STR(out, text);
	CHECK(no_child());
	return status;
}

#endif
