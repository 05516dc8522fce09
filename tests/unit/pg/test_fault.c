/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/fault.h"
#include "tests/unit/unit.h"

static void check(const char *state, enum error_code code, const char *hint)
{
	const struct fault fault = {.sqlstate = state,
				    .message = "it says so.\nmore",
				    .connected = true};
	struct error err = ERROR_INIT;

	CHECK(fault_set(&fault, &err) == -1);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, "it says so");
	CHECK(strstr(err.hint, hint) != NULL);
}

static void states_have_their_status(void)
{
	check("40001", ERROR_TEMPORARY, "run it again");
	check("57P01", ERROR_TEMPORARY, "run it again");
	check("57P05", ERROR_TEMPORARY, "run it again");
	check("08006", ERROR_TEMPORARY, "run it again");
	check("53300", ERROR_TEMPORARY, "--jobs");
	check("55P03", ERROR_TEMPORARY, "pg_locks");
	check("42501", ERROR_RIGHTS, "GRANT SELECT");
	check("28P01", ERROR_RIGHTS, "PGPASSWORD");
	check("42P01", ERROR_SOURCE, "schema.name");
	check("3D000", ERROR_SOURCE, "");
	check("42703", ERROR_ROWS, "keyspec");
	check("42702", ERROR_ROWS, "name of its own");
	check("42601", ERROR_USAGE, "");
	check("25006", ERROR_USAGE, "not to write");
	check("XX001", ERROR_DATA, "log");
	check("58030", ERROR_DATA, "log");
	check("P0001", ERROR_USAGE, "");
}

static void conflicts_of_a_standby(void)
{
	const struct fault fault = {
		.sqlstate = "40001",
		.message = "canceling statement due to conflict with recovery",
		.standby = true,
		.connected = true,
		.reading = true};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK(strstr(err.hint, "hot_standby_feedback") != NULL);
}

static void values_are_not_told(void)
{
	struct fault fault = {
		.sqlstate = "22P02",
		.message = "invalid input syntax for type integer: \"secret\"",
		.connected = true,
		.reading = true};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(strstr(err.text, "secret") == NULL);
	CHECK(strstr(err.text, "22P02") != NULL);
	/* Nor is one that was given to be compared. */
	fault.reading = false;
	fault.comparing = true;
	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_ROWS);
	CHECK(strstr(err.text, "secret") == NULL);
	CHECK(strstr(err.text, "22P02") != NULL);
	fault.comparing = false;
	/* What is no row's is the user's own. */
	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK(strstr(err.text, "secret") != NULL);
}

static void broken_connections(void)
{
	struct fault fault = {.message = "server closed the connection"};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_UNREACHED);
	fault.connected = true;
	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.text, "the connection was lost");
}

static void words(void)
{
	struct fault fault = {
		.sqlstate = "08P01",
		.message = "transaction blocks not allowed in statement "
			   "pooling mode",
		.connected = true};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_SOURCE);
	CHECK(strstr(err.hint, "by the transaction") != NULL);
	fault.sqlstate = "42501";
	fault.message = "query would be affected by row-level security policy "
			"for table \"t\"";
	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, ERROR_RIGHTS);
	CHECK(strstr(err.hint, "BYPASSRLS") != NULL);
}

/* A pooler has one state for all that it says. */
static void check_pooler(const char *message, enum error_code code,
			 const char *hint)
{
	struct fault fault = {.sqlstate = "08P01", .message = message};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, code);
	CHECK(strstr(err.hint, hint) != NULL);
	fault.connected = true;
	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, code);
}

static void words_of_poolers(void)
{
	check_pooler("no more connections allowed (max_client_conn)",
		     ERROR_TEMPORARY, "--jobs");
	check_pooler("query_wait_timeout", ERROR_TEMPORARY, "--jobs");
	check_pooler("no such database: x", ERROR_SOURCE, "");
	check_pooler("SASL authentication failed", ERROR_RIGHTS, "PGPASSWORD");
	check_pooler("server conn crashed?", ERROR_TEMPORARY, "run it again");
}

static void check_libpq(const char *message, enum error_code code,
			const char *hint)
{
	const struct fault fault = {.message = message};
	struct error err = ERROR_INIT;

	(void)fault_set(&fault, &err);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, message);
	CHECK(strstr(err.hint, hint) != NULL);
}

static void words_of_libpq(void)
{
	check_libpq("SSL error: certificate verify failed", ERROR_RIGHTS,
		    "sslrootcert");
	check_libpq("root certificate file \"x\" does not exist", ERROR_CONFIG,
		    "sslrootcert");
	check_libpq("could not read certificate file \"x\": no start line",
		    ERROR_CONFIG, "sslcert");
	check_libpq("certificate present, but not private key file \"x\"",
		    ERROR_CONFIG, "sslkey");
	check_libpq("server does not support SSL, but SSL was required",
		    ERROR_UNREACHED, "sslmode");
	check_libpq("server is not in hot standby mode", ERROR_UNREACHED,
		    "target_session_attrs");
	check_libpq("session is not read-only", ERROR_UNREACHED,
		    "target_session_attrs");
	check_libpq("fe_sendauth: no password supplied", ERROR_RIGHTS,
		    "PGPASSFILE");
}

int main(void)
{
	UNIT(states_have_their_status,
	     "fault: a state has its status and hint");
	UNIT(conflicts_of_a_standby,
	     "fault: a conflict with recovery has a remedy");
	UNIT(values_are_not_told, "fault: no value of a row is told");
	UNIT(broken_connections,
	     "fault: a connection that broke may come again");
	UNIT(words, "fault: proxies and policies are told by their words");
	UNIT(words_of_poolers, "fault: what a pooler says has its status");
	UNIT(words_of_libpq, "fault: what libpq says has a status and hint");
	return unit_end();
}
