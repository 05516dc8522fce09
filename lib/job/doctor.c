/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/doctor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/filter/engine.h"
#include "lib/job/generation.h"

/* Memory in use, in percent of what there is, from which on it is told. */
#define FULL_PERCENT 90

/* What is found out on the way, for the steps that follow. */
struct patient {
	struct store *store;
	const struct bloomkey_spec *spec;
	struct findings *findings;
	const char *set;
	bool rebuilt; /* by the caller, who holds the lock */
	bool server;
	bool memory_unknown;         /* of a server */
	const struct engine *engine; /* NULL: any will do, or none is there */
	struct generations generations;
	char locked_by[256];
};

typedef int look_fn(struct patient *p, struct error *err);

static int look_at_target(struct patient *p, struct error *err)
{
	struct store_facts facts;

	if (p->store->ops->facts(p->store, &facts, err) != 0)
		return -1;
	p->server = facts.server;
	findings_add(p->findings, FINDING_OK, "target", NULL, "%s: %s",
		     facts.place,
		     facts.server ? "it answers" : "the folder is there");
	return 0;
}

static int look_at_engine(struct patient *p, struct error *err)
{
	if (p->store->ops->engine(p->store, &p->engine, err) != 0)
		return -1;
	if (p->engine == NULL && p->server)
		findings_add(p->findings, FINDING_WARNING, "engine",
			     "let this user call INFO and COMMAND INFO",
			     "not known before the first build");
	else if (p->engine == NULL)
		findings_add(p->findings, FINDING_OK, "engine", NULL,
			     "a folder has filters of any");
	else
		findings_add(p->findings, FINDING_OK, "engine", NULL, "%s",
			     p->engine->name);
	return 0;
}

static void look_at_memory(struct patient *p, const struct store_node *n,
			   const char *what)
{
	char used[NUM_TEXT_MAX];
	char limit[NUM_TEXT_MAX];
	bool full = n->limit > 0 &&
		    (double)n->used * 100 / (double)n->limit >= FULL_PERCENT;

	p->memory_unknown = p->memory_unknown || n->limit == 0;
	if (n->limit == 0)
		findings_add(p->findings, FINDING_WARNING, what,
			     "let this user call INFO",
			     "%s; how much memory it may use is not known",
			     n->software);
	else
		findings_add(
			p->findings, full ? FINDING_WARNING : FINDING_OK, what,
			full ? "make room: swap --prune, or a larger "
			       "server"
			     : NULL,
			"%s; %s of %s in use; policy %s; %" PRIu64 " replicas",
			n->software, num_bytes_text(n->used, used),
			num_bytes_text(n->limit, limit),
			n->policy[0] != '\0' ? n->policy : "not known",
			n->replicas);
}

static int look_at_nodes(struct patient *p, struct error *err)
{
	struct store_node *nodes;
	size_t count;
	char what[sizeof(nodes->name) + 16];

	if (p->store->ops->nodes(p->store, &nodes, &count, err) != 0) {
		if (err->code != ERROR_RIGHTS)
			return -1;
		p->memory_unknown = true;
		findings_add_unseen(p->findings, err);
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(what, sizeof(what), "server '%s'",
			       nodes[i].name);
		look_at_memory(p, &nodes[i], what);
	}
	findings_of_nodes(p->findings, nodes, count);
	free(nodes);
	return 0;
}

static int look_at_lock(struct patient *p, struct error *err)
{
	if (p->rebuilt)
		return 0;
	if (p->store->ops->locked_by(p->store, false, p->locked_by,
				     sizeof(p->locked_by), err) != 0)
		return -1;
	if (p->locked_by[0] == '\0')
		findings_add(p->findings, FINDING_OK, "lock", NULL, "free");
	else
		findings_add(p->findings, FINDING_WARNING, "lock",
			     "wait for it: until then another run ends with 82",
			     "held by %s", p->locked_by);
	return 0;
}

static void look_at_live(struct patient *p, const struct manifest *live)
{
	char age[CLOCK_TEXT_MAX];
	int64_t ms = clock_wall_ms() - live->promoted;

	if (strcmp(live->fingerprint, bloomkey_fingerprint(p->spec)) != 0) {
		findings_add(p->findings, FINDING_ERROR, "set", NULL,
			     "generation '%s' is of another keyspec",
			     live->generation);
		return;
	}
	findings_add(p->findings, FINDING_OK, "set", NULL,
		     "'%s': generation '%s' is live for %s, %zu in all", p->set,
		     live->generation, clock_span(ms > 0 ? ms : 0, age),
		     p->generations.count);
	if (p->engine != NULL && strcmp(live->engine, p->engine->name) != 0)
		findings_add(p->findings, FINDING_WARNING, "engine",
			     "build and swap: new filters are of the engine "
			     "that is there",
			     "generation '%s' was built for %s",
			     live->generation, live->engine);
}

