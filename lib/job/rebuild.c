/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/rebuild.h"

#include <string.h>

#include "lib/base/log.h"
#include "lib/base/stop.h"
#include "lib/job/doctorsource.h"
#include "lib/job/generation.h"
#include "lib/job/phase.h"

/* One rebuild. */
struct rebuilding {
	struct store *store;
	const struct scan *scan;
	const struct bloomkey_spec *spec;
	const struct rebuild_options *o;
	struct rebuild_report *report;
	uint64_t fence;
};

static const char *const step_names[] = {"lock",  "finish", "prune",  "doctor",
					 "build", "swap",   "verify", NULL};

const char *rebuild_step_name(enum rebuild_step step)
{
	return step_names[step];
}

/* Whether what was committed since the build is looked for in a database. */
static bool catches_up(const struct rebuild_options *o)
{
	return o->swap.catchup != NULL && !o->swap.unchanging;
}

/* What a rebuild does not make good, so that there is no use in going on. */
static bool ends(enum error_code code)
{
	return code == ERROR_INTERNAL || code == ERROR_INTERRUPTED ||
	       code == ERROR_TERMINATED || code == ERROR_TEMPORARY ||
	       code == ERROR_LOCKED || code == ERROR_UNREACHED ||
	       code == ERROR_RIGHTS;
}

/*
 * What an earlier swap has left undone is done.  Where it cannot be, the new
 * generation takes the place of both.
 */
static int finish(struct rebuilding *r, struct error *err)
{
	struct swap_report done;
	struct error why = ERROR_INIT;
	int rc =
		swap_finish_locked(r->store, r->spec, &r->o->swap, &done, &why);

	r->report->finished = rc == 0 && done.resumed;
	swap_report_release(&done);
	if (rc != 0 && ends(why.code)) {
		*err = why;
		return -1;
	}
	if (rc != 0)
		log_warn("an earlier swap cannot be finished, and is replaced: "
			 "%s",
			 why.text);
	else if (r->report->finished)
		log_note("an earlier swap is finished");
	return 0;
}

static int note_live(struct rebuilding *r, struct error *err)
{
	struct generations g;
	const struct manifest *live;

	if (generations_read(r->store, &g, err) != 0)
		return -1;
	live = generations_live(&g);
	if (live == NULL)
		live = generations_linked(&g);
	if (live != NULL)
		memcpy(r->report->live, live->generation,
		       sizeof(r->report->live));
	generations_release(&g);
	return 0;
}

static int prune(struct rebuilding *r, struct error *err)
{
	if (note_live(r, err) != 0)
		return -1;
	return prune_locked(r->store, r->o->keep, &r->report->pruned, err);
}

/* The first error ends the run; what is worth a warning is told. */
static int judge(const struct findings *f, struct error *err)
{
	const struct finding *worst = findings_worst(f);

	for (size_t i = 0; i < f->count; i++)
		if (f->list[i].level == FINDING_WARNING)
			log_warn("%s: %s", f->list[i].what,
				 f->list[i].evidence);
	if (worst == NULL || worst->level != FINDING_ERROR)
		return 0;
	(void)error_set(err, worst->code, "%s: %s", worst->what,
			worst->evidence);
	return worst->remedy[0] != '\0' ? error_hint(err, "%s", worst->remedy)
					: -1;
}

static int doctor(struct rebuilding *r, struct error *err)
{
	static const struct error there_is_none = ERROR_INIT;
	struct doctor_report *d = &r->report->doctor;
	int rc = r->o->build.dry_run
			 ? doctor_run(r->store, r->spec, &there_is_none, d, err)
			 : doctor_locked(r->store, r->spec, d, err);

	if (rc == 0)
		rc = doctor_source(r->scan->source, r->spec, NULL, &d->findings,
				   err);
	return rc == 0 ? judge(&d->findings, err) : -1;
}

static int build(struct rebuilding *r, struct error *err)
{
	int rc = r->o->build.dry_run
			 ? build_run(r->store, r->scan, &r->o->build,
				     &r->report->build, err)
			 : build_locked(r->store, r->scan, &r->o->build,
					r->fence, &r->report->build, err);

	if (rc == 0 && catches_up(r->o) && r->o->read != NULL)
		r->o->read(r->o->ctx);
	return rc;
}

/* A hook may have taken as long as it liked. */
static int before_swap(void *ctx, struct error *err)
{
	struct rebuilding *r = ctx;

	r->store->ops->phase(r->store, "before the swap", 0, 0);
	if (r->o->swap.before != NULL &&
	    r->o->swap.before(r->o->swap.ctx, err) != 0)
		return -1;
	if (stop_check(err) != 0)
		return -1;
	return r->store->ops->held(r->store, err);
}

static int swap(struct rebuilding *r, struct error *err)
{
	struct swap_options o = r->o->swap;

	o.generation = r->report->build.m.generation;
	o.rollback = false;
	o.before = before_swap;
	o.ctx = r;
	return swap_locked(r->store, r->spec, &o, &r->report->swap, err);
}

