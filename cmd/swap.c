/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl swap: promotes a generation, goes back, or removes some or all.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/catchup.h"
#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/swap.h"
#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/prune.h"
#include "lib/job/retire.h"
#include "lib/job/swap.h"

static int say_swapped(const struct swap_report *r, bool dry_run,
		       struct error *err)
{
	const char *before = r->resumed ? r->m.previous : r->previous;
	char rows[NUM_TEXT_MAX];
	char text[512];
	int n;

	if (r->already)
		n = snprintf(text, sizeof(text),
			     "set '%s': generation '%s' is live already\n",
			     r->m.set, r->m.generation);
	else
		n = snprintf(text, sizeof(text),
			     "set '%s': generation '%s' %s, %s rows; before "
			     "it: %s%s\n",
			     r->m.set, r->m.generation,
			     dry_run ? "would be live" : "is live",
			     num_grouped(r->m.keys, rows),
			     before[0] != '\0' ? before : "none",
			     dry_run      ? "; nothing was moved"
			     : r->resumed ? "; an earlier swap is finished"
					  : "");
	return output_write(text, (size_t)n, err);
}

static int say_pruned(const struct prune_report *r, bool dry_run,
		      struct error *err)
{
	char text[256];
	int n;

	for (size_t i = 0; i < r->count; i++) {
		n = snprintf(text, sizeof(text), "generation '%s' (%s) %s\n",
			     r->removed[i].generation,
			     manifest_state_name(r->removed[i].state),
			     dry_run ? "would be removed" : "is removed");
		if (output_write(text, (size_t)n, err) != 0)
			return -1;
	}
	if (r->count > 0)
		return 0;
	return output_write("nothing to remove\n",
			    strlen("nothing to remove\n"), err);
}

/* Those that nobody needs; or with --retire all. */
static int prune(const struct opts *opts, struct store *store,
		 struct error *err)
{
	struct prune_report report;
	bool dry_run = opts_flag(opts, OPT_DRY_RUN);
	int rc = opts_flag(opts, OPT_RETIRE)
			 ? retire_run(store, opts_text(opts, OPT_GENERATION),
				      dry_run, &report, err)
			 : prune_run(store, opts_u64(opts, OPT_KEEP, 1),
				     dry_run, &report, err);

	if (!opts_flag(opts, OPT_QUIET) && (rc == 0 || report.count > 0)) {
		struct error ignored = ERROR_INIT;
		int said =
			say_pruned(&report, dry_run, rc == 0 ? err : &ignored);

		rc = rc == 0 ? said : rc;
	}
	prune_report_release(&report);
	return rc;
}

/* What was caught up, and what recent-writes must do for it. */
static int say_caught(const struct receipt *receipt,
		      const struct swap_report *r, struct error *err)
{
	char rows[NUM_TEXT_MAX];
	char added[NUM_TEXT_MAX];
	char exposure[NUM_TEXT_MAX];
	char when[CLOCK_TEXT_MAX];
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"set '%s': caught up to %s: %s rows changed, %s were new; "
		"exposure %s s, keep recent-writes for %lld s\n",
		r->m.set, clock_text(r->live.to.read_at, when),
		num_grouped(r->shadow.rows + r->live.rows, rows),
		num_grouped(r->shadow.added + r->live.added, added),
		num_fixed((double)r->exposure_ms / 1000, 1, exposure),
		output_recent_s(receipt));

	return output_write(text, (size_t)n, err);
}

static void tell(struct receipt *receipt, const struct swap_report *r)
{
	if (r->m.set[0] == '\0')
		return;
	receipt->m = &r->m;
	receipt->previous = r->previous;
	receipt->rows = r->m.rows;
	receipt->keys = r->m.keys;
	receipt->source = r->m.source;
	receipt->sent = receipt->acknowledged =
		r->shadow.acknowledged + r->live.acknowledged;
	if (r->live.passes == 0)
		return;
	receipt->horizon = &r->live.to;
	receipt->exposed = r->exposure_ms > 0;
	receipt->exposure_ms = r->exposure_ms;
	receipt->recent_ms = r->recent_ms;
}

