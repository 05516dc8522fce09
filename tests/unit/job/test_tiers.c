/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/tiers.h"

#include "tests/unit/job/job.h"

/* Answers as letters: what is there, and what is asked at all. */
static enum tiers_verdict judge(const char *answers)
{
	struct tiers_report r;

	memset(&r, 0, sizeof(r));
	r.filter.state = MANIFEST_LIVE;
	for (const char *p = answers; *p != '\0'; p++)
		switch (*p) {
		case 'f':
			r.filter.found = true;
			break;
		case 'g':
			r.filter.state = MANIFEST_OLD;
			break;
		case 'r':
			r.recent.found = true;
			break;
		case 'c':
			r.cache.found = true;
			break;
		case 'd':
			r.row.asked = true;
			break;
		case 'y':
			r.row.found = true;
			break;
		case 'o':
			r.row.other = true;
			break;
		default:
			r.row.expired = true;
			break;
		}
	return tiers_judge(&r);
}

static void what_answers_mean(void)
{
	static const struct {
		const char *answers;
		enum tiers_verdict verdict;
	} cases[] = {
		{"", TIERS_OPEN},
		{"f", TIERS_OPEN},
		{"fc", TIERS_OPEN},
		{"rc", TIERS_OPEN},
		{"c", TIERS_DENIED},
		{"d", TIERS_AGREE},
		{"fd", TIERS_FALSE_POSITIVE},
		{"rd", TIERS_FALSE_POSITIVE},
		{"cd", TIERS_STALE},
		{"fcd", TIERS_STALE},
		{"fcdx", TIERS_EXPIRED},
		{"fdx", TIERS_FALSE_POSITIVE},
		{"dx", TIERS_AGREE},
		{"fdy", TIERS_AGREE},
		{"fcdy", TIERS_AGREE},
		{"dy", TIERS_FALSE_NEGATIVE},
		{"cdy", TIERS_FALSE_NEGATIVE},
		{"rdy", TIERS_COVERED},
		{"gdy", TIERS_NOT_LIVE},
		{"grdy", TIERS_COVERED},
		{"fdyo", TIERS_AGREE},
		{"fdo", TIERS_OTHER_KEY},
		{"do", TIERS_FALSE_NEGATIVE},
		{"rdo", TIERS_COVERED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_U64(judge(cases[i].answers), cases[i].verdict);
}

static void patterns_name_the_key_once(void)
{
	CHECK(tiers_pattern("recent:{key}"));
	CHECK(tiers_pattern("{key}"));
	CHECK(tiers_pattern("{x}:{key}:y"));
	CHECK(!tiers_pattern("recent:key"));
	CHECK(!tiers_pattern("{key"));
	CHECK(!tiers_pattern("{key}{key}"));
}

/* The shadow that is asked beside the live generation, or "". */
static void walk(bool locked, enum manifest_state newer,
		 enum manifest_state older, const char *expected)
{
	struct bloomkey_spec *spec = job_spec(JOB_PLAIN_KEYSPEC);
	struct tiers_question q = {
		.spec = spec, .key = "in", .len = 2, .bucket = 2};
	struct tiers_report report;
	struct error err = ERROR_INIT;
	struct fake f;

	fake_init(&f, spec);
	(void)fake_there(&f, ID_1, older, few_keys);
	(void)fake_there(&f, ID_2, MANIFEST_LIVE, few_keys);
	(void)fake_there(&f, ID_3, newer, few_keys);
	if (locked)
		f.held = "somebody";
	CHECK(tiers_walk(&f.base, &q, &report, &err) == 0);
	CHECK_STR(report.filter.generation, ID_2);
	CHECK_STR(report.shadow.generation, expected);
	CHECK_U64(report.verdict, TIERS_OPEN);
	q.generation = ID_2;
	CHECK(tiers_walk(&f.base, &q, &report, &err) == 0);
	CHECK_STR(report.shadow.generation, "");
	fake_done(&f);
	bloomkey_free(spec);
}

static void a_shadow_is_on_its_way(void)
{
	walk(false, MANIFEST_COMPLETE, MANIFEST_OLD, ID_3);
	walk(true, MANIFEST_BUILDING, MANIFEST_OLD, ID_3);
	/* Its build is dead. */
	walk(false, MANIFEST_BUILDING, MANIFEST_OLD, "");
	walk(true, MANIFEST_ABORTED, MANIFEST_COMPLETE, "");
}

int main(void)
{
	UNIT(what_answers_mean, "tiers: what the answers mean together");
	UNIT(patterns_name_the_key_once,
	     "tiers: a pattern names the key, once");
	UNIT(a_shadow_is_on_its_way, "tiers: the shadow that is asked, too");
	return unit_end();
}
