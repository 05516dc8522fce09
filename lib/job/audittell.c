/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "lib/base/buf.h"
#include "lib/job/audit.h"

/* What is known of those that count, the worst first. */
static int reasons(const struct audit_report *r, const char *changed,
		   struct buf *out)
{
	const uint64_t *n = r->again.whys;
	int bad = 0;

	if (n[MISSED_BEFORE] > 0)
		bad |= buf_addf(out,
				"; %" PRIu64 " of them were committed before "
				"the horizon",
				n[MISSED_BEFORE]);
	if (n[MISSED_UNMOVED] > 0)
		bad |= buf_addf(out,
				"; %" PRIu64 " of them changed without moving "
				"the column '%s'",
				n[MISSED_UNMOVED], changed);
	if (n[MISSED_LATER] > 0)
		bad |= buf_addf(out,
				"; %" PRIu64 " of them changed since the "
				"horizon",
				n[MISSED_LATER]);
	return bad;
}

static int hint(const struct audit_report *r, struct error *err)
{
	const uint64_t *n = r->again.whys;

	if (n[MISSED_BEFORE] > 0)
		return error_hint(err, "the filter lost what was committed "
				       "before its horizon, or the writer "
				       "derives other keys: compare them with "
				       "bloomctl key, then build and swap "
				       "again");
	if (n[MISSED_UNMOVED] > 0)
		return error_hint(err, "what does not move the column is not "
				       "found by it: catch up by xmin, or let "
				       "a trigger move it");
	if (n[MISSED_LATER] > 0)
		return error_hint(err, "a catch-up brings what changed since; "
				       "until then it must be in "
				       "recent-writes, where --recent looks");
	return error_hint(err, "rows that came after the build are missing "
			       "until the next one; if there are none, build "
			       "and swap again");
}

int audit_tell(const struct audit_report *report,
	       const struct audit_options *options, struct error *err)
{
	const struct audit_report *r = report;
	struct buf why;

	buf_init(&why, 1024);
	if (reasons(r, options->recheck.changed, &why) != 0 ||
	    buf_string(&why) == NULL) {
		buf_release(&why);
		return error_nomem(err);
	}
	(void)error_set(err, ERROR_VERIFY,
			"generation '%s': %" PRIu64 " of %" PRIu64
			" rows are missing, in %" PRIu32
			" buckets, the first of them %" PRIu32 "%s",
			r->m.generation, r->missing, r->asked, r->buckets_hit,
			r->first_bucket, why.data);
	buf_release(&why);
	return hint(r, err);
}
