/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/stop.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/unit/unit.h"

/* In a process of its own: a stop cannot be taken back. */
static void in_child(void (*test)(void))
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

static bool readable(void)
{
	struct pollfd fd = {.fd = stop_fd(), .events = POLLIN};

	return poll(&fd, 1, 0) == 1 && (fd.revents & POLLIN) != 0;
}

static void nobody_asks(void)
{
	struct error err = ERROR_INIT;

	CHECK(stop_fd() == -1);
	CHECK(!stop_asked());
	CHECK(stop_check(&err) == 0);
	REQUIRE(stop_init(&err) == 0);
	CHECK(stop_fd() >= 0);
	CHECK(!readable());
	CHECK(!stop_asked());
	CHECK(stop_check(&err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
}

static void asked_by(int number, enum error_code code, const char *text)
{
	struct error err = ERROR_INIT;

	REQUIRE(stop_init(&err) == 0);
	errno = EXDEV;
	CHECK(raise(number) == 0);
	CHECK(errno == EXDEV);
	CHECK(stop_asked());
	CHECK(readable());
	CHECK(stop_check(&err) == -1);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
}

static void by_int(void)
{
	asked_by(SIGINT, ERROR_INTERRUPTED, "stopped by SIGINT");
}

static void by_term(void)
{
	asked_by(SIGTERM, ERROR_TERMINATED, "stopped by SIGTERM");
}

static void twice(void)
{
	struct error err = ERROR_INIT;

	by_term();
	CHECK(raise(SIGINT) == 0);
	for (int i = 0; i < 100000; i++)
		(void)raise(SIGINT);
	CHECK(stop_check(&err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(readable());
}

static void others(void)
{
	struct error err = ERROR_INIT;
	int ends[2];

	REQUIRE(stop_init(&err) == 0);
	CHECK(raise(SIGPIPE) == 0);
	CHECK(raise(SIGXFSZ) == 0);
	CHECK(!stop_asked());
	REQUIRE(pipe(ends) == 0);
	CHECK(close(ends[0]) == 0);
	CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
	CHECK(close(ends[1]) == 0);
}

/* Waits until a stop is asked for, however long that takes. */
static void wait_for_it(const char *text)
{
	struct pollfd fd = {.fd = stop_fd(), .events = POLLIN};
	struct error err = ERROR_INIT;
	char want[128];

	while (poll(&fd, 1, -1) < 0)
		CHECK(errno == EINTR);
	CHECK(stop_asked());
	CHECK(stop_check(&err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	(void)snprintf(want, sizeof(want), "stopped by the deadline, %s", text);
	CHECK_STR(err.text, want);
	/* A signal after it changes nothing. */
	CHECK(raise(SIGTERM) == 0);
	CHECK(stop_check(&err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
}

static void by_span(void)
{
	struct error err = ERROR_INIT;
	int64_t before = clock_ns();
	sigset_t all;

	REQUIRE(stop_init(&err) == 0);
	/* As a parent may have left it. */
	(void)sigemptyset(&all);
	(void)sigaddset(&all, SIGALRM);
	CHECK(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
	REQUIRE(stop_deadline("1s", &err) == 0);
	wait_for_it("1s");
	CHECK(clock_ns() - before >= INT64_C(1000000000));
}

static void by_time(void)
{
	struct error err = ERROR_INIT;
	char when[CLOCK_TEXT_MAX];
	int64_t at = clock_wall_ms() + 100;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(stop_deadline(clock_text(at, when), &err) == 0);
	wait_for_it(when);
	CHECK(clock_wall_ms() >= at);
}

static void *wait_in_thread(void *arg)
{
	while (!stop_asked())
		(void)poll(NULL, 0, 1);
	return arg;
}

/* The signal goes to any thread, and all of them see it. */
static void in_threads(void)
{
	struct error err = ERROR_INIT;
	char when[CLOCK_TEXT_MAX];
	pthread_t threads[4];

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(stop_deadline(clock_text(clock_wall_ms() + 100, when), &err) ==
		0);
	for (int i = 0; i < 4; i++)
		REQUIRE(pthread_create(&threads[i], NULL, wait_in_thread,
				       NULL) == 0);
	wait_for_it(when);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
}

static void far_away(void)
{
	static const char *const far[] = {"9223372036854775s", "106751991167d",
					  "9999-12-31T23:59:59Z", "1d"};
	struct error err = ERROR_INIT;

	REQUIRE(stop_init(&err) == 0);
	for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		CHECK(stop_deadline(far[i], &err) == 0);
	CHECK(!stop_asked() && !readable());
	/* Before the deadline a signal is what stops. */
	CHECK(raise(SIGINT) == 0 && stop_check(&err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
}

static void no_deadline(void)
{
	static const struct {
		const char *text;
		enum error_code code;
	} cases[] = {{"0s", ERROR_TEMPORARY},
		     {"2001-01-01T00:00:00Z", ERROR_TEMPORARY},
		     {"1969-01-01T00:00:00Z", ERROR_TEMPORARY},
		     {"", ERROR_USAGE},
		     {"10", ERROR_USAGE},
		     {"-1s", ERROR_USAGE},
		     {"tomorrow", ERROR_USAGE}};
	struct error err = ERROR_INIT;

	REQUIRE(stop_init(&err) == 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(stop_deadline(cases[i].text, &err) == -1);
		CHECK_U64(err.code, cases[i].code);
		CHECK(strncmp(err.text, "deadline '", 10) == 0);
	}
	CHECK(!stop_asked() && !readable());
}

static void deadline_test(void)
{
	in_child(by_span);
	in_child(by_time);
	in_child(in_threads);
}

static void far_test(void)
{
	in_child(far_away);
}

static void no_deadline_test(void)
{
	in_child(no_deadline);
}

static void none_test(void)
{
	in_child(nobody_asks);
}

static void signals_test(void)
{
	in_child(by_int);
	in_child(by_term);
}

static void twice_test(void)
{
	in_child(twice);
}

static void others_test(void)
{
	in_child(others);
}

int main(void)
{
	UNIT(none_test, "stop: nothing stops before it is asked for");
	UNIT(signals_test, "stop: SIGINT and SIGTERM ask, by flag and fd");
	UNIT(twice_test, "stop: a second signal changes nothing");
	UNIT(deadline_test, "stop: a deadline asks, by flag and fd, for good");
	UNIT(far_test, "stop: a deadline far away asks for nothing yet");
	UNIT(no_deadline_test,
	     "stop: a time that is past, or none, is refused");
	UNIT(others_test, "stop: a broken pipe is an error and not a death");
	return unit_end();
}
