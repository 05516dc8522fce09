/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/verify.h"

#include <math.h>

#include "cmd/output.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/show.h"
#include "lib/filter/sizing.h"

/* A key, escaped, and a line's end. */
#define LINE_MAX_BYTES ((size_t)4 * BLOOMKEY_MAX + 1)

int verifyprint_missed(const struct audit_report *report, struct error *err)
{
	char number[NUM_TEXT_MAX];
	struct buf line;
	uint64_t listed = 0;
	int rc = 0;

	buf_init(&line, LINE_MAX_BYTES);
	for (size_t i = 0; rc == 0 && i < report->missed.count; i++) {
		const struct missed_key *key = &report->missed.keys[i];

		if (!recheck_counts(key->why))
			continue;
		line.len = 0;
		if (show_copy(&line, key->key, key->len) != 0 ||
		    buf_adds(&line, "\n") != 0)
			rc = error_nomem(err);
		else
			rc = output_write(line.data, line.len, err);
		listed++;
	}
	buf_release(&line);
	if (rc == 0 && listed < report->missing)
		log_warn("%s more keys are not found; the first %d are asked "
			 "for again and listed",
			 num_grouped(report->missing - listed, number),
			 MISSED_MAX);
	return rc;
}

/* What was asked for and found. */
static int say_rows(const struct verify *v, const struct audit_report *r,
		    struct buf *out)
{
	const uint64_t *whys = r->again.whys;
	uint64_t lacking = whys[MISSED_GONE] + whys[MISSED_COVERED];
	char found[NUM_TEXT_MAX], rows[NUM_TEXT_MAX], span[CLOCK_TEXT_MAX];
	bool drawn = v->options.sample > 0;
	int bad;

	if (r->asked == 0)
		return buf_addf(out, "no row changed within %s",
				clock_span(v->fresh_ms, span));
	(void)num_grouped(r->asked - lacking, found);
	(void)num_grouped(drawn ? r->rows - r->rejects : r->asked, rows);
	if (lacking > 0)
		bad = buf_addf(out, "%s of ", found) |
		      buf_addf(out, "%s", num_grouped(r->asked, found));
	else
		bad = buf_addf(out, "all %s", found);
	bad |= buf_adds(out, drawn ? " keys" : " rows");
	if (drawn)
		bad |= buf_addf(out, " drawn from %s rows", rows);
	if (v->fresh_ms > 0)
		bad |= buf_addf(out, " changed within %s",
				clock_span(v->fresh_ms, span));
	return bad | buf_adds(out, " are found");
}

/* Keys that were not found at first, and what became of them. */
static int say_again(const struct audit_report *r, struct buf *out)
{
	const uint64_t *whys = r->again.whys;
	char number[NUM_TEXT_MAX];
	int bad = 0;

	if (whys[MISSED_CAME] > 0)
		bad |= buf_addf(out, "; %s of them within the grace",
				num_grouped(whys[MISSED_CAME], number));
	if (whys[MISSED_GONE] > 0)
		bad |= buf_addf(out, "; %s gone from the database",
				num_grouped(whys[MISSED_GONE], number));
	if (whys[MISSED_COVERED] > 0)
		bad |= buf_addf(out, "; %s in recent-writes only",
				num_grouped(whys[MISSED_COVERED], number));
	return bad;
}

/* A line for each replica. */
static int say_replicas(const struct verify *v, const struct audit_report *r,
			struct buf *out)
{
	char asked[NUM_TEXT_MAX];
	int bad = 0;

	if (v->options.replicas && r->replicas.count == 0)
		return buf_adds(out, "no server of the target has a replica\n");
	for (size_t i = 0; i < r->replicas.count; i++)
		bad |= buf_addf(
			out, "replica %s of %s: all %s keys are found\n",
			r->replicas.all[i].name, r->replicas.all[i].primary,
			num_grouped(r->replicas.all[i].asked, asked));
	return bad;
}

/*
 * The share that may be missing although none of so many that were drawn is:
 * with a larger one that would happen less than once in a million runs.
 */
static double unseen(uint64_t asked)
{
	return -expm1(log(SIZING_RISK) / (double)asked);
}

int verifyprint(const struct verify *v, const struct audit_report *report,
		struct error *err)
{
	const struct audit_report *r = report;
	char absent[NUM_TEXT_MAX], hits[NUM_TEXT_MAX], most[NUM_TEXT_MAX];
	char rate[NUM_TEXT_MAX];
	struct buf out;
	int bad;
	int rc;

	buf_init(&out, (size_t)1 << 20);
	bad = buf_addf(&out, "set '%s': generation '%s': ", r->m.set,
		       r->m.generation);
	bad |= say_rows(v, r, &out) | say_again(r, &out);
	if (v->options.sample > 0 && r->asked > 0 &&
	    r->asked == v->options.sample)
		bad |= buf_addf(&out,
				"; of all less than %.2g %% are missing, with "
				"a confidence of 99.9999 %%",
				100 * unseen(r->asked));
	if (r->absent > 0)
		bad |= buf_addf(&out,
				"; of %s random non-members %s are found, "
				"designed rate %s: up to %s with a confidence "
				"of 99.9999 %%",
				num_grouped(r->absent, absent),
				num_grouped(r->absent_hits, hits),
				num_double_text(r->m.error, rate),
				num_grouped(r->absent_most, most));
	bad |= buf_adds(&out, "\n") | say_replicas(v, r, &out);
	rc = bad == 0 ? output_write(out.data, out.len, err) : error_nomem(err);
	buf_release(&out);
	return rc;
}
