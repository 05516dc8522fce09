/* SPDX-License-Identifier: BSD-2-Clause
 *
 * An inspection as JSON; fields are only ever added.
 */
#include "cmd/inspect.h"
#include "cmd/output.h"

/* A number, or null for what there is not. */
static json_t *known(int64_t n)
{
	return n >= 0 ? json_integer((json_int_t)n) : json_null();
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
	return json_pack(
		"{s:I, s:s, s:s, s:I, s:I, s:f, s:f, s:I, s:o, s:o, s:o}",
		"bucket", (json_int_t)x->bucket, "filter", filter, "generation",
		r->m->generation, "items", (json_int_t)x->items, "capacity",
		(json_int_t)r->m->capacity, "fill", x->fill, "error_now",
		x->error_now, "bytes", (json_int_t)x->bytes, "ttl_ms",
		known(x->ttl_ms), "slot", known(x->slot), "instead",
		output_text(x->instead));
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
				  output_text(m->broken)));
	}
	return list;
}

static json_t *nodes_json(const struct inspect_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->node_count; i++) {
		const struct store_node *n = &r->nodes[i];

		if (json_array_append_new(
			    list,
			    json_pack(
				    "{s:s, s:s, s:I, s:o, s:o, s:b, s:I, "
				    "s:I, s:b}",
				    "name", n->name, "software", n->software,
				    "used", (json_int_t)n->used, "limit",
				    n->limit > 0
					    ? json_integer((json_int_t)n->limit)
					    : json_null(),
				    "policy", output_text(n->policy), "evicts",
				    n->evicts, "evicted",
				    (json_int_t)n->evicted, "replicas",
				    (json_int_t)n->replicas, "replica",
				    n->replica)) != 0)
			break;
	}
	return list;
}

static json_t *findings_json(const struct inspect_report *r)
{
	json_t *list = json_array();

	for (size_t i = 0; i < r->findings.count; i++)
		if (json_array_append_new(
			    list, output_finding(&r->findings.list[i])) != 0)
			break;
	return list;
}

/* Members as in receipts. */
static json_t *exposure_json(const struct exposure *e)
{
	if (e->at == 0)
		return json_null();
	return json_pack("{s:o, s:f, s:I}", "at", output_time(e->at),
			 "exposure_s", (double)e->ms / 1000, "recent_ttl_s",
			 (json_int_t)((e->recent_ms + 999) / 1000));
}

json_t *inspect_json(const struct inspect_report *r,
		     const struct bloomkey_spec *spec)
{
	const struct manifest *m = r->m;
	json_t *json = json_object();
	json_t *buckets = json_array();
	json_t *missing = json_array();
	json_t *foreign = json_array();
	json_t *damaged = json_array();
	int bad = 0;

	for (uint32_t b = 0; m != NULL && b < m->buckets; b++) {
		bad |= json_array_append_new(
			buckets, bucket_json(r, spec, &r->buckets[b]));
		if (r->buckets[b].bad)
			bad |= json_array_append_new(
				r->buckets[b].missing   ? missing
				: r->buckets[b].foreign ? foreign
							: damaged,
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
	PUT("sync_lock", r->synced_by[0] != '\0'
				 ? json_pack("{s:s}", "held", r->synced_by)
				 : json_object());
	PUT("exposure", exposure_json(&r->exposure));
	PUT("rows", json_integer(m != NULL ? (json_int_t)m->rows : 0));
	PUT("rejects", json_integer(m != NULL ? (json_int_t)m->rejects : 0));
	PUT("bytes", json_integer((json_int_t)r->bytes));
	PUT("fill", json_pack("{s:f, s:f, s:f}", "min", r->fill_min, "median",
			      r->fill_median, "max", r->fill_max));
	PUT("error_now", json_real(r->error_now));
	PUT("skew", json_real(r->skew));
	PUT("source", output_text(m != NULL ? m->source : NULL));
	PUT("origin", output_origin(m));
	PUT("horizon", horizon_json(&r->horizon));
	PUT("missing", missing);
	PUT("foreign", foreign);
	PUT("damaged", damaged);
	PUT("live_since",
	    output_time(m != NULL && r->age_ms >= 0 ? m->promoted : 0));
	PUT("nodes", nodes_json(r));
	PUT("findings", findings_json(r));
	PUT("buckets", buckets);
#undef PUT
	if (bad == 0)
		return json;
	json_decref(json);
	return NULL;
}
