/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "lib/base/stop.h"
#include "tests/unit/child.h"

/* What the next calls do: fail so often with an errno value. */
static struct fault {
	int times;
	int errnum;
	int signal; /* raised then; 0: none */
} on_poll, on_read;

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);
ssize_t __real_read(int fd, void *buf, size_t cap);
ssize_t __wrap_read(int fd, void *buf, size_t cap);

static bool fails(struct fault *f)
{
	if (f->times == 0)
		return false;
	f->times--;
	if (f->signal != 0)
		(void)raise(f->signal);
	errno = f->errnum;
	return true;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	return fails(&on_poll) ? -1 : __real_poll(fds, count, ms);
}

ssize_t __wrap_read(int fd, void *buf, size_t cap)
{
	return fails(&on_read) ? -1 : __real_read(fd, buf, cap);
}

static int ends[2];

static bool open_ends(void)
{
	return pipe(ends) == 0;
}

static void close_ends(void)
{
	CHECK(close(ends[0]) == 0);
	if (ends[1] >= 0)
		CHECK(close(ends[1]) == 0);
}

static void close_writer(void)
{
	CHECK(close(ends[1]) == 0);
	ends[1] = -1;
}

static void reads(void)
{
	struct error err = ERROR_INIT;
	char buf[4];
	size_t got = 9;

	REQUIRE(open_ends());
	CHECK(input_wait(ends[0], 0, &err) == 0);
	CHECK(write(ends[1], "abcdef", 6) == 6);
	CHECK(input_wait(ends[0], -1, &err) == 1);
	CHECK(input_read(ends[0], buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 4);
	CHECK(memcmp(buf, "abcd", 4) == 0);
	CHECK(input_read(ends[0], buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 2);
	CHECK(memcmp(buf, "ef", 2) == 0);
	CHECK(input_wait(ends[0], 1, &err) == 0);
	close_writer();
	CHECK(input_wait(ends[0], 0, &err) == 1);
	for (int i = 0; i < 2; i++) {
		got = 9;
		CHECK(input_read(ends[0], buf, sizeof(buf), &got, &err) == 0);
		CHECK_U64(got, 0);
	}
	CHECK_U64(err.code, ERROR_NONE);
	close_ends();
}

static void goes_on(void)
{
	struct error err = ERROR_INIT;
	char buf[4];
	size_t got = 9;

	REQUIRE(open_ends());
	CHECK(write(ends[1], "abc", 3) == 3);
	on_poll = (struct fault){.times = 3, .errnum = EINTR};
	CHECK(input_wait(ends[0], -1, &err) == 1);
	on_poll = (struct fault){.times = 1, .errnum = EINTR};
	on_read = (struct fault){.times = 2, .errnum = EINTR};
	CHECK(input_read(ends[0], buf, 1, &got, &err) == 0);
	CHECK_U64(got, 1);
	/* Somebody else, who shares the pipe, was faster. */
	on_read = (struct fault){.times = 2, .errnum = EAGAIN};
	CHECK(input_read(ends[0], buf, 4, &got, &err) == 0);
	CHECK_U64(got, 2);
	CHECK_U64(err.code, ERROR_NONE);
	CHECK(on_poll.times == 0 && on_read.times == 0);
	close_ends();
}

/* A socket can be written to at once, and read from once somebody wrote. */
static void waits_for_events(void)
{
	struct error err = ERROR_INIT;
	char bytes[4096] = {0};
	ssize_t n;

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	CHECK(input_wait_for(ends[0], POLLIN, 1, &err) == 0);
	CHECK(input_wait_for(ends[0], POLLOUT, -1, &err) == 1);
	CHECK(input_wait_for(ends[0], POLLIN | POLLOUT, -1, &err) == 1);
	do {
		n = send(ends[0], bytes, sizeof(bytes), MSG_DONTWAIT);
	} while (n > 0);
	CHECK(input_wait_for(ends[0], POLLOUT, 1, &err) == 0);
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(input_wait_for(ends[0], POLLOUT, 1, &err) == 0);
	CHECK(input_wait_for(ends[0], POLLIN | POLLOUT, -1, &err) == 1);
	CHECK(input_wait_for(-1, POLLIN, 1, &err) == 0);
	/* The end of the other side is nothing to wait on for. */
	close_writer();
	CHECK(input_wait_for(ends[0], POLLOUT, -1, &err) == 1);
	CHECK_U64(err.code, ERROR_NONE);
	close_ends();
}

/* Of 100, which need memory, as of 3: what is ready is told of each. */
static void waits_for_many(void)
{
	static const size_t counts[] = {3, 64, 65, 100};
	struct error err = ERROR_INIT;
	struct pollfd fds[100];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	for (size_t i = 0; i < 4; i++) {
		size_t last = counts[i] - 1;

		for (size_t at = 0; at <= last; at++)
			fds[at] = (struct pollfd){ends[0], POLLIN, 0x7F};
		fds[0].fd = -1;
		CHECK(input_wait_many(fds, last + 1, 1, &err) == 0);
		CHECK(fds[0].revents == 0 && fds[last].revents == 0);
		fds[last].events = POLLIN | POLLOUT;
		CHECK(input_wait_many(fds, last + 1, -1, &err) == 1);
		CHECK(fds[0].revents == 0 && fds[1].revents == 0);
		CHECK(fds[last].revents == POLLOUT && fds[last].fd == ends[0]);
	}
	on_poll = (struct fault){.times = 2, .errnum = EINTR};
	CHECK(input_wait_many(fds, 100, -1, &err) == 1);
	CHECK(input_wait_many(NULL, 0, 1, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	on_poll = (struct fault){.times = 1, .errnum = ENOMEM};
	CHECK(input_wait_many(fds, 100, -1, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	close_ends();
}

static void fails_test(void)
{
	struct error err = ERROR_INIT;
	char buf[4];
	size_t got = 9;

	REQUIRE(open_ends());
	CHECK(write(ends[1], "abc", 3) == 3);
	on_poll = (struct fault){.times = 1, .errnum = ENOMEM};
	CHECK(input_wait(ends[0], -1, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, "poll: Cannot allocate memory");
	on_poll = (struct fault){.times = 1, .errnum = ENOMEM};
	CHECK(input_read(ends[0], buf, 4, &got, &err) == -1);
	CHECK_U64(got, 0);
	got = 9;
	on_read = (struct fault){.times = 1, .errnum = EIO};
	CHECK(input_read(ends[0], buf, 4, &got, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "cannot read it: Input/output error");
	CHECK_U64(got, 0);
	CHECK(input_read(ends[0], buf, 4, &got, &err) == 0);
	CHECK_U64(got, 3);
	close_ends();
	CHECK(input_read(ends[0], buf, 4, &got, &err) == -1);
	CHECK_STR(err.text, "cannot read it: Bad file descriptor");
}

static void is_stopped(void)
{
	struct error err = ERROR_INIT;
	char buf[4];
	size_t got = 9;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(open_ends());
	CHECK(input_wait(ends[0], 0, &err) == 0);
	/* It comes while we wait for ever; a poll that is called again is woken
	 * by the descriptor. */
	on_poll = (struct fault){1, EINTR, SIGTERM};
	CHECK(input_read(ends[0], buf, 4, &got, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK_STR(err.text, "stopped by SIGTERM");
	CHECK_U64(got, 0);
	/* Nothing is read any more, even if it is there. */
	CHECK(write(ends[1], "abc", 3) == 3);
	memset(&err, 0, sizeof(err));
	CHECK(input_wait(ends[0], -1, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	memset(&err, 0, sizeof(err));
	CHECK(input_wait_many(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1,
			      &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	close_ends();
}

/* By a real signal from another process, in the midst of a real wait. */
static void is_woken(void)
{
	struct error err = ERROR_INIT;
	pid_t us = getpid(), pid;
	char buf[4];
	size_t got = 9;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(open_ends());
	pid = fork();
	if (pid == 0) {
		(void)usleep(20000);
		_exit(kill(us, SIGINT) == 0 ? 0 : 1);
	}
	CHECK(input_read(ends[0], buf, 4, &got, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK(waitpid(pid, NULL, 0) == pid);
	close_ends();
}

static void is_stopped_test(void)
{
	in_child(is_stopped);
	in_child(is_woken);
}

static bool never(void *ctx)
{
	++*(int *)ctx;
	return false;
}

static void unwanted(void)
{
	struct error err = ERROR_INIT;
	int asked = 0;
	char byte;
	size_t got;

	REQUIRE(pipe(ends) == 0);
	input_set_wanted(never, &asked);
	CHECK(input_check(&err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	CHECK(input_read(ends[0], &byte, 1, &got, &err) == -1);
	CHECK_STR(err.text, "not wanted any more");
	/* What is there is read, and nobody asked. */
	asked = 0;
	CHECK(write(ends[1], "x", 1) == 1);
	CHECK(input_read(ends[0], &byte, 1, &got, &err) == 0 && got == 1);
	CHECK_U64((unsigned)asked, 0);
	input_set_wanted(NULL, NULL);
	CHECK(input_check(&err) == 0);
	CHECK(input_wait(ends[0], 1, &err) == 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	UNIT(reads, "input: bytes are read as they come, to the end");
	UNIT(goes_on, "input: EINTR and EAGAIN are passed over");
	UNIT(waits_for_events, "input: a wait is for the events that it names");
	UNIT(waits_for_many, "input: a wait for many tells which are ready");
	UNIT(fails_test, "input: a poll or a read that fails is told");
	UNIT(is_stopped_test, "input: a stop ends a wait that has no end");
	UNIT(unwanted, "input: a wait that nobody wants ends");
	return unit_end();
}