static int look_at_set(struct patient *p, struct error *err)
{
	const struct manifest *live;
	const struct manifest *linked;

	if (generations_read(p->store, &p->generations, err) != 0)
		return -1;
	live = generations_live(&p->generations);
	linked = generations_linked(&p->generations);
	if (live != NULL)
		look_at_live(p, live);
	else if (linked != NULL)
		findings_add(p->findings,
			     p->rebuilt ? FINDING_WARNING : FINDING_ERROR,
			     "set", "build and swap a new generation",
			     "generation '%s', which readers get: %s",
			     linked->generation, linked->broken);
	else if (p->generations.count == 0)
		findings_add(p->findings, FINDING_OK, "set", NULL,
			     "'%s' is not there yet: bloomctl build makes it",
			     p->set);
	else
		findings_add(p->findings, FINDING_WARNING, "set",
			     "promote one: bloomctl swap",
			     "'%s': no generation is live, %zu in all", p->set,
			     p->generations.count);
	findings_of_generations(p->findings, &p->generations, p->locked_by);
	return 0;
}

/* The generation whose size the next one will most likely have. */
static const struct manifest *like_the_next(const struct generations *g)
{
	const struct manifest *m = generations_live(g);

	return m != NULL ? m : generations_newest(g, MANIFEST_COMPLETE);
}

/*
 * Room for a generation as the present one; without one the smallest filters
 * there are, which need the same rights.  Those of a server show only when they
 * are made use of.
 */
static int look_at_room(struct patient *p, struct error *err)
{
	const struct manifest *m = like_the_next(&p->generations);
	const struct engine *engine = p->engine;
	const char *what = p->server ? "room" : "rights, and room";
	struct filter_params params;
	char bytes[NUM_TEXT_MAX];

	if (engine == NULL && m != NULL)
		engine = engine_by_name(m->engine);
	if (engine == NULL)
		engine = &engines[ENGINE_REDISBLOOM];
	if (engine_size(engine, m != NULL ? m->capacity : 1,
			m != NULL ? m->error : 0.01, &params, err) != 0 ||
	    p->store->ops->fits(p->store, &params, 1, err) != 0)
		return -1;
	if (p->memory_unknown)
		findings_add(p->findings, FINDING_WARNING, "room",
			     "let this user call INFO",
			     "whether there is any is not known");
	else if (m != NULL)
		findings_add(
			p->findings, FINDING_OK, "room", NULL,
			"%s for a generation as '%s': %" PRIu32
			" filters of %s",
			what, m->generation, bloomkey_buckets(p->spec),
			num_bytes_text(engine->layout->memory(&params), bytes));
	else
		findings_add(p->findings, FINDING_OK, "room", NULL,
			     "%s for empty filters; how much a full set takes "
			     "is said by bloomctl size",
			     what);
	return 0;
}

/* Errors that say nothing about the target. */
static bool ours(enum error_code code)
{
	return code == ERROR_INTERNAL || code == ERROR_INTERRUPTED ||
	       code == ERROR_TERMINATED;
}

/* What is not there cannot be asked for more. */
static bool ends(enum error_code code)
{
	return code == ERROR_UNREACHED || code == ERROR_TEMPORARY ||
	       code == ERROR_CONFIG;
}

static int look_at_all(struct patient *p, struct error *err)
{
	static const struct {
		const char *what;
		look_fn *look;
	} steps[] = {
		{"target", look_at_target}, {"engine", look_at_engine},
		{"servers", look_at_nodes}, {"lock", look_at_lock},
		{"set", look_at_set},       {"room", look_at_room},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct error why = ERROR_INIT;

		if (stop_check(err) != 0)
			return -1;
		if (steps[i].look(p, &why) == 0)
			continue;
		if (ours(why.code)) {
			*err = why;
			return -1;
		}
		findings_add_error(p->findings, steps[i].what, &why);
		/* Without an engine there is no room to ask for either. */
		if (ends(why.code) || why.code == ERROR_ENGINE)
			break;
	}
	return 0;
}

static int look(struct patient *p, const struct error *opened,
		struct doctor_report *report, struct error *err)
{
	int rc = 0;

	memset(report, 0, sizeof(*report));
	names_set(p->spec, report->set);
	p->findings = &report->findings;
	p->set = report->set;
	if (p->store == NULL && opened->code == ERROR_NONE)
		findings_add(&report->findings, FINDING_OK, "target", NULL,
			     "not there yet: bloomctl build makes it");
	else if (p->store == NULL)
		findings_add_error(&report->findings, "target", opened);
	else
		rc = look_at_all(p, err);
	generations_release(&p->generations);
	return rc != 0 ? rc : findings_end(&report->findings, err);
}

int doctor_run(struct store *store, const struct bloomkey_spec *spec,
	       const struct error *opened, struct doctor_report *report,
	       struct error *err)
{
	struct patient p = {.store = store, .spec = spec};

	return look(&p, opened, report, err);
}

int doctor_locked(struct store *store, const struct bloomkey_spec *spec,
		  struct doctor_report *report, struct error *err)
{
	static const struct error opened = ERROR_INIT;
	struct patient p = {.store = store, .spec = spec, .rebuilt = true};

	return look(&p, &opened, report, err);
}

void doctor_report_release(struct doctor_report *report)
{
	findings_release(&report->findings);
}
