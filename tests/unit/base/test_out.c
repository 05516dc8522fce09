/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/out.h"

#include <sys/ioctl.h>

#include "tests/unit/base/out.h"

/* Reads to the end in odd pieces: whether it was all that was sent. */
static bool got_all(int fd)
{
	unsigned char piece[9973];
	size_t at = 0;
	size_t ask = 1;
	ssize_t n;

	while ((n = read(fd, piece, ask)) > 0) {
		if (at + (size_t)n > sizeof(sent) ||
		    memcmp(piece, sent + at, (size_t)n) != 0)
			return false;
		at += (size_t)n;
		ask = ask * 7 % sizeof(piece) + 1;
	}
	return n == 0 && at == sizeof(sent);
}

/* In pieces of many lengths; then everything is flushed. */
static void send_all(struct error *err)
{
	size_t len = 0;

	for (size_t at = 0; at < sizeof(sent); at += len) {
		len = at * 31 % (2 * OUT_SIZE + 7) + (at % 3 == 0);
		if (len > sizeof(sent) - at)
			len = sizeof(sent) - at;
		if (out_write(&out, sent + at, len, err) != 0)
			return;
		if (len == 0)
			len = 1, (void)out_write(&out, sent + at, 1, err);
	}
	(void)out_flush(&out, err);
}

