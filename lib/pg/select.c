/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/select.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/clock.h"

#define STATEMENT_MAX (16u << 20)

/* How a query's rows are called; a condition of ours does not. */
#define QUERY_ALIAS "bloomctl_rows"

int select_quote(struct buf *out, const char *name)
{
	int bad = buf_adds(out, "\"");

	for (; *name != '\0'; name++) {
		if (*name == '"')
			bad |= buf_adds(out, "\"");
		bad |= buf_add(out, name, 1);
	}
	return bad | buf_adds(out, "\"");
}

/*
 * A column with the name of its table in front: a lone "cards" would be the
 * whole row of a table cards that has no such column.
 */
static int add_column(struct buf *out, const struct selection *s,
		      const char *name)
{
	int bad = select_quote(out, s->query != NULL ? QUERY_ALIAS : s->alias);

	return bad | buf_adds(out, ".") | select_quote(out, name);
}

static int add_columns(struct buf *out, const struct selection *s)
{
	int bad = 0;

	for (size_t i = 0; i < s->count; i++)
		bad |= buf_adds(out, i > 0 ? ", " : "") |
		       add_column(out, s, s->columns[i]);
	return bad | (s->count == 0 ? buf_adds(out, "*") : 0);
}

static int add_range(struct buf *out, const struct selection *s)
{
	int bad = buf_addf(out, "ctid >= '(%" PRIu64 ",0)'::tid", s->first);

	if (s->last > 0)
		bad |= buf_addf(out, " AND ctid < '(%" PRIu64 ",0)'::tid",
				s->last);
	return bad;
}

/*
 * xmin holds the lower 32 bits of a transaction's number.  age() counts back
 * from now, so that what is not older than `xid` is what is wanted, and what
 * was wrapped around is read needlessly at most.
 */
static int add_ids(struct buf *out, const struct select_since *since)
{
	int bad = buf_addf(out, "age(xmin) <= age('%" PRIu32 "'::xid)",
			   (uint32_t)since->xid);

	for (size_t i = 0; i < since->whole_count; i++)
		bad |= buf_addf(out, "%s%" PRIu32,
				i > 0 ? ", " : " OR tableoid IN (",
				since->whole[i]);
	return bad | buf_adds(out, since->whole_count > 0 ? ")" : "");
}

static int add_stamps(struct buf *out, const struct selection *s)
{
	char text[CLOCK_TEXT_MAX];

	return add_column(out, s, s->since->column) |
	       buf_addf(out, " >= '%s'::timestamptz OR ",
			clock_text(s->since->stamp, text)) |
	       add_column(out, s, s->since->column) | buf_adds(out, " IS NULL");
}

static int add_since(struct buf *out, const struct selection *s)
{
	int bad = buf_adds(out, s->since->before ? "NOT (" : "(");

	bad |= s->since->column != NULL ? add_stamps(out, s)
					: add_ids(out, s->since);
	return bad | buf_adds(out, ")");
}

static bool has_conditions(const struct selection *s)
{
	return s->since != NULL ||
	       (s->query == NULL && (s->ranged || s->where != NULL));
}

/* A line break ends a comment that a text of the user's may end with. */
static int add_conditions(struct buf *out, const struct selection *s)
{
	const char *word = " WHERE ";
	int bad = 0;

	if (s->query == NULL && s->ranged) {
		bad |= buf_adds(out, word) | add_range(out, s);
		word = " AND ";
	}
	if (s->since != NULL) {
		bad |= buf_adds(out, word) | add_since(out, s);
		word = " AND ";
	}
	if (s->query == NULL && s->where != NULL)
		bad |= buf_addf(out, "%s(\n", word) | buf_adds(out, s->where) |
		       buf_adds(out, "\n)");
	return bad;
}

static int add_from(struct buf *out, const struct selection *s)
{
	int bad = buf_adds(out, " FROM ");

	if (s->query != NULL)
		return bad | buf_adds(out, "(\n") | buf_adds(out, s->query) |
		       buf_adds(out, "\n) AS " QUERY_ALIAS) |
		       add_conditions(out, s);
	return bad | buf_adds(out, s->from) | buf_adds(out, " AS ") |
	       select_quote(out, s->alias) | add_conditions(out, s);
}

/* What was put together, if all of it was. */
static int finish(struct buf *text, int bad, char **out, struct error *err)
{
	*out = bad == 0 ? buf_string(text) : NULL;
	if (*out != NULL)
		return 0;
	bad = buf_full(text, 1);
	buf_release(text);
	return bad ? error_set(err, ERROR_USAGE,
			       "a statement of more than 16 MiB")
		   : error_nomem(err);
}

