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

/* Sends a statement; the waiting is the caller's. */
int query_send(struct session *session, const char *sql, size_t count,
	       const char *const *values, struct error *err);

/* Waits until PQgetResult() will not; -1: a stop, or the connection broke. */
int query_wait(struct session *session, struct error *err);

/* Sets the error of a result, or without one that of the connection. */
int query_fault(struct session *session, const PGresult *result, bool reading,
		struct error *err);

#endif
