/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl inspect: what a set is and holds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/target.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/job/inspect.h"

/* Filters listed in the table, the fullest first; JSON and CSV have all. */
#define LISTED 10
#define BINS   10

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

static int add_facts(const struct inspect_report *r, struct buf *out)
{
	const struct manifest *m = r->m;
	char a[NUM_TEXT_MAX];
	char b[NUM_TEXT_MAX];
	char c[NUM_TEXT_MAX];
	char d[NUM_TEXT_MAX];
	char when[CLOCK_TEXT_MAX];
	int bad = 0;

	bad |= buf_addf(out, "set           %s in %s\n", r->set, r->place);
	bad |= buf_addf(out, "fingerprint   %s\n", m->fingerprint);
	bad |= buf_addf(out, "generation    %s (%s), built %s\n", m->generation,
			manifest_state_name(m->state),
			clock_text(m->ended, when));
	bad |= buf_addf(out,
			"filters       %" PRIu32 " of %s, capacity %" PRIu64
			" at error rate %s\n",
			m->buckets, m->engine, m->capacity,
			num_double_text(m->error, a));
	bad |= buf_addf(out, "rows          %s, %s of them set a bit\n",
			num_grouped(m->rows, a), num_grouped(m->added, b));
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
	if (r->locked_by[0] != '\0')
		bad |= buf_addf(out, "lock          %s\n", r->locked_by);
	return bad;
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

/* One row a bucket, the columns of the CSV. */
static int fill_buckets(const struct inspect_report *r,
			const struct bloomkey_spec *spec,
			const struct inspect_bucket *const *order, uint32_t n,
			struct table *t)
{
	static const char *const names[] = {
		"bucket",   "filter", "generation", "items",
		"capacity", "fill",   "error_now",  "bytes"};
	char filter[BLOOMKEY_FILTER_MAX + 1];
	char number[NUM_TEXT_MAX];
	int bad = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		bad |= table_add(t, names[i]);
	for (uint32_t i = 0; order != NULL && i < n; i++) {
		const struct inspect_bucket *x = order[i];

		(void)bloomkey_filter(spec, x->bucket, filter, sizeof(filter));
		bad |= table_addf(t, "%" PRIu32, x->bucket);
		bad |= table_add(t, filter);
		bad |= table_add(t, r->m->generation);
		if (x->bad) {
			bad |= table_add(t, "bad") | table_add(t, "") |
			       table_add(t, "") | table_add(t, "") |
			       table_add(t, "");
			continue;
		}
		bad |= table_addf(t, "%" PRIu64, x->items);
		bad |= table_addf(t, "%" PRIu64, r->m->capacity);
		bad |= table_add(t, num_fixed(x->fill, 6, number));
		bad |= table_add(t, num_fixed(x->error_now, 9, number));
		bad |= table_addf(t, "%" PRIu64, x->bytes);
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

static int print_table(const struct inspect_report *r,
		       const struct bloomkey_spec *spec,
		       const struct inspect_bucket *const *order,
		       struct error *err)
{
	static const int right[] = {1, 0, 0, 1, 1, 1, 1, 1};
	struct table t;
	struct buf out;
	int bad = 0;
	int rc;

	buf_init(&out, 64u << 20);
	table_init(&t, 8);
	if (r->m == NULL) {
		bad |= buf_addf(&out, "set           %s in %s\n", r->set,
				r->place);
		const struct manifest *linked =
			generations_linked(&r->generations);

		bad |= buf_addf(&out, "generation    %s\n",
				linked != NULL ? "broken: readers get it"
					       : "none is live");
	} else {
		uint32_t n = r->m->buckets < LISTED ? r->m->buckets : LISTED;

		bad |= add_facts(r, &out);
		bad |= add_histogram(r, &out);
		bad |= fill_buckets(r, spec, order, n, &t);
		bad |= buf_addf(&out, "\n%s\n",
				r->m->buckets > n
					? "the worst filters (--format csv "
					  "lists all)"
					: "filters");
		bad |= table_text(&t, right, &out);
		bad |= add_bad(r, &out);
	}
	bad |= add_generations(r, &out);
	rc = bad != 0 ? error_nomem(err) : output_write(out.data, out.len, err);
	table_release(&t);
	buf_release(&out);
	return rc;
}

static json_t *bucket_json(const struct inspect_report *r,
			   const struct bloomkey_spec *spec,
			   const struct inspect_bucket *x)
{
	char filter[BLOOMKEY_FILTER_MAX + 1];

	(void)bloomkey_filter(spec, x->bucket, filter, sizeof(filter));
	if (x->bad)
		return json_pack("{s:I, s:s, s:s, s:s}", "bucket",
				 (json_int_t)x->bucket, "filter", filter,
				 "generation", r->m->generation, "bad", x->why);
	return json_pack("{s:I, s:s, s:s, s:I, s:I, s:f, s:f, s:I}", "bucket",
			 (json_int_t)x->bucket, "filter", filter, "generation",
			 r->m->generation, "items", (json_int_t)x->items,
			 "capacity", (json_int_t)r->m->capacity, "fill",
			 x->fill, "error_now", x->error_now, "bytes",
			 (json_int_t)x->bytes);
}

static json_t *generations_json(const struct inspect_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->generations.count; i++) {
		const struct manifest *m = &r->generations.list[i];

		(void)json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}",
				  "generation", m->generation, "state",
				  manifest_state_name(m->state), "rows",
				  (json_int_t)m->rows, "started",
				  output_time(m->started), "ended",
				  output_time(m->ended), "promoted",
				  output_time(m->promoted), "retired",
				  output_time(m->retired), "broken",
				  m->broken[0] != '\0' ? json_string(m->broken)
						       : json_null()));
	}
	return list;
}

