/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl sync: what changed since goes into the filters that readers get.
 */
#include "cmd/sync.h"

#include <stdio.h>
#include <string.h>

#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/num.h"

void fill_watch(struct fill_watch *watch, uint32_t bucket, double fill)
{
	char name[BLOOMKEY_FILTER_MAX + 1];
	int percent = (int)(fill * 100);

	if (fill * 100 < watch->from || percent <= watch->told)
		return;
	watch->told = percent;
	if (bloomkey_filter(watch->spec, bucket, name, sizeof(name)) < 0)
		return;
	log_warn("filter '%s': it is %d %% full: build a new generation with "
		 "a larger --capacity or --headroom before it takes nothing "
		 "more",
		 name, percent);
}

/* What --source names. */
static int check_source(const struct opts *opts, const struct inputs *in,
			struct error *err)
{
	static const enum option_id of_database[] = {
		OPT_DRY_RUN, OPT_CATCH_UP, OPT_ALLOW_SCAN, OPT_JOBS, OPT_LEASE};
	static const enum option_id of_pipe[] = {OPT_REJECTS, OPT_REJECTS_RAW};
	const struct opt_value *words = opts_list(opts, OPT_SOURCE);
	const char *word;

	if (opts_require(opts, OPT_SOURCE, err) != 0)
		return -1;
	word = words->items[0];
	if (words->count > 1)
		return error_set(err, ERROR_USAGE,
				 "%zu sources: what changed comes from one",
				 words->count);
	if (in->database)
		return inputs_refuse(opts, of_pipe,
				     sizeof(of_pipe) / sizeof(of_pipe[0]),
				     "it is for a pipe, and the source is a "
				     "database",
				     err);
	if (strcmp(word, "-") != 0 && strncmp(word, "exec:", 5) != 0) {
		(void)error_set(err, ERROR_USAGE,
				"source '%.200s': what changed comes from a "
				"database or a pipe",
				word);
		return error_hint(err, "bloomctl build reads files; sync reads "
				       "a database, exec:COMMAND or -");
	}
	return inputs_refuse(
		opts, of_database, sizeof(of_database) / sizeof(of_database[0]),
		"it is for a database, and the source is a pipe", err);
}

static int read_inputs(struct inputs *in, const struct opts *opts,
		       struct error *err)
{
	if (opts_no_args(opts, err) != 0 ||
	    opts_require(opts, OPT_TARGET, err) != 0 ||
	    inputs_spec(in, opts, err) != 0 ||
	    inputs_format(in, opts, ROWFORMAT_CSV, err) != 0 ||
	    check_source(opts, in, err) != 0)
		return -1;
	return in->database ? source_label(opts_text(opts, OPT_SOURCE),
					   &in->source_name, err)
			    : inputs_source(in, opts, err);
}

int cmd_sync(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct sync_report report;
	struct feed_report fed;
	struct receipt receipt;
	struct target target;
	struct fill_watch watch = {.from = opts_double(opts, OPT_WARN, 90)};
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&report, 0, sizeof(report));
	memset(&fed, 0, sizeof(fed));
	memset(&receipt, 0, sizeof(receipt));
	receipt.command = "sync";
	receipt.started = clock_wall_ms();
	receipt.dry_run = opts_flag(opts, OPT_DRY_RUN);
	rc = read_inputs(&in, opts, err);
	watch.spec = in.spec;
	if (rc == 0)
		rc = target_open(&target, opts, in.spec,
				 receipt.dry_run ? TARGET_READS : TARGET_WRITES,
				 err);
	if (rc == 0 && in.database)
		rc = sync_database(opts, &in, target.store, &watch, &report,
				   &receipt, err);
	else if (rc == 0)
		rc = sync_pipe(opts, &in, target.store, &watch, &fed, &receipt,
			       err);
	receipt.spec = in.spec;
	receipt.source = in.source_name;
	receipt.rejects = &in.rejects.count;
	rc = output_receipt(opts, &receipt, rc, err);
	target_close(&target);
	sync_report_release(&report);
	feed_report_release(&fed);
	inputs_release(&in);
	return rc;
}
