/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/doctor.h"

#include "tests/unit/job/job.h"

static const struct store_node calm = {
	.name = "h:1",
	.software = "redis 7.0.15",
	.policy = "noeviction",
	.used = 80,
	.limit = 100,
};

struct work {
	struct bloomkey_spec *spec;
	struct fake f;
	struct doctor_report r;
	struct error err;
};

static void begin(struct work *w)
{
	memset(w, 0, sizeof(*w));
	w->spec = job_spec(JOB_PLAIN_KEYSPEC);
	fake_init(&w->f, w->spec);
	w->f.server = true;
	w->f.engine = &engines[ENGINE_REDISBLOOM];
	w->f.node = &calm;
}

static int run(struct work *w)
{
	return doctor_run(&w->f.base, w->spec, NULL, &w->r, &w->err);
}

static void end(struct work *w)
{
	/* It looks, and nothing else. */
	CHECK_U64(w->f.calls[FAKE_LOCK], 0);
	CHECK_STR(w->f.phases, "");
	doctor_report_release(&w->r);
	fake_done(&w->f);
	bloomkey_free(w->spec);
}

/* The finding of a level about a thing; one that is not there fails. */
static const struct finding *of(const struct work *w, enum finding_level level,
				const char *what)
{
	static const struct finding none;

	for (size_t i = 0; i < w->r.findings.count; i++) {
		const struct finding *f = &w->r.findings.list[i];

		if (f->level == level && strcmp(f->what, what) == 0)
			return f;
	}
	printf("# no such finding: %s\n", what);
	unit_bad = true;
	return &none;
}

static bool says(const struct work *w, enum finding_level level,
		 const char *what, const char *part)
{
	const struct finding *f = of(w, level, what);

	if (strstr(f->evidence, part) != NULL)
		return true;
	printf("# '%s' is not in '%s'\n", part, f->evidence);
	return false;
}

static void a_fit_server(void)
{
	struct work w;

	begin(&w);
	fake_there(&w.f, ID_1, MANIFEST_LIVE, few_keys);
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_OK, "target", "fake:place"));
	CHECK(says(&w, FINDING_OK, "engine", "redisbloom"));
	CHECK(says(&w, FINDING_OK, "server 'h:1'", "noeviction"));
	CHECK(says(&w, FINDING_OK, "lock", "free"));
	CHECK(says(&w, FINDING_OK, "set", ID_1));
	CHECK(says(&w, FINDING_OK, "room", ID_1));
	CHECK_U64(w.r.findings.count, 6);
	end(&w);
}

static void warnings(void)
{
	struct store_node node = calm;
	struct work w;

	begin(&w);
	node.used = 90;
	node.evicts = true;
	w.f.node = &node;
	w.f.held = "build of pid 7";
	w.f.engine = &engines[ENGINE_REDIS8];
	fake_there(&w.f, ID_1, MANIFEST_LIVE, few_keys);
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_WARNING, "server 'h:1'", "90 B of 100 B"));
	CHECK(says(&w, FINDING_WARNING, "lock", "pid 7"));
	CHECK(says(&w, FINDING_WARNING, "engine", "built for redisbloom"));
	CHECK_U64(findings_worst(&w.r.findings)->level, FINDING_WARNING);
	doctor_report_release(&w.r);
	node.limit = 0;
	node.evicts = false;
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_WARNING, "server 'h:1'", "not known"));
	end(&w);
}

static void no_room(void)
{
	struct work w;

	begin(&w);
	fake_there(&w.f, ID_1, MANIFEST_COMPLETE, few_keys);
	w.f.room = 100;
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_WARNING, "set", "no generation is live"));
	CHECK_U64(of(&w, FINDING_ERROR, "room")->code, ERROR_SPACE);
	CHECK_U64(findings_worst(&w.r.findings)->code, ERROR_SPACE);
	end(&w);
}

/* Without a generation the rights are looked at all the same. */
static void nothing_there_yet(void)
{
	struct work w;

	begin(&w);
	CHECK(run(&w) == 0);
	CHECK_U64(w.f.calls[FAKE_FITS], 1);
	CHECK(says(&w, FINDING_OK, "room", "bloomctl size"));
	end(&w);
}

struct fault {
	enum fake_op op;
	enum error_code code;
	const char *what;
	bool goes_on; /* with the steps behind */
};

