/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/out.h"

#include <poll.h>
#include <termios.h>

#include "lib/base/clock.h"
#include "tests/unit/base/out.h"

/* A stop comes before anything is written: what fits goes, and no more. */
static void stopped_before(int ends[2])
{
	struct error err = ERROR_INIT;
	unsigned char got[4096];
	size_t at = 0;
	ssize_t n;

	out_init(&out, ends[1], "it");
	CHECK(raise(SIGTERM) == 0);
	CHECK(out_write(&out, "", 0, &err) == 0 && out_flush(&out, &err) == 0);
	CHECK(out_write(&out, sent, sizeof(sent), &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK_STR(err.text, "stopped by SIGTERM");
	err.code = ERROR_NONE;
	CHECK(out_flush(&out, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	while ((n = read(ends[0], got, sizeof(got))) > 0) {
		CHECK(memcmp(got, sent + at, (size_t)n) == 0);
		at += (size_t)n;
	}
	CHECK(at >= 4096 && at < sizeof(sent));
	/* There is room again, and still nothing more comes. */
	CHECK(out_write(&out, "x", 1, &err) == -1);
	CHECK(read(ends[0], got, 1) == -1 && errno == EAGAIN);
}

static void pipe_stopped_before(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	stopped_before(ends);
}

static void careful_stopped_before(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	open_no_more();
	stopped_before(ends);
}

static void socket_stopped_before(void)
{
	int ends[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	stopped_before(ends);
}

static void before_test(void)
{
	in_child(pipe_stopped_before);
	in_child(careful_stopped_before);
	in_child(socket_stopped_before);
}

/* Nobody reads; a signal comes from a process that sees that it is full. */
static void stopped_while_full(int ends[2])
{
	struct error err = ERROR_INIT;
	pid_t parent = getpid();
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		struct pollfd room = {.fd = ends[1], .events = POLLOUT};

		while (poll(&room, 1, 0) == 1)
			(void)poll(NULL, 0, 1);
		/* ThreadSanitizer puts one off that comes just before a wait,
		 * until that wait has ended. */
		for (int i = 0; i < 3; i++) {
			if (kill(parent, SIGINT) != 0)
				_exit(1);
			(void)poll(NULL, 0, 200);
		}
		_exit(0);
	}
	REQUIRE(pid > 0);
	out_init(&out, ends[1], "it");
	CHECK(out_write(&out, sent, sizeof(sent), &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK_STR(err.text, "stopped by SIGINT");
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void pipe_while_full(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	stopped_while_full(ends);
}

static void careful_while_full(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	open_no_more();
	stopped_while_full(ends);
}

static void socket_while_full(void)
{
	int ends[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	stopped_while_full(ends);
}

/* A terminal whose user pressed control-S. */
static void terminal_while_full(void)
{
	int ends[2];
	int flags;

	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	REQUIRE(ends[0] >= 0 && grantpt(ends[0]) == 0 &&
		unlockpt(ends[0]) == 0);
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY);
	REQUIRE(ends[1] >= 0);
	flags = fcntl(ends[1], F_GETFL);
	CHECK(tcflow(ends[1], TCOOFF) == 0);
	stopped_while_full(ends);
	CHECK_U64(out.end.way, OUT_FREE);
	CHECK(fcntl(ends[1], F_GETFL) == flags);
}

static void full_test(void)
{
	in_child(pipe_while_full);
	in_child(careful_while_full);
	in_child(socket_while_full);
	in_child(terminal_while_full);
}

static void by_deadline(void)
{
	struct error err = ERROR_INIT;
	char when[CLOCK_TEXT_MAX];
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	REQUIRE(stop_deadline(clock_text(clock_wall_ms() + 200, when), &err) ==
		0);
	CHECK(out_now(ends[1], "it", sent, sizeof(sent), &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
}

static void deadline_test(void)
{
	in_child(by_deadline);
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	fill();
	UNIT(before_test,
	     "out: after a stop what fits is written, and no more");
	UNIT(full_test, "out: a signal ends the wait for room");
	UNIT(deadline_test, "out: a deadline ends the wait for room");
	return unit_end();
}
