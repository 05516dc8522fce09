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

/* Where rows lie: a table itself, or one of its partitions or children. */
struct relation_leaf {
	char *sql;      /* ONLY "schema"."name"; owned */
	char *name;     /* schema.name, for people; owned */
	uint64_t pages; /* when it was looked at */
	uint32_t oid;
	uint32_t file; /* where its rows lay then; 0: nowhere */
	bool changed;  /* of relation_changed() */
};

struct relation {
	char *sql;   /* "schema"."name"; owned */
	char *name;  /* schema.name, for people; owned */
	char *alias; /* name, as a condition may call it; owned */
	uint32_t oid;
	char kind;         /* pg_class.relkind: r, p, v, m or f */
	bool row_security; /* it, or a leaf, may hide rows from a role */
	bool versioned;    /* all rows have versions, and these an xmin */
	bool ranged; /* rows can be read by ranges of pages, leaf by leaf: all
			are plain tables, may be read, and the server can */
	struct relation_leaf *leaves; /* owned; of a view none */
	size_t leaf_count;
};

/*
 * Finds it by SQL's rules: unquoted letters are lower case, a name without a
 * schema is looked for along the login's search_path.  ERROR_SOURCE if there
 * is none, or if it is something else (an index, a sequence); ERROR_USAGE if
 * the text is no name.  *out is owned by the caller, NULL on failure.
 */
int relation_read(struct session *session, const char *text,
		  struct relation **out, struct error *err);

/*
 * Behind a COPY of a leaf in the session's transaction, which has kept others
 * from changing that: whether the rows lie where they lay when the relation was
 * looked at.  VACUUM FULL, TRUNCATE and others write a table anew, to other
 * pages and without a trace in its rows, and by its name it may be another one.
 * leaf NULL: only whether the relation is the same.  0, or -1 as query_run().
 */
int relation_check(struct session *session, const struct relation *relation,
		   const struct relation_leaf *leaf, bool *same,
		   struct error *err);

/*
 * Marks the leaves that came to the relation, were written anew or renamed by
 * transactions that are not below xid: their rows may be older than that.
 * 0 or -1.
 */
int relation_changed(struct session *session, struct relation *relation,
		     uint64_t xid, struct error *err);

/* NULL is legal. */
void relation_free(struct relation *relation);

#endif
