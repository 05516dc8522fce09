/* SPDX-License-Identifier: BSD-2-Clause
 *
 * fault: what an error of PostgreSQL means: our exit status, one sentence with
 * the server's own message, and what to do about it.
 *
 * Its source is the table of SQLSTATEs in PostgreSQL's manual, appendix A.
 */
#ifndef BLOOMCTL_PG_FAULT_H
#define BLOOMCTL_PG_FAULT_H

#include <stdbool.h>

#include "lib/base/error.h"

/* An error as the server told it; texts are borrowed. */
struct fault {
	const char *sqlstate; /* NULL: none, the connection broke */
	const char *message;
	bool standby;   /* the server is in recovery */
	bool connected; /* false: it was met while connecting */
	bool reading;   /* in a COPY: rows are evaluated */
	bool comparing; /* rows with values that a user gave */
};

/*
 * Sets code, text and hint.  What may pass is ERROR_TEMPORARY, and before
 * there was a connection ERROR_UNREACHED where nobody answered; rights are
 * ERROR_RIGHTS, a table, schema or database that is not there ERROR_SOURCE, a
 * column ERROR_ROWS, other faults of a statement ERROR_USAGE, and what the
 * server says of its own data ERROR_DATA.  Detail and context stay out: they
 * may hold values of rows, and so may the message of class 22 while reading,
 * and while comparing, where it is ERROR_ROWS.
 * Always returns -1.
 */
int fault_set(const struct fault *fault, struct error *err);

#endif
