/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/job/adopt.h"
#include "lib/job/audit.h"
#include "lib/job/swap_private.h"

/* Rows that are asked for. */
#define ROWS 10000

/* Rows without a key are the business of the passes. */
static int ask(struct swapping *s, struct source *source,
	       struct audit_report *audit, struct error *err)
{
	const struct catchup *c = s->o->catchup;
	struct rejects rejects = {.max = UINT64_MAX};
	struct rowformat format = *c->format;
	struct scan scan = {.spec = s->spec,
			    .source = source,
			    .format = &format,
			    .rejects = &rejects,
			    .jobs = 1,
			    .phase = "comparing"};

	if (source->ops->columns != NULL)
		format.names = source->ops->columns(source, &format.name_count);
	return audit_rows(s->store, &scan, NULL, audit, err);
}

static int differ(const struct swapping *s, const struct audit_report *audit,
		  struct error *err)
{
	(void)error_set(err, ERROR_VERIFY,
			"generation '%s', which is live: %" PRIu64
			" of %" PRIu64
			" rows that were there long before are not in it",
			s->live->generation, audit->missing,
			audit->rows - audit->rejects);
	return error_hint(err, "writers and this keyspec may not derive the "
			       "same keys, so that the new one would lack "
			       "theirs: compare them with bloomctl key; if it "
			       "is the live one that lost members, swap "
			       "--static after a sync");
}

/* What is lost is no proof of anything, and the swap is what mends it. */
static int pass_over(const struct swapping *s, struct error *err)
{
	log_warn("generation '%s', which is live, is not compared with the "
		 "database: %s",
		 s->live->generation, err->text);
	*err = (struct error)ERROR_INIT;
	return 0;
}

int parity_check(struct swapping *s, struct error *err)
{
	const struct catchup *c = s->o->catchup;
	struct source_query query;
	const struct source_options options = {.query = &query};
	struct audit_report audit;
	struct source *source;
	int rc;

	if (!swapcatch_wanted(s) || s->live == NULL ||
	    s->live->state != MANIFEST_LIVE || horizon_none(&s->live_horizon) ||
	    (c->stamped ? s->live_horizon.since == 0
			: s->live_horizon.xid == 0))
		return 0;
	query = *c->query;
	query.before = &s->live_horizon;
	query.stamped = c->stamped;
	query.limit = ROWS;
	memset(&audit, 0, sizeof(audit));
	if (source_open(&c->word, 1, &options, &source, err) != 0)
		return -1;
	rc = manifest_copy(&audit.m, s->live, err);
	if (rc == 0)
		rc = ask(s, source, &audit, err);
	source->ops->free(source);
	if (rc != 0 && err->code == ERROR_DATA)
		rc = pass_over(s, err);
	s->report->probed = audit.rows - audit.rejects;
	s->report->found = s->report->probed - audit.missing;
	if (rc == 0 &&
	    s->report->found * 1000 < s->report->probed * (uint64_t)ADOPT_FOUND)
		rc = differ(s, &audit, err);
	audit_report_release(&audit);
	return rc;
}
