/* SPDX-License-Identifier: BSD-2-Clause
 *
 * CSV by libcsv.  What libcsv would do to keys if it were let, and what is
 * done about it:
 *
 * - it trims spaces of unquoted fields: a space function that knows none;
 * - it drops empty lines, which are a row of a one-column file: REPALL_NL,
 *   which reports CRLF twice, so an LF that directly follows a CR is dropped;
 * - it ends a row at a bare CR: the first row fixes the newline;
 * - its callbacks cannot stop it: the first error is kept, the rest not seen;
 * - an open quote takes the rest of the file into its buffer: it is fed in
 *   slices and what its buffer holds is looked at after each;
 * - it does not say whether a field was quoted: with a null text of its own
 *   the bytes are also followed here, and it is fed a field at a time;
 * - csv_fini() after an error delivers the broken row: it is not called then.
 */
#include <csv.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/rows/quotescan.h"
#include "lib/rows/rowcore.h"

/* How much is fed at once and how much its buffer grows by: what an open quote
 * may take too much. */
#define SLICE 65536u

#define BOM "\xef\xbb\xbf"
enum { BOM_LEN = sizeof(BOM) - 1, BOM_SETTLED };

enum newline { NEWLINE_UNKNOWN, NEWLINE_LF, NEWLINE_CRLF, NEWLINE_CR };

struct cell {
	size_t at; /* in the row buffer */
	size_t len;
	bool null;
};

struct csv {
	struct rowcore core;
	struct csv_parser parser;
	struct buf row;     /* the wanted fields of the row at hand */
	struct cell *cells; /* per column of the file; owned */
	size_t fields;      /* of the row at hand, so far */
	size_t bytes;       /* of these, with their separators */
	const char *null;   /* text of NULL, or NULL: an empty field is */
	size_t null_len;
	struct quotescan quotes; /* followed where null is not NULL */
	enum newline newline;
	bool unended; /* the last byte so far ends no row */
	bool cr;      /* the last row ended in CR: an LF may follow */
	bool bad;     /* core.err is set, callbacks look away */
	size_t bom;   /* bytes of a BOM that the start has had, or SETTLED */
};

static int no_space(unsigned char c)
{
	(void)c;
	return 0;
}

/* The row at hand is the one after the last that was called back. */
static void spoil(struct csv *c, const char *what, const char *hint)
{
	error_set(&c->core.err, ERROR_DATA, "%s", what);
	c->core.rows++;
	rowcore_prefix(&c->core);
	if (hint != NULL)
		error_hint(&c->core.err, "%s", hint);
	c->bad = true;
}

static void spoil_length(struct csv *c)
{
	spoil(c, "longer than the 8 MiB that a row may have",
	      "a quote that is never closed takes in the rest of the file");
}

static void spoil_memory(struct csv *c)
{
	error_nomem(&c->core.err);
	c->bad = true;
}

/* Holds the file to the first row's newline; ahead: of the row at hand. */
static bool take_newline(struct csv *c, enum newline found, bool ahead)
{
	if (c->newline == NEWLINE_UNKNOWN)
		c->newline = found;
	if (c->newline == found)
		return true;
	/* Else the row has been called back, and spoil() counts one more. */
	if (!ahead)
		c->core.rows--;
	spoil(c,
	      "ends in another newline (LF, CRLF or CR outside quotes) than "
	      "the first row",
	      NULL);
	return false;
}

/* What follows a CR is no LF: the row ended in a bare CR. */
static bool after_cr(struct csv *c)
{
	if (!c->cr)
		return true;
	c->cr = false;
	return take_newline(c, NEWLINE_CR, false);
}

static bool is_null(const struct csv *c, const void *data, size_t len)
{
	if (c->null == NULL)
		return data == NULL;
	return !c->quotes.quoted && len == c->null_len &&
	       memcmp(data != NULL ? data : "", c->null, len) == 0;
}

static void keep(struct csv *c, const void *data, size_t len)
{
	struct cell *cell = &c->cells[c->fields];

	cell->null = is_null(c, data, len);
	cell->at = c->row.len;
	cell->len = len;
	if (!cell->null && buf_add(&c->row, data, len) != 0)
		spoil_memory(c);
}

