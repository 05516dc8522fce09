/* SPDX-License-Identifier: BSD-2-Clause
 *
 * examine: what is to be known of a server and of a read before it begins; for
 * doctor.  Facts and no judgement: what they mean is said in lib/job.
 */
#ifndef BLOOMCTL_PG_EXAMINE_H
#define BLOOMCTL_PG_EXAMINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/pg/plan.h"
#include "lib/pg/relation.h"
#include "lib/pg/select.h"
#include "lib/pg/session.h"

/* In place of a number that the server does not tell. */
#define EXAMINE_UNKNOWN INT64_MIN

struct examine_column {
	char name[256]; /* as the server has it, in UTF-8 */
	unsigned type;  /* its oid; of a domain that of its base */
};

struct examination {
	struct session_facts facts;

	/* The connection. */
	bool local;          /* to this machine */
	char protection[16]; /* "TLSv1.3", "GSSAPI"; "": none */
	char sslmode[16];    /* that is in force */
	bool proxied;        /* what answers is not the server itself */

	/* What this login has, in ms; 0: none. */
	int64_t statement_timeout;
	int64_t idle_timeout; /* in a transaction */
	int64_t transaction_timeout;

	/* A standby's; delays in ms, -1: without end. */
	int64_t feedback; /* 1: hot_standby_feedback is on, 0: off */
	int64_t streaming_delay;
	int64_t archive_delay;
	int64_t behind; /* bytes of log that it has not yet replayed */
	bool receives;  /* it is connected to the server that it follows */
	bool paused;    /* it replays nothing until it is told to */

	/* What is read. */
	char name[320]; /* of the relation, "schema.name"; "": a query */
	char kind;      /* pg_class.relkind; 0: a query */
	bool row_security;
	bool ranged; /* see relation.h */
	struct plan plan;
	struct plan forced;   /* where it may read no whole table if an index
				 will do; as plan where that reads none */
	struct error refused; /* why there is none; ERROR_NONE: there is */
	struct examine_column *columns; /* owned */
	size_t column_count;
};

/*
 * Fills *out, within the session's transaction, which goes on.  relation is
 * NULL for a query.  What the server does not tell this login is left out.
 * 0, or -1 if the session is lost or stopped.  examination_release() in both
 * cases.
 */
int examine(struct session *session, const struct selection *selection,
	    const struct relation *relation, struct examination *out,
	    struct error *err);

/* A zeroed struct is legal. */
void examination_release(struct examination *x);

#endif
