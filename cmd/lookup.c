/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl lookup: one key's way to its filter, and to all else that answers
 * for it.
 */
#include "cmd/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"

/* Exit statuses of an answer, as the manual page says. */
enum { LOOKUP_MAYBE = 0, LOOKUP_ABSENT = 1 };

/* Asks everything about the key. */
static int walk(const struct opts *opts, const struct rowkey *key,
		struct tiers_question *question, struct tiers_report *report,
		struct error *err)
{
	struct target target;
	int rc;

	rc = target_open(&target, opts, question->spec, TARGET_READS, err);
	if (rc == 0)
		rc = lookupask_key(opts, key, &target, question, err);
	if (rc == 0)
		rc = tiers_walk(target.store, question, report, err);
	target_close(&target);
	return rc;
}

static int ask(const struct opts *opts, struct inputs *in, struct rowkey *key,
	       struct error *err)
{
	struct tiers_question question = {.spec = in->spec};
	struct tiers_database database;
	struct tiers_report report;

	if (lookupask_read(opts, &database, &question, err) != 0)
		return -1;
	key->keep = question.database != NULL;
	if (rowkey_one(in, opts, key, err) != 0) {
		if (key->reject != 0)
			(void)error_hint(err, "a reader passes such a row "
					      "through to the database");
		return -1;
	}
	if (walk(opts, key, &question, &report, err) != 0)
		return -1;
	if (!opts_flag(opts, OPT_QUIET) &&
	    lookupprint(opts, key, &report, err) != 0)
		return -1;
	if (report.verdict == TIERS_FALSE_NEGATIVE)
		return lookupprint_loud(key, &report, err);
	return tiers_maybe(&report) ? LOOKUP_MAYBE : LOOKUP_ABSENT;
}

int cmd_lookup(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct rowkey *key = calloc(1, sizeof(*key));
	int rc;

	memset(&in, 0, sizeof(in));
	rc = key == NULL ? error_nomem(err) : 0;
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = ask(opts, &in, key, err);
	if (key != NULL)
		rowkey_release(key);
	free(key);
	inputs_release(&in);
	return rc;
}