static json_t *report_json(const struct inspect_report *r,
			   const struct bloomkey_spec *spec)
{
	const struct manifest *m = r->m;
	json_t *json = json_object();
	json_t *buckets = json_array();
	json_t *missing = json_array();
	json_t *damaged = json_array();
	int bad = 0;

	for (uint32_t b = 0; m != NULL && b < m->buckets; b++) {
		bad |= json_array_append_new(
			buckets, bucket_json(r, spec, &r->buckets[b]));
		if (r->buckets[b].bad)
			bad |= json_array_append_new(
				r->buckets[b].missing ? missing : damaged,
				json_integer((json_int_t)b));
	}
#define PUT(name, value) (bad |= json_object_set_new(json, name, value))
	PUT("set", json_string(r->set));
	PUT("fingerprint", json_string(bloomkey_fingerprint(spec)));
	PUT("type", json_string("bloom"));
	PUT("engine", m != NULL ? json_string(m->engine) : json_null());
	PUT("generation", m != NULL ? json_string(m->generation) : json_null());
	PUT("generations", generations_json(r));
	PUT("lock", r->locked_by[0] != '\0'
			    ? json_pack("{s:s}", "held", r->locked_by)
			    : json_object());
	PUT("rows", json_integer(m != NULL ? (json_int_t)m->rows : 0));
	PUT("rejects", json_integer(m != NULL ? (json_int_t)m->rejects : 0));
	PUT("bytes", json_integer((json_int_t)r->bytes));
	PUT("fill", json_pack("{s:f, s:f, s:f}", "min", r->fill_min, "median",
			      r->fill_median, "max", r->fill_max));
	PUT("error_now", json_real(r->error_now));
	PUT("skew", json_real(r->skew));
	PUT("horizon", json_null());
	PUT("missing", missing);
	PUT("foreign", json_array());
	PUT("damaged", damaged);
	PUT("buckets", buckets);
#undef PUT
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}

static int print_csv(const struct inspect_report *r,
		     const struct bloomkey_spec *spec,
		     const struct inspect_bucket *const *order,
		     struct error *err)
{
	struct table t;
	int bad;
	int rc;

	table_init(&t, 8);
	bad = fill_buckets(r, spec, order, r->m != NULL ? r->m->buckets : 0,
			   &t);
	rc = output_table(&t, NULL, bad != 0, OUTPUT_CSV, err);
	table_release(&t);
	return rc;
}

static int print(const struct opts *opts, const struct inspect_report *r,
		 const struct bloomkey_spec *spec, struct error *err)
{
	enum output_format format = output_format(opts);
	const struct inspect_bucket *const *order = NULL;
	int rc;

	if (format == OUTPUT_JSON)
		return output_json(report_json(r, spec), err);
	if (r->m != NULL) {
		order = sorted(r);
		if (order == NULL)
			return error_nomem(err);
		if (format == OUTPUT_TABLE)
			qsort((void *)order, r->m->buckets, sizeof(*order),
			      worst_first);
	}
	rc = format == OUTPUT_CSV ? print_csv(r, spec, order, err)
				  : print_table(r, spec, order, err);
	free((void *)order);
	return rc;
}

int cmd_inspect(const struct opts *opts, struct error *err)
{
	struct error bad = ERROR_INIT;
	struct inputs in;
	struct inspect_report report;
	struct target target;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&target, 0, sizeof(target));
	memset(&report, 0, sizeof(report));
	rc = opts_no_args(opts, err);
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = target_open(&target, opts, in.spec, TARGET_READS, err);
	if (rc == 0) {
		rc = inspect_run(target.store, in.spec,
				 opts_text(opts, OPT_GENERATION), &report, err);
		/* Bad filters are an error and still have a report. */
		if (rc == 0 || report.bad > 0 ||
		    (report.m == NULL && report.generations.count > 0 &&
		     err->code == ERROR_DATA)) {
			int said = print(opts, &report, in.spec,
					 rc == 0 ? err : &bad);

			rc = rc == 0 ? said : rc;
		}
	}
	inspect_report_release(&report);
	target_close(&target);
	inputs_release(&in);
	return rc;
}
