/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/keyrows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/output.h"
#include "lib/base/input.h"
#include "lib/base/stop.h"

#define READ_SIZE (256u << 10)

static int pump(struct rowparse *parse, const struct keyrows_ops *ops,
		void *ctx, char *chunk, struct error *err)
{
	size_t got;

	for (;;) {
		if (input_read(STDIN_FILENO, chunk, READ_SIZE, &got, err) != 0)
			return -1;
		if (got == 0)
			return rowparse_end(parse, true, err);
		if (rowparse_feed(parse, chunk, got, err) != 0)
			return -1;
		if (ops->part != NULL && ops->part(ctx, err) != 0)
			return -1;
	}
}

/*
 * The columns of standard input: those of --columns or of a CSV header, else
 * the fields themselves in template order.
 */
static int choose_format(struct inputs *in, const struct opts *opts,
			 struct error *err)
{
	if (inputs_rows(in, opts, ROWFORMAT_TEXT, err) != 0)
		return -1;
	if (in->keys)
		return 0;
	/* A program sends these rows, not an editor. */
	in->format.bom_is_data = true;
	if (in->format.kind == ROWFORMAT_CSV || opts_has(opts, OPT_COLUMNS))
		return 0;
	for (size_t i = 0; i < in->format.wanted_count; i++)
		in->wanted[i] = bloomkey_field_name(in->spec, i);
	in->format.names = in->wanted;
	in->format.name_count = in->format.wanted_count;
	in->format.header = opts_flag(opts, OPT_HEADER);
	return 0;
}

int keyrows_read(struct inputs *in, const struct opts *opts,
		 const struct keyrows_ops *ops, void *ctx, struct error *err)
{
	struct rowparse *parse = NULL;
	char *chunk;
	int rc;

	if (opts->arg_count > 0)
		return error_set(err, ERROR_USAGE,
				 "option --stdin: no values beside it");
	chunk = malloc(READ_SIZE);
	rc = chunk == NULL ? error_nomem(err) : choose_format(in, opts, err);
	if (rc == 0)
		rc = rowparse_new(&in->format, ops->row, ctx, &parse, err);
	if (rc == 0) {
		rc = pump(parse, ops, ctx, chunk, err);
		/* What stopped it otherwise has no place in the input. */
		if (rc != 0 && err->code != ERROR_SPACE && !stop_asked() &&
		    !output_failed())
			rc = error_prefix(err, "standard input");
	}
	rowparse_free(parse);
	free(chunk);
	return rc;
}
