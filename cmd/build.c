/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl build: source → a new generation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/build.h"
#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/build.h"

void build_read(const struct opts *opts, struct build_options *o)
{
	const char *capacity = opts_text(opts, OPT_CAPACITY);

	memset(o, 0, sizeof(*o));
	o->engine = inputs_engine(opts);
	o->error = opts_double(opts, OPT_ERROR_RATE, 0.01);
	o->dry_run = opts_flag(opts, OPT_DRY_RUN);
	o->headroom = opts_double(opts, OPT_HEADROOM, 25);
	o->capacity = BUILD_COUNTED;
	if (opts_has(opts, OPT_KEYS)) {
		o->capacity = BUILD_PLANNED;
		o->number = opts_u64(opts, OPT_KEYS, 0);
	} else if (capacity != NULL && strcmp(capacity, "auto") != 0) {
		o->capacity = BUILD_GIVEN;
		o->number = opts_u64(opts, OPT_CAPACITY, 0);
	}
}

int build_say(const struct build_report *r, bool dry_run, struct error *err)
{
	const struct manifest *m = &r->m;
	char rows[NUM_TEXT_MAX];
	char bytes[NUM_TEXT_MAX];
	char rate[NUM_TEXT_MAX];
	char fill[NUM_TEXT_MAX];
	char text[512];
	int n;

	(void)num_grouped(m->rows, rows);
	(void)num_bytes_text(r->set_bytes, bytes);
	(void)num_double_text(m->error, rate);
	if (dry_run)
		n = snprintf(text, sizeof(text),
			     "set '%s': would build %" PRIu32 " filters of "
			     "capacity %" PRIu64 " at error rate %s, %s%s; "
			     "nothing was written\n",
			     m->set, m->buckets, m->capacity, rate, bytes,
			     r->target_missing ? ", in a target that would be "
						 "made"
					       : "");
	else
		n = snprintf(text, sizeof(text),
			     "set '%s': generation '%s' is complete: %s rows "
			     "in %" PRIu32 " filters of capacity %" PRIu64
			     " at error rate %s, %s, fullest %s %%\n",
			     m->set, m->generation, rows, m->buckets,
			     m->capacity, rate, bytes,
			     num_fixed((double)r->hottest * 100 /
					       (double)m->capacity,
				       1, fill));
	return output_write(text, (size_t)n, err);
}

static int run(const struct opts *opts, struct inputs *in,
	       struct build_options *o, struct build_report *report,
	       struct error *err)
{
	struct target target;
	int rc;

	rc = target_open(&target, opts, in->spec,
			 o->dry_run ? TARGET_READS : TARGET_MAKES, err);
	/* A dry run makes nothing, and so accepts that nothing is there. */
	if (rc != 0 && o->dry_run && err->code == ERROR_SOURCE)
		rc = store_creatable(opts_text(opts, OPT_TARGET), err);
	if (rc == 0)
		rc = build_run(target.store, &in->scan, o, report, err);
	target_close(&target);
	progress_end(&in->line);
	if (rc == 0 && !opts_flag(opts, OPT_QUIET))
		rc = build_say(report, o->dry_run, err);
	return rc;
}

int cmd_build(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct build_options o;
	struct build_report report;
	struct receipt receipt;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&report, 0, sizeof(report));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = "build";
	receipt.started = clock_wall_ms();
	build_read(opts, &o);
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = inputs_format(&in, opts, ROWFORMAT_CSV, err);
	if (rc == 0)
		rc = inputs_source(&in, opts, err);
	if (rc == 0) {
		o.source = in.source_name;
		in.scan.phase = "building";
		rc = run(opts, &in, &o, &report, err);
		receipt.m = &report.m;
		if (rc == 0)
			inputs_tell_rejects(&in);
	}
	receipt.source = in.source_name;
	receipt.rejects = &in.rejects.count;
	receipt.rows = report.m.rows;
	receipt.keys = report.m.keys;
	receipt.sent = o.dry_run ? 0 : report.m.keys;
	receipt.acknowledged =
		report.m.state == MANIFEST_COMPLETE ? report.m.keys : 0;
	receipt.dry_run = o.dry_run;
	receipt.spec = in.spec;
	rc = output_receipt(opts, &receipt, rc, err);
	build_report_release(&report);
	inputs_release(&in);
	return rc;
}
