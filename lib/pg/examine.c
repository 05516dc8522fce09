/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/examine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"
#include "lib/pg/session_private.h"

static bool is_local(PGconn *conn)
{
	const char *host = PQhost(conn);
	const char *address = PQhostaddr(conn);

	if (host != NULL && (host[0] == '/' || host[0] == '@'))
		return true;
	return address != NULL && (strncmp(address, "127.", 4) == 0 ||
				   strcmp(address, "::1") == 0);
}

static int look_at_connection(struct session *session, struct examination *x,
			      struct error *err)
{
	PGconn *conn = session->conn;
	PQconninfoOption *list = PQconninfo(conn);
	const char *protocol = NULL;

	if (list == NULL)
		return error_nomem(err);
	for (const PQconninfoOption *o = list; o->keyword != NULL; o++)
		if (strcmp(o->keyword, "sslmode") == 0 && o->val != NULL)
			(void)snprintf(x->sslmode, sizeof(x->sslmode), "%s",
				       o->val);
	PQconninfoFree(list);
	if (PQsslInUse(conn)) {
		protocol = PQsslAttribute(conn, "protocol");
		protocol = protocol != NULL ? protocol : "TLS";
	} else if (PQgssEncInUse(conn)) {
		protocol = "GSSAPI";
	}
	(void)snprintf(x->protection, sizeof(x->protection), "%s",
		       protocol != NULL ? protocol : "");
	x->local = is_local(conn);
	return 0;
}

/*
 * A proxy that shares connections must give each of its clients a number to
 * cancel by, which is then not that of the process that serves it.
 */
static int look_for_proxy(struct session *session, struct examination *x,
			  struct error *err)
{
	struct answer *answer;

	if (query_run(session, "SELECT pg_backend_pid()", 0, NULL, &answer,
		      err) != 0)
		return -1;
	x->proxied = strtol(answer_text(answer, 0, 0), NULL, 10) !=
		     PQbackendPID(session->conn);
	answer_free(answer);
	return 0;
}

/* Numbers, as the login has them and not as this transaction does. */
static int look_at_settings(struct session *session, struct examination *x,
			    struct error *err)
{
	static const char sql[] =
		"SELECT name, CASE reset_val WHEN 'on' THEN '1'"
		" WHEN 'off' THEN '0' ELSE reset_val END FROM pg_settings"
		" WHERE name IN ('statement_timeout', 'transaction_timeout',"
		" 'idle_in_transaction_session_timeout',"
		" 'hot_standby_feedback', 'max_standby_streaming_delay',"
		" 'max_standby_archive_delay')";
	const struct {
		const char *name;
		int64_t *value;
	} wanted[] = {
		{"statement_timeout", &x->statement_timeout},
		{"transaction_timeout", &x->transaction_timeout},
		{"idle_in_transaction_session_timeout", &x->idle_timeout},
		{"hot_standby_feedback", &x->feedback},
		{"max_standby_streaming_delay", &x->streaming_delay},
		{"max_standby_archive_delay", &x->archive_delay},
	};
	struct answer *answer;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		*wanted[i].value = EXAMINE_UNKNOWN;
	if (query_run(session, sql, 0, NULL, &answer, err) != 0)
		return -1;
	for (size_t row = 0; row < answer_rows(answer); row++)
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (answer_text(answer, row, 1) != NULL &&
			    strcmp(answer_text(answer, row, 0),
				   wanted[i].name) == 0)
				*wanted[i].value = strtoll(
					answer_text(answer, row, 1), NULL, 10);
	answer_free(answer);
	return 0;
}

/*
 * Where the functions are missing it is Aurora: readers there keep up with
 * their primary as one that is connected to it does.
 */
static int look_at_replay(struct session *session, struct examination *x,
			  struct error *err)
{
	static const char sql[] =
		"SELECT pg_is_wal_replay_paused(), greatest(0,"
		" pg_last_wal_receive_lsn() - pg_last_wal_replay_lsn()),"
		" EXISTS (SELECT FROM pg_stat_wal_receiver),"
		" pg_last_wal_receive_lsn() IS NULL";
	struct answer *answer;

