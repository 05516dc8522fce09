/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/num.h"

static const char *const words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

static enum verdict_status status_of(const struct finding *f)
{
	switch (f->level) {
	case FINDING_OK:
		break;
	case FINDING_WARNING:
		return VERDICT_WARNING;
	case FINDING_ERROR:
		return VERDICT_CRITICAL;
	}
	return VERDICT_OK;
}

static enum verdict_status of_fill(const struct inspect_report *r, double warn,
				   double crit)
{
	double percent = r->fill_max * 100;

	if (r->m == NULL)
		return VERDICT_OK;
	return percent >= crit   ? VERDICT_CRITICAL
	       : percent >= warn ? VERDICT_WARNING
				 : VERDICT_OK;
}

/* One more thing, behind those that are there. */
static void add(struct verdict *out, const char *what, const char *text)
{
	size_t used = strlen(out->text);

	(void)snprintf(out->text + used, sizeof(out->text) - used, "%s%s: %s",
		       out->text[used - 1] == ' ' ? "" : "; ", what, text);
}

static void add_fill(const struct inspect_report *r, double limit,
		     struct verdict *out)
{
	char what[48];
	char text[3 * NUM_TEXT_MAX];
	char fill[NUM_TEXT_MAX];
	char at[NUM_TEXT_MAX];

	(void)snprintf(what, sizeof(what), "bucket %" PRIu32, r->fullest);
	(void)snprintf(text, sizeof(text), "%s %% of its capacity, limit %s %%",
		       num_fixed(r->fill_max * 100, 1, fill),
		       num_double_text(limit, at));
	add(out, what, text);
}

static void say_well(const struct inspect_report *r, struct verdict *out)
{
	size_t used = strlen(out->text);
	char fill[NUM_TEXT_MAX];
	char age[CLOCK_TEXT_MAX];

	(void)snprintf(
		out->text + used, sizeof(out->text) - used,
		"generation '%s' %s%s, %" PRIu32 " filters, fullest %s %%",
		r->m->generation,
		r->age_ms >= 0 ? "live for " : manifest_state_name(r->m->state),
		r->age_ms >= 0 ? clock_span(r->age_ms, age) : "", r->m->buckets,
		num_fixed(r->fill_max * 100, 1, fill));
}

void verdict_of(const struct inspect_report *r, int rc, const struct error *err,
		double warn, double crit, struct verdict *out)
{
	const struct finding *worst = findings_worst(&r->findings);
	enum verdict_status fill = of_fill(r, warn, crit);

	/* What it could not look at may be anything. */
	if (rc != 0 && (worst == NULL || worst->level != FINDING_ERROR)) {
		out->status = VERDICT_UNKNOWN;
		(void)snprintf(out->text, sizeof(out->text), "UNKNOWN: %s",
			       err->text);
		return;
	}
	out->status = worst != NULL ? status_of(worst) : VERDICT_OK;
	if (fill > out->status)
		out->status = fill;
	(void)snprintf(out->text, sizeof(out->text),
		       "%s: set '%s': ", words[out->status], r->set);
	if (out->status == VERDICT_OK) {
		say_well(r, out);
		return;
	}
	if (fill == out->status)
		add_fill(r, fill == VERDICT_CRITICAL ? crit : warn, out);
	for (size_t i = 0; i < r->findings.count; i++)
		if (status_of(&r->findings.list[i]) == out->status)
			add(out, r->findings.list[i].what,
			    r->findings.list[i].evidence);
}
