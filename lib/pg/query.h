/* SPDX-License-Identifier: BSD-2-Clause
 *
 * query: a statement of a session and its answer, as texts.
 *
 * One function sends everything, by the extended protocol: one statement at a
 * time, parameters apart from it.
 */
#ifndef BLOOMCTL_PG_QUERY_H
#define BLOOMCTL_PG_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/pg/session.h"

/* Rows of texts; owned by whoever asked. */
struct answer;

/*
 * Runs one statement with count parameters ($1...), texts or NULL, borrowed
 * until return.  *out is the caller's, also with no rows; NULL is legal where
 * none are wanted.  0, or -1 as fault_set() says, the transaction lost.
 */
int query_run(struct session *session, const char *sql, size_t count,
	      const char *const *values, struct answer **out,
	      struct error *err);

/*
 * The same with values of a row, to which columns are compared: an error that
 * shows them is told without (fault.h), and is ERROR_ROWS.
 */
int query_compare(struct session *session, const char *sql, size_t count,
		  const char *const *values, struct answer **out,
		  struct error *err);

/*
 * The same as query_run() within a savepoint: a statement that the server
 * refuses (no rights, no such function) leaves the transaction as it was; *out
 * is then NULL, *why (NULL: not wanted) the error, and 0 is returned.  -1 if
 * the session is lost or stopped.
 */
int query_try(struct session *session, const char *sql, size_t count,
	      const char *const *values, struct answer **out, struct error *why,
	      struct error *err);

size_t answer_rows(const struct answer *answer);
size_t answer_columns(const struct answer *answer);

/* NULL for SQL's NULL; borrowed as long as the answer lives. */
const char *answer_text(const struct answer *answer, size_t row, size_t column);

/* A column's name, and the oid of its type. */
const char *answer_name(const struct answer *answer, size_t column);
unsigned answer_type(const struct answer *answer, size_t column);

void answer_free(struct answer *answer);

#endif