/* All that is sent to ends[1] is read from ends[0] by another process. */
static void goes_through(int ends[2], enum out_way way)
{
	struct error err = ERROR_INIT;
	int flags = fcntl(ends[1], F_GETFL);
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		(void)close(ends[1]);
		_exit(got_all(ends[0]) ? 0 : 1);
	}
	REQUIRE(pid > 0);
	CHECK(close(ends[0]) == 0);
	out_init(&out, ends[1], "it");
	send_all(&err);
	CHECK_U64(err.code, ERROR_NONE);
	CHECK_U64(out.end.way, way);
	CHECK(fcntl(ends[1], F_GETFL) == flags);
	out_release(&out);
	CHECK(close(ends[1]) == 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void pipe_through(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	goes_through(ends, OUT_FREE);
}

static void careful_through(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	open_no_more();
	goes_through(ends, OUT_CAREFUL);
}

/* Another program has made the shared description so. */
static void nonblocking_through(void)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	CHECK(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	open_no_more();
	goes_through(ends, OUT_CAREFUL);
}

static void socket_through(void)
{
	int ends[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	goes_through(ends, OUT_SOCKET);
}

static void file_through(void)
{
	struct error err = ERROR_INIT;
	char name[] = "/tmp/test_out.XXXXXX";
	int fd = mkstemp(name);

	REQUIRE(fd >= 0);
	CHECK(unlink(name) == 0);
	out_init(&out, fd, "it");
	send_all(&err);
	CHECK_U64(err.code, ERROR_NONE);
	CHECK_U64(out.end.way, OUT_PLAIN);
	out_release(&out);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	CHECK(got_all(fd));
	CHECK(close(fd) == 0);
}

static void through_test(void)
{
	in_child(file_through);
	in_child(pipe_through);
	in_child(careful_through);
	in_child(nonblocking_through);
	in_child(socket_through);
}

static void is_the_error(const char *text)
{
	struct error err = ERROR_INIT;

	CHECK(out_write(&out, "abc", 3, &err) == 0);
	CHECK(out_flush(&out, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, text);
	/* It is the same for good. */
	for (int i = 0; i < 2; i++) {
		memset(&err, 0, sizeof(err));
		CHECK(out_write(&out, sent, (size_t)i * sizeof(sent), &err) ==
		      -1);
		CHECK_STR(err.text, text);
		memset(&err, 0, sizeof(err));
		CHECK(out_flush(&out, &err) == -1);
		CHECK_STR(err.text, text);
	}
	out_release(&out);
}

static void full_disk_test(void)
{
	int fd = open("/dev/full", O_WRONLY);

	REQUIRE(fd >= 0);
	out_init(&out, fd, "standard output");
	is_the_error("standard output: No space left on device");
	CHECK(close(fd) == 0);
}

static void gone(int ends[2])
{
	/* Its reader is gone before it is looked at, or behind that. */
	for (int before = 0; before < 2; before++) {
		if (before)
			CHECK(close(ends[0]) == 0);
		out_init(&out, ends[1], "it");
		if (!before) {
			struct error err = ERROR_INIT;

			CHECK(out_write(&out, "x", 1, &err) == 0 &&
			      out_flush(&out, &err) == 0);
			continue;
		}
		is_the_error("it: Broken pipe");
	}
	CHECK(close(ends[1]) == 0);
}

static void pipe_gone(void)
{
	struct error err = ERROR_INIT;
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	gone(ends);
	REQUIRE(pipe(ends) == 0);
	out_init(&out, ends[1], "it");
	CHECK(out_write(&out, "x", 1, &err) == 0 && out_flush(&out, &err) == 0);
	CHECK(close(ends[0]) == 0);
	is_the_error("it: Broken pipe");
	CHECK(close(ends[1]) == 0);
}

static void socket_gone(void)
{
	int ends[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	/* Not even where a program has not ignored it. */
	(void)signal(SIGPIPE, SIG_DFL);
	gone(ends);
}

static void gone_test(void)
{
	in_child(pipe_gone);
	in_child(socket_gone);
}

static void closed_test(void)
{
	int ends[2];
	int left = 1;

	out_init(&out, -1, "it");
	is_the_error("it: Bad file descriptor");
	/* A pipe's end for reading is not opened for writing. */
	REQUIRE(pipe(ends) == 0);
	out_init(&out, ends[0], "it");
	is_the_error("it: Bad file descriptor");
	CHECK(ioctl(ends[0], FIONREAD, &left) == 0 && left == 0);
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void kept_test(void)
{
	struct error err = ERROR_INIT;
	int ends[2];
	int there = -1;
	char got[8] = "";

	REQUIRE(pipe(ends) == 0);
	out_init(&out, ends[1], "it");
	CHECK(out_write(&out, "ab", 2, &err) == 0);
	CHECK(ioctl(ends[0], FIONREAD, &there) == 0 && there == 0);
	CHECK(out_write(&out, "c", 1, &err) == 0);
	CHECK(out_flush(&out, &err) == 0);
	CHECK(out_flush(&out, &err) == 0);
	CHECK(ioctl(ends[0], FIONREAD, &there) == 0 && there == 3);
	CHECK(read(ends[0], got, 7) == 3);
	CHECK_STR(got, "abc");
	CHECK(out_now(ends[1], "it", "d", 1, &err) == 0);
	CHECK(read(ends[0], got, 7) == 1 && got[0] == 'd');
	out_release(&out);
	out_release(&out);
	CHECK(close(ends[1]) == 0);
	/* And nobody else holds it open. */
	CHECK(read(ends[0], got, 7) == 0);
	CHECK(close(ends[0]) == 0);
}

/* Opened again, the side that makes terminals would make another one. */
static void other_side_test(void)
{
	struct error err = ERROR_INIT;
	char got[8] = "";
	int ends[2];

	ends[0] = posix_openpt(O_RDWR | O_NOCTTY);
	REQUIRE(ends[0] >= 0 && grantpt(ends[0]) == 0 &&
		unlockpt(ends[0]) == 0);
	ends[1] = open(ptsname(ends[0]), O_RDWR | O_NOCTTY | O_NONBLOCK);
	REQUIRE(ends[1] >= 0);
	CHECK(out_now(ends[0], "it", "abc\n", 4, &err) == 0);
	CHECK(read(ends[1], got, 7) == 4);
	CHECK_STR(got, "abc\n");
	CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
}

int main(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	fill();
	UNIT(kept_test, "out: few bytes are kept until they are flushed");
	UNIT(through_test, "out: all arrives once and in order, whatever it "
			   "goes to, and shared flags stay");
	UNIT(full_disk_test, "out: a full disk is an error, and stays one");
	UNIT(gone_test, "out: a reader that is gone is an error, no SIGPIPE");
	UNIT(closed_test, "out: what is not open for writing is an error");
	UNIT(other_side_test, "out: a terminal's other side is that one");
	return unit_end();
}
