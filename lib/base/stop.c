/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define STOP_WHEN_MAX 64

/* Lock-free, so a handler may write it while workers read it. */
static atomic_int stop_signal;
static int stop_pipe[2] = {-1, -1};
/* As it was asked for; written before its timer is there. */
static char stop_when[STOP_WHEN_MAX];

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

/* What is left until the timer of clock goes off, or when it does. */
static int start_timer(clockid_t clock, int flags, int64_t ms,
		       struct error *err)
{
	struct itimerspec when;
	struct sigaction sa;
	struct sigevent event;
	sigset_t alarm;
	timer_t timer;

	memset(&sa, 0, sizeof(sa));
	(void)sigemptyset(&sa.sa_mask);
	sa.sa_flags = SA_RESTART;
	sa.sa_handler = on_signal;
	/* Whoever started us may have left it blocked. */
	(void)sigemptyset(&alarm);
	(void)sigaddset(&alarm, SIGALRM);
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGALRM;
	memset(&when, 0, sizeof(when));
	when.it_value.tv_sec = (time_t)(ms / 1000);
	when.it_value.tv_nsec = (long)(ms % 1000) * 1000000;
	if (sigaction(SIGALRM, &sa, NULL) != 0 ||
	    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL) != 0 ||
	    timer_create(clock, &event, &timer) != 0 ||
	    timer_settime(timer, flags, &when, NULL) != 0)
		return error_errno(err, ERROR_INTERNAL, errno, "timer");
	return 0;
}

int stop_deadline(const char *text, struct error *err)
{
	int64_t ms;
	bool span = clock_parse_span(text, &ms) == 0;

	if (!span && clock_parse_time(text, &ms) != 0)
		return error_set(err, ERROR_USAGE,
				 "deadline '%.64s': neither a duration nor a "
				 "time",
				 text);
	if (span ? ms == 0 : ms <= clock_wall_ms())
		return error_set(err, ERROR_TEMPORARY,
				 "deadline '%.64s': it has passed already",
				 text);
	(void)snprintf(stop_when, sizeof(stop_when), "%s", text);
	return span ? start_timer(CLOCK_MONOTONIC, 0, ms, err)
		    : start_timer(CLOCK_REALTIME, TIMER_ABSTIME, ms, err);
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
	if (number == SIGALRM)
		return error_set(err, ERROR_TEMPORARY,
				 "stopped by the deadline, %s", stop_when);
	return error_set(
		err, number == SIGINT ? ERROR_INTERRUPTED : ERROR_TERMINATED,
		"stopped by %s",
		number == SIGINT    ? "SIGINT"
		: number == SIGTERM ? "SIGTERM"
				    : "SIGHUP");
}
