/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl export: source → rows or keys, in files with a list, or on standard
 * output with a trailer.
 */
#include "lib/job/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"
#include "lib/base/log.h"
#include "lib/base/num.h"

#define FILES "file:"

static int write_output(void *ctx, const void *data, size_t len,
			struct error *err)
{
	(void)ctx;
	return output_write(data, len, err);
}

static int check_target(const struct opts *opts, struct error *err)
{
	const char *target;

	if (opts_no_args(opts, err) != 0 ||
	    opts_require(opts, OPT_TARGET, err) != 0)
		return -1;
	target = opts_text(opts, OPT_TARGET);
	if (strcmp(target, "-") == 0 ||
	    strncmp(target, FILES, strlen(FILES)) == 0)
		return 0;
	/* One in the environment may hold a server's password. */
	(void)error_set(err, ERROR_USAGE,
			"target '%.*s': no such kind of target of an export",
			(int)(strchr(target, '@') != NULL
				      ? strcspn(target, ":")
				      : strnlen(target, 200)),
			target);
	return error_hint(err, "there is: file:PATH, for PATH.00001.csv.gz and "
			       "so on; -, standard output");
}

/* The options that say nothing to what is exported, or where to. */
static int check_options(const struct inputs *in, const struct opts *opts,
			 bool keys, struct error *err)
{
	static const enum option_id of_keys[] = {
		OPT_MAX_REJECTS, OPT_REJECTS, OPT_REJECTS_RAW, OPT_NULL_TEXT};
	static const enum option_id of_rows[] = {OPT_OUTPUT_FORMAT};
	static const enum option_id of_files[] = {OPT_JOBS};

	if (!keys &&
	    inputs_refuse(opts, of_keys, sizeof(of_keys) / sizeof(of_keys[0]),
			  "it is for an export of keys; rows are "
			  "copied as they are",
			  err) != 0)
		return -1;
	if (keys &&
	    inputs_refuse(opts, of_rows, 1,
			  "keys are always written as COPY text", err) != 0)
		return -1;
	if (!keys && !in->database &&
	    inputs_refuse(opts, of_rows, 1,
			  "it is for a database; other rows are copied as "
			  "they are",
			  err) != 0)
		return -1;
	return strcmp(opts_text(opts, OPT_TARGET), "-") == 0
		       ? inputs_refuse(opts, of_files, 1,
				       "a pipe is written by one worker", err)
		       : 0;
}

/* *keys: whether keys are exported, and not rows. */
static int read_inputs(struct inputs *in, const struct opts *opts, bool *keys,
		       struct error *err)
{
	const char *format = opts_text(opts, OPT_OUTPUT_FORMAT);

	if (opts_has(opts, OPT_KEYSPEC) && inputs_spec(in, opts, err) != 0)
		return -1;
	*keys = opts_flag(opts, OPT_CANONICAL) || inputs_keyed(in) != NULL;
	if (*keys && in->spec == NULL)
		return error_set(err, ERROR_USAGE,
				 "option --canonical: it needs --keyspec");
	if (inputs_format(in, opts, ROWFORMAT_CSV, err) != 0)
		return -1;
	in->query.csv = in->database && !*keys &&
			(format == NULL || strcmp(format, "csv") == 0);
	if (in->query.csv) {
		in->format.kind = ROWFORMAT_CSV;
		in->format.header = true;
	}
	if (inputs_source(in, opts, err) != 0)
		return -1;
	*keys = *keys || in->keys;
	return check_options(in, opts, *keys, err);
}

/* Whether a list can hold a name: its text is UTF-8. */
static bool is_listable(const char *name)
{
	json_t *json = json_string(name);

	json_decref(json);
	return json != NULL;
}

/* Names for the list, or none where those of the header are enough. */
static int copy_columns(const struct rowformat *format, struct exportlist *out,
			struct error *err)
{
	size_t bad = 0;

	if (format->names == NULL)
		return 0;
	while (bad < format->name_count && is_listable(format->names[bad]))
		bad++;
	if (bad < format->name_count && format->header)
		return 0;
	if (bad < format->name_count) {
		(void)error_set(err, ERROR_USAGE,
				"column %zu: its name is no text of UTF-8, and "
				"the list of an export must have it",
				bad + 1);
		return error_hint(err, "name it otherwise, or export it with a "
				       "header, which has the names, too");
	}
	out->columns = calloc(format->name_count + 1, sizeof(char *));
	if (out->columns == NULL)
		return error_nomem(err);
	out->column_count = format->name_count;
	for (size_t i = 0; i < format->name_count; i++) {
		out->columns[i] = strdup(format->names[i]);
		if (out->columns[i] == NULL)
			return error_nomem(err);
	}
	return 0;
}

