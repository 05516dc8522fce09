/* SPDX-License-Identifier: BSD-2-Clause
 *
 * session: one connection to PostgreSQL, in one read-only transaction with
 * pinned settings, so that the same row has the same text whoever asks.
 *
 *	word.c      what a source's word says
 *	connect.c   a connection, or the reason why there is none
 *	hosts.c     the servers that it may be with
 *	settings.c  the transaction and what is pinned in it
 *	facts.c     what is known of the server
 *	position.c  where it stands, and the wait until another one does
 *	session.c   all of these, and one snapshot for several sessions
 *	query.c     statements and their answers
 *	copy.c      the rows of a COPY
 *	fault.c     what an error of the server means to us
 *
 * A session belongs to one thread at a time.  Every wait ends when a stop is
 * asked for.  After a failed statement the transaction is lost, and with it
 * the snapshot: the session can only be closed.
 */
#ifndef BLOOMCTL_PG_SESSION_H
#define BLOOMCTL_PG_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

struct session;

/* What is known of the other end since session_open(); "" is not known. */
struct session_facts {
	char place[256];    /* "HOST:PORT", or the path of a socket */
	char database[128]; /* its name, cut */
	char user[128];     /* as whom we are there, cut */
	int version;        /* server_version_num: 150018 is 15.18 */
	char software[64];  /* "15.18" */
	bool standby;       /* it is in recovery */
	char lsn[32];       /* a standby's replayed, a primary's inserted
			       position, before the snapshot was taken; ""
			       too if it was asked of another server */
	int64_t lag_ms;     /* age of the last transaction that a standby has
			       replayed; -1: not known, or no standby */
	char encoding[32];  /* the database's: "UTF8" */
	char system[24];    /* the cluster's identifier, in decimal digits */
	char timeline[16];  /* in decimal digits */
	char started[40];   /* when the server did, with microseconds: tells
			       two servers apart */
	char xmin[24];      /* of the snapshot: below it all are finished */
	char xmax[24];      /* of the snapshot: from it on none has begun */
	int64_t taken;      /* ms since 1970, by the server's clock */
	char volume[24];    /* position_read(): where there is no lsn, Aurora's
			       own position, in decimal digits */
};

/* Where a server must have come before its snapshot is taken. */
struct session_goal {
	const struct session_facts *writer; /* of position_read() */
	int64_t wait_ms;                    /* ERROR_TEMPORARY after so long */
};

/*
 * Whether a word is a connection string of libpq: a postgres:// or
 * postgresql:// address, or keywords as "service=prod dbname=cards".
 */
bool session_is_word(const char *word);

/*
 * 0 if libpq can read it, else ERROR_USAGE, without showing any of it but the
 * name of a keyword.  *password: whether it holds one (password, sslpassword,
 * passfile is none).
 */
int session_check_word(const char *word, bool *password, struct error *err);

/*
 * The word as records may show it: "postgresql://USER@HOST:PORT/DATABASE"
 * of what it says, or "service NAME", without anything secret and without
 * asking the environment.  *out is owned by the caller.
 */
int session_label(const char *word, char **out, struct error *err);

/*
 * Connects and begins: REPEATABLE READ READ ONLY, pinned settings, the facts,
 * the snapshot.  All in one transaction, so that a proxy that hands out
 * connections by the transaction will do.  What the word leaves open is ours:
 * connect_timeout 10, keepalives, application_name "bloomctl".  word is
 * copied.  Errors: ERROR_UNREACHED (no server), ERROR_RIGHTS (it does not let
 * us in), ERROR_SOURCE (no such database), ERROR_TEMPORARY (it starts, stops,
 * or has no connection left), ERROR_USAGE; or a stop's own.
 */
int session_open(const char *word, struct session **out, struct error *err);

/*
 * The same, once the server shows all that the goal's writer had by then, or
 * as session_open() where goal is NULL.  ERROR_SOURCE as well where it is of
 * another cluster or history than the writer, or does not tell how far it is.
 */
int session_open_at(const char *word, const struct session_goal *goal,
		    struct session **out, struct error *err);

/*
 * The same as session_open(), but READ COMMITTED: each statement has a snapshot
 * of its own.
 */
int session_open_current(const char *word, struct session **out,
			 struct error *err);

/*
 * Another session that sees exactly what first does: at the very address where
 * first is, with its snapshot, which is exported at the first call.  Called
 * by several threads at a time is legal as long as first is in no statement
 * and they take turns (the caller's lock).  ERROR_SOURCE if another server
 * answers there (a proxy that spreads connections); else as session_open().
 */
int session_join(struct session *first, struct session **out,
		 struct error *err);

const struct session_facts *session_facts(const struct session *session);

/* "server 'PLACE'", for messages; borrowed as long as the session lives. */
const char *session_name(const struct session *session);

/*
 * Closes the connection, whatever runs there: the server notices when it next
 * has something to send.  NULL is legal.
 */
void session_close(struct session *session);

#endif
