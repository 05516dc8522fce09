/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/doctorsource.h"

/*
 * What one worker can count on.  A read alone was measured at 0.35 to 5 M
 * rows/s, by machine and load; adds to a server, and a server that others use,
 * too, take their share.
 */
#define ROWS_PER_SECOND 500000u

/* From here on a read is too long for a server that others use, too. */
#define LONG_READ_MS (INT64_C(30) * 60 * 1000)

/* From which version on a range of pages is read without those before it. */
#define RANGES_SINCE 140000

int64_t doctor_read_ms(const struct examination *x)
{
	if (x->plan.node[0] == '\0')
		return -1;
	return (int64_t)(x->plan.rows / ROWS_PER_SECOND) * 1000;
}

/* The lines of a field begin with "field=NAME", the others of it behind. */
const char *doctor_field_rule(const struct bloomkey_spec *spec, size_t field,
			      const char *rule, size_t *len)
{
	const char *name = bloomkey_field_name(spec, field);
	const char *line = bloomkey_fingerprint_text(spec);
	bool within = false;

	*len = 0;
	for (size_t size; name != NULL && *line != '\0';
	     line += size + (line[size] == '\n')) {
		size_t head = strcspn(line, "=\n");

		size = strcspn(line, "\n");
		if (head == 5 && memcmp(line, "field", 5) == 0)
			within = size - 6 == strlen(name) &&
				 memcmp(line + 6, name, size - 6) == 0;
		if (!within || line[head] != '=' || head != strlen(rule) ||
		    memcmp(line, rule, head) != 0)
			continue;
		*len = size - head - 1;
		return line + head + 1;
	}
	return NULL;
}

static void look_at_rights(struct findings *f, const struct examination *x)
{
	const char *policies =
		x->row_security ? "; no policy hides rows from it" : "";

	if (x->kind == 0)
		findings_add(f, FINDING_OK, "source rights", NULL,
			     "user '%s' may run the query", x->facts.user);
	else
		findings_add(f, FINDING_OK, "source rights", NULL,
			     "user '%s' may read the columns of table "
			     "'%s'%s%s",
			     x->facts.user, x->name,
			     x->kind == 'm' ? ", whose rows are those of its "
					      "last REFRESH"
					    : "",
			     policies);
}

/* Whether padding falls off before the value gets into a key. */
static bool drops_blanks(const struct bloomkey_spec *spec, size_t field)
{
	static const char *const names[] = {"trim", "rtrim", "digits"};
	size_t len;
	const char *list = doctor_field_rule(spec, field, "transform", &len);

	while (list != NULL && len > 0) {
		size_t one = strcspn(list, ",\n");

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (one == strlen(names[i]) &&
			    memcmp(list, names[i], one) == 0)
				return true;
		one += one < len;
		list += one;
		len -= one;
	}
	return false;
}

#define OF_TIMES                                                               \
	"read another column, or --query with to_char() and a format without " \
	"a fraction"

/* Types whose text is not what programs write without being told. */
static const struct type {
	unsigned oid;
	bool padded;
	const char *name;
	const char *why;
	const char *remedy;
} types[] = {
	{16, false, "boolean", "it is read as t or f",
	 "have programs write it so, or read --query with COLUMN::text, which "
	 "is true or false"},
	{17, false, "bytea", "it is read as \\x and hexadecimal digits",
	 "have programs write it so, or read --query with encode(COLUMN, "
	 "'hex')"},
	{114, false, "json", "one value has many texts",
	 "read --query with the member that is meant"},
	{700, false, "real", "programs write one number in many ways",
	 "read a column of type numeric, text or integer"},
	{701, false, "double precision",
	 "programs write one number in many ways",
	 "read a column of type numeric, text or integer"},
	{1042, true, "character(n)",
	 "it is padded with blanks up to its length, and so are keys",
	 "give its field transform = rtrim"},
	{1114, false, "timestamp without time zone",
	 "it has no zone, and as many digits as each value needs", OF_TIMES},
	{1184, false, "timestamp with time zone",
	 "it is read in UTC, with as many digits as each value needs",
	 OF_TIMES},
	{3802, false, "jsonb", "programs write one value in many ways",
	 "read --query with the member that is meant"},
};

static const struct type *type_of(const struct examination *x,
				  const char *column)
{
	for (size_t c = 0; c < x->column_count; c++)
		for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
			if (strcmp(x->columns[c].name, column) == 0 &&
			    x->columns[c].type == types[i].oid)
				return &types[i];
	return NULL;
}

