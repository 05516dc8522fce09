/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/stream.h"

#include <poll.h>
#include <signal.h>

#include "lib/base/stop.h"
#include "tests/unit/child.h"
#include "tests/unit/net/peer.h"

/* So often the next polls fail with EINTR. */
static int interrupted;

int __real_poll(struct pollfd *fds, nfds_t count, int ms);
int __wrap_poll(struct pollfd *fds, nfds_t count, int ms);

int __wrap_poll(struct pollfd *fds, nfds_t count, int ms)
{
	if (interrupted == 0)
		return __real_poll(fds, count, ms);
	interrupted--;
	errno = EINTR;
	return -1;
}

#define MANY 70

static int peers[MANY];
static struct net_stream *streams[MANY];

static void disconnect_all(void)
{
	for (size_t i = 0; i < MANY; i++) {
		net_close(streams[i]);
		if (peers[i] >= 0)
			CHECK(close(peers[i]) == 0);
	}
}

static bool connected_all(struct net_waiting *waiting)
{
	bool all = true;

	for (size_t i = 0; i < MANY; i++) {
		all = connect_to(&peers[i], &streams[i]) && all;
		waiting[i] = (struct net_waiting){.stream = streams[i]};
	}
	return all;
}

/* Which are ready, as "3 5 ". */
static const char *ready_of(const struct net_waiting *waiting, size_t count)
{
	static char text[MANY * 4];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		if (waiting[i].ready)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%zu ", i);
	return text;
}

/* 64 need no memory, more of them do. */
static void several(void)
{
	static const size_t counts[] = {3, 64, 65, MANY};
	struct net_waiting waiting[MANY];
	struct error err = ERROR_INIT;
	char want[32];

	REQUIRE(connected_all(waiting));
	for (size_t i = 0; i < 4; i++) {
		size_t last = counts[i] - 1;
		bool patient_ones = i % 2 == 1;

		for (size_t at = 0; at < MANY; at++) {
			waiting[at].ready = true;
			net_set_patient(streams[at], patient_ones);
		}
		CHECK(net_wait_any(waiting, last + 1, 1, &err) == 0);
		CHECK_STR(ready_of(waiting, last + 1), "");
		/* A message, and one that may be written to. */
		CHECK(write(peers[last], "x", 1) == 1);
		waiting[1].write = true;
		CHECK(net_wait_any(waiting, last + 1, LONG_MS, &err) == 1);
		(void)snprintf(want, sizeof(want), "1 %zu ", last);
		CHECK_STR(ready_of(waiting, last + 1), want);
		/* What is passed over is not ready. */
		waiting[1].stream = NULL;
		CHECK(net_wait_any(waiting, last + 1, LONG_MS, &err) == 1);
		CHECK_STR(ready_of(waiting, last + 1), want + 2);
		CHECK(read_all(streams[last], want, 1, &err) == 0);
		waiting[1] = (struct net_waiting){.stream = streams[1]};
	}
	/* An end is ready, too. */
	CHECK(close(peers[2]) == 0);
	peers[2] = -1;
	CHECK(net_wait_any(waiting, 3, LONG_MS, &err) == 1);
	CHECK_STR(ready_of(waiting, 3), "2 ");
	CHECK(net_wait_any(NULL, 0, 1, &err) == 0);
	waiting[0].stream = NULL;
	CHECK(net_wait_any(waiting, 1, 1, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	disconnect_all();
}

static void stopped_among_several(void)
{
	struct net_waiting waiting[MANY];
	struct error err = ERROR_INIT;
	pid_t us = getpid(), pid;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(connected_all(waiting));
	pid = fork();
	if (pid == 0)
		_exit(kill(us, SIGTERM) == 0 ? 0 : 1);
	CHECK(net_wait_any(waiting, MANY, LONG_MS, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(waitpid(pid, NULL, 0) == pid);
	err = (struct error)ERROR_INIT;
	CHECK(net_wait_any(waiting, 0, LONG_MS, &err) == -1);
	for (size_t i = 0; i < MANY; i++)
		net_set_patient(streams[i], true);
	err = (struct error)ERROR_INIT;
	interrupted = 3;
	CHECK(net_wait_any(waiting, MANY, 1, &err) == 0);
	CHECK(write(peers[3], "x", 1) == 1);
	CHECK(net_wait_any(waiting, MANY, LONG_MS, &err) == 1);
	CHECK_STR(ready_of(waiting, MANY), "3 ");
	CHECK_U64(err.code, ERROR_NONE);
	disconnect_all();
}

static void stop_among_several(void)
{
	in_child(stopped_among_several);
}

int main(void)
{
	UNIT(several, "stream: a wait for several tells which are ready");
	UNIT(stop_among_several,
	     "stream: a stop ends a wait for several that are not patient");
	return unit_end();
}