static int swap(const struct opts *opts, struct inputs *in, struct store *store,
		struct receipt *receipt, struct swap_report *report,
		struct error *err)
{
	struct swap_options o = {
		.generation = opts_text(opts, OPT_GENERATION),
		.rollback = opts_flag(opts, OPT_ROLLBACK),
		.allow_shrink = opts_flag(opts, OPT_ALLOW_SHRINK),
		.dry_run = opts_flag(opts, OPT_DRY_RUN),
	};
	struct catchup catchup;
	bool is;
	int rc;

	if (catchup_read(&catchup, &is, in, opts, err) != 0 ||
	    catchup_said(opts, is, &o.unchanging, &o.since, err) != 0)
		return -1;
	if (is)
		o.catchup = &catchup;
	rc = swap_run(store, in->spec, &o, report, err);
	progress_end(&in->line);
	tell(receipt, report);
	if (rc != 0 || opts_flag(opts, OPT_QUIET))
		return rc;
	if (say_swapped(report, o.dry_run, err) != 0)
		return -1;
	return receipt->exposed ? say_caught(receipt, report, err) : 0;
}

static bool removes(const struct opts *opts)
{
	return opts_flag(opts, OPT_PRUNE) || opts_flag(opts, OPT_RETIRE);
}

/* --keep belongs to --prune; in a file it stands there for later. */
static int check_modes(const struct opts *opts, struct error *err)
{
	const struct opt_value *keep = opts_list(opts, OPT_KEEP);

	if (keep->count > 0 && keep->place == PLACE_LINE &&
	    !opts_flag(opts, OPT_PRUNE))
		return error_set(err, ERROR_USAGE,
				 "option --keep: it goes with --prune");
	return swap_check_adopt(opts, err);
}

/*
 * A database is caught up from.  All other sources have nothing to say but to
 * --adopt, also where a file of options names one for other commands.
 */
static int read_source(struct inputs *in, const struct opts *opts,
		       struct error *err)
{
	static const enum option_id source[] = {OPT_SOURCE};

	if (inputs_format(in, opts, ROWFORMAT_CSV, err) != 0)
		return -1;
	if (in->database || opts_flag(opts, OPT_ADOPT) || removes(opts))
		return 0;
	return inputs_refuse(opts, source, 1,
			     "a swap catches up from a database; other sources "
			     "are for --adopt",
			     err);
}

/* What it is called in a receipt. */
static const char *name_of(const struct opts *opts)
{
	if (opts_flag(opts, OPT_ADOPT))
		return "swap --adopt";
	if (opts_flag(opts, OPT_PRUNE))
		return "swap --prune";
	if (opts_flag(opts, OPT_RETIRE))
		return "swap --retire";
	return opts_flag(opts, OPT_ROLLBACK) ? "swap --rollback" : "swap";
}

int cmd_swap(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct audit_report adopted;
	struct swap_report report;
	struct receipt receipt;
	struct target target;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&adopted, 0, sizeof(adopted));
	memset(&report, 0, sizeof(report));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = name_of(opts);
	receipt.started = clock_wall_ms();
	receipt.dry_run = opts_flag(opts, OPT_DRY_RUN);
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = check_modes(opts, err);
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = read_source(&in, opts, err);
	if (rc == 0)
		rc = target_open(&target, opts, in.spec, TARGET_WRITES, err);
	if (rc == 0 && opts_flag(opts, OPT_ADOPT))
		rc = swap_adopt(opts, &in, target.store, &receipt, &adopted,
				err);
	else if (rc == 0)
		rc = removes(opts) ? prune(opts, target.store, err)
				   : swap(opts, &in, target.store, &receipt,
					  &report, err);
	receipt.spec = in.spec;
	rc = output_receipt(opts, &receipt, rc, err);
	target_close(&target);
	swap_report_release(&report);
	audit_report_release(&adopted);
	inputs_release(&in);
	return rc;
}
