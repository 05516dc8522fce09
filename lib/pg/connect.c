/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/show.h"
#include "lib/pg/fault.h"
#include "lib/pg/session_private.h"

/* What the word may say otherwise. */
static const struct {
	const char *keyword;
	const char *value;
} defaults[] = {
	{"connect_timeout", "10"},
	/* Some networks forget a connection that is silent for minutes. */
	{"keepalives", "1"},
	{"keepalives_idle", "30"},
	{"keepalives_interval", "10"},
	{"keepalives_count", "3"},
	{"tcp_user_timeout", "60000"},
	{"fallback_application_name", "bloomctl"},
};

#define DEFAULTS   (sizeof(defaults) / sizeof(defaults[0]))
#define PARAMS_MAX (DEFAULTS + 5)

static void drop_notice(void *ctx, const PGresult *result)
{
	(void)ctx;
	(void)result;
}

static PGconn *start(const char *word, PGconn *like)
{
	const char *keywords[PARAMS_MAX];
	const char *values[PARAMS_MAX];
	const char *address = like != NULL ? PQhostaddr(like) : NULL;
	size_t n = 0;

	for (; n < DEFAULTS; n++) {
		keywords[n] = defaults[n].keyword;
		values[n] = defaults[n].value;
	}
	keywords[n] = "dbname";
	values[n++] = word;
	/* A name may stand for several servers; this is the one. */
	if (like != NULL) {
		keywords[n] = "host";
		values[n++] = PQhost(like);
		keywords[n] = "port";
		values[n++] = PQport(like);
		keywords[n] = "hostaddr";
		values[n++] = address != NULL ? address : "";
	}
	keywords[n] = NULL;
	values[n] = NULL;
	return PQconnectStartParams(keywords, values, 1);
}

/* Seconds for all hosts together; 0: without end. */
static int64_t allowed(PGconn *conn)
{
	PQconninfoOption *list = PQconninfo(conn);
	int64_t seconds = 0;
	int64_t hosts = 1;

	for (const PQconninfoOption *o = list; o != NULL && o->keyword != NULL;
	     o++) {
		if (o->val != NULL &&
		    strcmp(o->keyword, "connect_timeout") == 0)
			seconds = strtol(o->val, NULL, 10);
		if (o->val != NULL && strcmp(o->keyword, "host") == 0)
			for (const char *p = o->val; *p != '\0'; p++)
				hosts += *p == ',';
	}
	PQconninfoFree(list);
	return seconds > 0 ? seconds * hosts : 0;
}

static bool is_code(const char *text)
{
	return strspn(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 &&
	       text[5] == ':' && text[6] == ' ';
}

/*
 * libpq tells no SQLSTATE of a server that refuses a connection, but in its
 * verbose message: "... failed: FATAL:  28P01: password ...".  Cuts severity
 * and code out of it, and all lines but the first.
 */
static void cut_message(char *text, char code[6])
{
	char *end = strchr(text, '\n');
	char *at;

	if (end != NULL)
		*end = '\0';
	code[0] = '\0';
	for (at = strstr(text, ":  "); at != NULL; at = strstr(at + 1, ":  ")) {
		char *from = at;

		if (!is_code(at + 3))
			continue;
		memcpy(code, at + 3, 5);
		code[5] = '\0';
		while (from > text && from[-1] != ' ')
			from--;
		memmove(from, at + 10, strlen(at + 10) + 1);
		break;
	}
	show_clean(text);
}

static int refused(PGconn *conn, struct error *err)
{
	char code[6];
	char text[1024];
	struct fault fault = {.message = text};

	(void)snprintf(text, sizeof(text), "%s", PQerrorMessage(conn));
	cut_message(text, code);
	if (code[0] != '\0')
		fault.sqlstate = code;
	return fault_set(&fault, err);
}

static int wait_for(PGconn *conn, PostgresPollingStatusType status,
		    int64_t limit, struct error *err)
{
	int64_t left = limit > 0 ? (limit - clock_ns()) / 1000000 : -1;
	int rc;

	if (limit > 0 && left < 0)
		left = 0;
	rc = input_wait_for(PQsocket(conn),
			    status == PGRES_POLLING_READING ? POLLIN : POLLOUT,
			    (int)left, err);
	if (rc != 0)
		return rc > 0 ? 0 : -1;
	(void)error_set(err, ERROR_UNREACHED,
			"server '%s': no answer within its connect_timeout",
			PQhost(conn) != NULL ? PQhost(conn) : "");
	return error_hint(err, "look at address, port and firewall");
}

int connect_open(const char *word, PGconn *like, PGconn **out,
		 struct error *err)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;
	PGconn *conn = start(word, like);
	int64_t limit;
	int rc = 0;

	*out = NULL;
	if (conn == NULL)
		return error_nomem(err);
	if (PQstatus(conn) == CONNECTION_BAD) {
		rc = refused(conn, err);
		PQfinish(conn);
		return rc;
	}
	(void)PQsetNoticeReceiver(conn, drop_notice, NULL);
	(void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	limit = allowed(conn) * 1000000000;
	if (limit > 0)
		limit += clock_ns();
	while (rc == 0 && status != PGRES_POLLING_OK) {
		rc = wait_for(conn, status, limit, err);
		if (rc == 0)
			status = PQconnectPoll(conn);
		if (rc == 0 && status == PGRES_POLLING_FAILED)
			rc = refused(conn, err);
	}
	if (rc == 0 && PQsetnonblocking(conn, 1) != 0)
		rc = error_nomem(err);
	if (rc != 0) {
		PQfinish(conn);
		return -1;
	}
	*out = conn;
	return 0;
}
