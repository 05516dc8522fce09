/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/stop.h"

/* How often a wait is asked whether it is wanted. */
#define ASK_MS 1000
/* So many descriptors are waited for without memory of their own. */
#define FEW 64

static _Thread_local struct {
	input_wanted *fn;
	void *ctx;
	bool patient;
} asked;

void input_set_wanted(input_wanted *wanted, void *ctx)
{
	asked.fn = wanted;
	asked.ctx = ctx;
}

void input_set_patient(bool patient)
{
	asked.patient = patient;
}

int input_check(struct error *err)
{
	if (asked.patient)
		return 0;
	if (stop_check(err) != 0)
		return -1;
	if (asked.fn == NULL || asked.fn(asked.ctx))
		return 0;
	return error_set(err, ERROR_INTERRUPTED, "not wanted any more");
}

/* fds has room for one more, behind count. */
static int wait_many(struct pollfd *fds, size_t count, int ms,
		     struct error *err)
{
	int ready;

	fds[count].fd = asked.patient ? -1 : stop_fd();
	fds[count].events = POLLIN;
	do {
		int part = ms < 0 || ms > ASK_MS ? ASK_MS : ms;

		ready = poll(fds, count + 1, part);
		if (ready == 0 ? input_check(err) != 0
			       : !asked.patient && stop_check(err) != 0)
			return -1;
		if (ready == 0 && ms >= 0)
			ms -= part;
	} while ((ready < 0 && errno == EINTR) || (ready == 0 && ms != 0));
	if (ready < 0)
		return error_errno(err, ERROR_INTERNAL, errno, "poll");
	return ready > 0;
}

int input_wait_many(struct pollfd *fds, size_t count, int ms, struct error *err)
{
	struct pollfd few[FEW + 1];
	struct pollfd *all = few;
	int rc;

	if (count > FEW)
		all = calloc(count + 1, sizeof(*all));
	if (all == NULL)
		return error_nomem(err);
	if (count > 0)
		memcpy(all, fds, count * sizeof(*fds));
	rc = wait_many(all, count, ms, err);
	if (count > 0)
		memcpy(fds, all, count * sizeof(*fds));
	if (all != few)
		free(all);
	return rc;
}

int input_wait_for(int fd, short events, int ms, struct error *err)
{
	struct pollfd fds[2] = {{.fd = fd, .events = events}};

	return wait_many(fds, 1, ms, err);
}

int input_wait(int fd, int ms, struct error *err)
{
	return input_wait_for(fd, POLLIN, ms, err);
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
