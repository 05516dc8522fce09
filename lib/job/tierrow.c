/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/job/tiers.h"
#include "lib/pg/position.h"
#include "lib/pg/query.h"
#include "lib/pg/relation.h"
#include "lib/pg/select.h"

/*
 * So many rows of the same values are looked at.  One that makes the key is
 * enough; several make different ones only where values compare equal that are
 * not the same, as with blanks at the end of a char(n).
 */
#define ROWS_MAX 100

/* A database that is asked. */
struct tierrow {
	const struct bloomkey_spec *spec;
	const struct tiers_database *db;
	struct session *session;
	struct relation *relation; /* NULL: a query */
	const char **columns;      /* of each field */
	const char **given;        /* the values that are not NULL */
	bool *nulls;               /* which are */
	const void **values;       /* of a row */
	size_t *lens;
	unsigned char *key; /* that it makes, of BLOOMKEY_MAX bytes */
	size_t fields;
};

static int prepare(struct tierrow *a, struct error *err)
{
	a->fields = bloomkey_fields(a->spec);
	a->columns = calloc(a->fields, sizeof(*a->columns));
	a->given = calloc(a->fields, sizeof(*a->given));
	a->nulls = calloc(a->fields, sizeof(*a->nulls));
	a->values = calloc(a->fields, sizeof(*a->values));
	a->lens = calloc(a->fields, sizeof(*a->lens));
	a->key = malloc(BLOOMKEY_MAX);
	if (a->columns == NULL || a->given == NULL || a->nulls == NULL ||
	    a->values == NULL || a->lens == NULL || a->key == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < a->fields; i++)
		a->columns[i] = bloomkey_field_column(a->spec, i);
	return 0;
}

/*
 * That the writer is of the source's own cluster: the rows of another one prove
 * nothing.  A source that is down is no reason not to ask the writer.
 */
static int check_cluster(const struct tierrow *a, const char *word,
			 struct error *err)
{
	struct session *source;
	int rc;

	if (session_open(word, &source, err) != 0) {
		if (err->code != ERROR_UNREACHED &&
		    err->code != ERROR_TEMPORARY)
			return -1;
		log_warn("the source cannot be asked whether the writer is of "
			 "its cluster: %s",
			 err->text);
		*err = (struct error)ERROR_INIT;
		return 0;
	}
	rc = position_check_cluster(session_facts(a->session),
				    session_facts(source), err);
	session_close(source);
	return rc;
}

static int begin(struct tierrow *a, struct error *err)
{
	const struct tiers_database *db = a->db;

	if (session_open(db->word, &a->session, err) != 0)
		return -1;
	if (db->primary &&
	    position_check_writer(session_facts(a->session), err) != 0)
		return -1;
	if (db->of != NULL && check_cluster(a, db->of, err) != 0)
		return -1;
	if (db->table == NULL)
		return 0;
	return relation_read(a->session, db->table, &a->relation, err);
}

int tierrow_open(const struct bloomkey_spec *spec,
		 const struct tiers_database *database, struct tierrow **out,
		 struct error *err)
{
	struct tierrow *a = calloc(1, sizeof(*a));

	*out = NULL;
	if (a == NULL)
		return error_nomem(err);
	a->spec = spec;
	a->db = database;
	if (prepare(a, err) != 0 || begin(a, err) != 0) {
		tierrow_close(a);
		return -1;
	}
	*out = a;
	return 0;
}

const struct session_facts *tierrow_facts(const struct tierrow *t)
{
	return session_facts(t->session);
}

/* Whether a row makes the key that is asked about. */
static bool makes_key(struct tierrow *a, const struct answer *answer,
		      size_t row, const void *key, size_t len)
{
	struct bloomkey_result result;

	for (size_t i = 0; i < a->fields; i++) {
		const char *text = answer_text(answer, row, i);

		a->values[i] = text;
		a->lens[i] = text != NULL ? strlen(text) : 0;
	}
	return bloomkey_derive(a->spec, a->values, a->lens, a->key,
			       BLOOMKEY_MAX, &result) == 0 &&
	       result.len == len && memcmp(a->key, key, len) == 0;
}

/* What a mark says of a row: it is true, or false, or not asked. */
static void take_mark(const char *text, bool *is, bool *is_not)
{
	*is = *is || (text != NULL && text[0] == 't');
	*is_not = *is_not || (text != NULL && text[0] == 'f');
}

static void take(struct tierrow *a, const struct answer *answer,
		 const void *key, size_t len, struct tier_row *out)
{
	for (size_t row = 0; row < answer_rows(answer); row++) {
		const char *past =
			answer_text(answer, row, a->fields + SELECT_PAST);

		if (past != NULL && past[0] == 't') {
			out->expired = true;
			continue;
		}
		if (!makes_key(a, answer, row, key, len)) {
			out->other = true;
			continue;
		}
		out->found = true;
		take_mark(answer_text(answer, row, a->fields + SELECT_BY_ID),
			  &out->after, &out->before);
		take_mark(answer_text(answer, row, a->fields + SELECT_BY_STAMP),
			  &out->moved, &out->unmoved);
	}
	out->expired = out->expired && !out->found && !out->other;
}

int tierrow_match(struct tierrow *a, const char *const *values, const void *key,
		  size_t len, const struct horizon *horizon,
		  const char *changed, struct tier_row *out, struct error *err)
{
	const struct tiers_database *db = a->db;
	struct select_marks marks = {.expires = db->expires};
	struct selection s = {.query = db->query,
			      .where = db->where,
			      .columns = a->columns,
			      .count = a->fields};
	struct answer *answer = NULL;
	size_t count = 0;
	char *sql;
	int rc;

	if (a->relation != NULL) {
		s.from = a->relation->sql;
		s.alias = a->relation->alias;
	}
	if (horizon != NULL && a->relation != NULL && a->relation->versioned)
		marks.xid = horizon->xid;
	if (horizon != NULL && changed != NULL) {
		marks.changed = changed;
		marks.since = horizon->since;
	}
	for (size_t i = 0; i < a->fields; i++) {
		a->nulls[i] = values[i] == NULL;
		if (!a->nulls[i])
			a->given[count++] = values[i];
	}
	if (select_match(&s, a->nulls, &marks, ROWS_MAX, &sql, err) != 0)
		return -1;
	rc = query_compare(a->session, sql, count, a->given, &answer, err);
	free(sql);
	if (rc == 0)
		take(a, answer, key, len, out);
	answer_free(answer);
	if (rc == 0)
		return 0;
	return a->relation != NULL
		       ? error_prefix(err, "table '%s'", a->relation->name)
		       : error_prefix(err, "query");
}

void tierrow_close(struct tierrow *a)
{
	if (a == NULL)
		return;
	relation_free(a->relation);
	session_close(a->session);
	free(a->columns);
	free(a->given);
	free(a->nulls);
	free(a->values);
	free(a->lens);
	free(a->key);
	free(a);
}

int tierrow_ask(const struct tiers_question *question, struct tier_row *out,
		struct error *err)
{
	const struct tiers_question *q = question;
	struct tierrow *t;
	int rc = tierrow_open(q->spec, q->database, &t, err);

	if (rc != 0)
		return -1;
	out->facts = *tierrow_facts(t);
	if (!q->nul)
		rc = tierrow_match(t, q->values, q->key, q->len, NULL, NULL,
				   out, err);
	out->asked = rc == 0;
	tierrow_close(t);
	return rc;
}
