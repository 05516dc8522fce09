/* SPDX-License-Identifier: BSD-2-Clause
 *
 * select: the text of statements that read rows.  Every identifier in them is
 * quoted here and nowhere else.
 */
#ifndef BLOOMCTL_PG_SELECT_H
#define BLOOMCTL_PG_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"

enum select_format { SELECT_TEXT, SELECT_CSV };

/* What changed: by a column of time, or else by ids of transactions. */
struct select_since {
	const char *column; /* of timestamptz, not yet quoted; NULL: by ids */
	int64_t stamp;      /* ms since 1970: rows with this, a later one, or
			       none in that column */
	uint64_t xid;       /* row versions of transactions that are not below
			       this one */
	const uint32_t *whole; /* and all rows of tables of these oids */
	size_t whole_count;
	bool before; /* all other rows instead */
};

/* What is read; all texts are borrowed. */
struct selection {
	const char *from;  /* a relation or leaf, quoted (relation.h) */
	const char *alias; /* how a condition may call it, not yet quoted */
	const char *query; /* in place of both: SQL, without a semicolon */
	const char *where; /* a condition in SQL; NULL: all rows */
	const char *const *columns; /* names, not yet quoted */
	size_t count;               /* of them; 0: all columns */
	bool ranged;                /* only pages [first, last) of `from` */
	uint64_t first;
	uint64_t last;                    /* 0: to the end */
	const struct select_since *since; /* only what changed; NULL: all */
	uint64_t limit;                   /* at most so many rows; 0: all */
	enum select_format format;
};

/*
 * COPY (SELECT ...) TO STDOUT.  *out is owned by the caller.  0, or -1:
 * ERROR_USAGE where it becomes longer than 16 MiB, ERROR_INTERNAL.
 */
int select_copy(const struct selection *selection, char **out,
		struct error *err);

/* The same rows, but none of them: says what columns there are. */
int select_none(const struct selection *selection, char **out,
		struct error *err);

/* The plan of the same. */
int select_explain(const struct selection *selection, char **out,
		   struct error *err);

/* What else is asked of a row; NULL and 0: nothing. */
struct select_marks {
	const char *expires; /* the column with the end of its time */
	uint64_t xid; /* of a transaction; only where rows have an xmin */
	const char *changed; /* the column of time that changes move */
	int64_t since;       /* of it, ms since 1970 */
};

/* Where the answer to each is, behind the selection's columns. */
enum { SELECT_PAST, SELECT_BY_ID, SELECT_BY_STAMP };

/*
 * The rows in which each column is what was given, at most `limit`: the
 * selection's columns, and behind them whether `expires` is past (false
 * without it), whether the row's version is of a transaction that is not below
 * xid, and whether `changed` is at or behind since, or NULL (NULL where that is
 * not asked).  nulls says which of the columns must be NULL; each other one is
 * compared to the next parameter, $1 first.
 */
int select_match(const struct selection *selection, const bool *nulls,
		 const struct select_marks *marks, unsigned limit, char **out,
		 struct error *err);

/*
 * Of a table (query NULL) the condition that holds for rows of `where` (NULL:
 * all) of which a column of time says that they changed within the last ms, or
 * says nothing; or of a query the query for those of its rows.  As
 * select_copy().
 */
int select_fresh(const char *changed, int64_t ms, const char *where,
		 const char *query, char **out, struct error *err);

/* Appends a name in double quotes, whatever it holds.  0 or -1 as buf_add(). */
int select_quote(struct buf *out, const char *name);

#endif
