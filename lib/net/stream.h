/* SPDX-License-Identifier: BSD-2-Clause
 *
 * stream: a connection of bytes to a server: TCP, a unix socket, or TLS over
 * TCP, with deadlines.
 *
 *	net_open ─ resolve ─ connect ─ (TLS handshake) ─ net_read / net_write
 *
 * Nothing here waits but net_open() and net_wait(); both end when a stop is
 * asked for or the thread's wait is not wanted any more (lib/base/input.h),
 * unless the stream is patient; only the system's resolver cannot be ended.  A
 *stream belongs to one thread.  Messages do not name the server: the caller
 *knows how it was called.
 */
#ifndef BLOOMCTL_NET_STREAM_H
#define BLOOMCTL_NET_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/base/error.h"

/* Where a server is; texts are borrowed. */
struct net_address {
	const char *path; /* of a unix socket; NULL: TCP */
	const char *host; /* a name or an address, without brackets */
	uint16_t port;
};

/* How TLS is done; texts are borrowed, NULL is "none". */
struct net_tls {
	bool on;
	bool insecure;    /* takes any certificate: for tests and tunnels */
	const char *ca;   /* file of PEM; NULL: the system's roots */
	const char *cert; /* of the client, with its chain, PEM */
	const char *key;  /* of that certificate, PEM; NULL: in cert */
	const char *name; /* name to ask for and to verify; NULL: the host */
};

struct net_stream;

/*
 * Connects, within ms milliseconds for all of it: the name is resolved anew,
 * its addresses are tried in turn, and with TLS the certificate and its name
 * are verified.  *out is owned by the caller.
 * ERROR_UNREACHED: no such name, refused, no answer, not TLS; ERROR_RIGHTS:
 * a certificate is not accepted, on either side, or a unix socket may not be
 * used; ERROR_CONFIG: a file of tls cannot be used, or the path is too long; a
 * stop; ERROR_INTERNAL.
 */
int net_open(const struct net_address *address, const struct net_tls *tls,
	     int ms, struct net_stream **out, struct error *err);

/* Closes; NULL is legal. */
void net_close(struct net_stream *s);

/*
 * Patient: stops do not end its waits, for what must be tidied up after one.
 */
void net_set_patient(struct net_stream *s, bool patient);

/*
 * Reads what is there, at most cap bytes; *got is 0 if there is nothing yet.
 * 0, or -1: ERROR_TEMPORARY if the connection is at its end or broke;
 * ERROR_RIGHTS if the server wants another certificate of ours, which with TLS
 * 1.3 the first read tells; ERROR_UNREACHED if it speaks TLS and we do not.
 */
int net_read(struct net_stream *s, void *buf, size_t cap, size_t *got,
	     struct error *err);

/*
 * Writes what goes without waiting, of count pieces; *put is how many bytes
 * went, which may be 0.  What was not written must be given again, all of it,
 * in whatever pieces.  While there is something to read from a server that
 * closed already, nothing goes, so that its last words are not lost: who
 * writes must read, too.  0, or -1 as net_read().
 */
int net_write(struct net_stream *s, const struct iovec *pieces, int count,
	      size_t *put, struct error *err);

/*
 * Waits, ms milliseconds at most, until there is something to read, or, with
 * write, until something can be read or written.  1, also at the connection's
 * end; 0: the time is over; -1: a stop, or ERROR_INTERNAL.
 */
int net_wait(struct net_stream *s, bool write, int ms, struct error *err);

/* One of several that are waited for. */
struct net_waiting {
	struct net_stream *stream; /* NULL: it is passed over */
	bool write;                /* as of net_wait() */
	bool ready;                /* out */
};

/*
 * The same for several, until one of them is ready; `ready` says which are.
 * With none it only lets the time pass.  They are all patient, or none is.
 */
int net_wait_any(struct net_waiting *waiting, size_t count, int ms,
		 struct error *err);

#endif
