/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/lookup.h"
#include "cmd/output.h"
#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/base/show.h"

/* --- as JSON: a member per tier that was asked ---------------------------- */

static json_t *json_key(const struct tier_key *key)
{
	if (!key->asked)
		return json_null();
	return json_pack("{s:b, s:o, s:b}", "found", (int)key->found, "ttl_ms",
			 key->ttl_ms >= 0 ? json_integer(key->ttl_ms)
					  : json_null(),
			 "replica", (int)key->replica);
}

static json_t *json_shadow(const struct tier_shadow *shadow)
{
	if (shadow->generation[0] == '\0')
		return json_null();
	return json_pack("{s:s, s:s, s:o}", "generation", shadow->generation,
			 "state", manifest_state_name(shadow->state), "found",
			 shadow->known ? json_boolean(shadow->found)
				       : json_null());
}

static json_t *json_row(const struct tier_row *row)
{
	const struct session_facts *f = &row->facts;

	if (!row->asked)
		return json_null();
	return json_pack(
		"{s:b, s:b, s:b, s:o, s:o, s:b, s:o, s:o}", "found",
		(int)row->found, "other_key", (int)row->other, "expired",
		(int)row->expired, "place", output_text(f->place), "name",
		output_text(f->database), "standby", (int)f->standby, "lag_ms",
		f->lag_ms >= 0 ? json_integer(f->lag_ms) : json_null(), "lsn",
		output_text(f->lsn));
}

static json_t *as_json(const struct rowkey *key, const char *text,
		       const struct tiers_report *r)
{
	const char *verdict = tiers_verdict_name(r->verdict);
	char hash[NUM_TEXT_MAX];

	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:b, s:f, s:o, s:o, "
			 "s:o, s:o, s:o}",
			 "key", text, "hash", num_hex(key->at.hash, hash),
			 "bucket", (json_int_t)key->at.bucket, "filter",
			 key->filter, "generation", r->filter.generation,
			 "state", manifest_state_name(r->filter.state), "found",
			 (int)r->filter.found, "error_now", r->filter.error_now,
			 "shadow", json_shadow(&r->shadow), "recent",
			 json_key(&r->recent), "cache", json_key(&r->cache),
			 "database", json_row(&r->row), "verdict",
			 output_text(verdict));
}

/* --- as a table: a line per tier that was asked --------------------------- */

