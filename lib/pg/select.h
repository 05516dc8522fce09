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
	uint64_t last;     /* 0: to the end */
	const char *since; /* only row versions of transactions that are not
			      below this one (decimal); NULL: all */
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

/*
 * The rows in which each column is what was given: the selection's columns, and
 * behind them one that is true where `expires` (a column; NULL: none) is past,
 * of at most `limit` rows.  nulls says which of the columns must be NULL; each
 * other one is compared to the next parameter, $1 first.
 */
int select_match(const struct selection *selection, const bool *nulls,
		 const char *expires, unsigned limit, char **out,
		 struct error *err);

/* Appends a name in double quotes, whatever it holds.  0 or -1 as buf_add(). */
int select_quote(struct buf *out, const char *name);

#endif
