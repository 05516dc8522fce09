/* SPDX-License-Identifier: BSD-2-Clause
 *
 * copy: the rows of one COPY ... TO STDOUT as bytes in large chunks, and the
 * word of the server that they were all.
 *
 *	COPY_OUT ── rows ── chunk │ chunk │ chunk ── COPY n ── complete
 *
 * Rows that came are real, and yet a stream that ends says nothing: only the
 * final result and the count in its tag do.
 */
#ifndef BLOOMCTL_PG_COPY_H
#define BLOOMCTL_PG_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pg/session.h"

struct copy;

/*
 * Sends the statement, which is borrowed until return, and waits until rows
 * may come.  The session is the copy's until copy_close().  Errors as
 * fault_set().
 */
int copy_open(struct session *session, const char *sql, struct copy **out,
	      struct error *err);

/*
 * Fills buf with rows, as many as there are within cap bytes without waiting,
 * at least a byte; *got is 0 only after the last.  A row longer than cap comes
 * in pieces.  At the end the server's final result is waited for: an error
 * there is told here, before anything is called an end.  0 or -1.
 */
int copy_read(struct copy *copy, void *buf, size_t cap, size_t *got,
	      struct error *err);

/*
 * After the end: the rows that the server says it sent, and that came.
 * ERROR_DATA where these are not the same; ERROR_INTERNAL before the end.
 */
int copy_finish(struct copy *copy, uint64_t *rows, struct error *err);

/*
 * Legal at any time.  Whether its session can be used further: after one that
 * did not end well, or was not read to its end, it can only be closed.
 */
bool copy_close(struct copy *copy);

#endif