static void on_field(void *data, size_t len, void *ctx)
{
	struct csv *c = ctx;

	if (c->bad || !after_cr(c))
		return;
	c->bytes += len + 1;
	if (c->bytes - 1 > ROWPARSE_ROW_MAX) {
		spoil_length(c);
		return;
	}
	if (c->core.header_due) {
		if (rowcore_header_field(&c->core, data != NULL ? data : "",
					 len) != 0)
			c->bad = true;
	} else if (c->fields < c->core.columns.count &&
		   c->core.columns.used[c->fields]) {
		keep(c, data, len);
	}
	c->fields++;
}

static int make_cells(struct csv *c)
{
	c->cells = calloc(c->core.columns.count + 1, sizeof(*c->cells));
	return c->cells != NULL ? 0 : error_nomem(&c->core.err);
}

static int end_header(struct csv *c)
{
	if (rowcore_header_end(&c->core, c->fields) != 0)
		return -1;
	return c->cells == NULL ? make_cells(c) : 0;
}

static int end_row(struct csv *c)
{
	struct rowcore *core = &c->core;

	core->rows++;
	if (rowcore_length(core, c->fields) != 0)
		return -1;
	for (size_t i = 0; i < core->columns.wanted_count; i++) {
		const struct cell *cell = &c->cells[core->columns.slots[i]];

		core->values[i] = NULL;
		core->lens[i] = 0;
		if (cell->null)
			continue;
		/* An empty value is not NULL, even if nothing was kept yet. */
		core->values[i] = cell->len > 0 ? c->row.data + cell->at : "";
		core->lens[i] = cell->len;
	}
	return rowcore_row(core);
}

/* A line without a field: in a one-column file its only one is empty, which
 * is NULL unless NULL has a text of its own. */
static void empty_line(struct csv *c)
{
	struct rowcore *core = &c->core;

	if (core->header_due || core->columns.count == 1) {
		on_field(NULL, 0, c);
		return;
	}
	core->rows++;
	error_set(&core->err, ERROR_ROWS,
		  "an empty line where a row has %zu columns",
		  core->columns.count);
	rowcore_prefix(core);
	c->bad = true;
}

static void on_row(int end, void *ctx)
{
	struct csv *c = ctx;

	if (c->bad)
		return;
	if (end == '\n' && c->cr && c->fields == 0) {
		c->cr = false;
		take_newline(c, NEWLINE_CRLF, false);
		return;
	}
	if (!after_cr(c) || (end == '\n' && !take_newline(c, NEWLINE_LF, true)))
		return;
	if (c->fields == 0)
		empty_line(c);
	if (!c->bad && (c->core.header_due ? end_header(c) : end_row(c)) != 0)
		c->bad = true;
	c->cr = end == '\r';
	c->fields = 0;
	c->bytes = 0;
	c->row.len = 0;
}

/*
 * Feeds bytes to libcsv and finds what the callbacks cannot: an error of its
 * own, and a field that grows past the limit.  The length goes first, so that
 * the answer does not depend on how the bytes were cut.
 */
static void parse(struct csv *c, const char *data, size_t len)
{
	size_t done = csv_parse(&c->parser, data, len, on_field, on_row, c);

	if (c->bad)
		return;
	/* One more than the row's: it may hold the closing quote. */
	if (c->parser.entry_pos + c->bytes > ROWPARSE_ROW_MAX + 1) {
		spoil_length(c);
		return;
	}
	if (done == len)
		return;
	if (csv_error(&c->parser) == CSV_ENOMEM)
		spoil_memory(c);
	else
		spoil(c,
		      "a quote inside a field that is not doubled, or that the "
		      "field does not begin with",
		      "a field that holds quotes is quoted, and they are "
		      "doubled");
}

/* A field at a time, so that on_field() knows whether it was quoted. */
static void parse_fields(struct csv *c, const char *data, size_t len)
{
	size_t from = 0;

	for (size_t i = 0; i < len && !c->bad; i++) {
		if (!quotescan_ends(&c->quotes, data[i]))
			continue;
		parse(c, data + from, i + 1 - from);
		quotescan_next(&c->quotes);
		from = i + 1;
	}
	if (!c->bad && from < len)
		parse(c, data + from, len - from);
}

