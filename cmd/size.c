/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl size: a plan before anything is built.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "lib/base/num.h"
#include "lib/job/plan.h"

static int add_rows(const struct plan *p, const struct plan_options *o,
		    struct table *t)
{
	char text[NUM_TEXT_MAX];
	char more[NUM_TEXT_MAX];
	int bad = 0;

#define ROW(name, ...) (bad |= table_add(t, name) | table_addf(t, __VA_ARGS__))
	ROW("engine", "%s", o->engine->name);
	ROW("keys", "%s (%s)", num_grouped(p->keys, text),
	    p->counted ? "counted" : "planned");
	ROW("buckets", "%s", num_grouped(o->buckets, text));
	ROW("fullest bucket", "%s keys%s", num_grouped(p->hottest, text),
	    p->counted ? "" : " (more once in a million sets)");
	ROW("capacity", "%s a filter (%s %% headroom%s)",
	    num_grouped(p->capacity, text), num_double_text(o->headroom, more),
	    o->planted > 0 ? ", 1 sentinel" : "");
	ROW("error rate", "%s at capacity",
	    num_double_text(p->params.error, text));
	ROW("error now", "%s in the fullest bucket",
	    num_fixed(layout_error_at(&p->params, (double)p->hottest), 6,
		      text));
	ROW("bits", "%s a filter, %s a key", num_grouped(p->params.bits, text),
	    num_fixed(p->params.bpe, 2, more));
	ROW("hashes", "%" PRIu32, p->params.hashes);
	ROW("filter", "%s", num_bytes_text(p->memory, text));
	ROW("set", "%s", num_bytes_text(p->set, text));
	ROW("during a rebuild", "%s (live and new)",
	    num_bytes_text(p->swap, text));
	ROW("peak", "%s (with the generation before kept)",
	    num_bytes_text(p->peak, text));
	ROW("traffic saved", "%s %% of requests for non-members, at capacity",
	    num_fixed((1 - p->params.error) * 100, 2, text));
	if (p->fewest > 0)
		ROW("fewest buckets", "%s keep a filter within %s",
		    num_grouped(p->fewest, text),
		    num_bytes_text(p->limit, more));
#undef ROW
	return bad;
}

static json_t *as_json(const struct plan *p, const struct plan_options *o)
{
	return json_pack(
		"{s:s, s:I, s:b, s:I, s:I, s:I, s:f, s:f, s:f, s:I, s:f, s:I, "
		"s:I, s:I, s:I, s:I, s:o, s:o}",
		"engine", o->engine->name, "keys", (json_int_t)p->keys,
		"counted", (int)p->counted, "buckets", (json_int_t)o->buckets,
		"hottest", (json_int_t)p->hottest, "capacity",
		(json_int_t)p->capacity, "headroom", o->headroom, "error",
		p->params.error, "error_now",
		layout_error_at(&p->params, (double)p->hottest), "bits",
		(json_int_t)p->params.bits, "bits_per_key", p->params.bpe,
		"hashes", (json_int_t)p->params.hashes, "filter_bytes",
		(json_int_t)p->memory, "set_bytes", (json_int_t)p->set,
		"rebuild_bytes", (json_int_t)p->swap, "peak_bytes",
		(json_int_t)p->peak, "limit_bytes",
		p->limit > 0 ? json_integer((json_int_t)p->limit) : json_null(),
		"fewest_buckets",
		p->fewest > 0 ? json_integer((json_int_t)p->fewest)
			      : json_null());
}

/* One value of the JSON as a cell. */
static int add_value(struct table *t, const json_t *value)
{
	char text[NUM_TEXT_MAX];

	switch (json_typeof(value)) {
	case JSON_STRING:
		return table_add(t, json_string_value(value));
	case JSON_INTEGER:
		return table_addf(t, "%" JSON_INTEGER_FORMAT,
				  json_integer_value(value));
	case JSON_REAL:
		return table_add(t,
				 num_double_text(json_real_value(value), text));
	case JSON_TRUE:
		return table_add(t, "true");
	case JSON_FALSE:
		return table_add(t, "false");
	default:
		return table_add(t, "");
	}
}

