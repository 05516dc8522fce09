/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl rebuild: all that a schedule does, under one lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/build.h"
#include "cmd/catchup.h"
#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/job/hook.h"
#include "lib/job/rebuild.h"

/* Rows of a database that are asked for at the end. */
#define SAMPLE 100000
/* How long --after may take behind a stop, in milliseconds. */
#define AFTER_STOP_MS 10000

/* Hooks get ours. */
extern char **environ;

struct run {
	const struct opts *opts;
	struct inputs in;
	struct catchup catchup;
	struct rebuild_options o;
	struct rebuild_report report;
	struct receipt receipt;
};

static void fill_receipt(struct run *r)
{
	const struct rebuild_report *report = &r->report;
	const struct manifest *built = &report->build.m;
	const struct swap_report *s = &report->swap;
	struct receipt *out = &r->receipt;
	uint64_t passes = s->shadow.acknowledged + s->live.acknowledged;

	out->step = rebuild_step_name(report->step);
	if (built->set[0] != '\0')
		out->m = built;
	if (s->m.set[0] != '\0')
		out->m = &s->m;
	out->previous = report->live;
	out->rows = built->rows;
	out->keys = built->keys;
	out->sent = r->o.build.dry_run ? 0 : built->keys + passes;
	out->acknowledged =
		built->state == MANIFEST_COMPLETE ? built->keys + passes : 0;
	if (s->shadow.passes > 0)
		out->horizon = &s->shadow.to;
	if (s->live.passes > 0)
		out->horizon = &s->live.to;
	out->exposed = s->exposure_ms > 0;
	out->exposure_ms = s->exposure_ms;
	out->recent_ms = s->recent_ms;
	out->missing = report->audit.missing;
	out->absent = report->audit.absent;
	out->absent_hits = report->audit.absent_hits;
}

/* Runs a hook with the receipt, which says this status. */
static int run_hook(struct run *r, const struct hook *hook, int status,
		    const struct error *why, struct error *err)
{
	size_t len;
	char *text = output_receipt_text(&r->receipt, status, why, &len, err);
	int rc;

	if (text == NULL)
		return -1;
	progress_end(&r->in.line);
	rc = hook_run(hook, text, len, err);
	free(text);
	return rc;
}

static int before_swap(void *ctx, struct error *err)
{
	struct run *r = ctx;
	const struct hook hook = {.option = "--before-swap",
				  .command =
					  opts_text(r->opts, OPT_BEFORE_SWAP),
				  .environment = environ};
	const struct error none = ERROR_INIT;

	if (hook.command == NULL)
		return 0;
	fill_receipt(r);
	if (run_hook(r, &hook, 0, &none, err) == 0)
		return 0;
	return err->code == ERROR_VERIFY
		       ? error_hint(err,
				    "where the hook is wrong: bloomctl swap "
				    "-g %s promotes what was built",
				    r->report.build.m.generation)
		       : -1;
}

/*
 * At the end, whatever it was.  What failed before is what is told; a hook that
 * fails alone is worth another try of what it does, and not of the rebuild.
 */
static int after(struct run *r, int rc, struct error *err)
{
	const struct hook hook = {.option = "--after",
				  .command = opts_text(r->opts, OPT_AFTER),
				  .environment = environ,
				  .patience_ms =
					  stop_asked() ? AFTER_STOP_MS : 0};
	struct error why = ERROR_INIT;

	if (hook.command == NULL || r->o.build.dry_run ||
	    (rc < 0 && err->code == ERROR_USAGE) ||
	    run_hook(r, &hook, rc, err, &why) == 0)
		return rc;
	if (rc < 0) {
		log_warn("%s", why.text);
		return rc;
	}
	*err = why;
	if (err->code == ERROR_VERIFY)
		err->code = ERROR_TEMPORARY;
	(void)error_hint(err, "the rebuild is done, and '%s' is live",
			 r->report.swap.m.generation);
	return output_receipt(r->opts, &r->receipt, -1, err);
}

static void source_read(void *ctx)
{
	struct run *r = ctx;

	inputs_tell_rejects(&r->in);
	inputs_close(&r->in);
}

