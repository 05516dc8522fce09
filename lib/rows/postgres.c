/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/postgres.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/input.h"
#include "lib/pg/examine.h"
#include "lib/pg/query.h"
#include "lib/rows/origin.h"

#define DESCRIBED_MAX (64u << 10)

struct selection postgres_selection(const struct postgres_source *s)
{
	struct selection sel = {
		.query = s->query.query,
		.where = s->query.where,
		.columns = s->columns,
		.count = s->column_count,
		.format = s->query.csv ? SELECT_CSV : SELECT_TEXT,
	};

	if (s->relation != NULL) {
		sel.from = s->relation->sql;
		sel.alias = s->relation->alias;
	}
	if ((s->query.since != NULL && !s->every) || s->query.before != NULL)
		sel.since = &s->since;
	if (s->query.before != NULL)
		sel.limit = s->query.limit;
	return sel;
}

/* The columns that were asked for, each once. */
static int choose_columns(struct postgres_source *s, struct error *err)
{
	const struct source_query *q = &s->query;
	size_t count = 0;

	s->columns = calloc(q->column_count + 1, sizeof(*s->columns));
	if (s->columns == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < q->column_count; i++) {
		size_t seen = 0;

		while (seen < count &&
		       strcmp(s->columns[seen], q->columns[i]) != 0)
			seen++;
		if (seen == count)
			s->columns[count++] = q->columns[i];
	}
	s->column_count = count;
	return 0;
}

/* All columns, by the names that the server gives them. */
static int take_columns(struct postgres_source *s, const struct answer *answer,
			struct error *err)
{
	size_t count = answer_columns(answer);

	free(s->columns);
	s->columns = calloc(count + 1, sizeof(*s->columns));
	s->names = calloc(count + 1, sizeof(char *));
	if (s->columns == NULL || s->names == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < count; i++) {
		s->names[i] = strdup(answer_name(answer, i));
		if (s->names[i] == NULL)
			return error_nomem(err);
		s->columns[i] = s->names[i];
	}
	s->column_count = count;
	if (count > 0)
		return 0;
	return error_set(err, ERROR_ROWS, "it has no columns");
}

/* Runs what is asked for without a row: rights, columns and grammar. */
static int try_query(struct postgres_source *s, struct error *err)
{
	struct selection sel = postgres_selection(s);
	struct answer *answer = NULL;
	char *sql;
	int rc;

	/* What it is is not known yet. */
	sel.since = NULL;
	if (select_none(&sel, &sql, err) != 0)
		return -1;
	rc = query_run(s->sessions.first, sql, 0, NULL, &answer, err);
	free(sql);
	if (rc == 0 && s->column_count == 0)
		rc = take_columns(s, answer, err);
	answer_free(answer);
	return rc;
}

static int describe(struct postgres_source *s, struct error *err)
{
	struct buf out;
	int bad;

	buf_init(&out, DESCRIBED_MAX);
	if (s->relation == NULL)
		bad = buf_adds(&out, s->query.query);
	else
		bad = buf_addf(&out, "table %s", s->relation->name);
	if (s->relation != NULL && s->query.where != NULL)
		bad |= buf_adds(&out, " where ") |
		       buf_adds(&out, s->query.where);
	if (bad == 0)
		s->described = buf_string(&out);
	if (s->described != NULL)
		return 0;
	bad = buf_full(&out, 1);
	buf_release(&out);
	return bad ? error_set(err, ERROR_USAGE,
			       "a condition or query of more than 64 KiB")
		   : error_nomem(err);
}

static int prepare(struct postgres_source *s, struct error *err)
{
	char name[320];

	if (s->query.table != NULL &&
	    relation_read(s->sessions.first, s->query.table, &s->relation,
			  err) != 0)
		return -1;
	postgres_name(s, name, sizeof(name));
	if (choose_columns(s, err) == 0 && try_query(s, err) == 0 &&
	    pghorizon_prepare(s, err) == 0 && describe(s, err) == 0)
		return 0;
	return error_prefix(err, "%s", name);
}

/* The row of names, as COPY would write it. */
static int header_of(const struct postgres_source *s, char **out,
		     struct error *err)
{
	struct buf text;
	int bad = 0;

	*out = NULL;
	if (!s->query.csv)
		return 0;
	buf_init(&text, 1u << 20);
	for (size_t i = 0; i < s->column_count; i++)
		bad |= buf_adds(&text, i > 0 ? "," : "") |
		       select_quote(&text, s->columns[i]);
	bad |= buf_adds(&text, "\n");
	if (bad == 0)
		*out = buf_string(&text);
	if (*out != NULL)
		return 0;
	buf_release(&text);
	return error_nomem(err);
}

static int postgres_open(struct source *source, const struct source_part *part,
			 struct stream **out, struct error *err)
{
	struct postgres_source *s = (struct postgres_source *)source;
	struct selection sel = postgres_selection(s);
	struct select_since moved = {0};
	struct pgstream_of of = {0};
	char *header = NULL;
	char *sql = NULL;
	int rc;

