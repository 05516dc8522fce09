/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/dial.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/input.h"

/* How long a unix socket whose queue is full is left alone. */
#define BUSY_MS 20

#define NS_PER_MS INT64_C(1000000)

int64_t dial_limit(int ms)
{
	return clock_ns() + ms * NS_PER_MS;
}

/* Milliseconds until then, rounded up, so that 0 is the end. */
int dial_left(int64_t limit)
{
	int64_t left = limit - clock_ns();

	return left > 0 ? (int)((left + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

/* "30 s", or "300 ms". */
const char *dial_span(int ms, char out[CLOCK_TEXT_MAX])
{
	if (ms >= 1000)
		return clock_span(ms, out);
	(void)snprintf(out, CLOCK_TEXT_MAX, "%d ms", ms);
	return out;
}

/* One address at a time; errnum is why the last one did not do. */
struct attempt {
	int fd;
	int errnum;
	int64_t limit; /* of this address */
};

/* 1: connected; 0: not; -1: a stop or ERROR_INTERNAL. */
static int finish(struct attempt *a, struct error *err)
{
	socklen_t len = sizeof(a->errnum);
	int ready;

	ready = input_wait_for(a->fd, POLLOUT, dial_left(a->limit), err);
	if (ready < 0)
		return -1;
	if (ready == 0)
		a->errnum = ETIMEDOUT;
	else if (getsockopt(a->fd, SOL_SOCKET, SO_ERROR, &a->errnum, &len) != 0)
		a->errnum = errno;
	return a->errnum == 0;
}

/* The same, for a socket that is new. */
static int start(struct attempt *a, const struct sockaddr *to, socklen_t len,
		 struct error *err)
{
	while (connect(a->fd, to, len) != 0) {
		if (errno == EINPROGRESS || errno == EINTR) {
			a->errnum = 0;
			return finish(a, err);
		}
		a->errnum = errno;
		/* The queue of a unix socket is full: nothing can be polled. */
		if (errno != EAGAIN || to->sa_family != AF_UNIX)
			return 0;
		if (dial_left(a->limit) == 0) {
			a->errnum = ETIMEDOUT;
			return 0;
		}
		if (input_wait_for(-1, 0, BUSY_MS, err) < 0)
			return -1;
	}
	return 1;
}

static int try_address(struct attempt *a, const struct sockaddr *to,
		       socklen_t len, struct error *err)
{
	const int on = 1;
	int rc;

	a->fd = socket(to->sa_family,
		       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0) {
		a->errnum = errno;
		/* One without IPv6 may still have an address of IPv4. */
		return errno == EAFNOSUPPORT
			       ? 0
			       : error_errno(err, ERROR_INTERNAL, errno,
					     "no socket for it");
	}
	if (to->sa_family != AF_UNIX) {
		(void)setsockopt(a->fd, IPPROTO_TCP, TCP_NODELAY, &on,
				 sizeof(on));
		(void)setsockopt(a->fd, SOL_SOCKET, SO_KEEPALIVE, &on,
				 sizeof(on));
	}
	rc = start(a, to, len, err);
	if (rc <= 0) {
		(void)close(a->fd);
		a->fd = -1;
	}
	return rc;
}

static int not_connected(int errnum, int ms, struct error *err)
{
	char text[CLOCK_TEXT_MAX];

	if (errnum != ETIMEDOUT)
		return error_errno(err, ERROR_UNREACHED, errnum,
				   "cannot connect");
	return error_set(err, ERROR_UNREACHED,
			 "cannot connect: no answer within %s",
			 dial_span(ms, text));
}

static int dial_unix(const char *path, int ms, int64_t limit, int *fd,
		     struct error *err)
{
	struct attempt a = {.fd = -1, .limit = limit};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = strlen(path);
	int rc;

	if (len == 0 || len >= sizeof(to.sun_path)) {
		return error_set(err, ERROR_CONFIG,
				 "the path of a socket has 1 to %zu bytes, and "
				 "this one %zu",
				 sizeof(to.sun_path) - 1, len);
	}
	memcpy(to.sun_path, path, len);
	rc = try_address(&a, (const struct sockaddr *)&to, sizeof(to), err);
	*fd = a.fd;
	if (rc == 0 && a.errnum == EACCES)
		return error_errno(err, ERROR_RIGHTS, a.errnum,
				   "cannot connect");
	if (rc == 0)
		return not_connected(a.errnum, ms, err);
	return rc > 0 ? 0 : -1;
}

/*
 * This may take as long as the resolver's configuration says: it cannot be
 * ended.  An address is taken as it is, also one of a family that no interface
 * has yet.
 */
static int resolve(const struct net_address *address, struct addrinfo **out,
		   struct error *err)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICSERV | AI_NUMERICHOST};
	char port[16];
	int rc;

	(void)snprintf(port, sizeof(port), "%u", (unsigned)address->port);
	rc = getaddrinfo(address->host, port, &hints, out);
	if (rc == EAI_NONAME) {
		hints.ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG;
		rc = getaddrinfo(address->host, port, &hints, out);
	}
	if (rc == EAI_MEMORY)
		return error_nomem(err);
	if (rc == EAI_SYSTEM)
		return error_errno(err, ERROR_UNREACHED, errno,
				   "its name cannot be resolved");
	return rc == 0 ? 0
		       : error_set(err, ERROR_UNREACHED,
				   "its name cannot be resolved: %s",
				   gai_strerror(rc));
}

/* Each address may take its share of the time that is left. */
static int dial_tcp(const struct net_address *address, int ms, int64_t limit,
		    int *fd, struct error *err)
{
	struct attempt a = {.fd = -1, .errnum = ETIMEDOUT};
	struct addrinfo *list;
	int count = 0;
	int rc = 0;

	if (resolve(address, &list, err) != 0)
		return -1;
	for (const struct addrinfo *i = list; i != NULL; i = i->ai_next)
		count++;
	for (const struct addrinfo *i = list; i != NULL && rc == 0;
	     i = i->ai_next) {
		a.limit = dial_limit(dial_left(limit) / count--);
		rc = try_address(&a, i->ai_addr, i->ai_addrlen, err);
	}
	freeaddrinfo(list);
	*fd = a.fd;
	if (rc == 0)
		return not_connected(a.errnum, ms, err);
	return rc > 0 ? 0 : -1;
}

int dial(const struct net_address *address, int ms, int64_t limit, int *fd,
	 struct error *err)
{
	*fd = -1;
	return address->path != NULL
		       ? dial_unix(address->path, ms, limit, fd, err)
		       : dial_tcp(address, ms, limit, fd, err);
}
