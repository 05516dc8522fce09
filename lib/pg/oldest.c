/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/oldest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/num.h"
#include "lib/base/show.h"
#include "lib/pg/query.h"

/* What pg_stat_activity says is kept for the whole transaction. */
static int look_again(struct session *session, struct error *err)
{
	return query_run(session, "SELECT pg_stat_clear_snapshot()", 0, NULL,
			 NULL, err);
}

static void take(struct oldest *out, const char *what, const char *id,
		 const char *user, const char *application, const char *since)
{
	out->since = since != NULL ? strtoll(since, NULL, 10) : 0;
	(void)snprintf(out->text, sizeof(out->text),
		       "%s %s of user '%.64s'%s%.64s%s", what,
		       id != NULL ? id : "", user != NULL ? user : "",
		       application != NULL ? ", application '" : "",
		       application != NULL ? application : "",
		       application != NULL ? "'" : "");
	show_clean(out->text);
}

/*
 * Those that may write rows of this database, the oldest first, and before it
 * one of which nothing is shown: to others than its own user and those with
 * pg_read_all_stats, or because track_activities is off.
 */
static int look_at_sessions(struct session *session, int64_t *now,
			    struct oldest *out, struct error *why,
			    struct error *err)
{
	static const char sql[] =
		"SELECT (extract(epoch FROM a.now) * 1000)::bigint,"
		" b.pid, b.usename, b.application_name,"
		" (extract(epoch FROM b.xact_start) * 1000)::bigint, b.unseen"
		" FROM (SELECT clock_timestamp() AS now) a LEFT JOIN LATERAL"
		" (SELECT *, xact_start IS NULL AS unseen"
		" FROM pg_stat_activity"
		" WHERE datname = current_database()"
		" AND pid <> pg_backend_pid()"
		" AND coalesce(backend_type, '') NOT IN"
		" ('walsender', 'autovacuum worker')"
		" AND (xact_start IS NOT NULL OR state <> 'idle'"
		" OR (state IS NULL AND backend_type IS NULL))"
		" ORDER BY xact_start NULLS FIRST LIMIT 1) b ON true";
	struct answer *answer;
	const char *unseen;

	if (query_run(session, sql, 0, NULL, &answer, err) != 0)
		return -1;
	*now = strtoll(answer_text(answer, 0, 0), NULL, 10);
	memset(out, 0, sizeof(*out));
	unseen = answer_text(answer, 0, 5);
	if (unseen != NULL)
		take(out, "process", answer_text(answer, 0, 1),
		     answer_text(answer, 0, 2), answer_text(answer, 0, 3),
		     answer_text(answer, 0, 4));
	if (unseen != NULL && unseen[0] == 't') {
		(void)error_set(why, ERROR_TEMPORARY,
				"%s: %s does not show when its transaction "
				"began, so that no stamp is safe",
				session_name(session), out->text);
		(void)error_hint(why, "GRANT pg_read_all_stats to this user, "
				      "and have track_activities on");
	}
	answer_free(answer);
	return 0;
}

/*
 * After the sessions: a transaction is prepared before its session lets go of
 * it.  It began before that, and nothing says when.
 */
static int look_at_prepared(struct session *session, struct error *why,
			    struct error *err)
{
	static const char sql[] = "SELECT gid, owner FROM pg_prepared_xacts"
				  " WHERE database = current_database()"
				  " ORDER BY prepared LIMIT 1";
	struct answer *answer;
	struct oldest found;

	if (query_run(session, sql, 0, NULL, &answer, err) != 0)
		return -1;
	if (answer_rows(answer) > 0) {
		take(&found, "prepared transaction", answer_text(answer, 0, 0),
		     answer_text(answer, 0, 1), NULL, NULL);
		(void)error_set(why, ERROR_TEMPORARY,
				"%s: %s does not show when it began, so that "
				"no stamp is safe",
				session_name(session), found.text);
		(void)error_hint(why, "commit it or roll it back");
	}
	answer_free(answer);
	return 0;
}

static int look(struct session *session, int64_t *stamp, struct oldest *out,
		struct error *why, struct error *err)
{
	int64_t now = 0;

	*why = (struct error)ERROR_INIT;
	*stamp = 0;
	if (look_again(session, err) != 0 ||
	    look_at_sessions(session, &now, out, why, err) != 0 ||
	    look_at_prepared(session, why, err) != 0)
		return -1;
	if (why->code == ERROR_NONE)
		*stamp = (out->since != 0 && out->since < now ? out->since
							      : now) -
			 OLDEST_MARGIN;
	return 0;
}

int oldest_stamp(struct session *session, int64_t wait_ms, int64_t *stamp,
		 struct oldest *out, struct error *why, struct error *err)
{
	static const int pauses[] = {20, 50, 100, 200, 500};
	int64_t limit = clock_ns() + wait_ms * 1000000;

	for (size_t i = 0;; i += i + 1 < sizeof(pauses) / sizeof(pauses[0])) {
		if (look(session, stamp, out, why, err) != 0)
			return -1;
		if (why->code == ERROR_NONE || clock_ns() >= limit)
			return 0;
		if (input_wait_for(-1, 0, pauses[i], err) < 0)
			return -1;
	}
}

int oldest_of_xid(struct session *session, const char *xid, struct oldest *out,
		  struct error *err)
{
	static const char sql[] =
		"SELECT 'process', pid::text, usename, application_name,"
		" (extract(epoch FROM xact_start) * 1000)::bigint"
		" FROM pg_stat_activity WHERE backend_xid::text = $1"
		" UNION ALL"
		" SELECT 'prepared transaction', gid, owner, NULL,"
		" (extract(epoch FROM prepared) * 1000)::bigint"
		" FROM pg_prepared_xacts WHERE transaction::text = $1";
	struct answer *answer;
	uint64_t number = 0;
	char text[NUM_TEXT_MAX];
	const char *value = text;

	memset(out, 0, sizeof(*out));
	(void)num_u64(xid, &number);
	(void)snprintf(text, sizeof(text), "%" PRIu32, (uint32_t)number);
	if (look_again(session, err) != 0 ||
	    query_run(session, sql, 1, &value, &answer, err) != 0)
		return -1;
	if (answer_rows(answer) > 0)
		take(out, answer_text(answer, 0, 0), answer_text(answer, 0, 1),
		     answer_text(answer, 0, 2), answer_text(answer, 0, 3),
		     answer_text(answer, 0, 4));
	answer_free(answer);
	return 0;
}