	*out = NULL;
	if (part->index != POSTGRES_WHOLE)
		of.relation = s->relation;
	if (part->index == POSTGRES_MOVED) {
		moved.xid = strtoull(s->sessions.facts.xmin, NULL, 10);
		sel.since = &moved;
	} else if (part->index != POSTGRES_WHOLE) {
		of.leaf = &s->relation->leaves[part->index];
		sel.from = of.leaf->sql;
		if (of.leaf->changed)
			sel.since = NULL;
		sel.ranged = true;
		sel.first = part->start;
		sel.last = part->end;
	}
	rc = header_of(s, &header, err);
	if (rc == 0)
		rc = select_copy(&sel, &sql, err);
	of.header = header;
	of.statement = sql;
	if (rc == 0)
		rc = pgstream_open(&s->sessions, &of, out, err);
	free(sql);
	free(header);
	return rc;
}

static int postgres_again(struct source *source, const struct source_part *part,
			  unsigned attempt, const struct error *why,
			  struct error *err)
{
	struct postgres_source *s = (struct postgres_source *)source;

	if (pgsessions_changed(&s->sessions))
		return 0;
	/* In one piece it may take hours: whoever wants that runs it again. */
	if (part->index == POSTGRES_WHOLE || why->code != ERROR_TEMPORARY ||
	    attempt >= POSTGRES_TRIES)
		return 0;
	return input_wait_for(-1, 0, 1000 << (attempt - 1), err) == 0 ? 1 : -1;
}

static int postgres_more(struct source *source, struct source_part **parts,
			 size_t *count, struct error *err)
{
	struct postgres_source *s = (struct postgres_source *)source;

	*parts = NULL;
	*count = 0;
	if (!s->sessions.late)
		return 0;
	pgsessions_drop(&s->sessions);
	return pgsplit_add(s, NULL, 0, 0, POSTGRES_MOVED, parts, count, err);
}

static const char *const *postgres_columns(const struct source *source,
					   size_t *count)
{
	const struct postgres_source *s =
		(const struct postgres_source *)source;

	*count = s->column_count;
	return s->columns;
}

static int postgres_origin(const struct source *source, struct origin *out,
			   struct error *err)
{
	const struct postgres_source *s =
		(const struct postgres_source *)source;
	const struct session_facts *f = &s->sessions.facts;

	origin_init(out);
	(void)snprintf(out->software, sizeof(out->software), "PostgreSQL %.40s",
		       f->software);
	(void)snprintf(out->place, sizeof(out->place), "%s", f->place);
	(void)snprintf(out->database, sizeof(out->database), "%s", f->database);
	(void)snprintf(out->encoding, sizeof(out->encoding), "%s", f->encoding);
	(void)snprintf(out->lsn, sizeof(out->lsn), "%s", f->lsn);
	(void)snprintf(out->timeline, sizeof(out->timeline), "%s", f->timeline);
	(void)snprintf(out->system, sizeof(out->system), "%s", f->system);
	(void)snprintf(out->snapshot, sizeof(out->snapshot), "%s:%s", f->xmin,
		       f->xmax);
	out->standby = f->standby;
	out->lag_ms = f->lag_ms;
	out->taken = f->taken;
	out->again = s->sessions.late;
	out->query = strdup(s->described);
	return out->query != NULL ? 0 : error_nomem(err);
}

static int postgres_examine(struct source *source, struct examination *out,
			    struct error *err)
{
	struct postgres_source *s = (struct postgres_source *)source;
	struct selection sel = postgres_selection(s);

	return examine(s->sessions.first, &sel, s->relation, out, err);
}

static void postgres_free(struct source *source)
{
	struct postgres_source *s = (struct postgres_source *)source;

	pgsessions_release(&s->sessions);
	relation_free(s->relation);
	for (size_t i = 0; s->names != NULL && i < s->column_count; i++)
		free(s->names[i]);
	free(s->names);
	free(s->columns);
	free(s->described);
	free(s->whole);
	free(s);
}

static int check(size_t count, const struct source_query *q, struct error *err)
{
	if (count > 1)
		return error_set(err, ERROR_USAGE,
				 "%zu databases as sources: there may be one",
				 count);
	if (q == NULL || (q->table == NULL && q->query == NULL)) {
		(void)error_set(err, ERROR_USAGE,
				"nothing says which rows of the database");
		return error_hint(err, "give --table [SCHEMA.]NAME, with "
				       "--where CONDITION if not all, or "
				       "--query SQL");
	}
	return 0;
}

int postgres_source_open(const char *const *words, size_t count,
			 const struct source_options *options,
			 struct source **out, struct error *err)
{
	static const struct source_ops ops = {
		.split = pgsplit,
		.open = postgres_open,
		.again = postgres_again,
		.more = postgres_more,
		.columns = postgres_columns,
		.origin = postgres_origin,
		.horizon = pghorizon,
		.examine = postgres_examine,
		.free = postgres_free,
	};
	struct session_goal goal = {0};
	struct postgres_source *s;
	int rc;

	*out = NULL;
	if (check(count, options->query, err) != 0)
		return -1;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->query = *options->query;
	rc = pghorizon_ask(s, &goal, err);
	if (rc == 0)
		rc = pgsessions_init(&s->sessions, words[0],
				     s->asked ? &goal : NULL, err);
	if (rc == 0)
		rc = prepare(s, err);
	if (rc != 0) {
		postgres_free(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}
