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

/* An error as the server told it; texts are borrowed, NULL is legal. */
struct fault {
	const char *sqlstate; /* NULL: none, the connection broke */
	const char *message;
	const char *detail;
	bool standby;   /* the server is in recovery */
	bool connected; /* false: it was met while connecting */
	bool reading;   /* rows had begun to come */
};

/*
 * Sets code, text and hint.  Class 08, 40001, 57P01 to 57P05, 53300 and a
 * broken connection are ERROR_TEMPORARY (ERROR_UNREACHED before one was made);
 * 28xxx and 42501 ERROR_RIGHTS; 42P01, 3D000 and 3F000 ERROR_SOURCE; 42703 and
 * 42702 ERROR_ROWS; 42601 and other faults of a statement ERROR_USAGE; 53100
 * ERROR_SPACE of the server told as ERROR_TEMPORARY; 55P03 ERROR_TEMPORARY;
 * XX001, XX002 and all else in the middle of rows ERROR_DATA.  The detail and
 * context are left out: they may hold values of rows.  Always returns -1.
 */
int fault_set(const struct fault *fault, struct error *err);

/* Whether the same range may be read again at once, by another session. */
bool fault_passes(const char *sqlstate);

#endif
