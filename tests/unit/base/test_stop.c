/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/stop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
	UNIT(others_test, "stop: a broken pipe is an error and not a death");
	return unit_end();
}
