/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/horizon.h"
#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/pg/oldest.h"
#include "lib/pg/position.h"
#include "lib/pg/query.h"
#include "lib/rows/postgres.h"

/* The type timestamptz, which a time has in every time zone alike. */
#define TIMESTAMPTZ 1184

/* Ids come again after 2^32, and age() counts to half of that; and a reserve.
 */
#define XIDS_KNOWN (UINT64_C(2147483648) - 10000000)

#define REBUILD "build a new generation"

static uint64_t number(const char *text)
{
	uint64_t n = 0;

	return num_u64(text, &n) == 0 ? n : 0;
}

/* Whether ids of transactions are what is looked for, or may be later on. */
static bool wants_ids(const struct source_query *q)
{
	return q->table != NULL && !(q->since != NULL && q->stamped);
}

static int check_age(const struct source_query *q, const char *place,
		     const struct oldest *oldest, int64_t now,
		     struct error *err)
{
	char since[CLOCK_TEXT_MAX];
	char span[CLOCK_TEXT_MAX];

	if (q->max_age_ms <= 0 || oldest->since == 0 ||
	    now - oldest->since <= q->max_age_ms)
		return 0;
	(void)error_set(err, ERROR_TEMPORARY,
			"server '%s': %s has been in its transaction since %s, "
			"so that the horizon would be older than %s",
			place, oldest->text, clock_text(oldest->since, since),
			clock_span(q->max_age_ms, span));
	return error_hint(err, "end it, or allow for more by "
			       "--max-horizon-age");
}

static int check_holder(const struct source_query *q, struct session *session,
			const struct session_facts *at, struct error *err)
{
	struct oldest oldest;

	if (q->max_age_ms <= 0 || !wants_ids(q))
		return 0;
	if (oldest_of_xid(session, at->xmin, &oldest, err) != 0)
		return -1;
	return check_age(q, at->place, &oldest, at->taken, err);
}

/*
 * The stamp first: whoever has ended by then is shown by a source that has come
 * to the position.
 */
static int ask(struct postgres_source *s, struct session *session,
	       struct error *err)
{
	const struct source_query *q = &s->query;
	struct oldest oldest = {0};

	if (position_check_writer(session_facts(session), err) != 0)
		return -1;
	if (q->changed != NULL &&
	    oldest_stamp(session, q->wait_ms, &s->stamp, &oldest, &s->stampless,
			 err) != 0)
		return -1;
	if (position_read(session, &s->writer, err) != 0 ||
	    (s->stamp != 0 &&
	     check_age(q, s->writer.place, &oldest, s->writer.taken, err) != 0))
		return -1;
	return check_holder(q, session, &s->writer, err);
}

static int no_bound(struct error *err)
{
	(void)error_set(err, ERROR_USAGE,
			"option --changed-column: nothing says how long "
			"transactions last that stamp it");
	return error_hint(err, "name the primary in --writer, or give an "
			       "--overlap that is longer than any of them");
}

int pghorizon_ask(struct postgres_source *s, struct session_goal *goal,
		  struct error *err)
{
	const struct source_query *q = &s->query;
	struct session *session;
	int rc;

	if (q->stamped && q->changed == NULL &&
	    (q->since != NULL || q->before != NULL))
		return error_set(err, ERROR_USAGE,
				 "what changed is to be found by a column, and "
				 "there is no --changed-column");
	/* Of what did not change no horizon is wanted. */
	if (q->before != NULL)
		return 0;
	if (q->writer == NULL)
		return q->changed != NULL && q->overlap_ms < 0 ? no_bound(err)
							       : 0;
	if (session_open_current(q->writer, &session, err) != 0)
		return -1;
	rc = ask(s, session, err);
	session_close(session);
	s->asked = rc == 0;
	goal->writer = &s->writer;
	goal->wait_ms = q->wait_ms;
	return rc;
}

static int check_column(struct postgres_source *s, struct error *err)
{
	struct selection sel = postgres_selection(s);
	struct answer *answer;
	unsigned type;
	char *sql;
	int rc;

	sel.columns = &s->query.changed;
	sel.count = 1;
	sel.since = NULL;
	if (select_none(&sel, &sql, err) != 0)
		return -1;
	rc = query_run(s->sessions.first, sql, 0, NULL, &answer, err);
	free(sql);
	if (rc != 0)
		return error_prefix(err, "option --changed-column");
	type = answer_type(answer, 0);
	answer_free(answer);
	if (type == TIMESTAMPTZ)
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"option --changed-column: column '%s' is no "
			"timestamptz, and other types do not say in which time "
			"zone a time is",
			s->query.changed);
	return error_hint(err, "use a column of timestamptz that every change "
			       "moves, or --catch-up xmin");
}

/* What the horizon is compared to: the writer, or the source without one. */
static const struct session_facts *judge(const struct postgres_source *s)
{
	return s->asked ? &s->writer : &s->sessions.facts;
}

static int check_history(const struct postgres_source *s,
			 const struct horizon *h, struct error *err)
{
	const struct session_facts *f = judge(s);
	uint64_t system = number(f->system);
	uint64_t timeline = number(f->timeline);

	if (h->system != 0 && system != 0 && h->system != system) {
		(void)error_set(err, ERROR_GENERATION,
				"the horizon is of another cluster than server "
				"'%s', so that what changed since is not known",
				f->place);
		return error_hint(err, REBUILD);
	}
	if (h->timeline != 0 && timeline != 0 && h->timeline != timeline) {
		(void)error_set(err, ERROR_GENERATION,
				"the horizon is of timeline %" PRIu32
				", and server '%s' is on %" PRIu64
				", so that what changed since is not known",
				h->timeline, f->place, timeline);
		return error_hint(err, REBUILD);
	}
	if (s->query.stamped || (h->system != 0 && h->timeline != 0 &&
				 system != 0 && timeline != 0))
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"nothing says whether the horizon is of the cluster "
			"and timeline of server '%s', so that its ids say "
			"nothing",
			f->place);
	return error_hint(err, "use --catch-up stamp, or " REBUILD);
}

