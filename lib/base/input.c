/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/input.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "lib/base/stop.h"

int input_wait(int fd, int ms, struct error *err)
{
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
				{.fd = stop_fd(), .events = POLLIN}};
	int ready;

	do {
		ready = poll(fds, 2, ms);
		if (stop_check(err) != 0)
			return -1;
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return error_errno(err, ERROR_INTERNAL, errno, "poll");
	return ready > 0;
}

int input_read(int fd, void *buf, size_t cap, size_t *got, struct error *err)
{
	ssize_t n;

	*got = 0;
	do {
		if (input_wait(fd, -1, err) < 0)
			return -1;
		n = read(fd, buf, cap);
	} while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n < 0)
		return error_errno(err, ERROR_DATA, errno, "cannot read it");
	*got = (size_t)n;
	return 0;
}