static int audit(struct rebuilding *r, struct source *source,
		 const struct rowformat *format, struct error *err)
{
	struct audit_report *a = &r->report->audit;
	struct rejects rejects = {.max = UINT64_MAX};
	const struct audit_options o = {.absent = r->o->absent};
	struct scan scan = *r->scan;
	struct phase phase;
	int rc;

	scan.source = source;
	scan.format = format;
	scan.rejects = &rejects;
	scan.phase = "verifying";
	rc = scan_jobs(&scan, &scan.jobs, err);
	if (rc != 0)
		return -1;
	phase_watch(&phase, r->store, &scan);
	rc = audit_run(r->store, &scan, &o, a, err);
	/* A table may well have changed in all of its rows. */
	if (rc != 0 && err->code == ERROR_VERIFY && a->rows == a->rejects) {
		*err = (struct error)ERROR_INIT;
		log_note("no row of the source is older than the horizon, so "
			 "none is asked for");
		return 0;
	}
	r->report->verified = a->rows > a->rejects;
	return rc;
}

/*
 * Of a database those rows are asked for that are in the generation for
 * certain: those that changed later may be on their way.
 */
static int audit_database(struct rebuilding *r, struct error *err)
{
	const struct catchup *c = r->o->swap.catchup;
	const struct horizon *horizon = &r->report->swap.live.to;
	struct source_query query = *c->query;
	const struct source_options options = {.query = &query};
	struct rowformat format = *c->format;
	struct source *source;
	int rc;

	if (c->stamped ? horizon->since == 0 : horizon->xid == 0)
		return 0;
	query.before = horizon;
	query.stamped = c->stamped;
	query.limit = r->o->sample;
	if (source_open(&c->word, 1, &options, &source, err) != 0)
		return -1;
	if (source->ops->columns != NULL)
		format.names = source->ops->columns(source, &format.name_count);
	rc = audit(r, source, &format, err);
	source->ops->free(source);
	return rc;
}

static int verify(struct rebuilding *r, struct error *err)
{
	/* What is asked for on purpose. */
	if (r->report->build.m.keys == 0)
		return 0;
	if (catches_up(r->o))
		return audit_database(r, err);
	if (!r->scan->source->once)
		return audit(r, r->scan->source, r->scan->format, err);
	log_note("the source can be read only once: its rows were asked for "
		 "while they were built, and are not again");
	return 0;
}

static int run(struct rebuilding *r, struct error *err)
{
	static int (*const steps[])(struct rebuilding * r,
				    struct error * err) = {
		[REBUILD_FINISH] = finish, [REBUILD_PRUNE] = prune,
		[REBUILD_DOCTOR] = doctor, [REBUILD_BUILD] = build,
		[REBUILD_SWAP] = swap,     [REBUILD_VERIFY] = verify,
	};
	enum rebuild_step *step = &r->report->step;

	for (*step = REBUILD_FINISH; *step < REBUILD_DONE; (*step)++) {
		bool dry = r->o->build.dry_run;

		if (dry && *step != REBUILD_DOCTOR && *step != REBUILD_BUILD)
			continue;
		if (stop_check(err) != 0)
			return -1;
		log_step("step '%s'", rebuild_step_name(*step));
		if (!dry)
			r->store->ops->phase(r->store, rebuild_step_name(*step),
					     0, 0);
		if (steps[*step](r, err) != 0)
			return -1;
	}
	return 0;
}

/* Which step it was, and what readers get. */
static int tell(const struct rebuild_report *r, struct error *err)
{
	struct error why = *err;
	const char *step = rebuild_step_name(r->step);
	const char *built = r->build.m.generation;
	bool complete = r->build.m.state == MANIFEST_COMPLETE;
	bool live = r->live[0] != '\0';

	/* The swap says so itself once something has moved. */
	if (r->step == REBUILD_SWAP &&
	    (why.code == ERROR_SWAP || r->swap.m.set[0] != '\0'))
		(void)error_set(err, why.code, "step '%s': %s", step, why.text);
	else if (r->step == REBUILD_VERIFY)
		(void)error_set(err, why.code, "step '%s': %.400s; it is live",
				step, why.text);
	else
		(void)error_set(
			err, why.code, "step '%s': %.330s; %s%s%s%s%s%s", step,
			why.text, complete ? "'" : "", complete ? built : "",
			complete ? "' is complete, " : "",
			live ? "'" : "nothing", r->live,
			live ? "' stays live" : " is live");
	return why.hint[0] != '\0' ? error_hint(err, "%s", why.hint) : -1;
}

static int run_dry(struct rebuilding *r, struct error *err)
{
	if (r->store != NULL) {
		char set[NAMES_SET_MAX];

		names_set(r->spec, set);
		if (generations_unlocked(r->store, set, err) != 0 ||
		    note_live(r, err) != 0)
			return -1;
	}
	return run(r, err) == 0 ? 0 : tell(r->report, err);
}

int rebuild_run(struct store *store, const struct scan *scan,
		const struct rebuild_options *options,
		struct rebuild_report *report, struct error *err)
{
	struct rebuilding r = {.store = store,
			       .scan = scan,
			       .spec = scan->spec,
			       .o = options,
			       .report = report};
	int rc;

	memset(report, 0, sizeof(*report));
	if (options->build.dry_run)
		return run_dry(&r, err);
	if (store->ops->lock(store, "rebuild", &r.fence, err) != 0)
		return -1;
	rc = run(&r, err);
	store->ops->unlock(store);
	return rc == 0 ? 0 : tell(report, err);
}

void rebuild_report_release(struct rebuild_report *report)
{
	prune_report_release(&report->pruned);
	doctor_report_release(&report->doctor);
	build_report_release(&report->build);
	swap_report_release(&report->swap);
	audit_report_release(&report->audit);
}
