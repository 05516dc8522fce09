/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/tiers.h"

#include <string.h>

#include "lib/job/generation.h"
#include "lib/redis/cluster.h"

bool tiers_maybe(const struct tiers_report *report)
{
	return report->filter.found || report->recent.found;
}

/* The database has a row in force. */
static enum tiers_verdict judge_row(const struct tiers_report *r)
{
	if (r->filter.found)
		return r->row.found ? TIERS_AGREE : TIERS_OTHER_KEY;
	if (r->recent.found)
		return TIERS_COVERED;
	/* What was committed later need not be in it. */
	return r->filter.state == MANIFEST_LIVE ? TIERS_FALSE_NEGATIVE
						: TIERS_NOT_LIVE;
}

enum tiers_verdict tiers_judge(const struct tiers_report *report)
{
	const struct tiers_report *r = report;

	if (!r->row.asked)
		return r->cache.found && !tiers_maybe(r) ? TIERS_DENIED
							 : TIERS_OPEN;
	if (r->row.found || r->row.other)
		return judge_row(r);
	if (r->cache.found)
		return r->row.expired ? TIERS_EXPIRED : TIERS_STALE;
	return tiers_maybe(r) ? TIERS_FALSE_POSITIVE : TIERS_AGREE;
}

const char *tiers_verdict_name(enum tiers_verdict verdict)
{
	switch (verdict) {
	case TIERS_FALSE_NEGATIVE:
		return "false-negative";
	case TIERS_OTHER_KEY:
		return "other-key";
	case TIERS_STALE:
		return "stale-cache";
	case TIERS_EXPIRED:
		return "expired-cache";
	case TIERS_DENIED:
		return "denied-cache";
	case TIERS_COVERED:
		return "covered";
	case TIERS_NOT_LIVE:
		return "not-live";
	case TIERS_FALSE_POSITIVE:
		return "false-positive";
	case TIERS_AGREE:
		return "agree";
	case TIERS_OPEN:
		break;
	}
	return NULL;
}

/* The generation that is on its way to readers, if there is one. */
static const struct manifest *coming(const struct generations *g, bool locked)
{
	for (size_t i = 0; i < g->count; i++) {
		enum manifest_state state = g->list[i].state;

		if (state == MANIFEST_LIVE)
			break; /* what is older was passed over */
		if (state == MANIFEST_COMPLETE ||
		    (state == MANIFEST_BUILDING && locked))
			return &g->list[i];
	}
	return NULL;
}

/*
 * Asks the shadow.  One that is being built may go away at any time, and in a
 * folder it cannot be asked: that is no error.
 */
static int ask_shadow(struct store *store, const struct tiers_question *q,
		      const struct manifest *m, struct tier_shadow *out,
		      struct error *err)
{
	struct error why = ERROR_INIT;
	int rc;

	memcpy(out->generation, m->generation, sizeof(out->generation));
	out->state = m->state;
	rc = lookup_ask(store, q->spec, m, q->bucket, q->key, q->len,
			&out->found, &why);
	out->known = rc == 0;
	if (rc == 0 || why.code == ERROR_DATA || why.code == ERROR_VERIFY ||
	    why.code == ERROR_TEMPORARY)
		return 0;
	*err = why;
	return -1;
}

static int find_shadow(struct store *store, const struct tiers_question *q,
		       struct tier_shadow *out, struct error *err)
{
	const struct manifest *m;
	struct generations g;
	char who[256];
	int rc = 0;

	if (store->ops->locked_by(store, false, who, sizeof(who), err) != 0 ||
	    generations_read(store, &g, err) != 0)
		return -1;
	m = coming(&g, who[0] != '\0');
	if (m != NULL)
		rc = ask_shadow(store, q, m, out, err);
	generations_release(&g);
	return rc;
}

/* All but the filter, whose answer is the last. */
static int ask_others(const struct tiers_question *q, struct cluster *c,
		      struct tiers_report *r, struct error *err)
{
	if (q->cache != NULL && tierkey_ask(c, "cache", q->cache, q->key,
					    q->len, &r->cache, err) != 0)
		return -1;
	if (q->database != NULL && tierrow_ask(q, &r->row, err) != 0)
		return -1;
	if (q->recent == NULL)
		return 0;
	return tierkey_ask(c, "recent-writes", q->recent, q->key, q->len,
			   &r->recent, err);
}

int tiers_walk(struct store *store, const struct tiers_question *question,
	       struct tiers_report *report, struct error *err)
{
	const struct tiers_question *q = question;
	struct redis_target target;
	struct cluster *c = NULL;
	int rc = 0;

	memset(&target, 0, sizeof(target));
	memset(report, 0, sizeof(*report));
	if (q->recent != NULL || q->cache != NULL) {
		rc = redis_target_parse(q->server, q->options, &target, err);
		if (rc == 0)
			rc = cluster_open(&target, CONN_READS, NULL, &c, err);
	}
	if (rc == 0)
		rc = ask_others(q, c, report, err);
	cluster_close(c);
	redis_target_release(&target);
	if (rc == 0)
		rc = lookup_run(store, q->spec, q->generation, q->bucket,
				q->key, q->len, &report->filter, err);
	if (rc == 0 && q->generation == NULL)
		rc = find_shadow(store, q, &report->shadow, err);
	report->verdict = tiers_judge(report);
	return rc;
}
