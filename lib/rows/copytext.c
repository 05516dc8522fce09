/* SPDX-License-Identifier: BSD-2-Clause
 *
 * COPY text, in place.  Rows without a backslash are the rule, and what makes
 * a row special (backslash, CR, NUL) is looked for once per chunk and not
 * once per row: a mark is the next such byte, found again when it is passed.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/rows/copyscan.h"
#include "lib/rows/rowcore.h"

enum newline { NEWLINE_UNKNOWN, NEWLINE_LF, NEWLINE_CRLF };

struct field {
	char *data; /* NULL is SQL's NULL */
	size_t len;
};

struct copytext {
	struct rowcore core;
	const char *null; /* of a raw field */
	size_t null_len;
	struct buf carry;     /* a row that began in an earlier chunk */
	bool escaped;         /* the carry ends in an open backslash */
	bool started;         /* a row was met: a BOM is data from now on */
	bool ended;           /* "\." was met */
	enum newline newline; /* as the first row's */
	struct field *fields; /* per column of the file; owned */
};

/* The next of each byte at or after the place read, or the end. */
struct marks {
	char *end;
	char *backslash;
	char *tab;
	char *cr;
	char *nul;
};

static inline char *find(char *pos, int c, char *end)
{
	char *at = memchr(pos, c, (size_t)(end - pos));

	return at != NULL ? at : end;
}

static inline void marks_move(struct marks *m, char *pos)
{
	if (m->backslash < pos)
		m->backslash = find(pos, '\\', m->end);
	if (m->tab < pos)
		m->tab = find(pos, '\t', m->end);
	if (m->cr < pos)
		m->cr = find(pos, '\r', m->end);
	if (m->nul < pos)
		m->nul = find(pos, '\0', m->end);
}

static void marks_init(struct marks *m, char *pos, char *end)
{
	m->end = end;
	m->backslash = find(pos, '\\', end);
	m->tab = find(pos, '\t', end);
	m->cr = find(pos, '\r', end);
	m->nul = find(pos, '\0', end);
}

static int bad(struct copytext *t, const char *what)
{
	error_set(&t->core.err, ERROR_DATA, "%s", what);
	return rowcore_prefix(&t->core);
}

static int too_long(struct copytext *t)
{
	error_set(&t->core.err, ERROR_DATA, "longer than %u bytes",
		  ROWPARSE_ROW_MAX);
	return rowcore_prefix(&t->core);
}

/* Takes the CR off a row that ends in CRLF, and holds the file to one style. */
static int take_newline(struct copytext *t, char *row, char **end)
{
	enum newline found = NEWLINE_LF;

	if (*end > row && (*end)[-1] == '\r' &&
	    !copyscan_is_escaped(row, *end - 1)) {
		found = NEWLINE_CRLF;
		(*end)--;
	}
	if (t->newline == NEWLINE_UNKNOWN)
		t->newline = found;
	if (t->newline == found)
		return 0;
	return bad(t, found == NEWLINE_LF
			      ? "ends in LF where the first row ends in CRLF"
			      : "ends in CRLF where the first row ends in LF");
}

/* What may not stand in a row: looked for where there is a sign of it. */
static int check_bytes(struct copytext *t, const char *row, const char *end)
{
	bool escaped = false;

	for (const char *p = row; p < end; p++) {
		if (*p == '\0')
			return bad(t, "a NUL byte");
		if (escaped && *p == '.')
			return bad(t, "'\\.' is not alone on its line");
		if (!escaped && *p == '\r')
			return bad(t, "a bare carriage return");
		escaped = !escaped && *p == '\\';
	}
	return 0;
}

static int make_fields(struct copytext *t)
{
	if (t->fields != NULL)
		return 0;
	t->fields = calloc(t->core.columns.count + 1, sizeof(*t->fields));
	return t->fields != NULL ? 0 : error_nomem(&t->core.err);
}

