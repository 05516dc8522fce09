/* SPDX-License-Identifier: BSD-2-Clause
 *
 * horizon: the point of a database from which on what was committed may be
 * missing in what was read of it.
 *
 * A transaction that was finished for the snapshot that was read is in it.
 * All others have an id that is not below the snapshot's xmin, however late
 * they commit: a row version whose transaction is below it need not be looked
 * for again.  Where every change moves a column of time, rows that had theirs
 * before `since` need not be, either.  At least one of both is known.
 */
#ifndef BLOOMCTL_BASE_HORIZON_H
#define BLOOMCTL_BASE_HORIZON_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/json.h"

/* One of all zeros is none: nothing is known, and nothing can be caught up. */
struct horizon {
	int64_t read_at;   /* ms since 1970, by the database's clock */
	int64_t since;     /* a stamp, in ms since 1970; 0: not known */
	uint64_t xid;      /* with its epoch: what is below was finished; 0:
			      not known */
	uint64_t lsn;      /* surely reached by then; 0: not known */
	uint32_t timeline; /* 0: not known */
	uint32_t relation; /* the table's oid; 0: not known, or not one */
	uint64_t system;   /* the cluster's identifier; 0: not known */
};

/* The longest text of one, with NUL. */
#define HORIZON_TEXT_MAX 160

/*
 * As one line for the state of a filter, "READ-AT-MS SINCE-MS XID LSN TIMELINE
 * RELATION SYSTEM", or "" for none.  The same horizon is the same text.
 * Returns out.
 */
const char *horizon_text(const struct horizon *horizon,
			 char out[HORIZON_TEXT_MAX]);

/* Reads that.  0, or -1 where it is none, and *out is of all zeros. */
int horizon_parse(const char *text, struct horizon *out);

/* Whether it is none. */
bool horizon_none(const struct horizon *horizon);

/*
 * Puts *oldest back to what is at or before both, so that whoever catches up
 * from it finds what is missing from either on; none where they have nothing
 * in common: one is none, or they are of two clusters or timelines.
 */
void horizon_oldest(struct horizon *oldest, const struct horizon *horizon);

/*
 * What `from` becomes when all was added that `to` says: what `to` does not
 * know stays as it was.
 */
void horizon_move(const struct horizon *from, const struct horizon *to,
		  struct horizon *out);

/* "XXXXXXXX/XXXXXXXX" and NUL. */
#define HORIZON_LSN_MAX 18

/* As an object, or null for none; a reference of the caller's, NULL: no
 * memory. */
json_t *horizon_json(const struct horizon *horizon);

/* Reads horizon_json() back.  0, or -1 (ERROR_DATA). */
int horizon_read(const json_t *json, struct horizon *out, struct error *err);

/* A position as PostgreSQL writes it, such as "16/B374D848".  Returns out. */
const char *horizon_lsn_text(uint64_t lsn, char out[HORIZON_LSN_MAX]);

/* Reads that, in upper or lower case.  0 or -1. */
int horizon_lsn_parse(const char *text, uint64_t *lsn);

/*
 * Fills one in from texts as a session has them; "" is not known.  0, or -1
 * (ERROR_DATA) where one is none.
 */
int horizon_xmin(struct horizon *out, int64_t read_at, const char *xid,
		 const char *lsn, const char *timeline, const char *system,
		 struct error *err);

#endif
