/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/recheck.h"

#include <string.h>

#include "lib/base/input.h"
#include "lib/base/stop.h"
#include "lib/redis/cluster.h"

/*
 * When so many rows are there that count no others are read: there may be no
 * index for them, and the verdict is clear.
 */
#define ROWS_MAX 100

bool recheck_counts(enum missed_why why)
{
	return why != MISSED_CAME && why != MISSED_GONE &&
	       why != MISSED_COVERED;
}

/* Whether a key may yet turn out to be missing. */
static bool open_yet(const struct missed_key *key)
{
	return recheck_counts(key->why) || key->why == MISSED_COVERED;
}

/* Answers come in any order; the same key may be there more than once. */
static void on_answer(void *ctx, uint32_t bucket, const void *key, size_t len,
		      bool found)
{
	struct missed *missed = ctx;

	for (size_t i = 0; found && i < missed->count; i++) {
		struct missed_key *k = &missed->keys[i];

		if (k->bucket == bucket && k->len == len &&
		    memcmp(k->key, key, len) == 0)
			k->why = MISSED_CAME;
	}
}

static int ask_filters(const struct recheck *r, struct missed *missed,
		       struct error *err)
{
	struct probe *probe;
	int rc;

	rc = r->store->ops->probe(r->store, r->m, on_answer, missed, &probe,
				  err);
	if (rc != 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < missed->count; i++)
		if (open_yet(&missed->keys[i]))
			rc = probe->ops->ask(probe, missed->keys[i].bucket,
					     missed->keys[i].key,
					     missed->keys[i].len, err);
	if (rc == 0)
		rc = probe->ops->flush(probe, err);
	probe->ops->close(probe);
	return rc;
}

/* What a row that is there says of why its key is not. */
static enum missed_why judge(const struct tier_row *row)
{
	if (!row->found)
		return MISSED_GONE;
	/* By the ids it is known; a stamp before the horizon is one of a row
	 * that changed later all the same where these say so. */
	if (row->before)
		return MISSED_BEFORE;
	if (row->unmoved)
		return MISSED_UNMOVED;
	return row->after || row->moved ? MISSED_LATER : MISSED_OPEN;
}

/*
 * The horizon of the key's filter is read before the filter is asked for the
 * last time: what moves it meanwhile has added the row by then.
 */
static int ask_row(const struct recheck *r, struct tierrow *t,
		   struct missed_key *key, struct error *err)
{
	const struct horizon *horizon = &r->m->horizon;
	struct bucket_info info;
	struct tier_row row;

	memset(&row, 0, sizeof(row));
	if (stop_check(err) != 0 ||
	    r->store->ops->info(r->store, r->m, key->bucket, false, &info,
				err) != 0)
		return -1;
	if (!horizon_none(&info.horizon))
		horizon = &info.horizon;
	if (tierrow_match(t, (const char *const *)key->values, key->key,
			  key->len, horizon, r->changed, &row, err) != 0)
		return -1;
	key->why = judge(&row);
	return 0;
}

static int ask_database(const struct recheck *r, struct missed *missed,
			struct recheck_report *report, struct error *err)
{
	struct tierrow *t = NULL;
	unsigned there = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < missed->count && there < ROWS_MAX;
	     i++) {
		struct missed_key *key = &missed->keys[i];

		if (!open_yet(key) || key->values == NULL)
			continue;
		if (t == NULL) {
			rc = tierrow_open(r->spec, r->database, &t, err);
			if (rc != 0)
				break;
			report->asked = true;
			report->facts = *tierrow_facts(t);
		}
		rc = ask_row(r, t, key, err);
		there += recheck_counts(key->why);
	}
	tierrow_close(t);
	return rc == 0 ? 0
		       : error_prefix(err, "rows that are not found, read "
					   "again");
}

/* What catch-up or a writer will still bring is covered by recent-writes; what
 * they will not is missing when it has left these. */
static int ask_recent(const struct recheck *r, struct missed *missed,
		      struct error *err)
{
	struct redis_target target;
	struct cluster *c = NULL;
	int rc;

	memset(&target, 0, sizeof(target));
	rc = redis_target_parse(r->server, r->options, &target, err);
	if (rc == 0)
		rc = cluster_open(&target, CONN_READS, NULL, &c, err);
	for (size_t i = 0; rc == 0 && i < missed->count; i++) {
		struct missed_key *key = &missed->keys[i];
		struct tier_key answer;

		if (key->why != MISSED_OPEN && key->why != MISSED_LATER)
			continue;
		memset(&answer, 0, sizeof(answer));
		rc = tierkey_ask(c, "recent-writes", r->recent, key->key,
				 key->len, &answer, err);
		if (rc == 0 && answer.found)
			key->why = MISSED_COVERED;
	}
	cluster_close(c);
	redis_target_release(&target);
	return rc;
}

static bool any_open(const struct missed *missed)
{
	for (size_t i = 0; i < missed->count; i++)
		if (open_yet(&missed->keys[i]))
			return true;
	return false;
}

int recheck_run(const struct recheck *recheck, struct missed *missed,
		struct recheck_report *report, struct error *err)
{
	const struct recheck *r = recheck;

	memset(report, 0, sizeof(*report));
	if (missed->count == 0)
		return 0;
	if (r->grace_ms > 0 && input_wait_for(-1, 0, (int)r->grace_ms, err) < 0)
		return -1;
	if (ask_filters(r, missed, err) != 0)
		return -1;
	if (any_open(missed) &&
	    ((r->database != NULL &&
	      ask_database(r, missed, report, err) != 0) ||
	     (r->recent != NULL && ask_recent(r, missed, err) != 0) ||
	     ((r->database != NULL || r->recent != NULL) &&
	      ask_filters(r, missed, err) != 0)))
		return -1;
	for (size_t i = 0; i < missed->count; i++)
		report->whys[missed->keys[i].why]++;
	return 0;
}
