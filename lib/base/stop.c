/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Lock-free, so a handler may write it while workers read it. */
static atomic_int stop_signal;
static int stop_pipe[2] = {-1, -1};

static void on_signal(int number)
{
	int saved = errno;

	int none = 0;

	/* A full pipe is readable too, so nothing is lost by a failure. */
	if (atomic_compare_exchange_strong(&stop_signal, &none, number) &&
	    write(stop_pipe[1], "", 1) < 0)
		none = 0;
	errno = saved;
}

int stop_init(struct error *err)
{
	struct sigaction sa;
	struct sigaction old;

	if (pipe(stop_pipe) != 0)
		return error_errno(err, ERROR_INTERNAL, errno, "pipe");
	for (int i = 0; i < 2; i++) {
		(void)fcntl(stop_pipe[i], F_SETFD, FD_CLOEXEC);
		(void)fcntl(stop_pipe[i], F_SETFL, O_NONBLOCK);
	}
	memset(&sa, 0, sizeof(sa));
	(void)sigemptyset(&sa.sa_mask);
	sa.sa_flags = SA_RESTART;
	sa.sa_handler = on_signal;
	if (sigaction(SIGINT, &sa, NULL) != 0 ||
	    sigaction(SIGTERM, &sa, NULL) != 0)
		return error_errno(err, ERROR_INTERNAL, errno, "sigaction");
	/* A lost terminal ends a run in order, unless nohup said otherwise. */
	if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		(void)sigaction(SIGHUP, &sa, NULL);
	sa.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &sa, NULL);
	/* A file size limit shall be an error of write(), not a death. */
	(void)sigaction(SIGXFSZ, &sa, NULL);
	return 0;
}

int stop_fd(void)
{
	return stop_pipe[0];
}

bool stop_asked(void)
{
	return atomic_load_explicit(&stop_signal, memory_order_relaxed) != 0;
}

int stop_check(struct error *err)
{
	int number = atomic_load_explicit(&stop_signal, memory_order_relaxed);

	if (number == 0)
		return 0;
	return error_set(
		err, number == SIGINT ? ERROR_INTERRUPTED : ERROR_TERMINATED,
		"stopped by %s",
		number == SIGINT    ? "SIGINT"
		: number == SIGTERM ? "SIGTERM"
				    : "SIGHUP");
}
