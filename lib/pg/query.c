/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/query.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include "lib/base/input.h"
#include "lib/pg/fault.h"
#include "lib/pg/session_private.h"

static int tell(struct session *session, const PGresult *result,
		struct fault fault, struct error *err)
{
	fault.standby = session->facts.standby;
	fault.connected = true;

	if (result != NULL) {
		fault.sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
		fault.message =
			PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
		if (fault.message == NULL)
			fault.message = PQresultErrorMessage(result);
	} else {
		fault.message = PQerrorMessage(session->conn);
	}
	(void)fault_set(&fault, err);
	return error_prefix(err, "%s", session_name(session));
}

int query_fault(struct session *session, const PGresult *result, bool reading,
		struct error *err)
{
	return tell(session, result, (struct fault){.reading = reading}, err);
}

int query_send(struct session *session, const char *sql, size_t count,
	       const char *const *values, struct error *err)
{
	int left;

	if (PQsendQueryParams(session->conn, sql, (int)count, NULL, values,
			      NULL, NULL, 0) == 0)
		return query_fault(session, NULL, false, err);
	while ((left = PQflush(session->conn)) > 0) {
		if (input_wait_for(PQsocket(session->conn), POLLIN | POLLOUT,
				   -1, err) < 0)
			return -1;
		/* It may wait for us to read before it reads on. */
		if (PQconsumeInput(session->conn) == 0)
			return query_fault(session, NULL, false, err);
	}
	return left == 0 ? 0 : query_fault(session, NULL, false, err);
}

int query_wait(struct session *session, struct error *err)
{
	while (PQisBusy(session->conn)) {
		if (input_wait_for(PQsocket(session->conn), POLLIN, -1, err) <
		    0)
			return -1;
		if (PQconsumeInput(session->conn) == 0)
			break; /* PQgetResult() says why */
	}
	return 0;
}

static bool is_good(const PGresult *result)
{
	return PQresultStatus(result) == PGRES_TUPLES_OK ||
	       PQresultStatus(result) == PGRES_COMMAND_OK;
}

/* The result of the one statement that was sent. */
static int take_result(struct session *session, PGresult **out,
		       struct error *err)
{
	PGresult *result;
	bool copies;

	*out = NULL;
	for (;;) {
		if (query_wait(session, err) != 0)
			break;
		result = PQgetResult(session->conn);
		if (result == NULL)
			return 0;
		copies = PQresultStatus(result) == PGRES_COPY_OUT;
		/* What a server says before it hangs up is why. */
		if (*out == NULL || is_good(*out)) {
			PQclear(*out);
			*out = result;
		} else {
			PQclear(result);
		}
		/* It would come again and again. */
		if (copies || PQstatus(session->conn) == CONNECTION_BAD)
			return 0;
	}
	PQclear(*out);
	*out = NULL;
	return -1;
}

static int give(PGresult *result, struct answer **out, struct error *err)
{
	*out = malloc(sizeof(**out));
	if (*out == NULL) {
		PQclear(result);
		return error_nomem(err);
	}
	(*out)->result = result;
	return 0;
}

static int run(struct session *session, const char *sql, size_t count,
	       const char *const *values, bool comparing, struct answer **out,
	       struct error *err)
{
	PGresult *result;

	if (out != NULL)
		*out = NULL;
	if (query_send(session, sql, count, values, err) != 0 ||
	    take_result(session, &result, err) != 0)
		return -1;
	if (result == NULL || !is_good(result)) {
		(void)tell(session, result,
			   (struct fault){.comparing = comparing}, err);
		PQclear(result);
		return -1;
	}
	if (out != NULL)
		return give(result, out, err);
	PQclear(result);
	return 0;
}

int query_run(struct session *session, const char *sql, size_t count,
	      const char *const *values, struct answer **out, struct error *err)
{
	return run(session, sql, count, values, false, out, err);
}

int query_compare(struct session *session, const char *sql, size_t count,
		  const char *const *values, struct answer **out,
		  struct error *err)
{
	return run(session, sql, count, values, true, out, err);
}

int query_try(struct session *session, const char *sql, size_t count,
	      const char *const *values, struct answer **out, struct error *why,
	      struct error *err)
{
	struct error refused = ERROR_INIT;
	bool within = PQtransactionStatus(session->conn) == PQTRANS_INTRANS;

	*out = NULL;
	if (within &&
	    query_run(session, "SAVEPOINT try", 0, NULL, NULL, err) != 0)
		return -1;
	if (query_run(session, sql, count, values, out, &refused) != 0) {
		if (PQstatus(session->conn) == CONNECTION_BAD ||
		    input_check(err) != 0) {
			*err = refused;
			return -1;
		}
		if (why != NULL)
			*why = refused;
		if (within && query_run(session, "ROLLBACK TO SAVEPOINT try", 0,
					NULL, NULL, err) != 0)
			return -1;
	}
	if (!within || query_run(session, "RELEASE SAVEPOINT try", 0, NULL,
				 NULL, err) == 0)
		return 0;
	answer_free(*out);
	*out = NULL;
	return -1;
}

size_t answer_rows(const struct answer *answer)
{
	return (size_t)PQntuples(answer->result);
}

size_t answer_columns(const struct answer *answer)
{
	return (size_t)PQnfields(answer->result);
}

const char *answer_text(const struct answer *answer, size_t row, size_t column)
{
	if (PQgetisnull(answer->result, (int)row, (int)column))
		return NULL;
	return PQgetvalue(answer->result, (int)row, (int)column);
}

const char *answer_name(const struct answer *answer, size_t column)
{
	return PQfname(answer->result, (int)column);
}

unsigned answer_type(const struct answer *answer, size_t column)
{
	return PQftype(answer->result, (int)column);
}

void answer_free(struct answer *answer)
{
	if (answer == NULL)
		return;
	PQclear(answer->result);
	free(answer);
}
