/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/copy.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/input.h"
#include "lib/base/num.h"
#include "lib/pg/session_private.h"

struct copy {
	struct session *session;
	char *row; /* libpq's; one that did not fit into the chunk */
	size_t row_len;
	size_t row_at;
	uint64_t rows; /* that came */
	uint64_t said; /* that the server says it sent */
	bool drained;  /* no rows will come */
	bool ended;    /* well, with a tag */
	bool failed;
};

static int fail(struct copy *c, const PGresult *result, struct error *err)
{
	c->failed = true;
	return query_fault(c->session, result, true, err);
}

int copy_open(struct session *session, const char *sql, struct copy **out,
	      struct error *err)
{
	struct copy *c;
	PGresult *result;
	int rc = 0;

	*out = NULL;
	if (query_send(session, sql, 0, NULL, err) != 0 ||
	    query_wait(session, err) != 0)
		return -1;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return error_nomem(err);
	c->session = session;
	result = PQgetResult(session->conn);
	if (result == NULL || PQresultStatus(result) != PGRES_COPY_OUT)
		rc = fail(c, result, err);
	PQclear(result);
	if (rc != 0) {
		free(c);
		return -1;
	}
	*out = c;
	return 0;
}

/* Moves what is left of a row that did not fit. */
static void take_rest(struct copy *c, char *buf, size_t cap, size_t *got)
{
	size_t left = c->row_len - c->row_at;
	size_t n = left < cap - *got ? left : cap - *got;

	memcpy(buf + *got, c->row + c->row_at, n);
	*got += n;
	c->row_at += n;
	if (c->row_at < c->row_len)
		return;
	PQfreemem(c->row);
	c->row = NULL;
}

/* Takes rows until none is there or one does not fit; libpq's return value. */
static int take_rows(struct copy *c, char *buf, size_t cap, size_t *got)
{
	PGconn *conn = c->session->conn;
	char *row;
	int n;

	while (c->row == NULL) {
		n = PQgetCopyData(conn, &row, 1);
		if (n <= 0)
			return n;
		c->rows++;
		if ((size_t)n <= cap - *got) {
			memcpy(buf + *got, row, (size_t)n);
			*got += (size_t)n;
			PQfreemem(row);
			continue;
		}
		c->row = row;
		c->row_len = (size_t)n;
		c->row_at = 0;
	}
	if (*got < cap)
		take_rest(c, buf, cap, got);
	return 1;
}

/* The final result: rows that came are real, but only it says that they were
 * all. */
static int take_end(struct copy *c, struct error *err)
{
	PGresult *result;
	int rc = 0;
	bool told = false;

	for (;;) {
		if (query_wait(c->session, err) != 0) {
			c->failed = true;
			return -1;
		}
		result = PQgetResult(c->session->conn);
		if (result == NULL)
			break;
		if (PQresultStatus(result) != PGRES_COMMAND_OK && rc == 0)
			rc = fail(c, result, err);
		else if (rc == 0)
			told = num_u64(PQcmdTuples(result), &c->said) == 0;
		PQclear(result);
		if (PQstatus(c->session->conn) == CONNECTION_BAD)
			break;
	}
	if (rc == 0 && !told)
		rc = fail(c, NULL, err);
	c->ended = rc == 0;
	return rc;
}

/* Whether more came without waiting; -1: the connection broke. */
static int look(struct copy *c, struct error *err)
{
	struct pollfd fd = {.fd = PQsocket(c->session->conn), .events = POLLIN};

	if (poll(&fd, 1, 0) <= 0)
		return 0;
	/* With TLS there may be nothing to read for all that. */
	if (PQconsumeInput(c->session->conn) != 0)
		return 1;
	return fail(c, NULL, err);
}

static int wait_more(struct copy *c, struct error *err)
{
	if (input_wait_for(PQsocket(c->session->conn), POLLIN, -1, err) < 0) {
		c->failed = true;
		return -1;
	}
	if (PQconsumeInput(c->session->conn) != 0)
		return 0;
	return fail(c, NULL, err);
}

int copy_read(struct copy *copy, void *buf, size_t cap, size_t *got,
	      struct error *err)
{
	int n;

	*got = 0;
	if (copy->ended)
		return 0;
	if (copy->row != NULL)
		take_rest(copy, buf, cap, got);
	for (;;) {
		n = copy->drained ? -1 : take_rows(copy, buf, cap, got);
		if (n == -2)
			return fail(copy, NULL, err);
		copy->drained = n == -1;
		if (n == -1 && *got == 0)
			return take_end(copy, err);
		if (n != 0)
			return 0;
		if (*got == 0) {
			if (wait_more(copy, err) != 0)
				return -1;
			continue;
		}
		/* A chunk that is large is worth another look. */
		n = look(copy, err);
		if (n <= 0)
			return n;
	}
}

int copy_finish(struct copy *copy, uint64_t *rows, struct error *err)
{
	*rows = copy->said;
	if (!copy->ended)
		return error_set(err, ERROR_INTERNAL,
				 "COPY was not read to its end");
	if (copy->said == copy->rows)
		return 0;
	return error_set(err, ERROR_DATA,
			 "%s says that it sent %" PRIu64 " rows, and %" PRIu64
			 " came",
			 session_name(copy->session), copy->said, copy->rows);
}

bool copy_close(struct copy *copy)
{
	bool good = copy->ended && !copy->failed;

	PQfreemem(copy->row);
	free(copy);
	return good;
}
