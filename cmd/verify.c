/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl verify: every row is found, non-members are not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/audit.h"

static int print_summary(const struct audit_report *r, struct error *err)
{
	char rows[NUM_TEXT_MAX];
	char absent[NUM_TEXT_MAX];
	char hits[NUM_TEXT_MAX];
	char rate[NUM_TEXT_MAX];
	char text[512];
	size_t used;

	(void)snprintf(text, sizeof(text),
		       "set '%s': generation '%s': all %s rows are found",
		       r->m.set, r->m.generation,
		       num_grouped(r->rows - r->rejects, rows));
	used = strlen(text);
	if (r->absent > 0)
		(void)snprintf(text + used, sizeof(text) - used,
			       "; of %s random non-members %s are found, "
			       "designed rate %s",
			       num_grouped(r->absent, absent),
			       num_grouped(r->absent_hits, hits),
			       num_double_text(r->m.error, rate));
	used = strlen(text);
	(void)snprintf(text + used, sizeof(text) - used, "\n");
	return output_write(text, strlen(text), err);
}

int cmd_verify(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct audit_report report;
	struct receipt receipt;
	struct target target;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&report, 0, sizeof(report));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = "verify";
	receipt.started = clock_wall_ms();
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = inputs_format(&in, opts, ROWFORMAT_CSV, err);
	if (rc == 0)
		rc = inputs_source(&in, opts, err);
	if (rc == 0)
		rc = target_open(&target, opts, in.spec, TARGET_READS, err);
	if (rc == 0) {
		in.scan.phase = "verifying";
		rc = audit_run(
			target.store, &in.scan, opts_text(opts, OPT_GENERATION),
			opts_u64(opts, OPT_ABSENT, 100000), &report, err);
		progress_end(&in.line);
		receipt.m = report.m.set[0] != '\0' ? &report.m : NULL;
		if (rc == 0)
			inputs_tell_rejects(&in);
	}
	if (rc == 0 && !opts_flag(opts, OPT_QUIET))
		rc = print_summary(&report, err);
	receipt.source = in.source_name;
	receipt.rows = report.rows;
	receipt.keys = report.rows - report.rejects;
	receipt.rejects = &in.rejects.count;
	receipt.missing = report.missing;
	receipt.absent = report.absent;
	receipt.absent_hits = report.absent_hits;
	receipt.spec = in.spec;
	rc = output_receipt(opts, &receipt, rc, err);
	target_close(&target);
	audit_report_release(&report);
	inputs_release(&in);
	return rc;
}
