/* SPDX-License-Identifier: BSD-2-Clause
 *
 * conn: one connection to a server, with a window of commands under way.
 *
 *	conn_send ─► [unsent | sent, not answered] ─► fn(reply), in order
 *
 * The window is bounded in commands and in bytes: conn_send() waits while it
 * is full, and everything else of a send is without a wait.  The bytes of a
 * command stay where they are until it is answered, so that they can be sent
 * again: a connection that breaks, a server that is LOADING, READONLY,
 * MASTERDOWN or CLUSTERDOWN, lead to a new connection, with the name resolved
 * and the password asked anew, over which everything not answered goes again.
 * That goes on until an answer comes or the time-out is over: ERROR_TEMPORARY
 * then, or ERROR_UNREACHED where the server never said a word.  So every
 * command must be one that may be done twice.  Only a first connection that is
 * refused is not tried again: that is told at once.  Silence, while answers
 * are awaited, counts as a break after one time-out, and so ends after two.
 *
 * A pinned connection (conn_pin()) only goes back to the same process in the
 * same role: another one may have lost what the first acknowledged.
 *
 * Errors name the place: "redis://HOST:PORT: ...".  After an error of its own
 * a connection answers every call with it.  A stop is no such error: what is
 * not answered stays, and its ctx must live on until a later wait or
 * conn_close().  A connection belongs to one thread at a time.
 */
#ifndef BLOOMCTL_REDIS_CONN_H
#define BLOOMCTL_REDIS_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"
#include "lib/redis/reply.h"
#include "lib/redis/target.h"

/* The window. */
#define CONN_COMMANDS_MAX 1024
#define CONN_BYTES_MAX    (4u << 20)
/* The largest reply that is taken, in bytes of memory. */
#define CONN_REPLY_MAX (16u << 20)
/* Room for a run id and a NUL. */
#define CONN_RUN_ID_MAX 41

/* Who is at the other end; from HELLO-free questions at each connection. */
struct conn_facts {
	char run_id[CONN_RUN_ID_MAX]; /* "": INFO is refused */
	unsigned version[3];          /* of the server; 0.0.0: not known */
	bool valkey;                  /* it says so in INFO server */
	bool replica;                 /* by INFO replication, else ROLE */
	bool cluster;                 /* by INFO cluster */
};

/* How long it may take to tidy up after a stop, in milliseconds. */
#define CONN_TIDY_MS 8000

struct conn;

/*
 * Receives the answer to one command, once; reply is borrowed until return.
 * 0, or -1: the connection's error is then this one.  It must not call the
 * connection.
 */
typedef int conn_fn(void *ctx, uint64_t tag, const struct reply *reply,
		    struct error *err);

enum conn_flags {
	CONN_READS = 0,  /* a replica will do */
	CONN_WRITES = 1, /* a replica is gone away from, as from a READONLY */
	CONN_TIDIES = 2, /* as after conn_set_patient(CONN_TIDY_MS) */
	CONN_KNOWN = 4,  /* it was reached before: if it cannot be now, it is
			    sought again, for the target's time */
};

/*
 * Connects, logs in (AUTH, where there is a user or a password), selects the
 * database and asks who is there.  target is borrowed until conn_close().
 * Errors are those of net_open(), redis_password() and reply_refused().
 */
int conn_open(const struct redis_target *target, unsigned flags,
	      struct conn **out, struct error *err);

/* Closes without waiting for answers; NULL is legal. */
void conn_close(struct conn *c);

/* Borrowed; of the connection there is now. */
const struct conn_facts *conn_facts(const struct conn *c);

/*
 * How many connections it has made: what the server knows of one, such as what
 * was written over it, is gone when it is another.
 */
uint64_t conn_made(const struct conn *c);

/* From now on only to this process: see above.  ERROR_TEMPORARY else. */
void conn_pin(struct conn *c);

/*
 * For tidying up after a stop: its waits are not ended by one, and are given
 * up after ms milliseconds.  No new connection is made while a stop is asked
 * for.  ms 0: as before.
 */
void conn_set_patient(struct conn *c, int ms);

/*
 * Sends a command that is encoded already; bytes are borrowed until fn is
 * called for it or the connection is closed.  fn may be NULL: then any reply
 * but an error is as good, and an error reply is reply_refused().
 */
int conn_send(struct conn *c, const void *bytes, size_t len, conn_fn *fn,
	      void *ctx, uint64_t tag, struct error *err);

/* The same for words, which are encoded into memory of the connection's. */
int conn_sendv(struct conn *c, int argc, const char *const argv[],
	       const size_t *lens, conn_fn *fn, void *ctx, uint64_t tag,
	       struct error *err);

/* Takes answers that are there, without a wait. */
int conn_poll(struct conn *c, struct error *err);

/* Waits until at most `pending` commands are not answered. */
int conn_wait(struct conn *c, size_t pending, struct error *err);

/* conn_wait(c, 0). */
int conn_flush(struct conn *c, struct error *err);

/* Whether it has an error of its own. */
bool conn_failed(const struct conn *c);

/* Commands that are not answered. */
size_t conn_pending(const struct conn *c);

/*
 * One command and its reply, which may be an error reply; borrowed until the
 * next call.  lens may be NULL: words are strings then.  Nothing may be
 * pending.
 */
int conn_call(struct conn *c, int argc, const char *const argv[],
	      const size_t *lens, const struct reply **out, struct error *err);

/*
 * A command encoded into a buffer: "*3\r\n$3\r\n...".  0, or -1 as buf_add().
 */
int conn_encode(struct buf *out, int argc, const char *const argv[],
		const size_t *lens);

#endif
