/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl swap --adopt: filters of another's making become a generation.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/swap.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/job/adopt.h"

/* Options that say nothing to a swap but this. */
static const enum option_id only[] = {
	OPT_INPUT_FORMAT, OPT_COLUMNS,     OPT_HEADER,
	OPT_NULL_TEXT,    OPT_PARTS,       OPT_NO_TRAILER,
	OPT_REJECTS,      OPT_REJECTS_RAW, OPT_ERROR_RATE,
};

int swap_check_adopt(const struct opts *opts, struct error *err)
{
	if (opts_flag(opts, OPT_ADOPT))
		return opts_require(opts, OPT_SOURCE, err);
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
		if (opts_has(opts, only[i]) &&
		    opts_list(opts, only[i])->place == PLACE_LINE)
			return error_set(err, ERROR_USAGE,
					 "option --%s: it goes with --adopt",
					 option_rows[only[i]].longname);
	return 0;
}

static int say(const struct audit_report *r, struct error *err)
{
	char rows[NUM_TEXT_MAX];
	char rate[NUM_TEXT_MAX];
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "set '%s': generation '%s' is live: %" PRIu32
			 " filters of capacity %" PRIu64 " at error rate %s, "
			 "not built by bloomctl, with %s rows\n",
			 r->m.set, r->m.generation, r->m.buckets, r->m.capacity,
			 num_double_text(r->m.error, rate),
			 num_grouped(r->m.keys, rows));

	return output_write(text, (size_t)n, err);
}

int swap_adopt(const struct opts *opts, struct inputs *in, struct store *store,
	       struct receipt *receipt, struct audit_report *report,
	       struct error *err)
{
	char missing[NUM_TEXT_MAX];
	int rc = inputs_source(in, opts, err);

	if (rc == 0)
		rc = adopt_run(store, &in->scan,
			       opts_double(opts, OPT_ERROR_RATE, 0.01),
			       in->source_name, report, err);
	progress_end(&in->line);
	receipt->rows = report->rows;
	receipt->keys = report->rows - report->rejects;
	receipt->missing = report->missing;
	receipt->rejects = &in->rejects.count;
	receipt->source = in->source_name;
	if (rc != 0)
		return rc;
	receipt->m = &report->m;
	inputs_tell_rejects(in);
	if (report->missing > 0)
		log_warn("%s of the rows are not in the live filters, and will "
			 "not be until a generation is built and promoted",
			 num_grouped(report->missing, missing));
	return opts_flag(opts, OPT_QUIET) ? 0 : say(report, err);
}
