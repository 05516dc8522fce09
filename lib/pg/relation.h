/* SPDX-License-Identifier: BSD-2-Clause
 *
 * relation: a table, view or partitioned table as --table names it.
 */
#ifndef BLOOMCTL_PG_RELATION_H
#define BLOOMCTL_PG_RELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pg/session.h"

/* Where rows lie: a table itself, or a leaf of its partitions. */
struct relation_leaf {
	char *sql;  /* "schema"."name", quoted; owned */
	char *name; /* schema.name, for people; owned */
	uint32_t oid;
	uint64_t pages; /* when it was read */
	bool heap;      /* pages can be read range by range */
};

struct relation {
	char *sql;  /* as above; owned */
	char *name; /* owned */
	uint32_t oid;
	char kind;                    /* pg_class.relkind */
	bool row_security;            /* rows may be hidden from a role */
	struct relation_leaf *leaves; /* owned; of a view none */
	size_t leaf_count;
};

/*
 * Finds it by SQL's rules: unquoted letters are lower case, a name without a
 * schema is looked for along the login's search_path.  ERROR_SOURCE if there
 * is none, or if it is something else (an index, a sequence); ERROR_USAGE if
 * the text is no name.
 */
int relation_read(struct session *session, const char *text,
		  struct relation **out, struct error *err);

void relation_free(struct relation *relation);

#endif