/* What a list says of keys; those of a list that is copied keep their maker. */
static int describe_keys(const struct inputs *in, struct exportlist *out,
			 struct error *err)
{
	static const char *const columns[] = {EXPORTLIST_KEY};
	const struct rowformat format = {.names = columns, .name_count = 1};
	const struct exportlist *from =
		in->spec == NULL ? in->source->ops->list(in->source) : NULL;

	out->kind = EXPORTLIST_KEYS;
	(void)snprintf(out->set, sizeof(out->set), "%s",
		       from != NULL ? from->set : bloomkey_name(in->spec));
	(void)snprintf(out->fingerprint, sizeof(out->fingerprint), "%s",
		       from != NULL ? from->fingerprint
				    : bloomkey_fingerprint(in->spec));
	return copy_columns(&format, out, err);
}

static bool copies_keys(const struct inputs *in)
{
	const struct exportlist *from =
		in->source->ops->list != NULL
			? in->source->ops->list(in->source)
			: NULL;

	return from != NULL && from->kind == EXPORTLIST_KEYS;
}

static int describe(const struct inputs *in, const struct opts *opts, bool keys,
		    struct export *e, struct error *err)
{
	const char *compress = opts_text(opts, OPT_COMPRESS);
	struct exportlist *out = &e->list;

	out->packed = compress != NULL  ? pack_by_name(compress)
		      : e->path != NULL ? PACK_GZIP
					: PACK_NONE;
	out->source = strdup(in->source_name);
	if (out->source == NULL)
		return error_nomem(err);
	if (keys || copies_keys(in))
		return describe_keys(in, out, err);
	out->kind = in->format.kind == ROWFORMAT_CSV ? EXPORTLIST_CSV
						     : EXPORTLIST_TEXT;
	out->header = in->format.header || in->format.names == NULL;
	return copy_columns(&in->format, out, err);
}

static int say(const struct export *e, const struct export_report *r,
	       struct error *err)
{
	const char *what = e->list.kind == EXPORTLIST_KEYS ? "key" : "row";
	char rows[NUM_TEXT_MAX], bytes[NUM_TEXT_MAX];
	char text[512];
	int n;

	if (e->path == NULL) {
		log_step("%" PRIu64 " %ss, %" PRIu64 " bytes", r->rows, what,
			 r->bytes);
		return 0;
	}
	n = snprintf(text, sizeof(text),
		     "export '%.200s': %s %s%s in %zu file%s of %s, listed in "
		     "'%.200s%s'\n",
		     e->path, num_grouped(r->rows, rows), what,
		     r->rows == 1 ? "" : "s", r->parts,
		     r->parts == 1 ? "" : "s", num_bytes_text(r->packed, bytes),
		     e->path, EXPORTLIST_SUFFIX);
	return output_write(text, (size_t)n, err);
}

static int run(struct inputs *in, const struct opts *opts, bool keys,
	       struct export *e, struct export_report *report,
	       struct error *err)
{
	int rc;

	in->scan.phase = "exporting";
	if (e->path == NULL)
		in->scan.jobs = 1;
	if (!keys) {
		in->scan.spec = NULL;
		in->scan.rejects = NULL;
	}
	rc = describe(in, opts, keys, e, err);
	if (rc == 0)
		rc = export_run(e, report, err);
	/* Where the output failed the source is not to blame. */
	if (e->path == NULL && (rc == 0 || output_failed()) &&
	    output_flush(err) != 0)
		rc = -1;
	progress_end(&in->line);
	if (rc != 0)
		return -1;
	inputs_tell_rejects(in);
	return opts_flag(opts, OPT_QUIET) ? 0 : say(e, report, err);
}

int cmd_export(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct receipt receipt;
	struct export_report report;
	struct export e;
	bool keys = false;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&report, 0, sizeof(report));
	memset(&receipt, 0, sizeof(receipt));
	memset(&e, 0, sizeof(e));
	receipt.command = "export";
	receipt.started = clock_wall_ms();
	rc = check_target(opts, err);
	if (rc == 0)
		rc = read_inputs(&in, opts, &keys, err);
	if (rc == 0) {
		const char *target = opts_text(opts, OPT_TARGET);

		e.scan = &in.scan;
		e.pipe.write = write_output;
		if (strcmp(target, "-") != 0)
			e.path = target + strlen(FILES);
		rc = run(&in, opts, keys, &e, &report, err);
	}
	receipt.spec = keys ? in.spec : NULL;
	receipt.source = in.source_name;
	receipt.origin = e.list.origin;
	receipt.horizon = &e.list.horizon;
	receipt.rows = report.read;
	receipt.keys = keys ? report.rows : 0;
	receipt.rejects = &in.rejects.count;
	rc = output_receipt(opts, &receipt, rc, err);
	exportlist_release(&e.list);
	inputs_release(&in);
	return rc;
}