static void take(struct csv *c, const char *data, size_t len)
{
	while (len > 0 && !c->bad) {
		size_t slice = len < SLICE ? len : SLICE;
		const char *nul = memchr(data, '\0', slice);
		size_t clean = nul != NULL ? (size_t)(nul - data) : slice;

		if (c->null != NULL)
			parse_fields(c, data, clean);
		else if (clean > 0)
			parse(c, data, clean);
		if (nul != NULL && !c->bad)
			spoil(c, "a NUL byte", NULL);
		data += slice;
		len -= slice;
	}
}

/* Libcsv has the bytes only where they may be the start of a bare field. */
static void settle_bom(struct csv *c, bool quote)
{
	size_t met = c->bom;

	c->bom = BOM_SETTLED;
	if (met == BOM_LEN && (c->core.header_due || quote))
		return;
	if (met == BOM_LEN && !c->core.format->bom_is_data) {
		rowcore_bom(&c->core, "quote that value");
		c->bad = true;
		return;
	}
	c->unended = met > 0;
	take(c, BOM, met);
}

static void take_bom(struct csv *c, char **data, size_t *len)
{
	for (; *len > 0 && c->bom < BOM_LEN && **data == BOM[c->bom]; --*len) {
		c->bom++;
		(*data)++;
	}
	if (c->bom != BOM_SETTLED && *len > 0)
		settle_bom(c, **data == '"');
}

static int csv_feed(struct rowparse *parse, char *data, size_t len,
		    struct error *err)
{
	struct csv *c = (struct csv *)parse;

	if (c->core.failed)
		return rowcore_fail(&c->core, err);
	take_bom(c, &data, &len);
	if (len > 0)
		c->unended = data[len - 1] != '\n' && data[len - 1] != '\r';
	take(c, data, len);
	return c->bad ? rowcore_fail(&c->core, err) : 0;
}

static void finish(struct csv *c)
{
	if (c->bom != BOM_SETTLED)
		settle_bom(c, false);
	/* RFC 4180 allows it, and it is all that shows of a file cut within
	 * its last field, which would make another key. */
	if (!c->bad && c->unended)
		spoil(c, "the last row has no newline: it is cut off",
		      "if it is whole, add the newline");
	if (!c->bad && csv_fini(&c->parser, on_field, on_row, c) != 0)
		spoil(c, "a quote is never closed: it is cut off", NULL);
	if (!c->bad)
		after_cr(c);
	if (!c->bad && rowcore_end(&c->core) != 0)
		c->bad = true;
}

static int csv_end(struct rowparse *parse, bool at_end, struct error *err)
{
	struct csv *c = (struct csv *)parse;

	(void)at_end;
	if (!c->core.failed)
		finish(c);
	return c->core.failed || c->bad ? rowcore_fail(&c->core, err) : 0;
}

static void csv_release(struct rowparse *parse)
{
	struct csv *c = (struct csv *)parse;

	csv_free(&c->parser);
	rowcore_release(&c->core);
	buf_release(&c->row);
	free(c->cells);
	free(c);
}

int csv_new(const struct rowformat *format, row_fn *fn, void *ctx,
	    struct rowparse **out, struct error *err)
{
	static const struct rowparse_ops ops = {csv_feed, csv_end, csv_release};
	struct csv *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (c == NULL)
		return error_nomem(err);
	csv_init(&c->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL |
				     CSV_EMPTY_IS_NULL);
	csv_set_space_func(&c->parser, no_space);
	csv_set_blk_size(&c->parser, SLICE);
	csv_set_realloc_func(&c->parser, realloc);
	csv_set_free_func(&c->parser, free);
	buf_init(&c->row, ROWPARSE_ROW_MAX);
	if (format->null != NULL && format->null[0] != '\0') {
		c->null = format->null;
		c->null_len = strlen(format->null);
	}
	if (rowcore_init(&c->core, &ops, format, fn, ctx, err) != 0)
		goto fail;
	if (format->names != NULL && make_cells(c) != 0) {
		error_nomem(err);
		goto fail;
	}
	*out = &c->core.base;
	return 0;
fail:
	csv_release(&c->core.base);
	return -1;
}
