/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/prune.h"

#include "tests/unit/job/job.h"

struct old {
	const char *id;
	enum manifest_state state;
	int64_t retired;
	const char *previous;
};

/*
 * A set after a rollback from 5 to 3: what was live before is 5 by time, and
 * what is remembered as before the live one is 2.
 */
static const struct old whole_set[] = {
	{ID_1, MANIFEST_OLD, 20, NULL},     {ID_2, MANIFEST_OLD, 30, NULL},
	{ID_3, MANIFEST_LIVE, 40, ID_2},    {ID_4, MANIFEST_ABORTED, 0, NULL},
	{ID_5, MANIFEST_OLD, 50, NULL},     {ID_6, MANIFEST_BROKEN, 0, NULL},
	{ID_7, MANIFEST_COMPLETE, 0, NULL},
};

struct pruning {
	struct bloomkey_spec *spec;
	struct fake f;
	struct prune_report report;
	struct error err;
};

static void begin(struct pruning *p, const struct old *set, size_t count)
{
	memset(p, 0, sizeof(*p));
	p->spec = job_spec(JOB_KEYSPEC);
	fake_init(&p->f, p->spec);
	for (size_t i = 0; i < count; i++) {
		struct fake_generation *g =
			fake_there(&p->f, set[i].id, set[i].state, few_keys);

		g->m.retired = set[i].retired;
		if (set[i].previous != NULL)
			(void)strcpy(g->m.previous, set[i].previous);
	}
}

#define BEGIN(p, set) begin(p, set, sizeof(set) / sizeof((set)[0]))

static int run(struct pruning *p, uint64_t keep, bool dry)
{
	return prune_run(&p->f.base, keep, dry, &p->report, &p->err);
}

static void end(struct pruning *p)
{
	prune_report_release(&p->report);
	CHECK(p->report.removed == NULL && p->report.count == 0);
	prune_report_release(&p->report);
	fake_done(&p->f);
	bloomkey_free(p->spec);
}

/* What is there, as the last digits of the ids: "1 2 3". */
static const char *there(struct pruning *p, char out[64])
{
	static const char *const ids[] = {ID_1, ID_2, ID_3, ID_4,
					  ID_5, ID_6, ID_7};

	out[0] = '\0';
	for (size_t i = 0; i < 7; i++)
		if (fake_find(&p->f, ids[i]) != NULL)
			(void)strcat(strcat(out, out[0] != '\0' ? " " : ""),
				     ids[i] + strlen(ids[i]) - 1);
	return out;
}

static const char *removed(struct pruning *p, char out[64])
{
	out[0] = '\0';
	for (size_t i = 0; i < p->report.count; i++) {
		const char *id = p->report.removed[i].generation;

		(void)strcat(strcat(out, out[0] != '\0' ? " " : ""),
			     id + strlen(id) - 1);
	}
	return out;
}

static void those_that_retired_last_stay(void)
{
	static const struct {
		uint64_t keep;
		const char *stays, *goes;
	} cases[] = {
		/* The one before the live one stays whatever is kept. */
		{0, "2 3 7", "1 4 5 6"},          {1, "2 3 5 7", "1 4 6"},
		{2, "2 3 5 7", "1 4 6"},          {3, "1 2 3 5 7", "4 6"},
		{UINT64_MAX, "1 2 3 5 7", "4 6"},
	};
	char out[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int dry = 1; dry >= 0; dry--) {
			struct pruning p;

			BEGIN(&p, whole_set);
			CHECK(run(&p, cases[i].keep, dry) == 0);
			CHECK_STR(removed(&p, out), cases[i].goes);
			CHECK_STR(there(&p, out),
				  dry ? "1 2 3 4 5 6 7" : cases[i].stays);
			CHECK_U64(p.f.calls[FAKE_LOCK], !dry);
			CHECK_U64(p.f.calls[FAKE_DROP],
				  dry ? 0 : p.report.count);
			end(&p);
		}
	}
}

static void states_are_told(void)
{
	struct pruning p;

	BEGIN(&p, whole_set);
	CHECK(run(&p, 0, false) == 0);
	REQUIRE(p.report.count == 4);
	CHECK_U64(p.report.removed[0].state, MANIFEST_OLD);
	CHECK_U64(p.report.removed[1].state, MANIFEST_ABORTED);
	CHECK_U64(p.report.removed[3].state, MANIFEST_BROKEN);
	CHECK_STR(p.f.command, "swap --prune");
	CHECK_STR(p.f.phases, "removing ");
	end(&p);
}

static void overtaken_ones_go(void)
{
	static const struct old set[] = {
		{ID_1, MANIFEST_COMPLETE, 0, NULL},
		{ID_2, MANIFEST_BUILDING, 0, NULL},
		{ID_3, MANIFEST_LIVE, 0, NULL},
		{ID_4, MANIFEST_COMPLETE, 0, NULL},
		{ID_5, MANIFEST_COMPLETE, 0, NULL},
	};
	struct pruning p;
	char out[64];

	BEGIN(&p, set);
	CHECK(run(&p, 1, false) == 0);
	CHECK_STR(there(&p, out), "3 5");
	end(&p);
}

