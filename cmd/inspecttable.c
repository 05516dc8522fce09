/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An inspection for people, and as CSV.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inspect.h"
#include "cmd/output.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"

/* Filters listed in the table, the fullest first; JSON and CSV have all. */
#define LISTED 10
#define BINS   10

static int add_horizon(const struct horizon *h, struct buf *out)
{
	char when[CLOCK_TEXT_MAX];
	char lsn[HORIZON_LSN_MAX];
	int bad =
		buf_addf(out, "horizon       %s", clock_text(h->read_at, when));

	if (h->xid != 0)
		bad |= buf_addf(out, ", transaction %" PRIu64, h->xid);
	if (h->since != 0)
		bad |= buf_addf(out, ", stamp %s", clock_text(h->since, when));
	if (h->lsn != 0)
		bad |= buf_addf(out, ", WAL %s", horizon_lsn_text(h->lsn, lsn));
	return bad | buf_adds(out, "\n");
}

/* What writers are to do is told with a margin, in whole seconds. */
static int add_exposure(const struct exposure *e, struct buf *out)
{
	char when[CLOCK_TEXT_MAX];
	char span[NUM_TEXT_MAX];

	return buf_addf(out,
			"caught up     until %s, exposure %s s, keep "
			"recent-writes for %lld s\n",
			clock_text(e->at, when),
			num_fixed((double)e->ms / 1000, 1, span),
			(long long)(e->recent_ms + 999) / 1000);
}

static int add_locks(const struct inspect_report *r, struct buf *out)
{
	int bad = 0;

	if (r->locked_by[0] != '\0')
		bad |= buf_addf(out, "lock          %s\n", r->locked_by);
	if (r->synced_by[0] != '\0')
		bad |= buf_addf(out, "sync lock     %s\n", r->synced_by);
	return bad;
}

static int add_facts(const struct inspect_report *r, struct buf *out)
{
	const struct manifest *m = r->m;
	char a[NUM_TEXT_MAX];
	char b[NUM_TEXT_MAX];
	char c[NUM_TEXT_MAX];
	char d[NUM_TEXT_MAX];
	char when[CLOCK_TEXT_MAX];
	char span[CLOCK_TEXT_MAX];
	int bad = 0;

	bad |= buf_addf(out, "set           %s in %s\n", r->set, r->place);
	bad |= buf_addf(out, "fingerprint   %s\n", m->fingerprint);
	bad |= buf_addf(out, "generation    %s (%s), built %s\n", m->generation,
			manifest_state_name(m->state),
			clock_text(m->ended, when));
	if (r->age_ms >= 0)
		bad |= buf_addf(out, "live for      %s, since %s\n",
				clock_span(r->age_ms, span),
				clock_text(m->promoted, when));
	bad |= buf_addf(out,
			"filters       %" PRIu32 " of %s, capacity %" PRIu64
			" at error rate %s\n",
			m->buckets, m->engine, m->capacity,
			num_double_text(m->error, a));
	bad |= buf_addf(out, "rows          %s, %s of them set a bit\n",
			num_grouped(m->rows, a), num_grouped(m->added, b));
	if (!horizon_none(&r->horizon))
		bad |= add_horizon(&r->horizon, out);
	if (r->exposure.at != 0)
		bad |= add_exposure(&r->exposure, out);
	if (m->rejects > 0)
		bad |= buf_addf(out,
				"rejects       %s rows without a key, which "
				"only the database answers for\n",
				num_grouped(m->rejects, a));
	bad |= buf_addf(out, "bytes         %s\n", num_bytes_text(r->bytes, a));
	bad |= buf_addf(out,
			"fill          %s %% to %s %%, median %s %%, fullest "
			"bucket %" PRIu32 "\n",
			num_fixed(r->fill_min * 100, 2, a),
			num_fixed(r->fill_max * 100, 2, b),
			num_fixed(r->fill_median * 100, 2, c), r->fullest);
	bad |= buf_addf(out, "error now     %s on average\n",
			num_fixed(r->error_now, 6, a));
	bad |= buf_addf(out,
			"skew          %s (rows of the fullest bucket by "
			"the mean)\n",
			num_fixed(r->skew, 3, d));
	return bad | add_locks(r, out);
}

