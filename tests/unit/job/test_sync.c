/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a sync decides before it asks a database.
 */
#include "lib/job/sync.h"

#include "lib/base/log.h"
#include "tests/unit/job/job.h"

/* The fake store with a lock of those that sync. */
struct synced {
	struct fake f; /* first */
	struct store_ops ops;
	bool locked;
	const char *held;
	unsigned begun;
};

static int sync_lock(struct store *s, const char *command, struct error *err)
{
	struct synced *d = (struct synced *)s;

	CHECK_STR(command, "sync");
	CHECK(!d->locked);
	if (d->held != NULL)
		return error_set(err, ERROR_LOCKED, "set: held by %s", d->held);
	d->locked = true;
	return 0;
}

static void sync_unlock(struct store *s)
{
	struct synced *d = (struct synced *)s;

	CHECK(d->locked);
	d->locked = false;
}

static int pass_begin(struct store *s, const struct manifest *m, bool live,
		      unsigned workers, struct horizon *oldest,
		      struct error *err)
{
	struct synced *d = (struct synced *)s;

	(void)m;
	(void)live;
	(void)workers;
	(void)oldest;
	/* Nothing is done without the lock. */
	CHECK(d->locked);
	d->begun++;
	return error_set(err, ERROR_RIGHTS, "pass: refused");
}

struct course {
	struct bloomkey_spec *spec;
	struct synced d;
	struct fake_generation *live;
	struct source_query query;
	struct catchup catchup;
	struct sync_options options;
	struct sync_report report;
	struct error err;
};

static void begin(struct course *c)
{
	memset(c, 0, sizeof(*c));
	c->spec = job_spec(JOB_KEYSPEC);
	fake_init(&c->d.f, c->spec);
	c->d.ops = fake_ops;
	c->d.ops.sync_lock = sync_lock;
	c->d.ops.sync_unlock = sync_unlock;
	c->d.ops.pass_begin = pass_begin;
	c->d.f.base.ops = &c->d.ops;
	c->live = fake_there(&c->d.f, ID_1, MANIFEST_LIVE, few_keys);
	c->query.table = "cards";
	c->catchup.word = "host=/nowhere/at/all";
	c->catchup.query = &c->query;
	c->catchup.format = &job_format;
	c->catchup.jobs = 1;
	c->options.catchup = &c->catchup;
	log_init(LOG_QUIET, "test");
}

static int run(struct course *c)
{
	return sync_run(&c->d.f.base, c->spec, &c->options, &c->report,
			&c->err);
}

static void end(struct course *c)
{
	CHECK(!c->d.locked);
	sync_report_release(&c->report);
	fake_done(&c->d.f);
	bloomkey_free(c->spec);
}

static void one_at_a_time(void)
{
	struct course c;

	begin(&c);
	c.d.held = "another";
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_LOCKED);
	CHECK_U64(c.d.f.calls[FAKE_LIST], 0);
	end(&c);
}

static void under_its_lock(void)
{
	struct course c;

	begin(&c);
	CHECK(run(&c) == -1);
	CHECK_STR(c.err.text, "pass: refused");
	CHECK_U64(c.d.begun, 1);
	CHECK_STR(c.report.m.generation, ID_1);
	CHECK(c.report.exposure_ms == 0);
	end(&c);
}

static void no_live(void)
{
	struct course c;

	begin(&c);
	c.live->m.state = c.live->recorded = MANIFEST_COMPLETE;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_GENERATION);
	CHECK_U64(c.d.begun, 0);
	end(&c);
}

static void dry_without_horizon(void)
{
	struct course c;

	begin(&c);
	c.options.dry_run = true;
	/* No lock is asked for. */
	c.d.held = "another";
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_GENERATION);
	CHECK(strstr(c.err.text, "no horizon") != NULL);
	end(&c);
}

static void no_stamp(void)
{
	struct course c;

	begin(&c);
	c.query.changed = "moved";
	c.catchup.stamped = true;
	c.live->m.horizon.read_at = 1000;
	c.live->m.horizon.xid = 800;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_GENERATION);
	CHECK(strstr(c.err.text, "no stamp") != NULL);
	CHECK(strstr(c.err.hint, "--changed-column") != NULL);
	CHECK_U64(c.d.begun, 0);
	end(&c);
}

static void index_first(void)
{
	struct course c;

	begin(&c);
	c.query.changed = "moved";
	c.catchup.stamped = true;
	c.live->m.horizon.read_at = c.live->m.horizon.since = 1000;
	CHECK(run(&c) == -1);
	/* The database is asked for its plan before a pass begins. */
	CHECK_U64(c.d.begun, 0);
	c.options.allow_scan = true;
	sync_report_release(&c.report);
	CHECK(run(&c) == -1);
	CHECK_U64(c.d.begun, 1);
	end(&c);
}

int main(void)
{
	UNIT(one_at_a_time, "sync: another one's lock ends it at once");
	UNIT(under_its_lock, "sync: a pass is made under a lock, which goes");
	UNIT(no_live, "sync: without a live generation there is no pass");
	UNIT(dry_without_horizon, "sync: a dry run takes no lock and says that "
				  "there is no horizon");
	UNIT(no_stamp, "sync: by stamps a horizon without one is refused");
	UNIT(index_first, "sync: by stamps an index is looked for, unless told "
			  "otherwise");
	return unit_end();
}
