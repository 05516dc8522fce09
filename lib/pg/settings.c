/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The settings of a session, so that a row's text is the same whoever asks,
 * and no time-out cuts a long read.  All are local to the transaction.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/pg/session_private.h"

static const struct {
	const char *name;
	const char *value;
	int since; /* a version */
} settings[] = {
	{"search_path", "", 0},
	{"TimeZone", "UTC", 0},
	{"DateStyle", "ISO, MDY", 0},
	{"IntervalStyle", "postgres", 0},
	{"extra_float_digits", "3", 0},
	{"bytea_output", "hex", 0},
	{"lc_monetary", "C", 0},
	/* Without it rows that a role may not see are left out in silence. */
	{"row_security", "off", 0},
	{"synchronize_seqscans", "off", 0},
	{"statement_timeout", "0", 0},
	{"idle_in_transaction_session_timeout", "0", 0},
	{"transaction_timeout", "0", 170000},
	/* Only at the beginning, and nobody waits for ever for a cron job. */
	{"lock_timeout", "60s", 0},
};

#define SETTINGS (sizeof(settings) / sizeof(settings[0]))

/* Bytes of a database without an encoding come as they are. */
static const char *encoding_of(const struct session *session)
{
	return strcmp(session->facts.encoding, "SQL_ASCII") == 0 ? "SQL_ASCII"
								 : "UTF8";
}

static int pin(struct session *session, struct error *err)
{
	struct buf sql;
	int bad;
	int rc;

	buf_init(&sql, 8192);
	bad = buf_addf(&sql, "SELECT set_config('client_encoding', '%s', true)",
		       encoding_of(session));
	for (size_t i = 0; i < SETTINGS; i++)
		if (session->facts.version >= settings[i].since)
			bad |= buf_addf(&sql, ", set_config('%s', '%s', true)",
					settings[i].name, settings[i].value);
	if (bad != 0 || buf_string(&sql) == NULL)
		rc = error_nomem(err);
	else
		rc = query_run(session, sql.data, 0, NULL, NULL, err);
	buf_release(&sql);
	return rc;
}

int settings_begin(struct session *session, const char *snapshot,
		   struct error *err)
{
	char sql[128];

	if (query_run(session,
		      session->current
			      ? "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
			      : "BEGIN ISOLATION LEVEL REPEATABLE READ READ "
				"ONLY",
		      0, NULL, NULL, err) != 0)
		return -1;
	if (snapshot != NULL) {
		/* Of hexadecimal digits and dashes: see session_join(). */
		(void)snprintf(sql, sizeof(sql),
			       "SET TRANSACTION SNAPSHOT '%s'", snapshot);
		if (query_run(session, sql, 0, NULL, NULL, err) != 0) {
			/* All else that it could refuse may pass. */
			session->lacks_snapshot =
				PQstatus(session->conn) == CONNECTION_OK &&
				err->code != ERROR_TEMPORARY;
			return -1;
		}
	}
	return pin(session, err);
}
