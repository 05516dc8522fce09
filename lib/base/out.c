/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/stop.h"

/* A file is written in pieces, so that a stop is seen between them. */
#define PIECE ((size_t)1 << 20)

#ifndef PIPE_BUF
#define PIPE_BUF _POSIX_PIPE_BUF
#endif

/* The other side of a pseudo-terminal, which opened again is another one. */
static bool is_master(int fd)
{
#ifdef TIOCGPTN
	unsigned number;

	return ioctl(fd, TIOCGPTN, &number) == 0;
#else
	(void)fd;
	return true;
#endif
}

/* The same file with a file description of our own, or -1. */
static int open_again(int fd, const struct stat *st)
{
	char path[64];
	struct stat again;
	int own;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return -1;
	if (fstat(own, &again) == 0 && again.st_dev == st->st_dev &&
	    again.st_ino == st->st_ino && again.st_rdev == st->st_rdev)
		return own;
	(void)close(own);
	return -1;
}

static void begin(struct out_end *end)
{
	struct stat st;
	int flags = fcntl(end->given, F_GETFL);

	end->fd = end->given;
	end->way = OUT_PLAIN;
	/*
	 * What is open for reading only must fail, and not be opened for
	 * writing: it may be the other end of a pipe.
	 */
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
	    fstat(end->given, &st) != 0)
		return;
	if (S_ISSOCK(st.st_mode)) {
		end->way = OUT_SOCKET;
	} else if (S_ISFIFO(st.st_mode) ||
		   (S_ISCHR(st.st_mode) && isatty(end->given) == 1)) {
		int own = is_master(end->given) ? -1
						: open_again(end->given, &st);

		end->way = own >= 0 ? OUT_FREE : OUT_CAREFUL;
		end->fd = own >= 0 ? own : end->given;
	}
}

static void finish(struct out_end *end)
{
	if (end->way == OUT_FREE)
		(void)close(end->fd);
	end->way = OUT_UNKNOWN;
	end->fd = -1;
}

/* The most that is asked for at once. */
static size_t piece(const struct out_end *end, size_t len)
{
	size_t most = end->way == OUT_CAREFUL ? PIPE_BUF : PIECE;

	return len < most ? len : most;
}

/* Writes what goes without waiting: a number of bytes, or -1 with errno. */
static ssize_t attempt(const struct out_end *end, const char *p, size_t len)
{
	ssize_t n;

	if (end->way == OUT_SOCKET)
		n = send(end->fd, p, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(end->fd, p, len);
	if (n < 0 &&
	    (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	return n;
}

/* Waits for room, or fails with the stop that came first. */
static int await(const struct out_end *end, struct error *err)
{
	struct pollfd fds[2] = {{.fd = end->fd, .events = POLLOUT},
				{.fd = stop_fd(), .events = POLLIN}};

	for (;;) {
		/* What was tried and had no room does not get it by asking. */
		if (end->way != OUT_CAREFUL && stop_check(err) != 0)
			return -1;
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			return error_errno(err, ERROR_INTERNAL, errno, "poll");
		}
		/* POLLERR and POLLHUP, too: write() has the errno. */
		if (fds[0].revents != 0)
			return 0;
		if (stop_check(err) != 0)
			return -1;
	}
}

static int put(const struct out_end *end, const char *p, size_t len,
	       struct error *err)
{
	bool full = end->way == OUT_CAREFUL;

	while (len > 0) {
		size_t part = piece(end, len);
		ssize_t n;

		if (full && await(end, err) != 0)
			return -1;
		n = attempt(end, p, part);
		if (n < 0)
			return error_errno(err, ERROR_DATA, errno, "%s",
					   end->name);
		p += n;
		len -= (size_t)n;
		/* A part of it went: that was all the room there was. */
		full = end->way == OUT_CAREFUL || n == 0 ||
		       (end->way != OUT_PLAIN && (size_t)n < part);
		if (len > 0 && end->way == OUT_PLAIN && stop_check(err) != 0)
			return -1;
	}
	return 0;
}

void out_init(struct out *out, int fd, const char *name)
{
	const struct error none = ERROR_INIT;

	out->end.given = fd;
	out->end.name = name;
	out->end.way = OUT_UNKNOWN;
	out->end.fd = -1;
	out->failure = none;
	out->len = 0;
}

static int put_out(struct out *out, const char *p, size_t len,
		   struct error *err)
{
	if (out->end.way == OUT_UNKNOWN)
		begin(&out->end);
	if (put(&out->end, p, len, &out->failure) == 0)
		return 0;
	out->len = 0;
	*err = out->failure;
	return -1;
}

int out_flush(struct out *out, struct error *err)
{
	if (out->failure.code != ERROR_NONE) {
		*err = out->failure;
		return -1;
	}
	if (out->len > 0 && put_out(out, out->data, out->len, err) != 0)
		return -1;
	out->len = 0;
	return 0;
}

int out_write(struct out *out, const void *data, size_t len, struct error *err)
{
	if (out->failure.code != ERROR_NONE) {
		*err = out->failure;
		return -1;
	}
	if (len > sizeof(out->data) - out->len && out_flush(out, err) != 0)
		return -1;
	if (len > sizeof(out->data))
		return put_out(out, data, len, err);
	if (len > 0)
		memcpy(out->data + out->len, data, len);
	out->len += len;
	return 0;
}

void out_release(struct out *out)
{
	finish(&out->end);
	out->len = 0;
}

int out_now(int fd, const char *name, const void *data, size_t len,
	    struct error *err)
{
	struct out_end end = {fd, name, OUT_UNKNOWN, -1};
	int rc;

	begin(&end);
	rc = put(&end, data, len, err);
	finish(&end);
	return rc;
}
