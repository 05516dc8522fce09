/* SPDX-License-Identifier: BSD-2-Clause
 *
 * bloomctl lookup: one key's way to its filter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "cmd/rowkey.h"
#include "cmd/target.h"
#include "lib/base/num.h"
#include "lib/base/show.h"
#include "lib/job/lookup.h"

/* Exit statuses of an answer, as the manual page says. */
enum { LOOKUP_MAYBE = 0, LOOKUP_ABSENT = 1 };

static json_t *as_json(const struct rowkey *key, const char *text,
		       const struct lookup_report *r)
{
	char hash[NUM_TEXT_MAX];

	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:b, s:f}", "key",
			 text, "hash", num_hex(key->at.hash, hash), "bucket",
			 (json_int_t)key->at.bucket, "filter", key->filter,
			 "generation", r->generation, "state",
			 manifest_state_name(r->state), "found", (int)r->found,
			 "error_now", r->error_now);
}

static bool fill_table(struct table *t, const struct rowkey *key,
		       const char *text, const struct lookup_report *r)
{
	char number[NUM_TEXT_MAX];
	int bad = 0;

	bad |= table_add(t, "key") | table_add(t, text);
	bad |= table_add(t, "hash") |
	       table_add(t, num_hex(key->at.hash, number));
	bad |= table_add(t, "bucket") |
	       table_addf(t, "%" PRIu32, key->at.bucket);
	bad |= table_add(t, "filter") | table_add(t, key->filter);
	bad |= table_add(t, "generation") |
	       table_addf(t, "%s (%s)", r->generation,
			  manifest_state_name(r->state));
	bad |= table_add(t, "answer");
	if (r->found)
		bad |= table_addf(t,
				  "maybe a member (a non-member is found with "
				  "probability %s)",
				  num_fixed(r->error_now, 6, number));
	else
		bad |= table_add(t, "certainly not a member");
	return bad != 0;
}

static int print(const struct opts *opts, const struct rowkey *key,
		 const struct lookup_report *r, struct error *err)
{
	static const int right[] = {0, 0};
	enum output_format format = output_format(opts);
	struct table t;
	struct buf text;
	int rc;

	buf_init(&text, ROWKEY_SHOWN_MAX);
	table_init(&t, 2);
	if (show_copy(&text, key->bytes, key->at.len) != 0 ||
	    buf_string(&text) == NULL) {
		rc = error_nomem(err);
	} else if (format == OUTPUT_JSON) {
		rc = output_json(as_json(key, text.data, r), err);
	} else {
		bool bad =
			format == OUTPUT_CSV &&
			(table_add(&t, "name") | table_add(&t, "value")) != 0;

		bad |= fill_table(&t, key, text.data, r);
		rc = output_table(&t, right, bad, format, err);
	}
	table_release(&t);
	buf_release(&text);
	return rc;
}

static int ask(const struct opts *opts, struct inputs *in, struct rowkey *key,
	       struct error *err)
{
	const struct bloomkey_spec *spec = in->spec;
	struct target target;
	struct lookup_report r;
	int rc = rowkey_one(in, opts, key, err);

	if (rc != 0) {
		if (key->reject != 0)
			(void)error_hint(err, "a reader passes such a row "
					      "through to the database");
		return rc;
	}
	memset(&r, 0, sizeof(r));
	rc = target_open(&target, opts, spec, TARGET_READS, err);
	if (rc == 0)
		rc = lookup_run(target.store, spec,
				opts_text(opts, OPT_GENERATION), key->at.bucket,
				key->bytes, key->at.len, &r, err);
	target_close(&target);
	if (rc == 0 && !opts_flag(opts, OPT_QUIET))
		rc = print(opts, key, &r, err);
	if (rc != 0)
		return rc;
	return r.found ? LOOKUP_MAYBE : LOOKUP_ABSENT;
}

int cmd_lookup(const struct opts *opts, struct error *err)
{
	struct inputs in;
	struct rowkey *key = malloc(sizeof(*key));
	int rc;

	memset(&in, 0, sizeof(in));
	rc = key == NULL ? error_nomem(err) : 0;
	if (rc == 0)
		rc = opts_require(opts, OPT_TARGET, err);
	if (rc == 0)
		rc = inputs_spec(&in, opts, err);
	if (rc == 0)
		rc = ask(opts, &in, key, err);
	free(key);
	inputs_release(&in);
	return rc;
}
