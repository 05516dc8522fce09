/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/job/tiers.h"
#include "lib/pg/query.h"
#include "lib/pg/relation.h"
#include "lib/pg/select.h"

/*
 * So many rows of the same values are looked at.  One that makes the key is
 * enough; several make different ones only where values compare equal that are
 * not the same, as with blanks at the end of a char(n).
 */
#define ROWS_MAX 100

/* One question to the database, while it is asked. */
struct asking {
	const struct tiers_question *question;
	struct session *session;
	struct relation *relation; /* NULL: a query */
	const char **columns;      /* of each field */
	const char **given;        /* the values that are not NULL */
	bool *nulls;               /* which are */
	const void **values;       /* of a row */
	size_t *lens;
	unsigned char *key; /* that it makes, of BLOOMKEY_MAX bytes */
	size_t fields;
	size_t count; /* of given */
};

static int prepare(struct asking *a, struct error *err)
{
	const struct tiers_question *q = a->question;

	a->fields = bloomkey_fields(q->spec);
	a->columns = calloc(a->fields, sizeof(*a->columns));
	a->given = calloc(a->fields, sizeof(*a->given));
	a->nulls = calloc(a->fields, sizeof(*a->nulls));
	a->values = calloc(a->fields, sizeof(*a->values));
	a->lens = calloc(a->fields, sizeof(*a->lens));
	a->key = malloc(BLOOMKEY_MAX);
	if (a->columns == NULL || a->given == NULL || a->nulls == NULL ||
	    a->values == NULL || a->lens == NULL || a->key == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < a->fields; i++) {
		a->columns[i] = bloomkey_field_column(q->spec, i);
		a->nulls[i] = q->values[i] == NULL;
		if (!a->nulls[i])
			a->given[a->count++] = q->values[i];
	}
	return 0;
}

/*
 * That the writer is of the source's own cluster: the rows of another one prove
 * nothing.  A source that is down is no reason not to ask the writer.
 */
static int check_cluster(const struct asking *a, const char *word,
			 const struct session_facts *facts, struct error *err)
{
	struct session *source;
	const char *system;
	int rc = 0;

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
	system = session_facts(source)->system;
	if (system[0] != '\0' && facts->system[0] != '\0' &&
	    strcmp(system, facts->system) != 0) {
		(void)error_set(err, ERROR_SOURCE,
				"%s is not of the cluster of the source, %s",
				session_name(a->session), session_name(source));
		rc = error_hint(err, "name the primary of the source in "
				     "--writer");
	}
	session_close(source);
	return rc;
}

static int begin(struct asking *a, struct tier_row *out, struct error *err)
{
	const struct tiers_database *db = a->question->database;

	if (session_open(db->word, &a->session, err) != 0)
		return -1;
	out->facts = *session_facts(a->session);
	if (db->primary && out->facts.standby) {
		(void)error_set(err, ERROR_SOURCE,
				"%s is a standby, where the writer is to be "
				"asked",
				session_name(a->session));
		return error_hint(err, "name the primary in --writer, or a "
				       "standby in --source");
	}
	if (db->of != NULL && check_cluster(a, db->of, &out->facts, err) != 0)
		return -1;
	if (db->table == NULL)
		return 0;
	return relation_read(a->session, db->table, &a->relation, err);
}

/* Whether a row makes the key that is asked about. */
static bool makes_key(struct asking *a, const struct answer *answer, size_t row)
{
	const struct tiers_question *q = a->question;
	struct bloomkey_result result;

	for (size_t i = 0; i < a->fields; i++) {
		const char *text = answer_text(answer, row, i);

		a->values[i] = text;
		a->lens[i] = text != NULL ? strlen(text) : 0;
	}
	return bloomkey_derive(q->spec, a->values, a->lens, a->key,
			       BLOOMKEY_MAX, &result) == 0 &&
	       result.len == q->len && memcmp(a->key, q->key, q->len) == 0;
}

static void take(struct asking *a, const struct answer *answer,
		 struct tier_row *out)
{
	for (size_t row = 0; row < answer_rows(answer); row++) {
		const char *past = answer_text(answer, row, a->fields);

		if (past != NULL && past[0] == 't')
			out->expired = true;
		else if (makes_key(a, answer, row))
			out->found = true;
		else
			out->other = true;
	}
	out->expired = out->expired && !out->found && !out->other;
}

static int ask(struct asking *a, struct tier_row *out, struct error *err)
{
	const struct tiers_database *db = a->question->database;
	struct selection s = {.query = db->query,
			      .where = db->where,
			      .columns = a->columns,
			      .count = a->fields};
	struct answer *answer = NULL;
	char *sql;
	int rc;

	if (a->relation != NULL) {
		s.from = a->relation->sql;
		s.alias = a->relation->alias;
	}
	if (select_match(&s, a->nulls, db->expires, ROWS_MAX, &sql, err) != 0)
		return -1;
	rc = query_compare(a->session, sql, a->count, a->given, &answer, err);
	free(sql);
	if (rc == 0)
		take(a, answer, out);
	answer_free(answer);
	if (rc == 0)
		return 0;
	return a->relation != NULL
		       ? error_prefix(err, "table '%s'", a->relation->name)
		       : error_prefix(err, "query");
}

static void finish(struct asking *a)
{
	relation_free(a->relation);
	session_close(a->session);
	free(a->columns);
	free(a->given);
	free(a->nulls);
	free(a->values);
	free(a->lens);
	free(a->key);
}

int tierrow_ask(const struct tiers_question *question, struct tier_row *out,
		struct error *err)
{
	struct asking a = {.question = question};
	int rc = prepare(&a, err);

	if (rc == 0)
		rc = begin(&a, out, err);
	if (rc == 0 && !question->nul)
		rc = ask(&a, out, err);
	out->asked = rc == 0;
	finish(&a);
	return rc;
}
