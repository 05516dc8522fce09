/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/mem.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static void no_more_than_there_is(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page = sysconf(_SC_PAGESIZE);
	uint64_t n = mem_available();

	REQUIRE(pages > 0 && page > 0);
	CHECK(n <= (uint64_t)pages * (uint64_t)page);
}

/* In a process of its own, as limits cannot be taken back. */
static void within_a_limit(void)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct rlimit limit = {64u << 20, 64u << 20};

		if (setrlimit(RLIMIT_AS, &limit) != 0)
			_exit(2);
		_exit(mem_available() <= limit.rlim_cur ? 0 : 1);
	}
	REQUIRE(pid > 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	UNIT(no_more_than_there_is, "mem: no more than the machine has");
	UNIT(within_a_limit, "mem: no more than the address space allows");
	return unit_end();
}