	x->behind = EXAMINE_UNKNOWN;
	if (!session->facts.standby)
		return 0;
	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	x->receives = true;
	if (answer == NULL)
		return 0;
	x->paused = strcmp(answer_text(answer, 0, 0), "t") == 0;
	x->receives = strcmp(answer_text(answer, 0, 2), "t") == 0;
	if (strcmp(answer_text(answer, 0, 3), "t") != 0)
		x->behind = strtoll(answer_text(answer, 0, 1), NULL, 10);
	answer_free(answer);
	return 0;
}

static int explain(struct session *session, const char *sql, struct plan *plan,
		   struct error *refused, struct error *err)
{
	struct answer *answer;

	if (query_try(session, sql, 0, NULL, &answer, refused, err) != 0)
		return -1;
	for (size_t row = 0; answer != NULL && row < answer_rows(answer); row++)
		plan_line(plan, answer_text(answer, row, 0));
	answer_free(answer);
	return 0;
}

/*
 * Of a small table all is read although there is an index: what is asked is
 * whether there is one.
 */
static int look_at_indexes(struct session *session, const char *sql,
			   struct examination *x, struct error *err)
{
	static const char off[] = "SET LOCAL enable_seqscan = off";
	static const char on[] = "SET LOCAL enable_seqscan TO DEFAULT";
	struct error refused = ERROR_INIT;

	x->forced = x->plan;
	if (x->plan.whole[0] == '\0')
		return 0;
	memset(&x->forced, 0, sizeof(x->forced));
	if (query_run(session, off, 0, NULL, NULL, err) != 0 ||
	    explain(session, sql, &x->forced, &refused, err) != 0)
		return -1;
	return query_run(session, on, 0, NULL, NULL, err);
}

static int look_at_plan(struct session *session,
			const struct selection *selection,
			struct examination *x, struct error *err)
{
	char *sql;
	int rc;

	if (select_explain(selection, &sql, err) != 0)
		return -1;
	rc = explain(session, sql, &x->plan, &x->refused, err);
	if (rc == 0)
		rc = look_at_indexes(session, sql, x, err);
	free(sql);
	return rc;
}

static int look_at_columns(struct session *session,
			   const struct selection *selection,
			   struct examination *x, struct error *err)
{
	struct answer *answer;
	char *sql;
	int rc;

	if (select_none(selection, &sql, err) != 0)
		return -1;
	rc = query_run(session, sql, 0, NULL, &answer, err);
	free(sql);
	if (rc != 0)
		return -1;
	x->columns = calloc(answer_columns(answer) + 1, sizeof(*x->columns));
	if (x->columns == NULL)
		rc = error_nomem(err);
	for (size_t i = 0; rc == 0 && i < answer_columns(answer); i++) {
		struct examine_column *c = &x->columns[x->column_count++];

		(void)snprintf(c->name, sizeof(c->name), "%s",
			       answer_name(answer, i));
		c->type = answer_type(answer, i);
	}
	answer_free(answer);
	return rc;
}

static void take_relation(const struct relation *relation,
			  struct examination *x)
{
	(void)snprintf(x->name, sizeof(x->name), "%s", relation->name);
	show_clean(x->name);
	x->kind = relation->kind;
	x->row_security = relation->row_security;
	x->ranged = relation->ranged;
}

int examine(struct session *session, const struct selection *selection,
	    const struct relation *relation, struct examination *out,
	    struct error *err)
{
	memset(out, 0, sizeof(*out));
	out->facts = *session_facts(session);
	if (relation != NULL)
		take_relation(relation, out);
	if (look_at_connection(session, out, err) != 0 ||
	    look_for_proxy(session, out, err) != 0 ||
	    look_at_settings(session, out, err) != 0 ||
	    look_at_replay(session, out, err) != 0 ||
	    look_at_columns(session, selection, out, err) != 0)
		return -1;
	return look_at_plan(session, selection, out, err);
}

void examination_release(struct examination *x)
{
	free(x->columns);
	memset(x, 0, sizeof(*x));
}
