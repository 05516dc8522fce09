/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/net/stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/net/dial.h"
#include "lib/net/tls.h"

/* So many streams are waited for without memory of their own. */
#define FEW 64

struct net_stream {
	int fd;
	bool patient;
	bool heard;      /* something was read */
	struct tls *tls; /* NULL: plain */
};

static int shake_hands(struct net_stream *s, int ms, int64_t limit,
		       struct error *err)
{
	char text[CLOCK_TEXT_MAX];
	int rc;

	if (tls_start(s->tls, s->fd, err) != 0)
		return -1;
	while ((rc = tls_handshake(s->tls, err)) == 0) {
		int ready = input_wait_for(s->fd, tls_events(s->tls, false),
					   dial_left(limit), err);

		if (ready < 0)
			return -1;
		if (ready > 0)
			continue;
		(void)error_set(err, ERROR_UNREACHED,
				tls_heard(s->tls)
					? "the TLS handshake was not done "
					  "within %s"
					: "no answer to a TLS handshake "
					  "within %s",
				dial_span(ms, text));
		return tls_heard(s->tls)
			       ? -1
			       : error_hint(err, "%s", TLS_PLAIN_HINT);
	}
	return rc > 0 ? 0 : -1;
}

int net_open(const struct net_address *address, const struct net_tls *tls,
	     int ms, struct net_stream **out, struct error *err)
{
	int64_t limit = dial_limit(ms);
	struct net_stream *s = calloc(1, sizeof(*s));
	int rc = 0;

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->fd = -1;
	if (tls->on)
		rc = tls_new(tls, address->path == NULL ? address->host : NULL,
			     &s->tls, err);
	if (rc == 0)
		rc = input_check(err);
	if (rc == 0)
		rc = dial(address, ms, limit, &s->fd, err);
	if (rc == 0 && tls->on)
		rc = shake_hands(s, ms, limit, err);
	if (rc != 0) {
		net_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

void net_close(struct net_stream *s)
{
	if (s == NULL)
		return;
	tls_free(s->tls);
	if (s->fd >= 0)
		(void)close(s->fd);
	free(s);
}

void net_set_patient(struct net_stream *s, bool patient)
{
	s->patient = patient;
}

/* --- bytes ---------------------------------------------------------------- */

int net_broken(int errnum, struct error *err)
{
	return error_errno(err, ERROR_TEMPORARY, errnum,
			   "the connection broke");
}

int net_ended(struct error *err)
{
	return error_set(err, ERROR_TEMPORARY,
			 "the server closed the connection");
}

/* A TLS server answers what is no TLS with an alert, or with nothing. */
static int check_first(struct net_stream *s, const unsigned char *p, size_t n,
		       struct error *err)
{
	if (s->heard)
		return 0;
	s->heard = true;
	if (p[0] != 0x15 || (n > 1 && p[1] != 3))
		return 0;
	(void)error_set(err, ERROR_UNREACHED, "the server speaks TLS only");
	return error_hint(err, "%s", TLS_NEEDED_HINT);
}

static int read_plain(struct net_stream *s, void *buf, size_t cap, size_t *got,
		      struct error *err)
{
	ssize_t n;

	do {
		n = recv(s->fd, buf, cap, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	if (n < 0) {
		(void)net_broken(errno, err);
		return s->heard ? -1 : error_hint(err, "%s", TLS_NEEDED_HINT);
	}
	if (n == 0 && s->heard)
		return net_ended(err);
	if (n == 0) {
		(void)error_set(err, ERROR_TEMPORARY,
				"the server closed the connection without a "
				"word");
		return error_hint(err, "%s", TLS_NEEDED_HINT);
	}
	*got = (size_t)n;
	return check_first(s, buf, (size_t)n, err);
}

int net_read(struct net_stream *s, void *buf, size_t cap, size_t *got,
	     struct error *err)
{
	*got = 0;
	if (cap == 0)
		return 0;
	return s->tls != NULL ? tls_read(s->tls, buf, cap, got, err)
			      : read_plain(s, buf, cap, got, err);
}

/* Whether the server said something before it went, which is worth reading. */
static bool is_left(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static int write_plain(struct net_stream *s, const struct iovec *pieces,
		       int count, size_t *put, struct error *err)
{
	struct msghdr message = {.msg_iov = (struct iovec *)pieces};
	ssize_t n;

	message.msg_iovlen = (size_t)(count < IOV_MAX ? count : IOV_MAX);
	do {
		n = sendmsg(s->fd, &message, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n >= 0) {
		*put = (size_t)n;
		return 0;
	}
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return 0;
	if (errno == EPIPE || errno == ECONNRESET) {
		int errnum = errno;

		return is_left(s->fd) ? 0 : net_broken(errnum, err);
	}
	return net_broken(errno, err);
}

int net_write(struct net_stream *s, const struct iovec *pieces, int count,
	      size_t *put, struct error *err)
{
	*put = 0;
	return s->tls != NULL ? tls_write(s->tls, pieces, count, put, err)
			      : write_plain(s, pieces, count, put, err);
}

/* As input_wait_many(), and no stop ends it. */
static int wait_patiently(struct pollfd *fds, size_t count, int ms,
			  struct error *err)
{
	int64_t limit = dial_limit(ms);
	int ready;

	do {
		ready = poll(fds, count, dial_left(limit));
	} while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return error_errno(err, ERROR_INTERNAL, errno, "poll");
	return ready > 0;
}

/* What poll(2) is asked of a stream.  Whether it is ready without. */
static bool prepare(const struct net_stream *s, bool write, struct pollfd *fd)
{
	fd->fd = s->fd;
	fd->events = (short)(POLLIN | (write ? POLLOUT : 0));
	fd->revents = 0;
	if (s->tls == NULL)
		return false;
	fd->events = tls_events(s->tls, write);
	return tls_pending(s->tls);
}

int net_wait(struct net_stream *s, bool write, int ms, struct error *err)
{
	struct pollfd fd;

	if (prepare(s, write, &fd))
		return 1;
	return s->patient ? wait_patiently(&fd, 1, ms, err)
			  : input_wait_for(fd.fd, fd.events, ms, err);
}

static int wait_any(struct net_waiting *waiting, struct pollfd *fds,
		    size_t count, int ms, struct error *err)
{
	bool patient = false;
	bool ready = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		const struct net_stream *s = waiting[i].stream;

		fds[i] = (struct pollfd){.fd = -1};
		waiting[i].ready =
			s != NULL && prepare(s, waiting[i].write, &fds[i]);
		ready = ready || waiting[i].ready;
		patient = patient || (s != NULL && s->patient);
	}
	rc = patient ? wait_patiently(fds, count, ready ? 0 : ms, err)
		     : input_wait_many(fds, count, ready ? 0 : ms, err);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		waiting[i].ready = waiting[i].ready || fds[i].revents != 0;
	return rc > 0 || ready;
}

int net_wait_any(struct net_waiting *waiting, size_t count, int ms,
		 struct error *err)
{
	struct pollfd few[FEW];
	struct pollfd *fds = count <= FEW ? few : calloc(count, sizeof(*fds));
	int rc = fds != NULL ? wait_any(waiting, fds, count, ms, err)
			     : error_nomem(err);

	if (fds != few)
		free(fds);
	return rc;
}