static void look_at_columns(struct findings *f, const struct examination *x,
			    const struct bloomkey_spec *spec)
{
	char what[sizeof(((struct finding *)NULL)->what)];
	size_t bad = 0;

	for (size_t i = 0; i < bloomkey_fields(spec); i++) {
		const char *column = bloomkey_field_column(spec, i);
		const struct type *type = type_of(x, column);

		if (type == NULL || (type->padded && drops_blanks(spec, i)))
			continue;
		(void)snprintf(what, sizeof(what), "source column '%s'",
			       column);
		findings_add(f, FINDING_WARNING, what, type->remedy,
			     "of type %s: %s", type->name, type->why);
		bad++;
	}
	if (bad == 0)
		findings_add(f, FINDING_OK, "source columns", NULL,
			     "of types whose text is fit for keys");
}

static void look_at_plan(struct findings *f, const struct plan *p)
{
	static const struct {
		const char *why;
		const char *remedy;
	} dear[] = {
		[PLAN_SORTS] = {"no row comes before all are in order",
				"do without ORDER BY, DISTINCT and GROUP BY: "
				"to a filter neither the order matters nor "
				"that a row comes twice"},
		[PLAN_GROUPS] = {"no row comes before all are compared",
				 "do without DISTINCT and GROUP BY: to a "
				 "filter it does not matter that a row comes "
				 "twice"},
		[PLAN_LOOPS] = {"something is looked for once for each",
				"see why by EXPLAIN: statistics are old "
				"(ANALYZE), or no index fits the join"},
	};
	char rows[NUM_TEXT_MAX];

	if (p->dear == PLAN_PLAIN) {
		findings_add(f, FINDING_OK, "source plan", NULL, "%s", p->node);
		return;
	}
	(void)num_grouped(p->dear_rows, rows);
	if (strcmp(p->node, p->dear_node) == 0)
		findings_add(f, FINDING_WARNING, "source plan",
			     dear[p->dear].remedy, "%s, of about %s rows: %s",
			     p->node, rows, dear[p->dear].why);
	else
		findings_add(f, FINDING_WARNING, "source plan",
			     dear[p->dear].remedy,
			     "%s, and in it %s, of about %s rows: %s", p->node,
			     p->dear_node, rows, dear[p->dear].why);
}

static void look_at_rows(struct findings *f, const struct examination *x)
{
	int64_t ms = doctor_read_ms(x);
	bool long_read = ms > LONG_READ_MS;
	char rows[NUM_TEXT_MAX];
	char span[CLOCK_TEXT_MAX];
	const char *harm = "";
	const char *remedy = NULL;

	if (long_read && x->facts.standby) {
		harm = x->feedback == 1
			       ? "; for so long nothing is vacuumed on the "
				 "primary"
			       : "; for so long a serving standby can hardly "
				 "keep one snapshot";
		remedy = "read a clone, a snapshot that is restored, or files "
			 "that are exported from one; with --jobs N a table "
			 "takes less time";
	} else if (long_read) {
		harm = "; for so long nothing is vacuumed on this primary";
		remedy = "read a standby, a clone, a snapshot that is "
			 "restored, or files that are exported from one; "
			 "with --jobs N a table takes less time";
	}
	findings_add(f, long_read ? FINDING_WARNING : FINDING_OK, "source rows",
		     remedy,
		     "about %s, which one worker reads in about %s, at 0.5 M "
		     "rows a second%s",
		     num_grouped(x->plan.rows, rows),
		     clock_span(ms < 1000 ? 1000 : ms, span), harm);
}

static void look_at_jobs(struct findings *f, const struct examination *x)
{
	const char *why = "a partition is a foreign table, or may not be read "
			  "by itself";

	if (x->kind == 0)
		why = "it is a query";
	else if (x->kind == 'v')
		why = "it is a view";
	else if (x->kind == 'f')
		why = "it is a foreign table";
	else if (x->facts.version < RANGES_SINCE)
		why = "ranges of pages need PostgreSQL 14";
	else if (x->row_security)
		why = "it has row-level security";
	if (x->ranged)
		findings_add(f, FINDING_OK, "source jobs", NULL,
			     "--jobs N reads ranges of its pages side by side");
	else
		findings_add(f, FINDING_OK, "source jobs", NULL,
			     "it is read in one piece, whatever --jobs says: "
			     "%s",
			     why);
}

void doctor_rows(struct findings *findings, const struct examination *x,
		 const struct bloomkey_spec *spec)
{
	look_at_rights(findings, x);
	look_at_columns(findings, x, spec);
	if (x->refused.code != ERROR_NONE)
		findings_add_error(findings, "source plan", &x->refused);
	if (x->plan.node[0] != '\0') {
		look_at_plan(findings, &x->plan);
		look_at_rows(findings, x);
	}
	look_at_jobs(findings, x);
}
