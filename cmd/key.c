/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl key: what the key function makes of a row.
 *
 * Without --format a row from standard input is one line, as every writer
 * under test speaks it: key in hex, hash, bucket, filter, or "!reason".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/keyfacts.h"
#include "cmd/keyrows.h"
#include "cmd/output.h"
#include "cmd/rowkey.h"
#include "lib/base/num.h"
#include "lib/base/show.h"

#define WRITE_SIZE (256u << 10)
/* One answer: the key escaped, twice over in JSON, and the rest. */
#define LINE_MAX_BYTES (12u * BLOOMKEY_MAX + 4096)

enum key_form {
	KEY_LINES, /* the protocol of writers */
	KEY_TABLE,
	KEY_JSON, /* one object a line */
	KEY_CSV,
};

struct answers {
	const struct inputs *in;
	enum key_form form;
	struct rowkey key;
	bool any; /* whether there was an answer */
	struct buf out;
	struct table table;
};

static const char *const columns[] = {"key", "hash", "bucket", "filter",
				      "reject"};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static int flush(struct answers *a, struct error *err)
{
	int rc = output_write(a->out.data, a->out.len, err);

	a->out.len = 0;
	return rc;
}

/* Lets the filled part of the table become output, without alignment. */
static int csv_flush(struct answers *a, struct error *err)
{
	size_t before = a->out.len;

	if (table_csv(&a->table, &a->out) != 0) {
		a->out.len = before;
		return error_nomem(err);
	}
	table_release(&a->table);
	table_init(&a->table, COLUMNS);
	return 0;
}

/* The bucket, which has five digits at most, between two tabs. */
static int add_bucket(struct buf *out, uint32_t bucket)
{
	char text[] = "\t00000\t";
	size_t at = sizeof(text) - 2;

	do {
		text[--at] = (char)('0' + bucket % 10);
		bucket /= 10;
	} while (bucket > 0);
	text[--at] = '\t';
	return buf_add(out, text + at, sizeof(text) - 1 - at);
}

/* Without printf: millions a second are asked for. */
static int add_line(struct answers *a, const char *reason)
{
	char number[NUM_TEXT_MAX];
	const struct rowkey *key = &a->key;

	if (reason != NULL)
		return buf_addf(&a->out, "!%s\n", reason);
	if (show_hex(&a->out, key->bytes, key->at.len) != 0 ||
	    buf_add(&a->out, "\t", 1) != 0 ||
	    buf_add(&a->out, num_hex(key->at.hash, number), 16) != 0 ||
	    add_bucket(&a->out, key->at.bucket) != 0 ||
	    buf_adds(&a->out, key->filter) != 0)
		return -1;
	return buf_add(&a->out, "\n", 1);
}

static int add_json(struct answers *a, const char *shown, const char *reason)
{
	char number[NUM_TEXT_MAX];
	struct error ignored = ERROR_INIT;
	json_t *json;
	char *text;
	size_t len;
	int rc;

	if (reason != NULL)
		json = json_pack("{s:n, s:n, s:n, s:n, s:s}", "key", "hash",
				 "bucket", "filter", "reject", reason);
	else
		json = json_pack("{s:s, s:s, s:I, s:s, s:n}", "key", shown,
				 "hash", num_hex(a->key.at.hash, number),
				 "bucket", (json_int_t)a->key.at.bucket,
				 "filter", a->key.filter, "reject");
	if (json == NULL)
		return -1;
	text = json_text(json, 0, &len, &ignored);
	json_decref(json);
	rc = text != NULL ? buf_add(&a->out, text, len) : -1;
	free(text);
	return rc;
}

static int add_cells(struct answers *a, const char *shown, const char *reason)
{
	char number[NUM_TEXT_MAX];
	const struct rowkey *key = &a->key;
	struct table *t = &a->table;

	if (reason != NULL) {
		int bad = 0;

		for (size_t i = 0; i + 1 < COLUMNS; i++)
			bad |= table_add(t, "");
		return bad | table_add(t, reason);
	}
	return table_add(t, shown) |
	       table_add(t, num_hex(key->at.hash, number)) |
	       table_addf(t, "%" PRIu32, key->at.bucket) |
	       table_add(t, key->filter) | table_add(t, "");
}

