/* SPDX-License-Identifier: BSD-2-Clause
 *
 * conn_private: what the files of conn share.
 *
 *	conn.c        the calls, commands and errors
 *	connwindow.c  what is under way: written, answered, waited for
 *	connlogin.c   how one connection is made, and who is there
 *	connretry.c   when another one is made, and when no more
 */
#ifndef BLOOMCTL_REDIS_CONN_PRIVATE_H
#define BLOOMCTL_REDIS_CONN_PRIVATE_H

#include "lib/redis/conn.h"

#define CONN_READ_SIZE (64u << 10)
/* Room for a time-out as text. */
#define CONN_SPAN_MAX 32

struct conn_pending {
	const char *bytes;
	size_t len;
	conn_fn *fn;
	void *ctx;
	uint64_t tag;
	char *copy; /* owned: bytes of conn_sendv(); else NULL */

	/* Of a cluster's (cluster_private.h): */
	int slot;      /* of its keys; -1: it has none */
	int node;      /* the only one that it is for; -1: the slot's */
	int tries;     /* how often it was not done */
	int64_t since; /* the first of them, by clock_ns(); 0: none */
};

/*
 * Takes over a command that the server did not do, with its copy, and why: it
 * is another node's, or none can do it now.  It must not call the connection.
 */
typedef void conn_bounce_fn(void *ctx, const struct conn_pending *command,
			    const struct reply *why);

struct conn {
	const struct redis_target *target;
	unsigned flags;
	struct net_stream *net; /* NULL: a new one is needed */
	struct reader *reader;
	struct conn_facts facts;
	struct conn_facts pin;
	bool pinned;
	bool reached;     /* the server has answered something, ever */
	uint64_t made;    /* connections */
	struct error err; /* of its own; ERROR_NONE: none */

	/* The window: ring[head] is the oldest of count. */
	size_t head;
	size_t count;
	size_t sent;     /* of them, written whole */
	size_t sent_off; /* of the one behind these, bytes written */
	size_t bytes;    /* of all of them */
	size_t unsent;   /* of bytes, those not written */

	/* Silence and trouble, by clock_ns(). */
	int64_t moved;   /* the last byte, or when the wait began */
	int64_t trouble; /* the first try to come back; 0: all is well */
	int backoff_ms;  /* before the next try */
	struct error cause;
	int64_t patient_until; /* 0: not patient */
	int patient_ms;

	/* Of a connection to a node, which does not come back by itself. */
	conn_bounce_fn *bounce; /* NULL: it is none */
	void *bounce_ctx;
	int try_ms; /* for each step of a login; 0: no limit of its own */

	const struct reply *called; /* of conn_call() */
	struct conn_pending ring[CONN_COMMANDS_MAX];
	char in[CONN_READ_SIZE];
};

/* Makes an error the connection's, with the place in front.  Returns -1. */
int conn_fail(struct conn *c, struct error *err);

/* The connection is of no use any more, for that cause; another may be. */
void conn_lost(struct conn *c, const struct error *cause);

/* "30 s", or "300 ms".  Returns out. */
const char *conn_span(int ms, char out[CONN_SPAN_MAX]);

/* Whether a reply means that the same may be said again a little later. */
bool conn_transient(const struct reply *reply);

/*
 * Milliseconds that a wait which began at `since` may still take, 0 if it is
 * over: by the time-out, and by conn_set_patient().
 */
int conn_left(const struct conn *c, int64_t since);

/* Not connected yet; NULL: out of memory. */
struct conn *conn_new(const struct redis_target *target, unsigned flags);

/* A command of words, in memory of its own.  0, or -1: out of memory. */
int conn_command(int argc, const char *const argv[], const size_t *lens,
		 struct conn_pending *out, struct error *err);

/* Whether there is room for so many bytes more. */
bool conn_has_room(const struct conn *c, size_t len);

/* The same as conn_add(), where there is room: without a wait. */
int conn_put(struct conn *c, const struct conn_pending *command,
	     struct error *err);

/* Takes the oldest command out of the window, unanswered. */
struct conn_pending conn_pop(struct conn *c);

/* The name of a command, as its first word was encoded; its length. */
int conn_command_name(const struct conn_pending *p, const char **name);

/* Sends a command; its copy is taken over, whatever happens.  0 or -1. */
int conn_add(struct conn *c, const struct conn_pending *command,
	     struct error *err);

/* Writes what goes without a wait.  0, or -1: conn_fail() was called. */
int conn_push(struct conn *c, struct error *err);

/* Reads what is there, and calls back.  0, or -1: conn_fail() was called. */
int conn_take(struct conn *c, struct error *err);

/* The same for one step of a login. */
int conn_step_left(const struct conn *c, int64_t since);

/* How a try to connect failed. */
enum conn_after {
	CONN_FATAL, /* for good */
	CONN_AGAIN, /* another try may go well */
	CONN_STOP,  /* a stop */
};

/* Which of them a wait that failed with err is. */
enum conn_after conn_after_wait(const struct error *err);

/* One try to connect and log in.  0, or -1 with *after. */
int conn_login(struct conn *c, enum conn_after *after, struct error *err);

/*
 * Connects if there is no connection, again and again.  0; -1: conn_fail()
 * was called, or a stop, which is not the connection's error.
 */
int conn_connect(struct conn *c, struct error *err);

#endif
