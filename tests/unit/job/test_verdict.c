/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/verdict.h"

#include "tests/unit/unit.h"

struct work {
	struct manifest m;
	struct inspect_report r;
	struct error err;
	struct verdict v;
};

static void begin(struct work *w)
{
	memset(w, 0, sizeof(*w));
	(void)strcpy(w->m.generation, "ID");
	w->m.state = MANIFEST_LIVE;
	w->m.buckets = 4;
	(void)strcpy(w->r.set, "cards");
	w->r.m = &w->m;
	w->r.age_ms = 7200000;
	w->r.fullest = 3;
}

static void judge(struct work *w, int rc)
{
	verdict_of(&w->r, rc, &w->err, 80, 95, &w->v);
	findings_release(&w->r.findings);
}

static void fills(void)
{
	static const struct {
		double fill;
		enum verdict_status status;
		const char *text;
	} cases[] = {
		{0, VERDICT_OK,
		 "OK: set 'cards': generation 'ID' live for 2 h, 4 filters, "
		 "fullest 0.0 %"},
		{0.799, VERDICT_OK, "OK: set 'cards': "},
		{0.8, VERDICT_WARNING,
		 "WARNING: set 'cards': bucket 3: 80.0 % of its capacity, "
		 "limit 80 %"},
		{0.949, VERDICT_WARNING, "WARNING: "},
		{0.95, VERDICT_CRITICAL,
		 "CRITICAL: set 'cards': bucket 3: 95.0 % of its capacity, "
		 "limit 95 %"},
		{1.3, VERDICT_CRITICAL, "CRITICAL: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct work w;

		begin(&w);
		w.r.fill_max = cases[i].fill;
		judge(&w, 0);
		CHECK_U64(w.v.status, cases[i].status);
		if (strncmp(w.v.text, cases[i].text, strlen(cases[i].text)) !=
		    0)
			CHECK_STR(w.v.text, cases[i].text);
	}
}

/* All of the worst kind is said, and nothing else. */
static void with_findings(void)
{
	struct work w;

	begin(&w);
	w.r.fill_max = 0.85;
	findings_add(&w.r.findings, FINDING_WARNING, "server 'a'", NULL,
		     "evicts");
	judge(&w, 0);
	CHECK_U64(w.v.status, VERDICT_WARNING);
	CHECK_STR(w.v.text, "WARNING: set 'cards': bucket 3: 85.0 % of its "
			    "capacity, limit 80 %; server 'a': evicts");
	findings_add(&w.r.findings, FINDING_WARNING, "server 'a'", NULL,
		     "evicts");
	findings_add(&w.r.findings, FINDING_ERROR, "missing filters", NULL,
		     "bucket 2");
	/* Bad filters end an inspection with an error, and are no riddle. */
	judge(&w, -1);
	CHECK_U64(w.v.status, VERDICT_CRITICAL);
	CHECK_STR(w.v.text, "CRITICAL: set 'cards': missing filters: bucket 2");
}

static void it_cannot_look(void)
{
	struct work w;

	begin(&w);
	w.r.m = NULL;
	(void)error_set(&w.err, ERROR_UNREACHED, "redis://h: refused");
	judge(&w, -1);
	CHECK_U64(w.v.status, VERDICT_UNKNOWN);
	CHECK_STR(w.v.text, "UNKNOWN: redis://h: refused");
	/* Lost midway, with a warning seen before. */
	begin(&w);
	w.r.fill_max = 2;
	(void)error_set(&w.err, ERROR_TEMPORARY, "lost");
	findings_add(&w.r.findings, FINDING_WARNING, "x", NULL, "y");
	judge(&w, -1);
	CHECK_U64(w.v.status, VERDICT_UNKNOWN);
	CHECK_STR(w.v.text, "UNKNOWN: lost");
}

int main(void)
{
	UNIT(fills, "verdict: the fullest filter against both limits");
	UNIT(with_findings, "verdict: findings of the worst kind are said");
	UNIT(it_cannot_look, "verdict: what could not be looked at is unknown");
	return unit_end();
}