/* An answer did not fit: into a table, or into memory. */
static int no_room(const struct answers *a, struct error *err)
{
	if (a->form != KEY_TABLE || !table_full(&a->table))
		return error_nomem(err);
	(void)error_set(err, ERROR_SPACE,
			"the rows are more than a table holds");
	return error_hint(err, "with --stdin write them as lines, without "
			       "--format, or with --format csv or json");
}

/* Answers for the row whose key, or reason, is at hand. */
static int answer(struct answers *a, struct error *err)
{
	const char *reason = bloomkey_reason(a->key.reject);
	struct buf shown;
	int rc;

	if (a->form == KEY_LINES) {
		rc = add_line(a, reason);
	} else {
		buf_init(&shown, ROWKEY_SHOWN_MAX);
		rc = reason == NULL
			     ? show_copy(&shown, a->key.bytes, a->key.at.len)
			     : 0;
		if (rc != 0 || buf_string(&shown) == NULL)
			rc = -1;
		else if (a->form == KEY_JSON)
			rc = add_json(a, shown.data, reason);
		else
			rc = add_cells(a, shown.data, reason);
		buf_release(&shown);
	}
	if (rc != 0)
		return no_room(a, err);
	if (a->form == KEY_CSV && csv_flush(a, err) != 0)
		return -1;
	a->any = true;
	return a->out.len >= WRITE_SIZE ? flush(a, err) : 0;
}

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct answers *a = ctx;

	if (rowkey_derive(a->in, row->values, row->lens, &a->key, err) != 0)
		return -1;
	return answer(a, err);
}

static int on_part(void *ctx, struct error *err)
{
	struct answers *a = ctx;

	if (a->form == KEY_TABLE)
		return 0;
	return flush(a, err) != 0 ? -1 : output_flush(err);
}

static int print(struct answers *a, const struct opts *opts, struct inputs *in,
		 struct error *err)
{
	static const struct keyrows_ops ops = {on_row, on_part};
	static const int right[COLUMNS] = {0, 0, 1, 0, 0};
	struct error late = ERROR_INIT, *to;
	bool bad = false;
	int rc;

	for (size_t i = 0; i < COLUMNS; i++)
		if (a->form == KEY_TABLE || a->form == KEY_CSV)
			bad |= table_add(&a->table, columns[i]) != 0;
	if (bad)
		return error_nomem(err);
	if (a->form == KEY_CSV && csv_flush(a, err) != 0)
		return -1;
	if (opts_flag(opts, OPT_STDIN)) {
		rc = keyrows_read(in, opts, &ops, a, err);
	} else {
		rc = rowkey_one(in, opts, &a->key, err);
		if (rc == 0)
			rc = answer(a, err);
	}
	/* Answers before an error are still answers; a mere header is none. */
	if (rc != 0 && !a->any)
		return rc;
	to = rc == 0 ? err : &late;
	if (a->form == KEY_TABLE &&
	    output_table(&a->table, right, false, OUTPUT_TABLE, to) != 0)
		return -1;
	return flush(a, to) != 0 ? -1 : rc;
}

static enum key_form choose_form(const struct opts *opts)
{
	if (!opts_has(opts, OPT_FORMAT) && opts_flag(opts, OPT_STDIN))
		return KEY_LINES;
	switch (output_format(opts)) {
	case OUTPUT_JSON:
		return KEY_JSON;
	case OUTPUT_CSV:
		return KEY_CSV;
	case OUTPUT_TABLE:
		break;
	}
	return KEY_TABLE;
}

int cmd_key(const struct opts *opts, struct error *err)
{
	struct answers *a = calloc(1, sizeof(*a));
	struct inputs in;
	int rc;

	memset(&in, 0, sizeof(in));
	if (a == NULL)
		return error_nomem(err);
	table_init(&a->table, COLUMNS);
	buf_init(&a->out, WRITE_SIZE + 4 * LINE_MAX_BYTES);
	rc = inputs_spec(&in, opts, err);
	if (rc == 0 && keyfacts_wanted(opts)) {
		rc = keyfacts_print(opts, in.spec, err);
	} else if (rc == 0) {
		a->in = &in;
		a->form = choose_form(opts);
		rc = print(a, opts, &in, err);
	}
	inputs_release(&in);
	table_release(&a->table);
	buf_release(&a->out);
	free(a);
	return rc;
}