static int make(const char *before, const struct selection *s,
		const char *behind, char **out, struct error *err)
{
	uint64_t limit = s->limit;
	struct buf text;
	int bad;

	buf_init(&text, STATEMENT_MAX);
	bad = buf_adds(&text, before) | buf_adds(&text, "SELECT ") |
	      add_columns(&text, s) | add_from(&text, s);
	if (limit > 0)
		bad |= buf_addf(&text, " LIMIT %" PRIu64, limit);
	bad |= buf_adds(&text, behind);
	return finish(&text, bad, out, err);
}

int select_copy(const struct selection *selection, char **out,
		struct error *err)
{
	return make("COPY (", selection,
		    selection->format == SELECT_CSV
			    ? ") TO STDOUT WITH (FORMAT csv)"
			    : ") TO STDOUT",
		    out, err);
}

int select_none(const struct selection *selection, char **out,
		struct error *err)
{
	struct selection none = *selection;

	none.limit = 0;
	return make("", &none, " LIMIT 0", out, err);
}

int select_explain(const struct selection *selection, char **out,
		   struct error *err)
{
	return make("EXPLAIN ", selection, "", out, err);
}

/* Behind add_conditions(), whose word is WHERE if there are any. */
static int add_matches(struct buf *out, const struct selection *s,
		       const bool *nulls)
{
	bool any = has_conditions(s);
	unsigned parameter = 0;
	int bad = 0;

	for (size_t i = 0; i < s->count; i++) {
		bad |= buf_adds(out, any || i > 0 ? " AND " : " WHERE ") |
		       add_column(out, s, s->columns[i]);
		if (nulls[i])
			bad |= buf_adds(out, " IS NULL");
		else
			bad |= buf_addf(out, " = $%u", ++parameter);
	}
	return bad;
}

static int add_marks(struct buf *out, const struct selection *s,
		     const struct select_marks *m)
{
	const struct select_since since = {.xid = m->xid};
	int bad;

	if (m->expires != NULL)
		bad = buf_adds(out, ", coalesce(") |
		      add_column(out, s, m->expires) |
		      buf_adds(out, " <= now(), false)");
	else
		bad = buf_adds(out, ", false");
	bad |= buf_adds(out, ", ");
	if (m->xid != 0)
		bad |= add_ids(out, &since);
	else
		bad |= buf_adds(out, "NULL");
	bad |= buf_adds(out, ", ");
	if (m->changed == NULL || m->since == 0)
		return bad | buf_adds(out, "NULL");
	return bad | buf_adds(out, "coalesce(") |
	       add_column(out, s, m->changed) |
	       buf_addf(out,
			" >= 'epoch'::timestamptz + interval '%" PRId64
			" milliseconds', true)",
			m->since);
}

int select_match(const struct selection *selection, const bool *nulls,
		 const struct select_marks *marks, unsigned limit, char **out,
		 struct error *err)
{
	const struct selection *s = selection;
	struct buf text;
	int bad;

	buf_init(&text, STATEMENT_MAX);
	bad = buf_adds(&text, "SELECT ") | add_columns(&text, s) |
	      add_marks(&text, s, marks) | add_from(&text, s) |
	      add_matches(&text, s, nulls) |
	      buf_addf(&text, " LIMIT %u", limit);
	return finish(&text, bad, out, err);
}

int select_fresh(const char *changed, int64_t ms, const char *where,
		 const char *query, char **out, struct error *err)
{
	struct buf text;
	int bad = 0;

	buf_init(&text, STATEMENT_MAX);
	if (query != NULL)
		bad |= buf_adds(&text, "SELECT * FROM (\n") |
		       buf_adds(&text, query) |
		       buf_adds(&text, "\n) AS " QUERY_ALIAS " WHERE ");
	else if (where != NULL)
		bad |= buf_adds(&text, "(\n") | buf_adds(&text, where) |
		       buf_adds(&text, "\n) AND ");
	/* An index serves both halves. */
	bad |= buf_adds(&text, "(") | select_quote(&text, changed) |
	       buf_addf(&text,
			" >= now() - interval '%" PRId64 " milliseconds' OR ",
			ms) |
	       select_quote(&text, changed) | buf_adds(&text, " IS NULL)");
	return finish(&text, bad, out, err);
}