/* In the carry: a part's copy of the header is fed to many parsers. */
static int header_row(struct copytext *t, char *row, char *end)
{
	size_t count = 0;

	for (char *pos = row;; pos++) {
		char *stop = copyscan_field_end(pos, end);
		size_t len = copyscan_unescape(pos, (size_t)(stop - pos));

		if (rowcore_header_field(&t->core, pos, len) != 0)
			return -1;
		count++;
		pos = stop;
		if (stop == end)
			break;
	}
	if (rowcore_header_end(&t->core, count) != 0)
		return -1;
	return make_fields(t);
}

/* Splits a row without a backslash. */
static size_t split_plain(struct copytext *t, struct marks *m, char *row,
			  char *end)
{
	size_t columns = t->core.columns.count;
	size_t count = 0;

	for (;;) {
		char *stop = m->tab < end ? m->tab : end;

		if (count < columns) {
			t->fields[count].data = row;
			t->fields[count].len = (size_t)(stop - row);
		}
		count++;
		if (stop == end)
			return count;
		row = stop + 1;
		m->tab = find(row, '\t', m->end);
	}
}

static size_t split_escaped(struct copytext *t, char *row, char *end)
{
	size_t columns = t->core.columns.count;
	size_t count = 0;

	for (;;) {
		char *stop = copyscan_field_end(row, end);

		if (count < columns) {
			t->fields[count].data = row;
			t->fields[count].len = (size_t)(stop - row);
		}
		count++;
		if (stop == end)
			return count;
		row = stop + 1;
	}
}

static void decode(struct copytext *t)
{
	const unsigned char *used = t->core.columns.used;

	for (size_t i = 0; i < t->core.columns.count; i++) {
		struct field *field = &t->fields[i];

		if (!used[i])
			continue;
		if (field->len == t->null_len &&
		    memcmp(field->data, t->null, t->null_len) == 0)
			field->data = NULL;
		else
			field->len = copyscan_unescape(field->data, field->len);
	}
}

static int data_row(struct copytext *t, struct marks *m, char *row, char *end)
{
	struct rowcore *core = &t->core;
	bool plain = m->backslash >= end;
	size_t count;

	count = plain ? split_plain(t, m, row, end)
		      : split_escaped(t, row, end);
	if (count != core->columns.count)
		return rowcore_length(core, count);
	/* The default "\N" cannot stand in a row without a backslash. */
	if (!plain || core->format->null != NULL)
		decode(t);
	for (size_t i = 0; i < core->columns.wanted_count; i++) {
		const struct field *field = &t->fields[core->columns.slots[i]];

		core->values[i] = field->data;
		core->lens[i] = field->data != NULL ? field->len : 0;
	}
	return rowcore_row(core);
}

/* [row, end) is one whole row without its LF. */
static int take_row(struct copytext *t, struct marks *m, char *row, char *end)
{
	if (!t->core.header_due)
		t->core.rows++;
	if ((size_t)(end - row) > ROWPARSE_ROW_MAX)
		return too_long(t);
	if (!t->started) {
		t->started = true;
		if (end - row < 3 || memcmp(row, "\xef\xbb\xbf", 3) != 0)
			;
		else if (t->core.header_due)
			row += 3;
		else if (!t->core.format->bom_is_data)
			return rowcore_bom(&t->core, "write its three bytes "
						     "as escapes");
	}
	if ((m->cr < end || t->newline != NEWLINE_LF) &&
	    take_newline(t, row, &end) != 0)
		return -1;
	if (end - row == 2 && row[0] == '\\' && row[1] == '.') {
		t->ended = true;
		return 0;
	}
	if ((m->backslash < end || m->cr < end || m->nul < end) &&
	    check_bytes(t, row, end) != 0)
		return -1;
	if (t->core.header_due)
		return header_row(t, row, end);
	return data_row(t, m, row, end);
}

static int carry_add(struct copytext *t, const char *data, size_t len)
{
	if (buf_add(&t->carry, data, len) == 0)
		return 0;
	if (!buf_full(&t->carry, len))
		return error_nomem(&t->core.err);
	if (!t->core.header_due)
		t->core.rows++;
	return too_long(t);
}

