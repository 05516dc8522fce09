/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/fault.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/show.h"

#define AGAIN   "run it again"
#define NO_PATH "names without a schema are not looked for: write schema.name"
#define PASSWORD                                                           \
	"a password comes from PGPASSWORD, PGPASSFILE or a service file; " \
	"pg_hba.conf says who may come from where"
#define CONFLICT                                                       \
	"set hot_standby_feedback = on at the standby or raise its "   \
	"max_standby_streaming_delay; with --jobs a table is read in " \
	"ranges, and a cancelled one once more"

/* By the longest beginning of the SQLSTATE. */
static const struct meaning {
	const char *state;
	enum error_code code;
	const char *hint;
} meanings[] = {
	{"08", ERROR_TEMPORARY, AGAIN},
	{"0A", ERROR_USAGE, NULL},
	{"21", ERROR_USAGE, NULL},
	{"22", ERROR_USAGE, NULL},
	{"25006", ERROR_USAGE, "the query is to read and not to write"},
	{"28", ERROR_RIGHTS, PASSWORD},
	{"3D000", ERROR_SOURCE, NULL},
	{"3F000", ERROR_SOURCE, NULL},
	{"40", ERROR_TEMPORARY, AGAIN},
	{"42", ERROR_USAGE, NULL},
	{"42501", ERROR_RIGHTS, "GRANT SELECT on it to this user"},
	{"42702", ERROR_ROWS,
	 "give each column of the query a name of its own"},
	{"42703", ERROR_ROWS,
	 "look at --where or --query, and at each field's `column` in the "
	 "keyspec"},
	{"42883", ERROR_USAGE, NO_PATH},
	{"42P01", ERROR_SOURCE, NO_PATH},
	{"53", ERROR_TEMPORARY, "the server is short of something: " AGAIN},
	{"53300", ERROR_TEMPORARY, "use fewer --jobs, or " AGAIN},
	{"54", ERROR_USAGE, NULL},
	{"55", ERROR_TEMPORARY, AGAIN},
	{"55P03", ERROR_TEMPORARY,
	 "another session holds a lock on it: pg_locks shows which; " AGAIN},
	{"57", ERROR_TEMPORARY, AGAIN},
	{"58", ERROR_DATA, "the server's log says more"},
	{"XX", ERROR_DATA, "the server's log says more"},
};

/* What is told by words alone, of proxies and of libpq. */
static const struct words {
	const char *text;
	enum error_code code;
	const char *hint;
} by_words[] = {
	{"statement pooling mode", ERROR_SOURCE,
	 "a proxy there hands out connections by the statement: have it do so "
	 "by the transaction, or use the server's own address"},
	{"unsupported startup parameter", ERROR_USAGE,
	 "a proxy there takes no `options`: leave them out"},
	{"max_client_conn", ERROR_TEMPORARY, "use fewer --jobs, or " AGAIN},
	{"query_wait_timeout", ERROR_TEMPORARY,
	 "a proxy there had no connection left: use fewer --jobs, or " AGAIN},
	{"no such database", ERROR_SOURCE, NULL},
	{"row-level security policy", ERROR_RIGHTS,
	 "rows would be left out in silence: use the table's owner, or a role "
	 "with BYPASSRLS"},
	{"no password supplied", ERROR_RIGHTS,
	 "give one in PGPASSWORD, PGPASSFILE or a service file"},
	{"in hot standby mode", ERROR_UNREACHED,
	 "target_session_attrs asks for another kind of server"},
	{"session is ", ERROR_UNREACHED,
	 "target_session_attrs asks for another kind of server"},
	{"does not support SSL", ERROR_UNREACHED,
	 "the sslmode asks for TLS, which is not on at the server"},
	{"root certificate file", ERROR_CONFIG, "look at sslrootcert"},
	{"certificate file", ERROR_CONFIG, "look at sslcert"},
	{"private key file", ERROR_CONFIG, "look at sslkey"},
	{"certificate", ERROR_RIGHTS,
	 "look at sslmode, sslrootcert and the name in the certificate"},
	{"authentication failed", ERROR_RIGHTS, PASSWORD},
	{"definition of service", ERROR_SOURCE,
	 "PGSERVICEFILE or ~/.pg_service.conf says what services there are"},
};

static const struct meaning *find(const char *state)
{
	const struct meaning *best = NULL;

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		const struct meaning *m = &meanings[i];

		if (strncmp(state, m->state, strlen(m->state)) == 0 &&
		    (best == NULL || strlen(m->state) > strlen(best->state)))
			best = m;
	}
	return best;
}

static const struct words *find_words(const char *message)
{
	for (size_t i = 0; i < sizeof(by_words) / sizeof(by_words[0]); i++)
		if (strstr(message, by_words[i].text) != NULL)
			return &by_words[i];
	return NULL;
}

static void set(struct error *err, enum error_code code, const char *text,
		const char *hint)
{
	(void)error_set(err, code, "%s", text);
	if (hint != NULL)
		(void)error_hint(err, "%s", hint);
}

/* The connection broke, or there never was one. */
static int set_broken(const struct fault *fault, const char *text,
		      struct error *err)
{
	if (!fault->connected) {
		set(err, ERROR_UNREACHED, text,
		    "look at address, port and firewall");
		return -1;
	}
	set(err, ERROR_TEMPORARY, "the connection was lost", AGAIN);
	return -1;
}

/* One line, the first, without a full stop. */
static void first_line(const char *message, char *out, size_t size)
{
	size_t len;

	(void)snprintf(out, size, "%s", message != NULL ? message : "");
	out[strcspn(out, "\n")] = '\0';
	len = strlen(out);
	if (len > 0 && out[len - 1] == '.')
		out[len - 1] = '\0';
	show_clean(out);
}

/* A value is at fault, which the message may show. */
static void set_value(const struct fault *fault, struct error *err)
{
	char text[80];

	(void)snprintf(text, sizeof(text),
		       fault->comparing
			       ? "a value that was given cannot be compared "
				 "with its column, SQLSTATE %.5s"
			       : "a row's value ends the statement, SQLSTATE "
				 "%.5s",
		       fault->sqlstate);
	if (fault->comparing)
		set(err, ERROR_ROWS, text,
		    "it is compared as it was given, before any transform: "
		    "write it as the column's type wants it");
	else
		set(err, ERROR_DATA, text, "psql shows which");
}

int fault_set(const struct fault *fault, struct error *err)
{
	const struct meaning *meaning;
	const struct words *words;
	char text[400];

	first_line(fault->message, text, sizeof(text));
	words = find_words(text);
	if (words != NULL && (!fault->connected || fault->sqlstate != NULL)) {
		set(err, words->code, text, words->hint);
		return -1;
	}
	if (fault->sqlstate == NULL)
		return set_broken(fault, text, err);
	meaning = find(fault->sqlstate);
	if ((fault->reading || fault->comparing) &&
	    strncmp(fault->sqlstate, "22", 2) == 0) {
		set_value(fault, err);
	} else if (strcmp(fault->sqlstate, "40001") == 0 && fault->standby) {
		set(err, ERROR_TEMPORARY, text, CONFLICT);
	} else if (meaning != NULL) {
		set(err, meaning->code, text, meaning->hint);
	} else {
		set(err, fault->reading ? ERROR_DATA : ERROR_USAGE, text, NULL);
	}
	return -1;
}