/* Ids that were given out again, or come again soon, say nothing. */
static int check_xid(const struct postgres_source *s, const struct horizon *h,
		     struct error *err)
{
	const struct session_facts *f = judge(s);
	uint64_t xmax = number(f->xmax);

	if (h->xid > xmax) {
		/* It lags: of such ids it has none. */
		if (s->query.before != NULL && f->standby)
			return 0;
		if (!s->asked && f->standby) {
			(void)error_set(err, ERROR_TEMPORARY,
					"standby '%s' has not come to where "
					"the horizon is",
					f->place);
			return error_hint(err, "run it again, or name the "
					       "primary in --writer");
		}
		(void)error_set(err, ERROR_GENERATION,
				"the horizon is beyond all transactions of "
				"server '%s', which gives out their ids again",
				f->place);
		return error_hint(err, REBUILD);
	}
	if (xmax - h->xid <= XIDS_KNOWN)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"the horizon is %" PRIu64 " transactions old, and "
			"their ids come again",
			xmax - h->xid);
	return error_hint(err, REBUILD);
}

static int no_versions(struct error *err)
{
	(void)error_set(err, ERROR_USAGE,
			"what changed of it is not told by ids of "
			"transactions, which only the rows of tables have");
	return error_hint(err, "use --table NAME, or --catch-up stamp with "
			       "--changed-column");
}

/* What tables are to be read whole, whatever the ids of their rows are. */
static int take_leaves(struct postgres_source *s, const struct horizon *h,
		       struct error *err)
{
	struct relation *r = s->relation;

	s->every = h->relation == 0 || h->relation != r->oid;
	if (s->every)
		for (size_t i = 0; i < r->leaf_count; i++)
			r->leaves[i].changed = true;
	else if (relation_changed(s->sessions.first, r, h->xid, err) != 0)
		return -1;
	s->whole = calloc(r->leaf_count + 1, sizeof(*s->whole));
	if (s->whole == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < r->leaf_count; i++)
		if (r->leaves[i].changed)
			s->whole[s->since.whole_count++] = r->leaves[i].oid;
	s->since.whole = s->whole;
	return 0;
}

static int take_since(struct postgres_source *s, const struct horizon *h,
		      struct error *err)
{
	const struct source_query *q = &s->query;

	if (!q->stamped && (s->relation == NULL || !s->relation->versioned))
		return no_versions(err);
	if (q->stamped ? h->since == 0 : h->xid == 0) {
		(void)error_set(err, ERROR_GENERATION, "the horizon has no %s",
				q->stamped ? "stamp" : "transaction");
		return error_hint(err, REBUILD);
	}
	if (check_history(s, h, err) != 0)
		return -1;
	s->since.before = q->before != NULL;
	if (q->stamped) {
		s->since.column = q->changed;
		s->since.stamp = h->since;
		return 0;
	}
	s->since.xid = h->xid;
	return check_xid(s, h, err) == 0 ? take_leaves(s, h, err) : -1;
}

/* Without a stamp there is still the way by ids, where that is one. */
static int check_stamp(struct postgres_source *s, struct error *err)
{
	if (!s->asked || s->query.changed == NULL || s->stamp != 0)
		return 0;
	if (wants_ids(&s->query) && s->relation->versioned) {
		log_warn("%s; the horizon has none", s->stampless.text);
		return 0;
	}
	*err = s->stampless;
	return -1;
}

int pghorizon_prepare(struct postgres_source *s, struct error *err)
{
	const struct source_query *q = &s->query;
	const struct session_facts *f = &s->sessions.facts;

	if (q->changed != NULL && check_column(s, err) != 0)
		return -1;
	if (q->since != NULL && take_since(s, q->since, err) != 0)
		return -1;
	if (q->before != NULL)
		return take_since(s, q->before, err);
	if (check_stamp(s, err) != 0)
		return -1;
	if (s->asked || f->standby)
		return 0;
	if (check_holder(q, s->sessions.first, f, err) != 0)
		return -1;
	/* Who asks for no horizon waits for none. */
	return q->wait_ms > 0 && wants_ids(q)
		       ? position_settle(s->sessions.first, q->wait_ms, err)
		       : 0;
}

/* That of the first snapshot: others, of parts read again, are later. */
int pghorizon(const struct source *source, struct horizon *out,
	      struct error *err)
{
	const struct postgres_source *s =
		(const struct postgres_source *)source;
	const struct source_query *q = &s->query;
	const struct session_facts *f = judge(s);
	bool versioned = s->relation != NULL && s->relation->versioned;
	bool behind = !s->asked && q->overlap_ms > 0;
	struct horizon h;

	if (!versioned && q->changed == NULL)
		return 0;
	if (horizon_xmin(&h, f->taken, f->xmin, f->lsn, f->timeline, f->system,
			 err) != 0)
		return -1;
	h.relation = versioned ? s->relation->oid : 0;
	h.xid = versioned ? h.xid : 0;
	if (q->changed != NULL)
		h.since = s->asked ? s->stamp : f->taken - q->overlap_ms;
	if (q->changed != NULL && !s->asked && h.since <= 0)
		h.since = 1;
	if (behind && f->standby)
		h.read_at -= q->overlap_ms;
	*out = h;
	return 0;
}
