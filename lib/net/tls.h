/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tls: TLS over a connected socket, for stream.c alone.
 *
 *	tls_new ─ (connect) ─ tls_start ─ tls_handshake ... ─ tls_read,
 *tls_write
 *
 * Nothing here waits: tls_events() says what for.
 */
#ifndef BLOOMCTL_NET_TLS_H
#define BLOOMCTL_NET_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "lib/base/error.h"
#include "lib/net/stream.h"

struct tls;

#define TLS_PLAIN_HINT                                     \
	"this may be a port without TLS: then the target " \
	"begins with redis://"
#define TLS_NEEDED_HINT                                     \
	"this may be a port for TLS only: then the target " \
	"begins with rediss://"

/* How a connection ends, in words: ERROR_TEMPORARY.  By stream.c. */
int net_broken(int errnum, struct error *err);
int net_ended(struct error *err);

/*
 * Reads the files of how, so that a fault in them is told before anybody is
 * called.  host is the name of the server, or NULL; both are borrowed until
 * return.  ERROR_CONFIG, ERROR_INTERNAL.
 */
int tls_new(const struct net_tls *how, const char *host, struct tls **out,
	    struct error *err);

/* Says goodbye if that goes without waiting; NULL is legal. */
void tls_free(struct tls *t);

/* Gives it the socket, which is borrowed.  0 or -1: ERROR_INTERNAL. */
int tls_start(struct tls *t, int fd, struct error *err);

/* A step: 1: done; 0: again after tls_events(); -1 as net_open(). */
int tls_handshake(struct tls *t, struct error *err);

/* Whether anything at all has come from the other side. */
bool tls_heard(const struct tls *t);

/* As net_read() and net_write(). */
int tls_read(struct tls *t, void *buf, size_t cap, size_t *got,
	     struct error *err);
int tls_write(struct tls *t, const struct iovec *pieces, int count, size_t *put,
	      struct error *err);

/* Whether bytes are there that no poll tells of. */
bool tls_pending(const struct tls *t);

/* The events of poll(2) after which reading, or with write either, goes on. */
short tls_events(const struct tls *t, bool write);

#endif
