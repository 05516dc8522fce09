/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a session knows of its server.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"
#include "lib/pg/session_private.h"

/* The oldest version that exports snapshots in recovery. */
#define VERSION_MIN 100000

void facts_keep(char *out, size_t size, const struct answer *answer,
		size_t column)
{
	const char *text = answer_text(answer, 0, column);

	(void)snprintf(out, size, "%s", text != NULL ? text : "");
	show_clean(out);
}

#define KEEP(field, answer, column) \
	facts_keep((field), sizeof(field), (answer), (column))

static void name_place(struct session *session)
{
	struct session_facts *f = &session->facts;
	const char *host = PQhost(session->conn);
	const char *port = PQport(session->conn);

	if (host != NULL && host[0] == '/')
		(void)snprintf(f->place, sizeof(f->place), "%s/.s.PGSQL.%s",
			       host, port);
	else
		(void)snprintf(f->place, sizeof(f->place), "%s:%s",
			       host != NULL ? host : "", port);
	show_clean(f->place);
	(void)snprintf(session->name, sizeof(session->name), "server '%s'",
		       f->place);
}

static int check_version(struct session *session, struct error *err)
{
	const char *text = PQparameterStatus(session->conn, "server_version");
	struct session_facts *f = &session->facts;

	f->version = PQserverVersion(session->conn);
	(void)snprintf(f->software, sizeof(f->software), "%.*s",
		       text != NULL ? (int)strcspn(text, " ") : 0,
		       text != NULL ? text : "");
	show_clean(f->software);
	if (f->version >= VERSION_MIN)
		return 0;
	return error_set(err, ERROR_SOURCE,
			 "%s is PostgreSQL %s, and 10 or newer is needed",
			 session->name, f->software);
}

/*
 * Where the server stands, read before the transaction has a snapshot: what
 * the snapshot shows is at least as new.  Aurora lacks the functions.
 */
static int read_position(struct session *session, struct error *err)
{
	static const char sql[] =
		"SELECT CASE WHEN pg_is_in_recovery()"
		" THEN pg_last_wal_replay_lsn()"
		" ELSE pg_current_wal_insert_lsn() END, " FACTS_STARTED;
	struct answer *answer;

	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer != NULL) {
		KEEP(session->facts.lsn, answer, 0);
		KEEP(session->facts.started, answer, 1);
	}
	answer_free(answer);
	return 0;
}

int facts_before(struct session *session, struct error *err)
{
	static const char sql[] = "SELECT current_setting('server_encoding')";
	struct session_facts *f = &session->facts;
	struct answer *answer;

	f->lag_ms = -1;
	name_place(session);
	if (check_version(session, err) != 0 ||
	    query_run(session, sql, 0, NULL, &answer, err) != 0)
		return -1;
	KEEP(f->encoding, answer, 0);
	answer_free(answer);
	return read_position(session, err);
}

/*
 * What the last checkpoint wrote lags behind a promotion.  A primary says with
 * the name of its file of log on which timeline it writes, and a standby that
 * is connected what it receives.
 */
static const char system_of_primary[] =
	"SELECT s.system_identifier, ('x' || left(pg_walfile_name("
	"pg_current_wal_insert_lsn()), 8))::bit(32)::bigint"
	" FROM pg_control_system() s";
static const char system_of_standby[] =
	"SELECT s.system_identifier, greatest(c.timeline_id,"
	" (SELECT max(received_tli) FROM pg_stat_wal_receiver))"
	" FROM pg_control_system() s, pg_control_checkpoint() c";
static const char system_of_other[] =
	"SELECT s.system_identifier, c.timeline_id"
	" FROM pg_control_system() s, pg_control_checkpoint() c";

int facts_system(struct session *session, struct error *err)
{
	struct session_facts *f = &session->facts;
	struct answer *answer;

	f->system[0] = '\0';
	f->timeline[0] = '\0';
	if (query_try(session,
		      f->standby ? system_of_standby : system_of_primary, 0,
		      NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer == NULL && query_try(session, system_of_other, 0, NULL,
					&answer, NULL, err) != 0)
		return -1;
	if (answer != NULL) {
		KEEP(f->system, answer, 0);
		KEEP(f->timeline, answer, 1);
	}
	answer_free(answer);
	return 0;
}

static int read_lag(struct session *session, struct error *err)
{
	static const char sql[] =
		"SELECT (extract(epoch FROM clock_timestamp() -"
		" pg_last_xact_replay_timestamp()) * 1000)::bigint";
	struct answer *answer;
	const char *text;

	if (!session->facts.standby)
		return 0;
	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	text = answer != NULL ? answer_text(answer, 0, 0) : NULL;
	if (text != NULL && text[0] != '-')
		session->facts.lag_ms = strtoll(text, NULL, 10);
	answer_free(answer);
	return 0;
}

int facts_within(struct session *session, struct error *err)
{
	static const char sql[] =
		"SELECT " FACTS_STARTED ", current_database(), current_user,"
		" txid_snapshot_xmin(txid_current_snapshot()),"
		" txid_snapshot_xmax(txid_current_snapshot()),"
		" (extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
		" pg_is_in_recovery()";
	struct session_facts *f = &session->facts;
	struct answer *answer;

	if (query_run(session, sql, 0, NULL, &answer, err) != 0)
		return -1;
	/* A proxy may have another server for each transaction. */
	session->moved = strcmp(f->started, answer_text(answer, 0, 0)) != 0;
	if (session->moved)
		f->lsn[0] = '\0';
	KEEP(f->started, answer, 0);
	KEEP(f->database, answer, 1);
	KEEP(f->user, answer, 2);
	KEEP(f->xmin, answer, 3);
	KEEP(f->xmax, answer, 4);
	f->taken = strtoll(answer_text(answer, 0, 5), NULL, 10);
	f->standby = strcmp(answer_text(answer, 0, 6), "t") == 0;
	answer_free(answer);
	if (facts_system(session, err) != 0)
		return -1;
	return read_lag(session, err);
}