/* Ends the row in the carry with [data, end) and takes it. */
static int take_carried(struct copytext *t, const char *data, const char *end)
{
	struct marks m;
	int rc;

	if (carry_add(t, data, (size_t)(end - data)) != 0)
		return -1;
	/* An empty row has no buffer yet, and NULL is no place to search. */
	if (t->carry.len == 0 && buf_reserve(&t->carry, 1) != 0)
		return error_nomem(&t->core.err);
	marks_init(&m, t->carry.data, t->carry.data + t->carry.len);
	rc = take_row(t, &m, t->carry.data, m.end);
	t->carry.len = 0;
	return rc;
}

static int take_chunk(struct copytext *t, char *pos, char *end)
{
	struct marks m;

	marks_init(&m, pos, end);
	while (pos < end) {
		bool carried = t->carry.len > 0 || t->core.header_due;
		char *newline;
		int rc;

		if (t->ended)
			return error_set(&t->core.err, ERROR_DATA,
					 "bytes follow the end mark '\\.'");
		marks_move(&m, pos);
		newline = memchr(pos, '\n', (size_t)(end - pos));
		if (t->escaped || newline == NULL || m.backslash < newline)
			newline = copyscan_row_end(pos, end, &t->escaped);
		if (newline == NULL)
			return carry_add(t, pos, (size_t)(end - pos));
		rc = carried ? take_carried(t, pos, newline)
			     : take_row(t, &m, pos, newline);
		if (rc != 0)
			return -1;
		pos = newline + 1;
	}
	return 0;
}

static int copytext_feed(struct rowparse *parse, char *data, size_t len,
			 struct error *err)
{
	struct copytext *t = (struct copytext *)parse;

	if (t->core.failed)
		return rowcore_fail(&t->core, err);
	if (len > 0 && take_chunk(t, data, data + len) != 0)
		return rowcore_fail(&t->core, err);
	return 0;
}

static int check_end(struct copytext *t, bool at_end)
{
	bool bom = t->core.header_due && t->carry.len == 3 &&
		   memcmp(t->carry.data, "\xef\xbb\xbf", 3) == 0;

	if (t->carry.len > 0 && !bom) {
		error_set(&t->core.err, ERROR_DATA,
			  "the last row has no newline: it is cut off");
		error_hint(&t->core.err, "if it is whole, add the newline");
		return -1;
	}
	if (t->ended && !at_end)
		return error_set(&t->core.err, ERROR_DATA,
				 "bytes follow the end mark '\\.'");
	return rowcore_end(&t->core);
}

static int copytext_end(struct rowparse *parse, bool at_end, struct error *err)
{
	struct copytext *t = (struct copytext *)parse;

	if (t->core.failed || check_end(t, at_end) != 0)
		return rowcore_fail(&t->core, err);
	return 0;
}

static void copytext_free(struct rowparse *parse)
{
	struct copytext *t = (struct copytext *)parse;

	rowcore_release(&t->core);
	buf_release(&t->carry);
	free(t->fields);
	free(t);
}

int copytext_new(const struct rowformat *format, row_fn *fn, void *ctx,
		 struct rowparse **out, struct error *err)
{
	static const struct rowparse_ops ops = {copytext_feed, copytext_end,
						copytext_free};
	struct copytext *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (t == NULL)
		return error_nomem(err);
	buf_init(&t->carry, ROWPARSE_ROW_MAX);
	t->null = format->null != NULL ? format->null : "\\N";
	t->null_len = strlen(t->null);
	if (rowcore_init(&t->core, &ops, format, fn, ctx, err) != 0) {
		copytext_free(&t->core.base);
		return -1; /* cppcheck-suppress memleak */
	}
	if (format->names != NULL && make_fields(t) != 0) {
		copytext_free(&t->core.base);
		return error_nomem(err);
	}
	*out = &t->core.base;
	return 0;
}
