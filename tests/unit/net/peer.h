/* SPDX-License-Identifier: BSD-2-Clause
 *
 * peer: the other side of a stream, on the loopback interface.
 */
#ifndef BLOOMCTL_TESTS_UNIT_NET_PEER_H
#define BLOOMCTL_TESTS_UNIT_NET_PEER_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/net/stream.h"
#include "tests/unit/unit.h"

#define LONG_MS 60000

static const struct net_tls plain = {.on = false};

/* A socket that listens; its port stands in to.  -1: none is to be had. */
static inline int listen_at(const char *host, int queue, struct net_address *to)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	bool is_v6 = inet_pton(AF_INET6, host, &v6.sin6_addr) == 1;
	struct sockaddr *at = is_v6 ? (void *)&v6 : (void *)&v4;
	socklen_t len = is_v6 ? sizeof(v6) : sizeof(v4);
	int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC,
			0);

	if (!is_v6 && inet_pton(AF_INET, host, &v4.sin_addr) != 1)
		return -1;
	if (fd < 0 || bind(fd, at, len) != 0 ||
	    (queue >= 0 && listen(fd, queue) != 0) ||
	    getsockname(fd, at, &len) != 0) {
		(void)close(fd);
		return -1;
	}
	*to = (struct net_address){.host = host};
	to->port = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
	return fd;
}

/* Both ends of a plain connection; false: one of them is missing. */
static inline bool connect_to(int *other, struct net_stream **s)
{
	struct error err = ERROR_INIT;
	struct net_address to;
	int listener = listen_at("127.0.0.1", 1, &to);

	*other = -1;
	*s = NULL;
	if (listener < 0)
		return false;
	if (net_open(&to, &plain, LONG_MS, s, &err) == 0)
		*other = accept(listener, NULL, NULL);
	(void)close(listener);
	return *s != NULL && *other >= 0;
}

/* Waits until n bytes were read from a stream, or a failure. */
static inline int read_all(struct net_stream *s, void *buf, size_t n,
			   struct error *err)
{
	char *to = buf;
	size_t got;

	for (; n > 0; n -= got, to += got) {
		if (net_read(s, to, n, &got, err) != 0)
			return -1;
		if (got == 0 && net_wait(s, false, LONG_MS, err) <= 0)
			return -1;
	}
	return 0;
}

/* The same for bytes to write. */
static inline int write_all(struct net_stream *s, const void *bytes, size_t n,
			    struct error *err)
{
	struct iovec piece = {(void *)bytes, n};
	size_t put;

	while (piece.iov_len > 0) {
		if (net_write(s, &piece, 1, &put, err) != 0)
			return -1;
		if (put == 0 && net_wait(s, true, LONG_MS, err) <= 0)
			return -1;
		piece.iov_base = (char *)piece.iov_base + put;
		piece.iov_len -= put;
	}
	return 0;
}

/* Reads until the end or a failure, which is what it is about. */
static inline void read_to_end(struct net_stream *s, struct error *err)
{
	char byte;

	while (read_all(s, &byte, 1, err) == 0)
		;
}

/* Closes so that the other side sees a reset. */
static inline void reset(int fd)
{
	const struct linger now = {1, 0};

	CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) == 0);
	CHECK(close(fd) == 0);
}

/* The number of the next descriptor. */
static inline int next_fd(void)
{
	int fd = dup(0);

	(void)close(fd);
	return fd;
}

/* A connection, by whoever listens, is one for bytes both ways. */
static inline void check_both_ways(int listener, const struct net_address *to)
{
	struct error err = ERROR_INIT;
	struct net_stream *s = NULL;
	int fd = next_fd(), on = 0, other;
	socklen_t len = sizeof(on);
	char buf[8] = "";
	size_t got = 9;

	CHECK(net_open(to, &plain, LONG_MS, &s, &err) == 0);
	CHECK_STR(err.text, "");
	REQUIRE(s != NULL);
	CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
	CHECK((fcntl(fd, F_GETFL) & O_NONBLOCK) != 0);
	if (to->path == NULL) {
		CHECK(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len) == 0);
		CHECK(on != 0);
		on = 0;
		CHECK(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len) == 0);
		CHECK(on != 0);
	}
	other = accept(listener, NULL, NULL);
	CHECK(net_read(s, buf, sizeof(buf), &got, &err) == 0);
	CHECK_U64(got, 0);
	CHECK(net_wait(s, false, 0, &err) == 0);
	CHECK(net_wait(s, true, LONG_MS, &err) == 1);
	CHECK(write_all(s, "hello", 5, &err) == 0);
	CHECK(read(other, buf, sizeof(buf)) == 5);
	CHECK(memcmp(buf, "hello", 5) == 0);
	CHECK(write(other, "you", 3) == 3);
	CHECK(net_wait(s, false, LONG_MS, &err) == 1);
	CHECK(net_read(s, buf, 2, &got, &err) == 0 && got == 2);
	CHECK(net_read(s, buf + 2, 6, &got, &err) == 0 && got == 1);
	CHECK(memcmp(buf, "you", 3) == 0);
	net_close(s);
	CHECK(read(other, buf, 1) == 0);
	(void)close(other);
}

#endif