static bool add_filter(struct table *t, const struct rowkey *key,
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

static bool add_shadow(struct table *t, const struct tier_shadow *shadow)
{
	const char *answer = !shadow->known  ? "cannot be asked yet"
			     : shadow->found ? "maybe a member"
			     : shadow->state == MANIFEST_BUILDING
				     ? "not in it yet"
				     : "certainly not a member";

	return shadow->generation[0] != '\0' &&
	       (table_add(t, "shadow") |
		table_addf(t, "%s (%s): %s", shadow->generation,
			   manifest_state_name(shadow->state), answer)) != 0;
}

static bool add_key(struct table *t, const char *name,
		    const struct tier_key *key)
{
	const char *where = key->replica ? " (a replica says so)" : "";
	char span[CLOCK_TEXT_MAX];

	if (!key->asked)
		return false;
	if (key->found && key->ttl_ms >= 0)
		return (table_add(t, name) |
			table_addf(t, "has it, for another %s%s",
				   clock_span(key->ttl_ms, span), where)) != 0;
	return (table_add(t, name) |
		table_addf(t, "%s%s",
			   key->found ? "has it, without an end"
				      : "does not have it",
			   where)) != 0;
}

static bool add_row(struct table *t, const struct tier_row *row)
{
	const struct session_facts *f = &row->facts;
	const char *answer = row->found     ? "has the row"
			     : row->other   ? "has the row, which makes "
					      "another key"
			     : row->expired ? "has the row, whose time is past"
					    : "does not have the row";
	char lag[CLOCK_TEXT_MAX + 32] = "which may be behind";
	char span[CLOCK_TEXT_MAX];

	if (!row->asked)
		return false;
	if (f->lag_ms >= 0)
		(void)snprintf(lag, sizeof(lag), "whose last change is %s old",
			       clock_span(f->lag_ms, span));
	return (table_add(t, "database") |
		table_addf(t, "%s (%s '%s'%s%s)", answer,
			   f->standby ? "standby" : "primary", f->place,
			   f->standby ? ", " : "", f->standby ? lag : "")) != 0;
}

/*
 * What the answers mean; NULL: nothing.  A standby may be behind, so that what
 * it lacks may be there.
 */
static const char *meaning(const struct tiers_report *r)
{
	bool standby = r->row.facts.standby;

	switch (r->verdict) {
	case TIERS_FALSE_NEGATIVE:
		return "a functional false negative: readers are told no";
	case TIERS_OTHER_KEY:
		return "the values as given and as the database has them make "
		       "different keys";
	case TIERS_STALE:
		return standby ? "the entry of the cache is stale, or the "
				 "standby is behind"
			       : "the entry of the cache is stale: there is no "
				 "such row";
	case TIERS_EXPIRED:
		return "the entry of the cache is stale: the row's time is "
		       "past";
	case TIERS_DENIED:
		return "the cache and the filter contradict each other: the "
		       "database was not asked";
	case TIERS_COVERED:
		return "recent-writes covers the row, which is not in the "
		       "filter yet";
	case TIERS_NOT_LIVE:
		return "the generation lacks the row, and is not the live one";
	case TIERS_FALSE_POSITIVE:
		return standby ? "maybe was wrong, or the standby is behind"
			       : "maybe was wrong: a false positive, or a row "
				 "that has left the set";
	case TIERS_AGREE:
		return "the tiers agree";
	case TIERS_OPEN:
		break;
	}
	return NULL;
}

static bool fill_table(struct table *t, const struct rowkey *key,
		       const char *text, const struct tiers_report *r)
{
	const char *verdict = meaning(r);
	bool bad = add_filter(t, key, text, &r->filter);

	bad = add_shadow(t, &r->shadow) || bad;
	bad = add_key(t, "recent-writes", &r->recent) || bad;
	bad = add_key(t, "cache", &r->cache) || bad;
	bad = add_row(t, &r->row) || bad;
	if (verdict != NULL)
		bad = (table_add(t, "verdict") | table_add(t, verdict)) != 0 ||
		      bad;
	return bad;
}

int lookupprint(const struct opts *opts, const struct rowkey *key,
		const struct tiers_report *report, struct error *err)
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
		rc = output_json(as_json(key, text.data, report), err);
	} else {
		bool bad =
			format == OUTPUT_CSV &&
			(table_add(&t, "name") | table_add(&t, "value")) != 0;

		bad |= fill_table(&t, key, text.data, report);
		rc = output_table(&t, right, bad, format, err);
	}
	table_release(&t);
	buf_release(&text);
	return rc;
}

int lookupprint_loud(const struct rowkey *key,
		     const struct tiers_report *report, struct error *err)
{
	const struct tiers_report *r = report;

	(void)error_set(
		err, ERROR_VERIFY,
		"filter '%s': a functional false negative: the "
		"database has the row%s, and the live generation '%s' "
		"says that it certainly is not there%s",
		key->filter, r->row.found ? "" : ", which makes another key",
		r->filter.generation,
		r->recent.asked ? ", and nor is it in recent-writes" : "");
	if (!r->row.found)
		return error_hint(err, "readers and the build derive different "
				       "keys: see the keyspec's transforms");
	if (r->row.facts.standby)
		return error_hint(err, "readers are told no: ask the primary, "
				       "too, with --writer, and then build and "
				       "swap a new generation");
	if (!r->recent.asked)
		return error_hint(err, "readers are told no: a row that was "
				       "just written may be in recent-writes, "
				       "see --recent; any other needs a new "
				       "generation, or to be added");
	return error_hint(err, "readers are told no: build and swap a new "
			       "generation, or have the writer add it again");
}
