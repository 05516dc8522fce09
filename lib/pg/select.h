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

#include "lib/pg/relation.h"

enum select_format { SELECT_TEXT, SELECT_CSV };

struct selection {
	const char *from;  /* a relation's or leaf's sql; NULL: query is one */
	const char *query; /* an SQL query, without a semicolon */
	const char *where; /* a condition in SQL, or NULL */
	const char *const *columns; /* names, to be quoted; none: all */
	size_t count;
	bool ranged; /* only pages [first, last) of `from`; last 0: no end */
	uint64_t first;
	uint64_t last;
	const char *since; /* only row versions of transactions not below this
			      xid (decimal); NULL: all */
	enum select_format format;
};

/* COPY (SELECT ...) TO STDOUT; owned by the caller, NULL: no memory. */
char *select_copy(const struct selection *selection);

/* SELECT ... LIMIT 0, which says what columns there are. */
char *select_none(const struct selection *selection);

/* EXPLAIN (FORMAT TEXT) SELECT ... */
char *select_explain(const struct selection *selection);

#endif
