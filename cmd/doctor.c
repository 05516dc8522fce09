/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl doctor: whether a target is fit for a set, and a source to be read.
 */
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/job/doctor.h"
#include "lib/job/doctorsource.h"

static int print_csv(const struct doctor_report *r, struct error *err)
{
	struct table t;
	int bad = 0;
	int rc;

	table_init(&t, 4);
	bad |= table_add(&t, "level") | table_add(&t, "what") |
	       table_add(&t, "evidence") | table_add(&t, "remedy");
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.list[i];

		bad |= table_add(&t, finding_level_name(f->level)) |
		       table_add(&t, f->what) | table_add(&t, f->evidence) |
		       table_add(&t, f->remedy);
	}
	rc = output_table(&t, NULL, bad != 0, OUTPUT_CSV, err);
	table_release(&t);
	return rc;
}

/* A finding a line, with the remedy below it. */
static int print_text(const struct doctor_report *r, struct error *err)
{
	struct buf out;
	int bad = 0;
	int rc;

	buf_init(&out, 64u << 20);
	for (size_t i = 0; i < r->findings.count; i++)
		bad |= output_finding_text(&r->findings.list[i], &out);
	rc = bad != 0 ? error_nomem(err) : output_write(out.data, out.len, err);
	buf_release(&out);
	return rc;
}

static int print_json(const struct doctor_report *r, int status,
		      struct error *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->findings.count; i++)
		if (json_array_append_new(
			    list, output_finding(&r->findings.list[i])) != 0)
			break;
	return output_json(json_pack("{s:s, s:i, s:o}", "set", r->set, "status",
				     status, "findings", list),
			   err);
}

/* 0, or what the first error would end a command with. */
static int status_of(const struct doctor_report *r)
{
	const struct finding *worst = findings_worst(&r->findings);

	return worst != NULL && worst->level == FINDING_ERROR ? (int)worst->code
							      : 0;
}

static int print(const struct opts *opts, const struct doctor_report *r,
		 struct error *err)
{
	enum output_format format = output_format(opts);
	int status = status_of(r);
	int rc;

	if (format == OUTPUT_JSON)
		rc = print_json(r, status, err);
	else if (format == OUTPUT_CSV)
		rc = print_csv(r, err);
	else
		rc = print_text(r, err);
	return rc == 0 ? status : -1;
}

/* What says nothing about either end: a stop, or that memory is out. */
static bool ours(enum error_code code)
{
	return code == ERROR_INTERNAL || code == ERROR_INTERRUPTED ||
	       code == ERROR_TERMINATED;
}

static int look_at_target(struct target *target, const struct opts *opts,
			  const struct bloomkey_spec *spec,
			  struct doctor_report *report, struct error *err)
{
	struct error opened = ERROR_INIT;
	int rc = target_open(target, opts, spec, TARGET_READS, &opened);

	if (rc != 0 && (opened.code == ERROR_USAGE || ours(opened.code))) {
		*err = opened;
		return -1;
	}
	/* A build would make a folder that is not there. */
	if (rc != 0 && opened.code == ERROR_SOURCE &&
	    store_creatable(opts_text(opts, OPT_TARGET), &opened) == 0)
		opened.code = ERROR_NONE;
	return doctor_run(target->store, spec, &opened, report, err);
}

/*
 * Whether the options are at fault for a source that could not be opened, and
 * not the SQL in them, of which a database says what is wrong.
 */
static bool is_wrong_usage(const struct inputs *in, const struct opts *opts,
			   const struct error *opened)
{
	return opened->code == ERROR_USAGE &&
	       (opts_list(opts, OPT_SOURCE)->count > 1 ||
		(in->query.table == NULL && in->query.query == NULL));
}

static int look_at_source(struct inputs *in, const struct opts *opts,
			  struct doctor_report *report, struct error *err)
{
	struct error opened = ERROR_INIT;

	if (inputs_source(in, opts, &opened) != 0 &&
	    (ours(opened.code) || is_wrong_usage(in, opts, &opened))) {
		*err = opened;
		return -1;
	}
	return doctor_source(in->source, in->spec, &opened, &report->findings,
			     err);
}

/* At least one of both ends. */
static int look(struct inputs *in, struct target *target,
		const struct opts *opts, struct doctor_report *report,
		struct error *err)
{
	int rc = inputs_format(in, opts, ROWFORMAT_CSV, err);

	if (rc == 0 && !opts_has(opts, OPT_SOURCE))
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc != 0)
		return -1;
	names_set(in->spec, report->set);
	if (opts_has(opts, OPT_TARGET))
		rc = look_at_target(target, opts, in->spec, report, err);
	if (rc == 0 && opts_has(opts, OPT_SOURCE))
		rc = look_at_source(in, opts, report, err);
	return rc;
}

int cmd_doctor(const struct opts *opts, struct error *err)
{
	struct doctor_report report;
	struct inputs in;
	struct target target;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&report, 0, sizeof(report));
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = look(&in, &target, opts, &report, err);
	if (rc == 0)
		rc = print(opts, &report, err);
	doctor_report_release(&report);
	target_close(&target);
	inputs_release(&in);
	return rc;
}
