/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/show.h"
#include "lib/pg/fault.h"
#include "lib/pg/hosts.h"
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

/* Connects to what the word says, but to these servers where any are given. */
static PGconn *start(const char *word, const struct hosts *hosts)
{
	const char *keywords[PARAMS_MAX];
	const char *values[PARAMS_MAX];
	size_t n = 0;

	for (; n < DEFAULTS; n++) {
		keywords[n] = defaults[n].keyword;
		values[n] = defaults[n].value;
	}
	keywords[n] = "dbname";
	values[n++] = word;
	/* Of these NULL is passed over, and what is behind the word wins. */
	keywords[n] = "host";
	values[n++] = hosts->host;
	keywords[n] = "port";
	values[n++] = hosts->port;
	keywords[n] = "hostaddr";
	values[n++] = hosts->hostaddr;
	keywords[n] = NULL;
	values[n] = NULL;
	return PQconnectStartParams(keywords, values, 1);
}

static const char *option(const PQconninfoOption *list, const char *keyword)
{
	while (list->keyword != NULL && strcmp(list->keyword, keyword) != 0)
		list++;
	return list->val;
}

/* How long one server may take, in nanoseconds; 0: without end. */
static int64_t allowed(PGconn *conn)
{
	PQconninfoOption *list = PQconninfo(conn);
	const char *text;
	int64_t seconds = 0;

	if (list != NULL) {
		text = option(list, "connect_timeout");
		seconds = text != NULL ? strtol(text, NULL, 10) : 0;
	}
	PQconninfoFree(list);
	return seconds > 0 ? seconds * 1000000000 : 0;
}

/*
 * A server that is silent holds up those behind it, as libpq passes over one
 * only where it waits itself: takes it out of the list.  0, or -1 if no other
 * is left.
 */
static int pass_over(PGconn *conn, struct hosts *hosts, struct error *err)
{
	const struct host gone = {
		.host = PQhost(conn),
		.port = PQport(conn),
		.address = PQhostaddr(conn),
	};
	PQconninfoOption *list;
	int rc = 0;

	if (hosts->host == NULL && hosts->hostaddr == NULL) {
		list = PQconninfo(conn);
		if (list == NULL)
			return error_nomem(err);
		rc = hosts_init(hosts, option(list, "host"),
				option(list, "hostaddr"), option(list, "port"),
				err);
		PQconninfoFree(list);
	}
	if (rc != 0 || hosts_drop(hosts, &gone) == 0)
		return -1;
	err->code = ERROR_NONE;
	return 0;
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

/* 1: it is ready; 0: it was silent for too long. */
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
		return rc;
	(void)error_set(err, ERROR_UNREACHED,
			"server '%s': no answer within its connect_timeout",
			PQhost(conn) != NULL ? PQhost(conn) : "");
	(void)error_hint(err, "look at address, port and firewall");
	return 0;
}

/* 1: it is connected; 0: a server was silent, which conn says. */
static int establish(PGconn *conn, struct error *err)
{
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;
	const char *host = NULL;
	int64_t time = allowed(conn);
	int64_t limit = 0;
	int rc;

	while (status != PGRES_POLLING_OK) {
		/* Each server of several has its own. */
		if (time > 0 && (limit == 0 || PQhost(conn) != host))
			limit = clock_ns() + time;
		host = PQhost(conn);
		rc = wait_for(conn, status, limit, err);
		if (rc <= 0)
			return rc;
		status = PQconnectPoll(conn);
		if (status == PGRES_POLLING_FAILED)
			return refused(conn, err);
	}
	return PQsetnonblocking(conn, 1) == 0 ? 1 : error_nomem(err);
}

/* 1: *out is connected; 0: it is to be tried with other servers. */
static int attempt(const char *word, struct hosts *hosts, PGconn **out,
		   struct error *err)
{
	PGconn *conn = start(word, hosts);
	int rc;

	*out = conn;
	if (conn == NULL)
		return error_nomem(err);
	if (PQstatus(conn) == CONNECTION_BAD)
		return refused(conn, err);
	(void)PQsetNoticeReceiver(conn, drop_notice, NULL);
	(void)PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	rc = establish(conn, err);
	return rc == 0 ? pass_over(conn, hosts, err) : rc;
}

int connect_open(const char *word, PGconn *like, PGconn **out,
		 struct error *err)
{
	struct hosts hosts = {0};
	int rc = 0;

	*out = NULL;
	/* A name may stand for several servers; this is the one. */
	if (like != NULL)
		rc = hosts_init(&hosts, PQhost(like), PQhostaddr(like),
				PQport(like), err);
	if (rc == 0)
		do {
			PQfinish(*out);
			rc = attempt(word, &hosts, out, err);
		} while (rc == 0);
	hosts_release(&hosts);
	if (rc > 0)
		return 0;
	PQfinish(*out);
	*out = NULL;
	return -1;
}
