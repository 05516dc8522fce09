/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl verify: every row is found, non-members are not.
 */
#include "cmd/verify.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/output.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

/* Keys are the answer where some are missing, and listed before the message. */
static int say(const struct opts *opts, const struct verify *v,
	       const struct audit_report *report, int rc, struct error *err)
{
	struct error wrong = ERROR_INIT;

	if (report->again.asked && report->again.facts.standby)
		log_warn("rows that were not found were read again on a "
			 "standby, %s, which may be behind: name the primary "
			 "in --writer",
			 report->again.facts.place);
	if (rc == 0)
		return opts_flag(opts, OPT_QUIET) ? 0
						  : verifyprint(v, report, err);
	if (err->code == ERROR_VERIFY && report->missing > 0 &&
	    !opts_flag(opts, OPT_QUIET_KEYS) &&
	    (verifyprint_missed(report, &wrong) != 0 ||
	     output_flush(&wrong) != 0))
		log_warn("%s", wrong.text);
	return rc;
}

static int audit(const struct opts *opts, struct inputs *in, struct verify *v,
		 struct audit_report *report, struct error *err)
{
	struct target target;
	int rc = target_open(&target, opts, in->spec, TARGET_READS, err);

	if (rc == 0) {
		verifyask_target(v, opts, &target);
		in->scan.phase = "verifying";
		rc = audit_run(target.store, &in->scan, &v->options, report,
			       err);
		progress_end(&in->line);
		if (rc == 0)
			inputs_tell_rejects(in);
		rc = say(opts, v, report, rc, err);
	}
	target_close(&target);
	return rc;
}

static int run(const struct opts *opts, struct inputs *in, struct verify *v,
	       struct audit_report *report, struct error *err)
{
	if (opts_no_args(opts, err) != 0 ||
	    opts_require(opts, OPT_TARGET, err) != 0 ||
	    inputs_spec(in, opts, err) != 0 ||
	    inputs_format(in, opts, ROWFORMAT_CSV, err) != 0 ||
	    verifyask(v, opts, in, err) != 0 ||
	    inputs_source(in, opts, err) != 0)
		return -1;
	return audit(opts, in, v, report, err);
}

int cmd_verify(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct verify v;
	struct audit_report report;
	struct receipt receipt;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&v, 0, sizeof(v));
	memset(&report, 0, sizeof(report));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = "verify";
	receipt.started = clock_wall_ms();
	rc = run(opts, &in, &v, &report, err);
	receipt.m = report.m.set[0] != '\0' ? &report.m : NULL;
	receipt.source = in.source_name;
	receipt.rows = report.rows;
	receipt.keys = report.rows - report.rejects;
	receipt.rejects = &in.rejects.count;
	receipt.asked = report.asked;
	receipt.missing = report.missing;
	receipt.missed = report.again.whys;
	receipt.replicas = &report.replicas;
	receipt.absent = report.absent;
	receipt.absent_hits = report.absent_hits;
	receipt.spec = in.spec;
	rc = output_receipt(opts, &receipt, rc, err);
	audit_report_release(&report);
	inputs_release(&in);
	free(v.fresh);
	return rc;
}
