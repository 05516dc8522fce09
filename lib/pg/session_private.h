/* SPDX-License-Identifier: BSD-2-Clause
 *
 * session_private: what a session is, for the modules of this folder.
 */
#ifndef BLOOMCTL_PG_SESSION_PRIVATE_H
#define BLOOMCTL_PG_SESSION_PRIVATE_H

#include <libpq-fe.h>

#include "lib/pg/query.h"
#include "lib/pg/session.h"

struct session {
	PGconn *conn;
	char *word; /* owned */
	struct session_facts facts;
	char name[272];
	char exported[64];   /* the name of its snapshot; "": not exported */
	bool lacks_snapshot; /* the server has not that of the first */
	bool current;        /* each statement has a snapshot of its own */
	bool moved; /* its transaction is at another server than what came
		       before it */
};

struct answer {
	PGresult *result;
};

/*
 * Connects to what word says, or to the very place of `like`.  *out is owned
 * by the caller: PQfinish().  Errors as session_open().
 */
int connect_open(const char *word, PGconn *like, PGconn **out,
		 struct error *err);

/* Begins the transaction, in the snapshot of that name unless it is NULL. */
int settings_begin(struct session *session, const char *snapshot,
		   struct error *err);

/* What is to be read before the transaction, and in it. */
int facts_before(struct session *session, struct error *err);
int facts_within(struct session *session, struct error *err);

/*
 * Asks for system and timeline, of a standby or a primary as facts.standby
 * says; what the server does not tell is "".
 */
int facts_system(struct session *session, struct error *err);

/* Keeps a text of the answer's first row for people, "" for NULL. */
void facts_keep(char *out, size_t size, const struct answer *answer,
		size_t column);

/* When a server started, in microseconds since 1970, whatever the time zone. */
#define FACTS_STARTED                                     \
	"(extract(epoch FROM pg_postmaster_start_time())" \
	" * 1000000)::bigint"

/* Before the transaction: waits until the server is where the goal is. */
int position_wait(struct session *session, const struct session_goal *goal,
		  struct error *err);

/* Sends a statement; the waiting is the caller's. */
int query_send(struct session *session, const char *sql, size_t count,
	       const char *const *values, struct error *err);

/* Waits until PQgetResult() will not; -1: a stop, or the connection broke. */
int query_wait(struct session *session, struct error *err);

/* Sets the error of a result, or without one that of the connection. */
int query_fault(struct session *session, const PGresult *result, bool reading,
		struct error *err);

#endif