static void without_a_live_one(void)
{
	static const struct old set[] = {
		{ID_1, MANIFEST_OLD, 10, NULL},
		{ID_2, MANIFEST_COMPLETE, 0, NULL},
		{ID_3, MANIFEST_COMPLETE, 0, NULL},
		{ID_4, MANIFEST_ABORTED, 0, NULL},
		{ID_5, MANIFEST_OLD, 10, NULL},
	};
	struct pruning p;
	char out[64];

	BEGIN(&p, set);
	/* No knowing which of those that were live is needed. */
	CHECK(run(&p, 1, false) == 0);
	CHECK_STR(there(&p, out), "1 2 3 5");
	end(&p);
}

static void an_empty_set(void)
{
	struct pruning p;

	begin(&p, NULL, 0);
	CHECK(run(&p, 0, false) == 0);
	CHECK_U64(p.report.count, 0);
	end(&p);
}

static void what_was_done_is_told(void)
{
	struct pruning p;
	char out[64];

	BEGIN(&p, whole_set);
	p.f.fail_at[FAKE_DROP] = 3;
	CHECK(run(&p, 0, false) == -1);
	CHECK_U64(p.err.code, ERROR_RIGHTS);
	/* The oldest went first. */
	CHECK_STR(removed(&p, out), "1 4");
	CHECK_STR(there(&p, out), "2 3 5 6 7");
	end(&p);
}

static void faults_of_the_store(void)
{
	static const enum fake_op ops[] = {FAKE_LOCK, FAKE_LIST};

	for (size_t i = 0; i < 2; i++) {
		struct pruning p;

		BEGIN(&p, whole_set);
		p.f.fail_at[ops[i]] = 1;
		CHECK(run(&p, 0, false) == -1);
		CHECK_U64(p.err.code, ERROR_RIGHTS);
		CHECK_U64(fake_count(&p.f), 7);
		end(&p);
	}
}

static void the_lock_of_another(void)
{
	struct pruning p;

	BEGIN(&p, whole_set);
	p.f.held = "build of pid 7";
	CHECK(run(&p, 0, false) == -1);
	CHECK_U64(p.err.code, ERROR_LOCKED);
	CHECK_U64(fake_count(&p.f), 7);
	end(&p);
}

/* What another run builds is not abandoned, and would not go. */
static void a_dry_run_beside_another(void)
{
	static const struct old set[] = {
		{ID_1, MANIFEST_LIVE, 0, NULL},
		{ID_2, MANIFEST_BUILDING, 0, NULL},
	};
	struct pruning p;

	BEGIN(&p, set);
	p.f.held = "build of pid 7";
	CHECK(run(&p, 0, true) == -1 || p.report.count == 0);
	end(&p);
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct pruning p;

	REQUIRE(stop_init(&err) == 0);
	BEGIN(&p, whole_set);
	raise(SIGTERM);
	CHECK(run(&p, 0, false) == -1);
	CHECK_U64(p.err.code, ERROR_TERMINATED);
	CHECK_U64(p.report.count, 0);
	CHECK_U64(fake_count(&p.f), 7);
	end(&p);
}

static void a_stop_removes_nothing_more(void)
{
	job_fork(stopped);
}

/* Whoever has the lock keeps it. */
static void under_a_lock(void)
{
	struct pruning p;
	uint64_t fence;
	char out[64];

	BEGIN(&p, whole_set);
	REQUIRE(p.f.base.ops->lock(&p.f.base, "test", &fence, &p.err) == 0);
	CHECK(prune_locked(&p.f.base, 1, &p.report, &p.err) == 0);
	CHECK_STR(removed(&p, out), "1 4 6");
	CHECK_STR(there(&p, out), "2 3 5 7");
	CHECK(p.f.locked);
	CHECK_U64(p.f.calls[FAKE_LOCK], 1);
	CHECK_STR(p.f.command, "test");
	p.f.base.ops->unlock(&p.f.base);
	end(&p);
}

int main(void)
{
	UNIT(those_that_retired_last_stay,
	     "prune: what retired last stays, and what is needed always");
	UNIT(states_are_told, "prune: what went is told with its state");
	UNIT(overtaken_ones_go, "prune: complete ones stay if they are newer");
	UNIT(without_a_live_one, "prune: with nothing live all complete stay");
	UNIT(an_empty_set, "prune: an empty set is no error");
	UNIT(what_was_done_is_told, "prune: what went before a fault is told");
	UNIT(faults_of_the_store, "prune: a fault before it removes nothing");
	UNIT(the_lock_of_another, "prune: another's lock is respected");
	UNIT(a_dry_run_beside_another,
	     "prune: a dry run does not say that another's build would go");
	UNIT(a_stop_removes_nothing_more, "prune: a stop removes nothing more");
	UNIT(under_a_lock, "prune: whoever has the lock keeps it");
	return unit_end();
}