static int add_histogram(const struct inspect_report *r, struct buf *out)
{
	double *fills = calloc(r->m->buckets, sizeof(*fills));
	size_t n = 0;
	int bad = fills == NULL;

	for (uint32_t b = 0; !bad && b < r->m->buckets; b++)
		if (!r->buckets[b].bad)
			fills[n++] = r->buckets[b].fill * 100;
	if (!bad && n > 1) {
		bad |= buf_adds(out, "\nfill of the filters\n");
		bad |= chart_histogram(fills, n, BINS, "%", out);
	}
	free(fills);
	return bad;
}

/* Columns that not every target has something for. */
struct columns {
	bool ttl;
	bool slot;
};

static struct columns known(const struct inspect_report *r)
{
	struct columns c = {false, false};

	for (uint32_t b = 0; b < r->m->buckets; b++) {
		c.ttl |= r->buckets[b].ttl_ms >= 0;
		c.slot |= r->buckets[b].slot >= 0;
	}
	return c;
}

static int fill_heading(const struct columns *c, struct table *t)
{
	static const char *const names[] = {
		"bucket",   "filter", "generation", "items",
		"capacity", "fill",   "error_now",  "bytes"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	int bad = 0;

	table_init(t, count + c->ttl + c->slot);
	for (size_t i = 0; i < count; i++)
		bad |= table_add(t, names[i]);
	if (c->ttl)
		bad |= table_add(t, "ttl_ms");
	if (c->slot)
		bad |= table_add(t, "slot");
	return bad;
}

static int fill_figures(const struct inspect_report *r,
			const struct inspect_bucket *x, const struct columns *c,
			struct table *t)
{
	char number[NUM_TEXT_MAX];
	int bad = 0;

	bad |= table_addf(t, "%" PRIu64, x->items);
	bad |= table_addf(t, "%" PRIu64, r->m->capacity);
	bad |= table_add(t, num_fixed(x->fill, 6, number));
	bad |= table_add(t, num_fixed(x->error_now, 9, number));
	bad |= table_addf(t, "%" PRIu64, x->bytes);
	if (c->ttl)
		bad |= x->ttl_ms >= 0 ? table_addf(t, "%" PRId64, x->ttl_ms)
				      : table_add(t, "");
	if (c->slot)
		bad |= x->slot >= 0 ? table_addf(t, "%d", x->slot)
				    : table_add(t, "");
	return bad;
}

/* One row a bucket, the columns of the CSV. */
static int fill_buckets(const struct inspect_report *r,
			const struct bloomkey_spec *spec,
			const struct inspect_bucket *const *order, uint32_t n,
			const struct columns *c, struct table *t)
{
	char filter[BLOOMKEY_FILTER_MAX + 1];
	int bad = fill_heading(c, t);

	for (uint32_t i = 0; order != NULL && i < n; i++) {
		const struct inspect_bucket *x = order[i];

		(void)bloomkey_filter(spec, x->bucket, filter, sizeof(filter));
		bad |= table_addf(t, "%" PRIu32, x->bucket);
		bad |= table_add(t, filter);
		bad |= table_add(t, r->m->generation);
		if (!x->bad) {
			bad |= fill_figures(r, x, c, t);
			continue;
		}
		bad |= table_add(t, "bad");
		for (size_t k = 4; k < t->columns; k++)
			bad |= table_add(t, "");
	}
	return bad;
}

/* Why filters are bad, the first of them. */
static int add_bad(const struct inspect_report *r, struct buf *out)
{
	uint32_t listed = 0;
	int bad = 0;

	if (r->bad == 0)
		return 0;
	bad |= buf_addf(out, "\n%" PRIu32 " bad\n", r->bad);
	for (uint32_t b = 0; b < r->m->buckets && listed < LISTED; b++) {
		if (!r->buckets[b].bad)
			continue;
		bad |= buf_addf(out, "%s\n", r->buckets[b].why);
		listed++;
	}
	return bad;
}

static const char *note(const struct manifest *m)
{
	if (m->state == MANIFEST_LIVE && m->recorded != MANIFEST_LIVE)
		return "its swap is not finished";
	return m->broken;
}

static int add_generations(const struct inspect_report *r, struct buf *out)
{
	static const int right[] = {0, 0, 1, 0, 0};
	char rows[NUM_TEXT_MAX];
	char when[CLOCK_TEXT_MAX];
	struct table t;
	int bad = 0;

	table_init(&t, 5);
	bad |= table_add(&t, "generation") | table_add(&t, "state") |
	       table_add(&t, "rows") | table_add(&t, "built") |
	       table_add(&t, "note");
	for (size_t i = 0; i < r->generations.count; i++) {
		const struct manifest *m = &r->generations.list[i];

		bad |= table_add(&t, m->generation);
		bad |= table_add(&t, manifest_state_name(m->state));
		bad |= table_add(&t, num_grouped(m->rows, rows));
		bad |= table_add(&t, m->ended != 0 ? clock_text(m->ended, when)
						   : "-");
		bad |= table_add(&t, note(m));
	}
	bad |= buf_adds(out, "\n") | table_text(&t, right, out);
	table_release(&t);
	return bad;
}

static int add_nodes(const struct inspect_report *r, struct buf *out)
{
	static const int right[] = {0, 0, 1, 1, 0, 1, 1};
	static const char *const names[] = {"server",  "software", "memory",
					    "limit",   "policy",   "evicted",
					    "replicas"};
	const size_t count = sizeof(names) / sizeof(names[0]);
	char number[NUM_TEXT_MAX];
	struct table t;
	int bad = 0;

	if (r->node_count == 0)
		return 0;
	table_init(&t, count);
	for (size_t i = 0; i < count; i++)
		bad |= table_add(&t, names[i]);
	for (size_t i = 0; i < r->node_count; i++) {
		const struct store_node *n = &r->nodes[i];

		bad |= table_add(&t, n->name) | table_add(&t, n->software);
		bad |= table_add(&t, num_bytes_text(n->used, number));
		bad |= table_add(&t, n->limit > 0
					     ? num_bytes_text(n->limit, number)
					     : "?");
		bad |= table_add(&t, n->policy[0] != '\0' ? n->policy : "?");
		bad |= table_add(&t, num_grouped(n->evicted, number));
		bad |= table_addf(&t, "%" PRIu64, n->replicas);
	}
	bad |= buf_adds(out, "\n") | table_text(&t, right, out);
	table_release(&t);
	return bad;
}

static int add_findings(const struct inspect_report *r, struct buf *out)
{
	int bad = 0;

	if (r->findings.count > 0)
		bad |= buf_adds(out, "\n");
	for (size_t i = 0; i < r->findings.count; i++)
		bad |= output_finding_text(&r->findings.list[i], out);
	return bad;
}

/* Where nothing is live. */
static int add_none(const struct inspect_report *r, struct buf *out)
{
	bool broken = generations_linked(&r->generations) != NULL;
	int bad = 0;

	bad |= buf_addf(out, "set           %s in %s\n", r->set, r->place);
	bad |= buf_addf(out, "generation    %s\n",
			broken ? "broken: readers get it" : "none is live");
	return bad | add_locks(r, out);
}

static int add_worst(const struct inspect_report *r,
		     const struct bloomkey_spec *spec,
		     const struct inspect_bucket *const *order, struct buf *out)
{
	static const int right[] = {1, 0, 0, 1, 1, 1, 1, 1, 1, 1};
	struct columns columns = known(r);
	uint32_t n = r->m->buckets < LISTED ? r->m->buckets : LISTED;
	struct table t;
	int bad = fill_buckets(r, spec, order, n, &columns, &t);

	bad |= buf_addf(out, "\n%s\n",
			r->m->buckets > n ? "the worst filters (--format csv "
					    "lists all)"
					  : "filters");
	bad |= table_text(&t, right, out);
	table_release(&t);
	return bad;
}

int inspect_print_table(const struct inspect_report *r,
			const struct bloomkey_spec *spec,
			const struct inspect_bucket *const *order,
			struct error *err)
{
	struct buf out;
	int bad = 0;
	int rc;

	buf_init(&out, 64u << 20);
	if (r->m == NULL)
		bad |= add_none(r, &out);
	else
		bad |= add_facts(r, &out) | add_histogram(r, &out) |
		       add_worst(r, spec, order, &out) | add_bad(r, &out);
	bad |= add_generations(r, &out);
	bad |= add_nodes(r, &out);
	bad |= add_findings(r, &out);
	rc = bad != 0 ? error_nomem(err) : output_write(out.data, out.len, err);
	buf_release(&out);
	return rc;
}

int inspect_print_csv(const struct inspect_report *r,
		      const struct bloomkey_spec *spec,
		      const struct inspect_bucket *const *order,
		      struct error *err)
{
	static const struct columns all = {true, true};
	struct table t;
	int bad = fill_buckets(r, spec, order, r->m != NULL ? r->m->buckets : 0,
			       &all, &t);
	int rc = output_table(&t, NULL, bad != 0, OUTPUT_CSV, err);

	table_release(&t);
	return rc;
}
