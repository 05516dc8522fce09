/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl sync -s DATABASE: what it committed since.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/catchup.h"
#include "cmd/sync.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"

static int say(const struct sync_report *r, bool dry_run, struct error *err)
{
	const struct catchup_report *c = &r->catchup;
	char rows[NUM_TEXT_MAX], added[NUM_TEXT_MAX];
	char from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
	char text[512];
	int n;

	(void)num_grouped(c->rows, rows);
	(void)clock_text(c->from.read_at, from);
	if (dry_run)
		n = snprintf(text, sizeof(text),
			     "set '%s': %s row%s changed since %s; nothing "
			     "was added\n",
			     r->m.set, rows, c->rows == 1 ? "" : "s", from);
	else
		n = snprintf(text, sizeof(text),
			     "set '%s': %s row%s changed since %s, %s new; "
			     "filters lack nothing committed before %s; "
			     "fullest %d %%\n",
			     r->m.set, rows, c->rows == 1 ? "" : "s", from,
			     num_grouped(c->added, added),
			     clock_text(c->to.read_at, to),
			     (int)(c->fill * 100));
	return output_write(text, (size_t)n, err);
}

int sync_database(const struct opts *opts, struct inputs *in,
		  struct store *store, struct fill_watch *watch,
		  struct sync_report *report, struct receipt *receipt,
		  struct error *err)
{
	struct catchup catchup;
	const struct sync_options options = {
		.catchup = &catchup,
		.allow_scan = opts_flag(opts, OPT_ALLOW_SCAN),
		.dry_run = opts_flag(opts, OPT_DRY_RUN)};
	bool is;
	int rc = catchup_read(&catchup, &is, in, opts, err);

	if (rc == 0 && !is)
		rc = error_set(err, ERROR_USAGE,
			       "option --catch-up none: then there is nothing "
			       "to sync");
	if (rc != 0)
		return -1;
	rc = sync_run(store, in->spec, &options, report, err);
	progress_end(&in->line);
	fill_watch(watch, report->catchup.fullest, report->catchup.fill);
	receipt->m = report->m.generation[0] != '\0' ? &report->m : NULL;
	receipt->rows = report->catchup.rows;
	receipt->acknowledged = report->catchup.acknowledged;
	receipt->sent = report->catchup.acknowledged;
	receipt->keys = report->catchup.acknowledged;
	receipt->horizon =
		rc == 0 && !options.dry_run ? &report->catchup.to : NULL;
	receipt->exposed = report->exposure_ms > 0;
	receipt->exposure_ms = report->exposure_ms;
	receipt->recent_ms = report->recent_ms;
	if (rc != 0 || opts_flag(opts, OPT_QUIET))
		return rc;
	return say(report, options.dry_run, err);
}
