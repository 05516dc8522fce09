/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl inspect: what a set is and holds.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/inspect.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/job/inspect.h"
#include "lib/job/verdict.h"

/* Fill of the fullest filter, in percent, that monitors hear of. */
#define WARN 90
#define CRIT 95

static const struct inspect_bucket *const *
sorted(const struct inspect_report *r)
{
	const struct inspect_bucket **order =
		calloc(r->m->buckets, sizeof(*order));

	for (uint32_t b = 0; order != NULL && b < r->m->buckets; b++)
		order[b] = &r->buckets[b];
	return (const struct inspect_bucket *const *)order;
}

/* Bad ones first, then by fill, then by number. */
static int worst_first(const void *a, const void *b)
{
	const struct inspect_bucket *x =
		*(const struct inspect_bucket *const *)a;
	const struct inspect_bucket *y =
		*(const struct inspect_bucket *const *)b;

	if (x->bad != y->bad)
		return x->bad ? -1 : 1;
	if (x->fill != y->fill)
		return x->fill > y->fill ? -1 : 1;
	return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

static int print(const struct opts *opts, const struct inspect_report *r,
		 const struct bloomkey_spec *spec, struct error *err)
{
	enum output_format format = output_format(opts);
	const struct inspect_bucket *const *order = NULL;
	int rc;

	if (format == OUTPUT_JSON)
		return output_json(inspect_json(r, spec), err);
	if (r->m != NULL) {
		order = sorted(r);
		if (order == NULL)
			return error_nomem(err);
		if (format == OUTPUT_TABLE)
			qsort((void *)order, r->m->buckets, sizeof(*order),
			      worst_first);
	}
	rc = format == OUTPUT_CSV ? inspect_print_csv(r, spec, order, err)
				  : inspect_print_table(r, spec, order, err);
	free((void *)order);
	return rc;
}

/* What goes with --check; in a file it stands there for later. */
static int check_modes(const struct opts *opts, struct error *err)
{
	static const enum option_id limits[] = {OPT_WARN, OPT_CRIT};

	for (size_t i = 0; i < 2 && !opts_flag(opts, OPT_CHECK); i++) {
		const struct opt_value *value = opts_list(opts, limits[i]);

		if (value->count > 0 && value->place == PLACE_LINE)
			return error_set(err, ERROR_USAGE,
					 "option --%s: it goes with --check",
					 option_rows[limits[i]].longname);
	}
	if (opts_flag(opts, OPT_CHECK) &&
	    opts_double(opts, OPT_WARN, WARN) >
		    opts_double(opts, OPT_CRIT, CRIT))
		return error_set(err, ERROR_USAGE,
				 "options --warn and --crit: a warning comes "
				 "before what is critical");
	return 0;
}

/* A monitor gets one line, whatever was the matter. */
static int say_verdict(const struct opts *opts, const struct inspect_report *r,
		       int rc, struct error *err)
{
	struct verdict verdict;

	if (rc != 0 &&
	    (err->code == ERROR_USAGE || err->code == ERROR_INTERRUPTED ||
	     err->code == ERROR_TERMINATED))
		return -1;
	verdict_of(r, rc, err, opts_double(opts, OPT_WARN, WARN),
		   opts_double(opts, OPT_CRIT, CRIT), &verdict);
	if (output_write(verdict.text, strlen(verdict.text), err) != 0 ||
	    output_write("\n", 1, err) != 0)
		return -1;
	return (int)verdict.status;
}

/* Bad filters are an error and still have a report. */
static int say(const struct opts *opts, const struct inspect_report *r,
	       const struct bloomkey_spec *spec, int rc, struct error *err)
{
	struct error ignored = ERROR_INIT;
	int said;

	if (rc != 0 && r->bad == 0 &&
	    (r->m != NULL || r->generations.count == 0 ||
	     err->code != ERROR_DATA))
		return rc;
	said = print(opts, r, spec, rc == 0 ? err : &ignored);
	return rc == 0 ? said : rc;
}

int cmd_inspect(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct inspect_report report;
	struct target target;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&report, 0, sizeof(report));
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = check_modes(opts, err);
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = target_open(&target, opts, in.spec, TARGET_READS, err);
	if (rc == 0)
		rc = inspect_run(target.store, in.spec,
				 opts_text(opts, OPT_GENERATION), &report, err);
	if (opts_flag(opts, OPT_CHECK))
		rc = say_verdict(opts, &report, rc, err);
	else if (target.store != NULL)
		rc = say(opts, &report, in.spec, rc, err);
	inspect_report_release(&report);
	target_close(&target);
	inputs_release(&in);
	return rc;
}
