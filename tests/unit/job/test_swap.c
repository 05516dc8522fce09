/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which generation a swap chooses, and what it then does to the set.
 */
#include "tests/unit/job/swap.h"

struct choice {
	const char *claim;
	/* The states of the generations 1 to 5; '-' none, c complete, l live,
	 * o old, b building, a aborted, x broken. */
	const char *states;
	bool rollback;
	const char *id;
	const char *chosen; /* NULL: refused */
	enum error_code code;
	const char *text; /* a part of the message */
};

static const struct choice choices[] = {
	{"no set", "-----", false, NULL, NULL, ERROR_SOURCE, "not there"},
	{"no set, named", "-----", false, ID_1, NULL, ERROR_SOURCE,
	 "not there"},
	{"no set, rollback", "-----", true, NULL, NULL, ERROR_SOURCE,
	 "not there"},
	{"a first swap", "c----", false, NULL, ID_1, ERROR_NONE, NULL},
	{"the newest of two", "cc---", false, NULL, ID_2, ERROR_NONE, NULL},
	{"newer than live", "lcc--", false, NULL, ID_3, ERROR_NONE, NULL},
	{"older than live", "cl---", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation newer than the live one, '" ID_2 "'"},
	{"nothing but live", "l----", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation newer than the live one"},
	{"over aborted ones", "lcab-", false, NULL, ID_2, ERROR_NONE, NULL},
	{"only aborted", "a----", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation"},
	{"only building", "b----", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation"},
	{"only broken", "x----", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation"},
	{"old is not forward", "lo---", false, NULL, NULL, ERROR_GENERATION,
	 "no complete generation newer"},
	{"named, not the newest", "lcc--", false, ID_2, ID_2, ERROR_NONE, NULL},
	{"named, older than live", "cl---", false, ID_1, ID_1, ERROR_NONE,
	 NULL},
	{"named, live", "l----", false, ID_1, ID_1, ERROR_NONE, NULL},
	{"named, not there", "lc---", false, ID_5, NULL, ERROR_GENERATION,
	 "no generation '" ID_5 "'"},
	{"named, old", "ol---", false, ID_1, NULL, ERROR_GENERATION,
	 "'" ID_1 "': old, not complete"},
	{"named, aborted", "la---", false, ID_2, NULL, ERROR_GENERATION,
	 "aborted, not complete"},
	{"named, building", "lb---", false, ID_2, NULL, ERROR_GENERATION,
	 "building, not complete"},
	{"named, broken", "lx---", false, ID_2, NULL, ERROR_GENERATION,
	 "'" ID_2 "': it is broken"},
	{"back, nothing live", "oc---", true, NULL, NULL, ERROR_GENERATION,
	 "nothing is live"},
	{"back, nothing before", "l----", true, NULL, NULL, ERROR_GENERATION,
	 "no generation was live before '" ID_1 "'"},
	{"back, to the one before", "ool--", true, NULL, ID_2, ERROR_NONE,
	 NULL},
	{"back, named", "ool--", true, ID_1, ID_1, ERROR_NONE, NULL},
	{"back, it is gone", "o-l--", true, NULL, NULL, ERROR_GENERATION,
	 "'" ID_2 "': not there, cannot be rolled back to"},
	{"back, it is broken", "oxl--", true, NULL, NULL, ERROR_GENERATION,
	 "'" ID_2 "': broken, cannot be rolled back to"},
	{"back, to a complete one", "ocl--", true, ID_2, NULL, ERROR_GENERATION,
	 "complete, cannot be rolled back to"},
	{"back, to the live one", "ool--", true, ID_3, ID_3, ERROR_NONE, ""},
};

/* Puts a set; the previous of the live one is the one before it, if any. */
static const char *put_states(struct fake *f, const char *states)
{
	static const char *const ids[] = {ID_1, ID_2, ID_3, ID_4, ID_5};
	static const char letters[] = "bcloax";
	const char *live = NULL;

	for (size_t i = 0; i < 5; i++) {
		struct fake_generation *g;

		if (states[i] == '-')
			continue;
		g = fake_there(f, ids[i],
			       (enum manifest_state)(
				       strchr(letters, states[i]) - letters),
			       few_keys);
		if (g->m.state == MANIFEST_BROKEN)
			(void)strcpy(g->m.broken, "it is broken");
		if (states[i] != 'l')
			continue;
		live = ids[i];
		if (i > 0)
			(void)strcpy(g->m.previous, ids[i - 1]);
	}
	return live;
}

static void check_choice(const struct choice *c, bool dry)
{
	struct swapping s;
	const char *live;
	int rc;

	swapping_begin(&s);
	live = put_states(&s.f, c->states);
	s.options.rollback = c->rollback;
	s.options.generation = c->id;
	s.options.dry_run = dry;
	rc = swapping_run(&s);
	if ((rc == 0) != (c->chosen != NULL))
		printf("# %s\n", c->claim);
	CHECK((rc == 0) == (c->chosen != NULL));
	if (c->chosen == NULL) {
		CHECK_U64(s.err.code, c->code);
		if (strstr(s.err.text, c->text) == NULL)
			CHECK_STR(s.err.text, c->text);
		CHECK_STR(swapping_live(&s), live != NULL ? live : "");
		CHECK_U64(s.f.calls[FAKE_PROMOTE], 0);
	} else if (rc == 0) {
		CHECK_STR(s.report.m.generation, c->chosen);
		CHECK_STR(swapping_live(&s), !dry           ? c->chosen
					     : live != NULL ? live
							    : "");
	}
	CHECK_U64(s.f.calls[FAKE_PUT] + s.f.calls[FAKE_DROP], 0);
	swapping_end(&s);
}

static void the_one_that_is_meant(void)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		check_choice(&choices[i], false);
		check_choice(&choices[i], true);
	}
}

static void a_first_swap(void)
{
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_1, MANIFEST_COMPLETE, few_keys);
	CHECK(swapping_run(&s) == 0);
	CHECK_STR(s.f.command, "swap");
	CHECK_STR(s.f.phases, "checking promoting ");
	CHECK_STR(s.report.previous, "");
	CHECK_STR(s.report.m.previous, "");
	CHECK_STR(s.f.retired, "");
	CHECK(!s.report.already && !s.report.resumed);
	CHECK_U64(s.report.m.state, MANIFEST_LIVE);
	swapping_end(&s);
}

static void the_live_one_retires(void)
{
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_1, MANIFEST_LIVE, few_keys);
	fake_there(&s.f, ID_2, MANIFEST_COMPLETE, few_keys);
	CHECK(swapping_run(&s) == 0);
	CHECK_STR(s.report.previous, ID_1);
	CHECK_STR(s.f.promoted, ID_2);
	CHECK_STR(s.f.retired, ID_1);
	/* Its filters were looked at before, and the live ones for a horizon
	 * until one had none. */
	CHECK_U64(s.f.calls[FAKE_INFO], FAKE_BUCKETS + 1);
	CHECK_STR(s.report.m.previous, ID_1);
	swapping_end(&s);
}

static int back(struct swapping *s)
{
	swap_report_release(&s->report);
	s->options.rollback = true;
	s->err.code = ERROR_NONE;
	return swapping_run(s);
}

static void begin_three(struct swapping *s)
{
	swapping_begin(s);
	fake_there(&s->f, ID_1, MANIFEST_OLD, few_keys);
	(void)strcpy(
		fake_there(&s->f, ID_2, MANIFEST_OLD, few_keys)->m.previous,
		ID_1);
	(void)strcpy(
		fake_there(&s->f, ID_3, MANIFEST_LIVE, few_keys)->m.previous,
		ID_2);
}

static void back_once(void)
{
	struct swapping s;

	begin_three(&s);
	CHECK(back(&s) == 0);
	CHECK_STR(s.f.command, "swap --rollback");
	CHECK_STR(swapping_live(&s), ID_2);
	CHECK_STR(s.report.previous, ID_3);
	CHECK_STR(s.f.retired, ID_3);
	/* Not to what was just found bad. */
	CHECK(back(&s) == -1);
	CHECK_U64(s.err.code, ERROR_GENERATION);
	CHECK(strstr(s.err.text, "generation '" ID_3 "': ") == s.err.text);
	CHECK(strstr(s.err.hint, "--rollback -g " ID_3) != NULL);
	CHECK_STR(swapping_live(&s), ID_2);
	/* Nor forward without being told so. */
	swap_report_release(&s.report);
	s.options.rollback = false;
	CHECK(swapping_run(&s) == -1);
	CHECK_STR(swapping_live(&s), ID_2);
	swapping_end(&s);
}

static void back_by_name(void)
{
	struct swapping s;

	begin_three(&s);
	CHECK(back(&s) == 0);
	/* Further back. */
	s.options.generation = ID_1;
	CHECK(back(&s) == 0);
	CHECK_STR(swapping_live(&s), ID_1);
	CHECK_STR(s.f.retired, ID_2);
	/* And forth. */
	s.options.generation = ID_3;
	CHECK(back(&s) == 0);
	CHECK_STR(swapping_live(&s), ID_3);
	CHECK_STR(s.f.retired, ID_1);
	/* A new one goes on from there, and back to there. */
	fake_there(&s.f, ID_4, MANIFEST_COMPLETE, few_keys);
	swap_report_release(&s.report);
	memset(&s.options, 0, sizeof(s.options));
	CHECK(swapping_run(&s) == 0);
	CHECK_STR(swapping_live(&s), ID_4);
	CHECK_STR(s.report.previous, ID_3);
	CHECK(back(&s) == 0);
	CHECK_STR(swapping_live(&s), ID_3);
	swapping_end(&s);
}

static void a_swap_that_was_cut_short(void)
{
	for (int named = 0; named < 2; named++) {
		for (int dry = 0; dry < 2; dry++) {
			struct swapping s;

			swapping_begin(&s);
			fake_there(&s.f, ID_1, MANIFEST_OLD, few_keys);
			fake_there(&s.f, ID_2, MANIFEST_LIVE, few_keys)
				->recorded = MANIFEST_COMPLETE;
			s.options.generation = named ? ID_2 : NULL;
			s.options.dry_run = dry;
			CHECK(swapping_run(&s) == 0);
			CHECK(s.report.resumed && !s.report.already);
			CHECK_U64(s.f.calls[FAKE_PROMOTE], !dry);
			CHECK_STR(s.f.retired, "");
			CHECK_STR(s.report.m.generation, ID_2);
			swapping_end(&s);
		}
	}
}

static void live_already(void)
{
	struct swapping s;

	swapping_begin(&s);
	fake_there(&s.f, ID_2, MANIFEST_LIVE, few_keys);
	s.options.generation = ID_2;
	CHECK(swapping_run(&s) == 0);
	CHECK(s.report.already && !s.report.resumed);
	CHECK_U64(s.f.calls[FAKE_PROMOTE], 0);
	swapping_end(&s);
}

int main(void)
{
	UNIT(the_one_that_is_meant,
	     "swap: in each constellation the one that is meant is promoted");
	UNIT(a_first_swap, "swap: a first one retires nothing");
	UNIT(the_live_one_retires, "swap: the live one retires, remembered");
	UNIT(back_once,
	     "swap: a second rollback does not return to the bad one");
	UNIT(back_by_name,
	     "swap: named, a rollback goes further back, and forth");
	UNIT(a_swap_that_was_cut_short, "swap: what was cut short is finished");
	UNIT(live_already, "swap: what is live already is left alone");
	return unit_end();
}