/* One line: what is live, what was caught up, what was asked for. */
static int say(const struct run *r, struct error *err)
{
	const struct rebuild_report *report = &r->report;
	const struct swap_report *s = &report->swap;
	const struct manifest *m = &s->m;
	char rows[NUM_TEXT_MAX], caught[NUM_TEXT_MAX];
	char fill[NUM_TEXT_MAX], asked[NUM_TEXT_MAX], exposure[NUM_TEXT_MAX];
	struct buf text;
	int bad;
	int rc;

	(void)num_fixed((double)report->build.hottest * 100 /
				(double)m->capacity,
			1, fill);
	buf_init(&text, 4096);
	bad = buf_addf(&text,
		       "set '%s': generation '%s' is live: %s rows in %" PRIu32
		       " filters, fullest %s %%; before it: %s",
		       m->set, m->generation, num_grouped(m->keys, rows),
		       m->buckets, fill,
		       report->live[0] != '\0' ? report->live : "none");
	if (s->caught)
		bad |= buf_addf(
			&text,
			"; caught up %s rows, exposure %s s, keep "
			"recent-writes for %lld s",
			num_grouped(s->shadow.rows + s->live.rows, caught),
			num_fixed((double)s->exposure_ms / 1000, 1, exposure),
			output_recent_s(&r->receipt));
	if (report->verified)
		bad |= buf_addf(
			&text, "; all %s rows asked for are found",
			num_grouped(report->audit.rows - report->audit.rejects,
				    asked));
	bad |= buf_adds(&text, "\n");
	rc = bad != 0 ? error_nomem(err)
		      : output_write(text.data, text.len, err);
	buf_release(&text);
	return rc;
}

/* What is committed while it runs must come from somewhere, or not be. */
static int check_catchup(const struct run *r, bool is, struct error *err)
{
	const struct swap_options *o = &r->o.swap;

	if (is || o->unchanging || o->since != 0)
		return 0;
	(void)error_set(err, ERROR_USAGE,
			r->in.database
				? "option --catch-up none: what is committed "
				  "while a rebuild runs would be missing"
				: "the source is no database, from which what "
				  "is committed meanwhile could be read");
	return error_hint(err, "say that nothing is: --static; or from where "
			       "on writers add it again: --horizon TIME");
}

static int read_options(struct run *r, struct error *err)
{
	const struct opts *opts = r->opts;
	struct rebuild_options *o = &r->o;
	bool is;

	build_read(opts, &o->build);
	o->keep = opts_u64(opts, OPT_KEEP, 1);
	o->sample = SAMPLE;
	o->absent = opts_u64(opts, OPT_ABSENT, 100000);
	o->read = source_read;
	o->ctx = r;
	o->swap.allow_shrink = opts_flag(opts, OPT_ALLOW_SHRINK);
	o->swap.before = before_swap;
	o->swap.ctx = r;
	if (opts_no_args(opts, err) != 0 ||
	    opts_require(opts, OPT_TARGET, err) != 0 ||
	    opts_require(opts, OPT_SOURCE, err) != 0 ||
	    inputs_spec(&r->in, opts, err) != 0 ||
	    inputs_format(&r->in, opts, ROWFORMAT_CSV, err) != 0 ||
	    catchup_read(&r->catchup, &is, &r->in, opts, err) != 0 ||
	    catchup_said(opts, is, &o->swap.unchanging, &o->swap.since, err) !=
		    0 ||
	    check_catchup(r, is, err) != 0)
		return -1;
	if (is)
		o->swap.catchup = &r->catchup;
	return 0;
}

static int rebuild(struct run *r, struct error *err)
{
	bool dry_run = r->o.build.dry_run;
	struct target target;
	int rc;

	r->o.build.source = r->in.source_name;
	r->in.scan.phase = "building";
	rc = target_open(&target, r->opts, r->in.spec,
			 dry_run ? TARGET_READS : TARGET_MAKES, err);
	if (rc != 0 && dry_run && err->code == ERROR_SOURCE)
		rc = store_creatable(opts_text(r->opts, OPT_TARGET), err);
	if (rc == 0)
		rc = rebuild_run(target.store, &r->in.scan, &r->o, &r->report,
				 err);
	target_close(&target);
	progress_end(&r->in.line);
	fill_receipt(r);
	if (rc == 0 && r->in.source != NULL)
		inputs_tell_rejects(&r->in);
	if (rc != 0 || opts_flag(r->opts, OPT_QUIET))
		return rc;
	return dry_run ? build_say(&r->report.build, true, err) : say(r, err);
}

int cmd_rebuild(const struct opts *opts, struct error *err)
{
	struct run r;
	int rc;

	memset(&r, 0, sizeof(r));
	r.opts = opts;
	r.receipt.command = "rebuild";
	r.receipt.started = clock_wall_ms();
	names_id_new(r.receipt.started, r.receipt.run);
	rc = read_options(&r, err);
	r.receipt.dry_run = r.o.build.dry_run;
	r.receipt.spec = r.in.spec;
	if (rc == 0)
		rc = inputs_source(&r.in, opts, err);
	if (rc == 0)
		rc = rebuild(&r, err);
	r.receipt.source = r.in.source_name;
	r.receipt.rejects = &r.in.rejects.count;
	rc = output_receipt(opts, &r.receipt, rc, err);
	rc = after(&r, rc, err);
	rebuild_report_release(&r.report);
	inputs_release(&r.in);
	return rc;
}
