/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/relation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/pg/query.h"
#include "lib/pg/select.h"

/* The longest name of an object has 63 bytes; a quoted one twice as many. */
#define NAME_MAX_BYTES 1024

/* From which version on a range of ctid is read without the pages before. */
#define RANGES_SINCE 140000

/* In front of a leaf's name. */
#define ONLY "ONLY "

static char *quoted(const char *prefix, const char *schema, const char *name)
{
	struct buf out;
	int bad;

	buf_init(&out, NAME_MAX_BYTES);
	bad = buf_adds(&out, prefix) | select_quote(&out, schema) |
	      buf_adds(&out, ".") | select_quote(&out, name);
	if (bad == 0)
		return buf_string(&out);
	buf_release(&out);
	return NULL;
}

static char *plain(const char *schema, const char *name)
{
	struct buf out;

	buf_init(&out, NAME_MAX_BYTES);
	if (buf_addf(&out, "%s.%s", schema, name) == 0)
		return buf_string(&out);
	buf_release(&out);
	return NULL;
}

/*
 * Names without a schema are looked for where the login looks; the pinned
 * path, which is empty, comes back behind that.
 */
static int set_path(struct session *session, bool login, struct error *err)
{
	return query_run(session,
			 login ? "SELECT set_config('search_path', reset_val,"
				 " true) FROM pg_settings"
				 " WHERE name = 'search_path'"
			       : "SELECT set_config('search_path', '', true)",
			 0, NULL, NULL, err);
}

static int not_found(const struct session *session, const char *text,
		     struct error *err)
{
	const struct session_facts *facts = session_facts(session);

	(void)error_set(err, ERROR_SOURCE,
			"table '%s' is not in database '%s' of %s", text,
			facts->database, session_name(session));
	return error_hint(err, "write schema.name, with \"double quotes\" "
			       "around a part that has capital letters");
}

static const char *kind_name(char kind)
{
	switch (kind) {
	case 'i':
	case 'I':
		return "an index";
	case 'S':
		return "a sequence";
	case 'c':
		return "a type";
	default:
		return "no table";
	}
}

static int take_facts(struct relation *r, const struct answer *answer,
		      const char *text, struct error *err)
{
	r->oid = (uint32_t)strtoul(answer_text(answer, 0, 0), NULL, 10);
	r->kind = answer_text(answer, 0, 3)[0];
	r->row_security = answer_text(answer, 0, 4)[0] == 't';
	r->sql = quoted("", answer_text(answer, 0, 1),
			answer_text(answer, 0, 2));
	r->name = plain(answer_text(answer, 0, 1), answer_text(answer, 0, 2));
	r->alias = strdup(answer_text(answer, 0, 2));
	if (r->sql == NULL || r->name == NULL || r->alias == NULL)
		return error_nomem(err);
	if (strchr("rpvmf", r->kind) != NULL)
		return 0;
	return error_set(err, ERROR_SOURCE, "table '%s': it is %s", text,
			 kind_name(r->kind));
}

static int find(struct session *session, const char *text, struct relation *r,
		struct error *err)
{
	static const char sql[] =
		"SELECT c.oid, n.nspname, c.relname, c.relkind,"
		" c.relrowsecurity FROM pg_class c"
		" JOIN pg_namespace n ON n.oid = c.relnamespace"
		" WHERE c.oid = to_regclass($1)";
	struct answer *answer = NULL;
	struct error why = ERROR_INIT;
	int rc;

	if (set_path(session, true, err) != 0 ||
	    query_try(session, sql, 1, &text, &answer, &why, err) != 0 ||
	    set_path(session, false, err) != 0) {
		answer_free(answer);
		return -1;
	}
	if (answer == NULL && why.code == ERROR_RIGHTS) {
		*err = why;
		return error_prefix(err, "table '%s'", text);
	}
	if (answer == NULL) {
		(void)error_set(err, ERROR_USAGE,
				"option --table: '%s' is no name of a table",
				text);
		return error_hint(err, "as in SQL: name, schema.name or "
				       "\"Name\"");
	}
	rc = answer_rows(answer) == 1 ? take_facts(r, answer, text, err)
				      : not_found(session, text, err);
	answer_free(answer);
	return rc;
}

