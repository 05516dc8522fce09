/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/stream.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>

#include "lib/base/input.h"
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

/* Both ends of a connection. */
static int peer = -1;
static struct net_stream *stream;

static bool connected(void)
{
	return connect_to(&peer, &stream);
}

static void disconnect(void)
{
	if (peer >= 0)
		CHECK(close(peer) == 0);
	peer = -1;
	net_close(stream);
	stream = NULL;
}

static void both_ways(void)
{
	static const char *const hosts[] = {"127.0.0.1", "::1"};
	struct net_address to;

	for (size_t i = 0; i < 2; i++) {
		int listener = listen_at(hosts[i], 1, &to);

		/* Not every machine has IPv6. */
		if (listener < 0 && i > 0)
			break;
		REQUIRE(listener >= 0);
		check_both_ways(listener, &to);
		if (i == 0) {
			to.host = "localhost";
			check_both_ways(listener, &to);
		}
		(void)close(listener);
	}
}

/* --- ends ------------------------------------------------------------------
 */

static void check_end(enum error_code code, const char *text, bool hint)
{
	struct error err = ERROR_INIT;

	read_to_end(stream, &err);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK((strstr(err.hint, "rediss://") != NULL) == hint);
	disconnect();
}

static void ends(void)
{
	struct error err = ERROR_INIT;

	REQUIRE(connected());
	CHECK(write(peer, "+PONG\r\n", 7) == 7);
	CHECK(shutdown(peer, SHUT_WR) == 0);
	check_end(ERROR_TEMPORARY, "the server closed the connection", false);
	REQUIRE(connected());
	CHECK(shutdown(peer, SHUT_WR) == 0);
	CHECK(net_wait(stream, false, LONG_MS, &err) == 1);
	check_end(ERROR_TEMPORARY,
		  "the server closed the connection without a word", true);
	/* So may a server with TLS only, as its alert is lost by the reset. */
	REQUIRE(connected());
	reset(peer);
	peer = -1;
	check_end(ERROR_TEMPORARY,
		  "the connection broke: Connection reset by peer", true);
}

static void only_tls(void)
{
	REQUIRE(connected());
	CHECK(write(peer, "\x15\x03\x03\0\2\2\x46", 7) == 7);
	check_end(ERROR_UNREACHED, "the server speaks TLS only", true);
	/* Later it may be part of a value. */
	REQUIRE(connected());
	CHECK(write(peer, "$", 1) == 1);
	CHECK(net_wait(stream, false, LONG_MS, &(struct error)ERROR_INIT) == 1);
	CHECK(read_all(stream, (char[1]){0}, 1, &(struct error)ERROR_INIT) ==
	      0);
	CHECK(write(peer, "\x15\x03\x03", 3) == 3);
	CHECK(shutdown(peer, SHUT_WR) == 0);
	check_end(ERROR_TEMPORARY, "the server closed the connection", false);
}

/* A server that refuses us says why and closes, whatever we write. */
static void last_words(void)
{
	struct iovec piece = {(void *)"PING\r\n", 6};
	struct error err = ERROR_INIT;
	char buf[16];
	size_t put = 9;

	REQUIRE(connected());
	CHECK(net_write(stream, &piece, 1, &put, &err) == 0 && put == 6);
	CHECK(write(peer, "-ERR full\r\n", 11) == 11);
	/* With what we wrote unread this is a reset. */
	CHECK(close(peer) == 0);
	peer = -1;
	CHECK(net_wait(stream, false, LONG_MS, &err) == 1);
	put = 9;
	CHECK(net_write(stream, &piece, 1, &put, &err) == 0);
	CHECK_U64(put, 0);
	CHECK(read_all(stream, buf, 11, &err) == 0);
	CHECK(memcmp(buf, "-ERR full\r\n", 11) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	CHECK(net_write(stream, &piece, 1, &put, &err) == -1);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "the connection broke: Broken pipe");
	disconnect();
}

/* --- writing ----------------------------------------------------------------
 */

/* Writes pieces of all lengths until no more goes; how many bytes went. */
static size_t fill(const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	struct iovec pieces[3];
	size_t sum = 0, put;

	do {
		pieces[0] = (struct iovec){(void *)(bytes + sum), 1};
		pieces[1] = (struct iovec){(void *)bytes, 0};
		pieces[2] = (struct iovec){(void *)(bytes + sum + 1),
					   len - sum - 1};
		CHECK(net_write(stream, pieces, 3, &put, &err) == 0);
		sum += put;
	} while (put > 0 && sum + 1 < len);
	return sum;
}

