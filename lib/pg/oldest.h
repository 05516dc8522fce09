/* SPDX-License-Identifier: BSD-2-Clause
 *
 * oldest: the transactions of a primary that had not ended, of which the oldest
 * keeps a horizon from moving.
 *
 * A row has the stamp of its transaction's begin, and is seen when that
 * commits: whatever is not seen yet is stamped no earlier than the oldest of
 * those that run.
 */
#ifndef BLOOMCTL_PG_OLDEST_H
#define BLOOMCTL_PG_OLDEST_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/pg/session.h"

/* For clocks that were set back a little, in ms. */
#define OLDEST_MARGIN 60000

/* A transaction that had not ended. */
struct oldest {
	char text[400]; /* "process 12 of user 'a', application 'b'" */
	int64_t since;  /* when it began, in ms since 1970; 0: there is none, or
			   it does not show */
};

/*
 * A stamp that every row has, or a later one, that the session's server does
 * not show yet: in ms since 1970, the begin of its oldest transaction, or now,
 * less OLDEST_MARGIN.  One that is prepared, or does not show when it began, is
 * waited for, wait_ms at most; then *stamp is 0, and *why (ERROR_TEMPORARY)
 * says which it is.  0 or -1.
 */
int oldest_stamp(struct session *session, int64_t wait_ms, int64_t *stamp,
		 struct oldest *out, struct error *why, struct error *err);

/* The one whose id is *xid, in decimal digits.  0 or -1. */
int oldest_of_xid(struct session *session, const char *xid, struct oldest *out,
		  struct error *err);

#endif
