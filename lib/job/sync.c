/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/sync.h"

#include <string.h>

#include "lib/job/generation.h"
#include "lib/pg/examine.h"

/* A source of what changed since. */
static int open_since(const struct catchup *c, const struct horizon *since,
		      struct source_query *query, struct source **out,
		      struct error *err)
{
	const struct source_options options = {.query = query};

	*query = *c->query;
	query->since = since;
	query->stamped = c->stamped;
	return source_open(&c->word, 1, &options, out, err);
}

static int no_index(const struct catchup *c, const struct examination *x,
		    struct error *err)
{
	(void)error_set(err, ERROR_GENERATION,
			"column '%.100s': no index finds what changed by it, "
			"so that all rows are read each time%s%s",
			c->query->changed,
			x->forced.whole[0] != '\0' ? ": " : "",
			x->forced.whole);
	return error_hint(err, "make an index on the column, or catch up by "
			       "--catch-up xmin; --allow-scan says that it may "
			       "be read");
}

/* Within a query the column may have another name; what is refused is told
 * elsewhere. */
static bool is_ranged(const struct catchup *c, const struct examination *x)
{
	if (x->refused.code != ERROR_NONE)
		return true;
	return x->forced.whole[0] == '\0' &&
	       (c->query->query != NULL ||
		strstr(x->forced.ranges, c->query->changed) != NULL);
}

/*
 * By stamps the read is an index range, or it is as dear as by ids, which find
 * more.
 */
static int check_index(const struct catchup *c, const struct horizon *since,
		       struct error *err)
{
	struct source_query query;
	struct examination x;
	struct source *source;
	int rc;

	if (open_since(c, since, &query, &source, err) != 0)
		return -1;
	memset(&x, 0, sizeof(x));
	rc = source->ops->examine(source, &x, err);
	if (rc == 0 && !is_ranged(c, &x))
		rc = no_index(c, &x, err);
	examination_release(&x);
	source->ops->free(source);
	return rc;
}

/* The oldest horizon of the live filters, without a pass. */
static int look(struct store *store, const struct manifest *m,
		struct horizon *oldest, struct error *err)
{
	*oldest = m->horizon;
	for (uint32_t b = 0; b < m->buckets; b++) {
		struct bucket_info info;

		memset(&info, 0, sizeof(info));
		if (store->ops->info(store, m, b, false, &info, err) != 0)
			return -1;
		if (horizon_none(&info.horizon))
			info.horizon = m->horizon;
		if (b == 0)
			*oldest = info.horizon;
		else
			horizon_oldest(oldest, &info.horizon);
	}
	return 0;
}

/* Nothing is done with what is read. */
static int count_rows(const struct catchup *c, const struct horizon *since,
		      const struct bloomkey_spec *spec, uint64_t *rows,
		      struct error *err)
{
	static const struct sink_ops none = {.key = NULL};
	struct rowformat format = *c->format;
	struct sink sink = {&none};
	struct sink *sinks[] = {&sink};
	struct source_query query;
	struct source *source;
	struct scan scan = {.spec = spec,
			    .format = &format,
			    .jobs = 1,
			    .phase = "counting",
			    .progress = c->progress};
	int rc;

	if (open_since(c, since, &query, &source, err) != 0)
		return -1;
	if (source->ops->columns != NULL)
		format.names = source->ops->columns(source, &format.name_count);
	scan.source = source;
	rc = scan_run(&scan, sinks, rows, err);
	source->ops->free(source);
	return rc;
}

static int no_horizon(const struct manifest *m, bool stamped, struct error *err)
{
	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': it has no %s to catch up from",
			m->generation,
			horizon_none(&m->horizon) ? "horizon"
			: stamped                 ? "stamp"
						  : "transaction");
	return error_hint(err,
			  stamped ? "build a new one with --changed-column"
				  : "build a new one from the --table of a "
				    "database");
}

static int run(struct store *store, const struct bloomkey_spec *spec,
	       const struct sync_options *o, struct sync_report *r,
	       struct error *err)
{
	const struct catchup *c = o->catchup;
	struct horizon from;

	if (generation_pick(store, spec, NULL, &r->m, err) != 0)
		return -1;
	if (c->stamped || o->dry_run) {
		if (look(store, &r->m, &from, err) != 0)
			return -1;
		if (c->stamped ? from.since == 0 : from.xid == 0)
			return no_horizon(&r->m, c->stamped, err);
	}
	if (c->stamped && !o->allow_scan && check_index(c, &from, err) != 0)
		return -1;
	if (!o->dry_run)
		return catchup_live(store, spec, &r->m, c, &r->catchup, err);
	r->catchup.from = from;
	return count_rows(c, &from, spec, &r->catchup.rows, err);
}

static void tell_exposure(struct sync_report *r, const struct catchup *catchup)
{
	const struct catchup_report *c = &r->catchup;

	if (horizon_none(&c->from) || c->ended <= c->from.read_at)
		return;
	r->exposure_ms = c->ended - c->from.read_at;
	r->recent_ms = catchup_recent_ms(catchup, r->exposure_ms);
}

int sync_run(struct store *store, const struct bloomkey_spec *spec,
	     const struct sync_options *options, struct sync_report *report,
	     struct error *err)
{
	int rc;

	memset(report, 0, sizeof(*report));
	if (!options->dry_run && store->ops->sync_lock(store, "sync", err) != 0)
		return -1;
	rc = run(store, spec, options, report, err);
	if (rc == 0)
		tell_exposure(report, options->catchup);
	if (options->dry_run)
		return rc;
	if (rc == 0)
		catchup_record(store, report->catchup.ended,
			       report->exposure_ms, report->recent_ms);
	store->ops->sync_unlock(store);
	return rc;
}

void sync_report_release(struct sync_report *report)
{
	manifest_release(&report->m);
}