/* The members of the JSON as one row. */
static int print_csv(json_t *json, struct error *err)
{
	struct table t;
	const char *name;
	json_t *value;
	int bad = 0;
	int rc;

	if (json == NULL)
		return error_nomem(err);
	table_init(&t, json_object_size(json));
	json_object_foreach(json, name, value) bad |= table_add(&t, name);
	json_object_foreach(json, name, value) bad |= add_value(&t, value);
	rc = output_table(&t, NULL, bad != 0, OUTPUT_CSV, err);
	table_release(&t);
	json_decref(json);
	return rc;
}

static int print(const struct opts *opts, const struct plan *p,
		 const struct plan_options *o, struct error *err)
{
	static const int right[] = {0, 0};
	enum output_format format = output_format(opts);
	struct table t;
	int bad;
	int rc;

	if (format == OUTPUT_JSON)
		return output_json(as_json(p, o), err);
	if (format == OUTPUT_CSV)
		return print_csv(as_json(p, o), err);
	table_init(&t, 2);
	bad = add_rows(p, o, &t);
	rc = output_table(&t, right, bad != 0, format, err);
	table_release(&t);
	return rc;
}

/* Either a keyspec or --buckets; either a source to count or --keys. */
static int check(const struct opts *opts, struct error *err)
{
	if (opts_no_args(opts, err) != 0)
		return -1;
	if (!opts_has(opts, OPT_BUCKETS) && !opts_has(opts, OPT_KEYSPEC)) {
		(void)error_set(err, ERROR_USAGE,
				"options --keyspec FILE, --buckets N: one of "
				"them is needed");
		return -1;
	}
	if (!opts_has(opts, OPT_KEYS) && !opts_has(opts, OPT_SOURCE))
		return error_set(err, ERROR_USAGE,
				 "options --keys N, --source SOURCE: one of "
				 "them is needed");
	if (opts_has(opts, OPT_SOURCE) && !opts_has(opts, OPT_KEYSPEC))
		return error_set(err, ERROR_USAGE,
				 "option --source: it needs --keyspec, which "
				 "says what is counted");
	return 0;
}

static int check_rate(const struct plan_options *o, struct error *err)
{
	if (engine_check_error(o->engine, o->error, err) == 0)
		return 0;
	return error_prefix(err, "option --error");
}

int cmd_size(const struct opts *opts, struct error *err)
{
	struct plan_options o;
	struct inputs in;
	struct plan p;
	bool counting = opts_has(opts, OPT_SOURCE);
	const void *sentinel;
	int rc;

	memset(&in, 0, sizeof(in));
	memset(&o, 0, sizeof(o));
	rc = check(opts, err);
	o.engine = inputs_engine(opts);
	if (o.engine == NULL)
		o.engine = &engines[ENGINE_REDISBLOOM];
	o.error = opts_double(opts, OPT_ERROR_RATE, 0.01);
	if (rc == 0)
		rc = check_rate(&o, err);
	if (rc == 0 && opts_has(opts, OPT_KEYSPEC))
		rc = inputs_spec(&in, opts, err);
	if (rc == 0 && counting)
		rc = inputs_format(&in, opts, ROWFORMAT_CSV, err);
	if (rc == 0 && counting)
		rc = inputs_source(&in, opts, err);
	if (rc == 0) {
		o.buckets = in.spec != NULL
				    ? bloomkey_buckets(in.spec)
				    : (uint32_t)opts_u64(opts, OPT_BUCKETS, 1);
		o.planted = in.spec == NULL ||
			    bloomkey_sentinel(in.spec, &sentinel) > 0;
		o.keys = opts_u64(opts, OPT_KEYS, 0);
		o.headroom = opts_double(opts, OPT_HEADROOM, 25);
		o.limit = opts_u64(opts, OPT_LIMIT, 0);
		in.scan.phase = "counting";
		rc = plan_run(counting ? &in.scan : NULL, &o, &p, err);
		progress_end(&in.line);
		if (rc == 0)
			inputs_tell_rejects(&in);
	}
	if (rc == 0)
		rc = print(opts, &p, &o, err);
	inputs_release(&in);
	return rc;
}
