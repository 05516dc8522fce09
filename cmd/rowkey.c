/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/rowkey.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/keyrows.h"
#include "lib/job/keyrow.h"

int rowkey_derive(const struct inputs *in, const void *const *values,
		  const size_t *lens, struct rowkey *out, struct error *err)
{
	const struct bloomkey_spec *spec = in->spec;

	if (in->keys) {
		out->reject = keyrow_take(spec, values, lens, &out->at);
		if (out->reject == 0)
			memcpy(out->bytes, values[0], lens[0]);
	} else {
		out->reject = bloomkey_derive(spec, values, lens, out->bytes,
					      sizeof(out->bytes), &out->at);
	}
	if (out->reject != 0)
		return bloomkey_reason(out->reject) != NULL
			       ? 0
			       : rejects_error(spec, out->reject, 0, err);
	if (bloomkey_filter(spec, out->at.bucket, out->filter,
			    sizeof(out->filter)) < 0)
		return error_set(err, ERROR_INTERNAL,
				 "no name for bucket %" PRIu32, out->at.bucket);
	return 0;
}

void rowkey_release(struct rowkey *key)
{
	for (size_t i = 0; i < key->count; i++)
		free(key->values[i]);
	free(key->values);
	key->values = NULL;
	key->count = 0;
}

/* Copies a row's values, each with a NUL behind it. */
static int keep(const struct inputs *in, const void *const *values,
		const size_t *lens, struct rowkey *out, struct error *err)
{
	size_t n = bloomkey_fields(in->spec);

	if (!out->keep || in->keys)
		return 0;
	out->values = calloc(n, sizeof(*out->values));
	if (out->values == NULL)
		return error_nomem(err);
	out->count = n;
	for (size_t i = 0; i < n; i++) {
		if (values[i] == NULL)
			continue;
		out->nul = out->nul || memchr(values[i], 0, lens[i]) != NULL;
		out->values[i] = malloc(lens[i] + 1);
		if (out->values[i] == NULL)
			return error_nomem(err);
		memcpy(out->values[i], values[i], lens[i]);
		out->values[i][lens[i]] = '\0';
	}
	return 0;
}

/* The same, with the reject as an error. */
static int derive(const struct inputs *in, const void *const *values,
		  const size_t *lens, struct rowkey *out, struct error *err)
{
	if (keep(in, values, lens, out, err) != 0 ||
	    rowkey_derive(in, values, lens, out, err) != 0)
		return -1;
	return out->reject == 0 ? 0
				: rejects_error(in->spec, out->reject,
						out->at.field, err);
}

/* "FIELD FIELD", for the hint of a wrong number of values. */
static void name_fields(const struct bloomkey_spec *spec, char *out,
			size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < bloomkey_fields(spec) && used < size; i++) {
		(void)snprintf(out + used, size - used, " %s",
			       bloomkey_field_name(spec, i));
		used = strlen(out);
	}
}

static int wrong_number(const struct bloomkey_spec *spec, size_t given,
			struct error *err)
{
	size_t n = bloomkey_fields(spec);
	char fields[200];

	(void)error_set(err, ERROR_USAGE,
			"number of values: %zu, where the keyspec has %zu "
			"field%s",
			given, n, n == 1 ? "" : "s");
	name_fields(spec, fields, sizeof(fields));
	return error_hint(err, "give them in template order:%s", fields);
}

/*
 * All who may list processes read arguments, and shells keep them: a row with
 * a keyed field is refused there, and none is asked for there.
 */
static int refuse_args(const struct bloomkey_spec *spec, const char *keyed,
		       size_t given, struct error *err)
{
	if (given == 0)
		(void)wrong_number(spec, given, err);
	else
		(void)error_set(err, ERROR_USAGE,
				"field '%s' is keyed: its value does not "
				"belong on the command line",
				keyed);
	return error_hint(err, "give the row on standard input, with --stdin");
}

static int from_args(const struct inputs *in, const struct opts *opts,
		     struct rowkey *out, struct error *err)
{
	const struct bloomkey_spec *spec = in->spec;
	const char *keyed = inputs_keyed(in);
	size_t n = bloomkey_fields(spec);
	size_t *lens;
	int rc;

	if (keyed != NULL)
		return refuse_args(spec, keyed, opts->arg_count, err);
	if (opts->arg_count != n)
		return wrong_number(spec, opts->arg_count, err);
	lens = calloc(n, sizeof(*lens));
	if (lens == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		lens[i] = strlen(opts->args[i]);
	rc = derive(in, (const void *const *)opts->args, lens, out, err);
	free(lens);
	return rc;
}

struct one_row {
	const struct inputs *in;
	struct rowkey *out;
	uint64_t rows;
};

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct one_row *one = ctx;

	if (++one->rows > 1)
		return error_set(err, ERROR_USAGE,
				 "more than one row, where one is asked about");
	return derive(one->in, row->values, row->lens, one->out, err);
}

static int from_stdin(struct inputs *in, const struct opts *opts,
		      struct rowkey *out, struct error *err)
{
	static const struct keyrows_ops ops = {on_row, NULL};
	struct one_row one = {in, out, 0};

	if (keyrows_read(in, opts, &ops, &one, err) != 0)
		return -1;
	if (one.rows == 0)
		return error_set(err, ERROR_USAGE,
				 "standard input: no row, where one is asked "
				 "about");
	return 0;
}

int rowkey_one(struct inputs *in, const struct opts *opts, struct rowkey *out,
	       struct error *err)
{
	out->reject = 0;
	return opts_flag(opts, OPT_STDIN) ? from_stdin(in, opts, out, err)
					  : from_args(in, opts, out, err);
}
