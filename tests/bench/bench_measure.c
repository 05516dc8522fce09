/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs a command and prints what it took, for tests/bench/run:
 *
 *	bench_measure COMMAND [ARGUMENT...]
 *	→ "WALL_SECONDS CPU_SECONDS PEAK_KIB" on standard output
 *
 * The command's own standard output goes to /dev/null.  Ends as it does.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timeval *tv)
{
	return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start = now();
	int status;
	pid_t pid;

	if (argc < 2)
		return 64;
	pid = fork();
	if (pid == 0) {
		int fd = open("/dev/null", O_WRONLY);

		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
			_exit(126);
		(void)execvp(argv[1], argv + 1);
		(void)fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 70;
	(void)printf("%.3f %.3f %ld\n", now() - start,
		     seconds(&usage.ru_utime) + seconds(&usage.ru_stime),
		     usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 70;
}