static void faults(void)
{
	static const struct fault cases[] = {
		{FAKE_FACTS, ERROR_RIGHTS, "target", true},
		{FAKE_ENGINE, ERROR_ENGINE, "engine", false},
		{FAKE_ENGINE, ERROR_RIGHTS, "engine", true},
		{FAKE_NODES, ERROR_TEMPORARY, "servers", false},
		{FAKE_LOCKED_BY, ERROR_RIGHTS, "lock", true},
		{FAKE_LIST, ERROR_DATA, "set", true},
		{FAKE_FITS, ERROR_RIGHTS, "room", true},
		{FAKE_FITS, ERROR_SPACE, "room", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct work w;

		begin(&w);
		w.f.fail_at[cases[i].op] = 1;
		w.f.fail_code = cases[i].code;
		CHECK(run(&w) == 0);
		CHECK_U64(of(&w, FINDING_ERROR, cases[i].what)->code,
			  cases[i].code);
		CHECK(findings_worst(&w.r.findings) ==
		      of(&w, FINDING_ERROR, cases[i].what));
		CHECK_U64(w.f.calls[FAKE_FITS], cases[i].goes_on);
		end(&w);
	}
}

/* Who may not see servers may still fill filters. */
static void unseen_servers(void)
{
	struct work w;

	begin(&w);
	w.f.fail_at[FAKE_NODES] = 1;
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_WARNING, "servers", "nodes fails"));
	CHECK_U64(findings_worst(&w.r.findings)->level, FINDING_WARNING);
	end(&w);
}

static void not_opened(void)
{
	struct error why = {ERROR_UNREACHED, "refused", "start it"};
	struct work w;

	begin(&w);
	CHECK(doctor_run(NULL, w.spec, &why, &w.r, &w.err) == 0);
	CHECK_U64(w.r.findings.count, 1);
	CHECK_U64(of(&w, FINDING_ERROR, "target")->code, ERROR_UNREACHED);
	CHECK_STR(of(&w, FINDING_ERROR, "target")->remedy, "start it");
	doctor_report_release(&w.r);
	why.code = ERROR_NONE;
	CHECK(doctor_run(NULL, w.spec, &why, &w.r, &w.err) == 0);
	CHECK(says(&w, FINDING_OK, "target", "not there yet"));
	end(&w);
}

static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct work w;

	REQUIRE(stop_init(&err) == 0);
	begin(&w);
	raise(SIGTERM);
	CHECK(run(&w) == -1);
	CHECK_U64(w.err.code, ERROR_TERMINATED);
	end(&w);
}

static void a_stop_ends_it(void)
{
	job_fork(stopped);
}

/* Its own lock and what it will mend are no matter to a rebuild. */
static void before_a_rebuild(void)
{
	struct fake_generation *g;
	struct work w;

	begin(&w);
	w.f.held = "pid 1 on h, build";
	g = fake_there(&w.f, ID_1, MANIFEST_LIVE, few_keys);
	manifest_break(&g->m, g->m.set, ID_1, "cut off");
	g->m.linked = true;
	CHECK(run(&w) == 0);
	CHECK(says(&w, FINDING_WARNING, "lock", "held by"));
	CHECK(says(&w, FINDING_ERROR, "set", "cut off"));
	doctor_report_release(&w.r);
	CHECK(doctor_locked(&w.f.base, w.spec, &w.r, &w.err) == 0);
	CHECK(says(&w, FINDING_WARNING, "set", "cut off"));
	CHECK_U64(findings_worst(&w.r.findings)->level, FINDING_WARNING);
	for (size_t i = 0; i < w.r.findings.count; i++)
		CHECK(strcmp(w.r.findings.list[i].what, "lock") != 0);
	end(&w);
}

int main(void)
{
	UNIT(a_fit_server, "doctor: of a fit server every step is ok");
	UNIT(warnings, "doctor: full, evicting, locked, of another engine");
	UNIT(no_room, "doctor: no room for one more generation is an error");
	UNIT(nothing_there_yet, "doctor: without a generation, rights");
	UNIT(faults, "doctor: each fault is a finding with its status");
	UNIT(unseen_servers, "doctor: servers that may not be seen");
	UNIT(not_opened, "doctor: a target that could not be opened");
	UNIT(before_a_rebuild, "doctor: before a rebuild less is wrong");
	UNIT(a_stop_ends_it, "doctor: a stop ends it");
	return unit_end();
}