/* 0 is none, and what NULL is taken for. */
static uint32_t oid_of(const struct answer *answer, size_t row, size_t column)
{
	const char *text = answer_text(answer, row, column);

	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* One row of the answer below, which is a leaf, or what is none. */
static int take_leaf(struct relation *r, const struct answer *answer,
		     size_t row, struct error *err)
{
	struct relation_leaf *leaf = &r->leaves[r->leaf_count];
	const char *schema = answer_text(answer, row, 0);
	const char *name = answer_text(answer, row, 1);
	char kind = answer_text(answer, row, 2)[0];
	const char *pages = answer_text(answer, row, 3);

	r->row_security =
		r->row_security || answer_text(answer, row, 5)[0] == 't';
	if (kind == 'p' || kind == 'I')
		return 0;
	/* Of what was dropped meanwhile the size is NULL. */
	if (kind != 'r' && kind != 'm')
		r->versioned = false;
	if (!r->versioned || pages == NULL ||
	    answer_text(answer, row, 4)[0] != 't')
		r->ranged = false;
	leaf->sql = quoted(ONLY, schema, name);
	leaf->oid = oid_of(answer, row, 6);
	leaf->file = oid_of(answer, row, 7);
	leaf->name = plain(schema, name);
	leaf->pages = pages != NULL ? strtoull(pages, NULL, 10) : 0;
	r->leaf_count++;
	return leaf->sql != NULL && leaf->name != NULL ? 0 : error_nomem(err);
}

static int find_leaves(struct session *session, struct relation *r,
		       struct error *err)
{
	static const char sql[] =
		"WITH RECURSIVE tree AS (SELECT $1::oid AS oid"
		" UNION SELECT i.inhrelid FROM pg_inherits i"
		" JOIN tree t ON i.inhparent = t.oid)"
		" SELECT n.nspname, c.relname, c.relkind,"
		" pg_relation_size(c.oid)"
		" / current_setting('block_size')::bigint,"
		" has_table_privilege(c.oid, 'SELECT'), c.relrowsecurity,"
		" c.oid, pg_relation_filenode(c.oid)"
		" FROM tree t JOIN pg_class c ON c.oid = t.oid"
		" JOIN pg_namespace n ON n.oid = c.relnamespace"
		" ORDER BY n.nspname, c.relname";
	struct answer *answer = NULL;
	char oid[16];
	const char *value = oid;
	int rc = 0;

	(void)snprintf(oid, sizeof(oid), "%" PRIu32, r->oid);
	if (query_run(session, sql, 1, &value, &answer, err) != 0)
		return -1;
	r->ranged = true;
	r->versioned = true;
	r->leaves = calloc(answer_rows(answer) + 1, sizeof(*r->leaves));
	if (r->leaves == NULL)
		rc = error_nomem(err);
	for (size_t i = 0; rc == 0 && i < answer_rows(answer); i++)
		rc = take_leaf(r, answer, i, err);
	answer_free(answer);
	return rc;
}

int relation_read(struct session *session, const char *text,
		  struct relation **out, struct error *err)
{
	struct relation *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (r == NULL)
		return error_nomem(err);
	rc = find(session, text, r, err);
	if (rc == 0 && r->kind != 'v')
		rc = find_leaves(session, r, err);
	if (rc != 0) {
		relation_free(r);
		return -1;
	}
	r->ranged = r->ranged && !r->row_security && r->leaf_count > 0 &&
		    session_facts(session)->version >= RANGES_SINCE;
	*out = r;
	return 0;
}

int relation_check(struct session *session, const struct relation *relation,
		   const struct relation_leaf *leaf, bool *same,
		   struct error *err)
{
	static const char sql[] = "SELECT to_regclass($1)::oid,"
				  " pg_relation_filenode(to_regclass($1))";
	const char *name =
		leaf != NULL ? leaf->sql + strlen(ONLY) : relation->sql;
	struct answer *answer;

	if (query_run(session, sql, 1, &name, &answer, err) != 0)
		return -1;
	*same = oid_of(answer, 0, 0) ==
		(leaf != NULL ? leaf->oid : relation->oid);
	if (leaf != NULL)
		*same = *same && oid_of(answer, 0, 1) == leaf->file;
	answer_free(answer);
	return 0;
}

/*
 * Whatever makes other rows a table's writes a new version of a row in
 * pg_class, and whatever makes a table a part of another one in pg_inherits;
 * VACUUM and ANALYZE write theirs in place.
 */
int relation_changed(struct session *session, struct relation *relation,
		     uint64_t xid, struct error *err)
{
	static const char sql[] =
		"WITH RECURSIVE tree AS (SELECT $1::oid AS oid, false AS new"
		" UNION SELECT i.inhrelid, t.new OR"
		" age(i.xmin) <= age($2::xid) FROM pg_inherits i"
		" JOIN tree t ON i.inhparent = t.oid)"
		" SELECT DISTINCT c.oid FROM tree t"
		" JOIN pg_class c ON c.oid = t.oid"
		" WHERE t.new OR age(c.xmin) <= age($2::xid)";
	struct answer *answer;
	char texts[2][16];
	const char *values[2] = {texts[0], texts[1]};

	(void)snprintf(texts[0], sizeof(texts[0]), "%" PRIu32, relation->oid);
	(void)snprintf(texts[1], sizeof(texts[1]), "%" PRIu32, (uint32_t)xid);
	if (query_run(session, sql, 2, values, &answer, err) != 0)
		return -1;
	for (size_t i = 0; i < relation->leaf_count; i++)
		for (size_t row = 0; row < answer_rows(answer); row++)
			if (oid_of(answer, row, 0) == relation->leaves[i].oid)
				relation->leaves[i].changed = true;
	answer_free(answer);
	return 0;
}

void relation_free(struct relation *relation)
{
	if (relation == NULL)
		return;
	for (size_t i = 0; relation->leaves != NULL && i < relation->leaf_count;
	     i++) {
		free(relation->leaves[i].sql);
		free(relation->leaves[i].name);
	}
	free(relation->leaves);
	free(relation->sql);
	free(relation->name);
	free(relation->alias);
	free(relation);
}
