/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/verify.h"

#include <string.h>

#include "lib/pg/select.h"
#include "lib/redis/target.h"

#define GRACE_MS 2000

/* Options that mean something to a database only. */
static const enum option_id of_database[] = {OPT_WRITER, OPT_CHANGED_COLUMN,
					     OPT_FRESH};

/* The database in which rows that are not found are read again. */
static int read_database(struct verify *v, const struct opts *opts,
			 const struct inputs *in, struct error *err)
{
	const struct opt_value *words = opts_list(opts, OPT_SOURCE);
	struct tiers_database *db = &v->database;

	/* Of several nothing says which a row is of. */
	if (words->count != 1)
		return 0;
	*db = (struct tiers_database){
		.word = words->items[0],
		.primary = opts_has(opts, OPT_WRITER),
		.table = in->query.table,
		.where = in->query.where,
		.query = in->query.query,
	};
	v->options.recheck.database = db;
	if (!db->primary)
		return 0;
	db->of = db->word;
	return inputs_writer(opts, &db->word, err);
}

static int read_fresh(struct verify *v, const struct opts *opts,
		      struct inputs *in, struct error *err)
{
	const char *changed = v->options.recheck.changed;

	v->fresh_ms = opts_span(opts, OPT_FRESH, 0);
	if (v->fresh_ms == 0)
		return 0;
	if (changed == NULL) {
		(void)error_set(err, ERROR_USAGE,
				"option --fresh: it needs --changed-column");
		return error_hint(err, "name the column of time that every "
				       "change of a row moves");
	}
	if (select_fresh(changed, v->fresh_ms, in->query.where, in->query.query,
			 &v->fresh, err) != 0)
		return -1;
	v->options.fresh = true;
	if (in->query.query != NULL)
		in->query.query = v->fresh;
	else
		in->query.where = v->fresh;
	return 0;
}

int verifyask(struct verify *v, const struct opts *opts, struct inputs *in,
	      struct error *err)
{
	struct audit_options *o = &v->options;

	o->id = opts_text(opts, OPT_GENERATION);
	o->absent = opts_u64(opts, OPT_ABSENT, 100000);
	o->sample = opts_u64(opts, OPT_SAMPLE, 0);
	o->replicas = opts_flag(opts, OPT_REPLICAS);
	o->recheck.grace_ms = opts_span(opts, OPT_GRACE, GRACE_MS);
	o->recheck.recent = opts_text(opts, OPT_RECENT);
	if (o->recheck.recent != NULL && !tiers_pattern(o->recheck.recent)) {
		(void)error_set(
			err, ERROR_USAGE,
			"option --recent: the pattern must hold " TIERS_KEY
			", once");
		return error_hint(err, "as recent:" TIERS_KEY);
	}
	if (!in->database)
		return inputs_refuse(
			opts, of_database,
			sizeof(of_database) / sizeof(of_database[0]),
			"it is for a database, and the source is none", err);
	o->recheck.changed = opts_text(opts, OPT_CHANGED_COLUMN);
	if (read_database(v, opts, in, err) != 0)
		return -1;
	return read_fresh(v, opts, in, err);
}

void verifyask_target(struct verify *v, const struct opts *opts,
		      const struct target *target)
{
	struct recheck *r = &v->options.recheck;

	r->server = opts_text(opts, OPT_TARGET);
	r->options = &target->server;
	/* A folder has neither; a file may name them for other targets. */
	if (redis_target_is(r->server))
		return;
	r->recent = NULL;
	v->options.replicas = false;
}
