/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl key: what the key function makes of a row.
 *
 * Without --format a row from standard input is one line, as every writer
 * under test speaks it: key in hex, hash, bucket, filter, or "!reason".
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/inputs.h"
#include "cmd/keyargs.h"
#include "cmd/output.h"
#include "lib/base/num.h"
#include "lib/base/show.h"
#include "lib/base/stop.h"

#define READ_SIZE  (256u << 10)
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
	const struct bloomkey_spec *spec;
	enum key_form form;
	struct key key;
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
	if (table_csv(&a->table, &a->out) != 0)
		return error_nomem(err);
	table_release(&a->table);
	table_init(&a->table, COLUMNS);
	return 0;
}

static int add_line(struct answers *a, const char *reason)
{
	char number[NUM_TEXT_MAX];
	const struct key *key = &a->key;

	if (reason != NULL)
		return buf_addf(&a->out, "!%s\n", reason);
	if (show_hex(&a->out, key->bytes, key->at.len) != 0 ||
	    buf_add(&a->out, "\t", 1) != 0 ||
	    buf_add(&a->out, num_hex(key->at.hash, number), 16) != 0 ||
	    buf_addf(&a->out, "\t%" PRIu32 "\t", key->at.bucket) != 0 ||
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
	const struct key *key = &a->key;
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

/* Answers for the row whose key, or reason, is at hand. */
static int answer(struct answers *a, const char *reason, struct error *err)
{
	struct buf shown;
	int rc;

	if (a->form == KEY_LINES) {
		rc = add_line(a, reason);
	} else {
		buf_init(&shown, KEYARGS_SHOWN_MAX);
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
		return error_nomem(err);
	if (a->form == KEY_CSV && csv_flush(a, err) != 0)
		return -1;
	return a->out.len >= WRITE_SIZE ? flush(a, err) : 0;
}

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct answers *a = ctx;
	struct key *key = &a->key;
	int code = bloomkey_derive(a->spec, row->values, row->lens, key->bytes,
				   sizeof(key->bytes), &key->at);

	if (code == 0 && bloomkey_filter(a->spec, key->at.bucket, key->filter,
					 sizeof(key->filter)) < 0)
		return error_set(err, ERROR_INTERNAL, "no name for a bucket");
	return answer(a, code != 0 ? bloomkey_reason(code) : NULL, err);
}

/* Reads rows until the end; what is read at once is answered at once. */
static int pump(struct answers *a, struct rowparse *parse, char *chunk,
		struct error *err)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = stop_fd(), .events = POLLIN}};
	ssize_t n;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return error_errno(err, ERROR_INTERNAL, errno, "poll");
		if (stop_check(err) != 0)
			return -1;
		n = read(STDIN_FILENO, chunk, READ_SIZE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, ERROR_DATA, errno, "read");
		if (n == 0)
			return rowparse_end(parse, true, err);
		if (rowparse_feed(parse, chunk, (size_t)n, err) != 0)
			return -1;
		if (a->form != KEY_TABLE &&
		    (flush(a, err) != 0 || output_flush(err) != 0))
			return -1;
	}
}

/*
 * The columns of standard input: those of --columns or of a CSV header, else
 * the fields themselves in template order.
 */
static int stdin_format(struct inputs *in, const struct opts *opts,
			struct error *err)
{
	bool text = !opts_has(opts, OPT_INPUT_FORMAT) ||
		    strcmp(opts_text(opts, OPT_INPUT_FORMAT), "text") == 0;

	if (inputs_format(in, opts, err) != 0)
		return -1;
	if (!text)
		return 0;
	in->format.kind = ROWFORMAT_TEXT;
	if (opts_has(opts, OPT_COLUMNS))
		return 0;
	for (size_t i = 0; i < in->format.wanted_count; i++)
		in->wanted[i] = bloomkey_field_name(in->spec, i);
	in->format.names = in->wanted;
	in->format.name_count = in->format.wanted_count;
	in->format.header = opts_flag(opts, OPT_HEADER);
	return 0;
}

static int from_stdin(struct inputs *in, const struct opts *opts,
		      struct answers *a, struct error *err)
{
	struct error late = ERROR_INIT;
	struct rowparse *parse = NULL;
	char *chunk = malloc(READ_SIZE);
	int rc = chunk == NULL ? error_nomem(err) : stdin_format(in, opts, err);

	if (rc == 0)
		rc = rowparse_new(&in->format, on_row, a, &parse, err);
	if (rc == 0)
		rc = pump(a, parse, chunk, err);
	/* What was answered before an error is still an answer. */
	if (flush(a, rc == 0 ? err : &late) != 0)
		rc = -1;
	if (rc != 0 && !stop_asked() && !ferror(stdout))
		(void)error_prefix(err, "standard input");
	rowparse_free(parse);
	free(chunk);
	return rc;
}

static int print(struct answers *a, const struct opts *opts, struct inputs *in,
		 struct error *err)
{
	static const int right[COLUMNS] = {0, 0, 1, 0, 0};
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
		rc = from_stdin(in, opts, a, err);
	} else {
		rc = keyargs_derive(opts, in->spec, &a->key, err);
		if (rc == 0)
			rc = answer(a, NULL, err);
	}
	if (rc == 0 && a->form == KEY_TABLE)
		rc = output_table(&a->table, right, false, OUTPUT_TABLE, err);
	if (rc == 0)
		rc = flush(a, err);
	return rc;
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
	buf_init(&a->out, WRITE_SIZE + 2 * READ_SIZE + 4 * LINE_MAX_BYTES);
	rc = 0;
	if (opts_flag(opts, OPT_STDIN) && opts->arg_count > 0)
		rc = error_set(err, ERROR_USAGE,
			       "option --stdin: no values beside it");
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0) {
		a->spec = in.spec;
		a->form = choose_form(opts);
		rc = print(a, opts, &in, err);
	}
	inputs_release(&in);
	table_release(&a->table);
	buf_release(&a->out);
	free(a);
	return rc;
}