static void short_writes(void)
{
	static char sent[32 << 20], got[sizeof(sent)];
	struct error err = ERROR_INIT;
	size_t sum, in = 0;
	ssize_t n;

	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 2654435761u >> 13);
	REQUIRE(connected());
	sum = fill(sent, sizeof(sent));
	REQUIRE(sum > 0 && sum < sizeof(sent) - 1);
	/* Neither can be done, and then one of them. */
	CHECK(net_wait(stream, true, 1, &err) == 0);
	CHECK(write(peer, "x", 1) == 1);
	CHECK(net_wait(stream, true, LONG_MS, &err) == 1);
	CHECK(read_all(stream, got, 1, &err) == 0);
	CHECK(net_wait(stream, true, 1, &err) == 0);
	do {
		n = read(peer, got + in, sum - in);
		in += n > 0 ? (size_t)n : 0;
	} while (n > 0 && in < sum);
	CHECK(in == sum && memcmp(got, sent, sum) == 0);
	CHECK(net_wait(stream, true, LONG_MS, &err) == 1);
	CHECK(fill(sent, sizeof(sent)) > 0);
	disconnect();
}

/* More pieces than the system takes at once are no error. */
static void many_pieces(void)
{
	static struct iovec pieces[IOV_MAX + 1];
	struct error err = ERROR_INIT;
	size_t put;

	for (size_t i = 0; i <= IOV_MAX; i++)
		pieces[i] = (struct iovec){(void *)"x", 1};
	REQUIRE(connected());
	CHECK(net_write(stream, pieces, IOV_MAX + 1, &put, &err) == 0);
	CHECK_U64(put, IOV_MAX);
	CHECK(net_write(stream, pieces, 0, &put, &err) == 0 && put == 0);
	disconnect();
}

/* --- waits ------------------------------------------------------------------
 */

static void woken_by_stop(void)
{
	struct error err = ERROR_INIT;
	pid_t us = getpid(), pid;

	REQUIRE(stop_init(&err) == 0);
	REQUIRE(connected());
	CHECK(net_wait(stream, false, 1, &err) == 0);
	pid = fork();
	if (pid == 0)
		_exit(kill(us, SIGTERM) == 0 ? 0 : 1);
	CHECK(net_wait(stream, false, LONG_MS, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK(waitpid(pid, NULL, 0) == pid);
	/* What must be tidied up after a stop waits, too. */
	err = (struct error)ERROR_INIT;
	net_set_patient(stream, true);
	CHECK(net_wait(stream, false, 1, &err) == 0);
	CHECK(write(peer, "x", 1) == 1);
	CHECK(net_wait(stream, false, LONG_MS, &err) == 1);
	CHECK_U64(err.code, ERROR_NONE);
	net_set_patient(stream, false);
	CHECK(net_wait(stream, false, LONG_MS, &err) == -1);
	disconnect();
	CHECK(!connected());
}

static void stop(void)
{
	in_child(woken_by_stop);
}

static void patient(void)
{
	struct error err = ERROR_INIT;
	int64_t begun = clock_ns();

	REQUIRE(connected());
	net_set_patient(stream, true);
	interrupted = 3;
	CHECK(net_wait(stream, false, 30, &err) == 0);
	CHECK(clock_ns() - begun >= 30 * INT64_C(1000000));
	CHECK(interrupted == 0);
	CHECK(net_wait(stream, true, LONG_MS, &err) == 1);
	CHECK_U64(err.code, ERROR_NONE);
	disconnect();
}

static bool never(void *ctx)
{
	(void)ctx;
	return false;
}

static void unwanted(void)
{
	struct error err = ERROR_INIT;
	struct net_stream *s;
	struct net_address to;
	int listener = listen_at("127.0.0.1", 1, &to);

	REQUIRE(listener >= 0 && connected());
	input_set_wanted(never, NULL);
	CHECK(net_open(&to, &plain, LONG_MS, &s, &err) == -1);
	CHECK_STR(err.text, "not wanted any more");
	CHECK(net_wait(stream, false, LONG_MS, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERRUPTED);
	net_set_patient(stream, true);
	CHECK(net_wait(stream, false, 1, &err) == 0);
	input_set_wanted(NULL, NULL);
	(void)close(listener);
	disconnect();
}

int main(void)
{
	UNIT(both_ways, "stream: bytes go both ways over TCP");
	UNIT(ends, "stream: how a connection ended is told");
	UNIT(only_tls, "stream: a server that speaks TLS only is told by that");
	UNIT(last_words, "stream: what a server said as it closed is read");
	UNIT(short_writes, "stream: a full socket takes part, and is awaited");
	UNIT(many_pieces, "stream: any number of pieces may be written");
	UNIT(stop, "stream: a stop ends a wait that is not patient");
	UNIT(patient, "stream: a patient wait goes on after an interruption");
	UNIT(unwanted, "stream: a wait that nobody wants ends");
	return unit_end();
}
