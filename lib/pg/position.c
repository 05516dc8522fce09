/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/position.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/horizon.h"
#include "lib/base/input.h"
#include "lib/base/num.h"
#include "lib/pg/session_private.h"

#define XMIN_AND_XMAX                                         \
	"SELECT txid_snapshot_xmin(txid_current_snapshot())," \
	" txid_snapshot_xmax(txid_current_snapshot()),"       \
	" (extract(epoch FROM statement_timestamp()) * 1000)::bigint"

/* Whoever commits is waited for so often before the log's writer is woken. */
#define POLLS 5

/* The heads of a page of the log, and of the first of a file. */
#define HEAD       24
#define HEAD_FIRST 40

#define KEEP(field, answer, column) \
	facts_keep((field), sizeof(field), (answer), (column))

int position_check_writer(const struct session_facts *writer, struct error *err)
{
	if (!writer->standby)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"server '%s' is a standby, where the writer is to be "
			"asked",
			writer->place);
	return error_hint(err, "name the primary in --writer, or a standby in "
			       "--source");
}

int position_check_cluster(const struct session_facts *writer,
			   const struct session_facts *source,
			   struct error *err)
{
	if (writer->system[0] == '\0' || source->system[0] == '\0' ||
	    strcmp(writer->system, source->system) == 0)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"server '%s' is not of the cluster of the source, "
			"server '%s'",
			writer->place, source->place);
	return error_hint(err, "name the primary of the source in --writer");
}

/*
 * What a server says to be its next record's place is behind the head of a page
 * where the last record ended with the page before: nobody will have come there
 * until there is a next one.  No record ends within the first 40 bytes of a
 * page but one that began before it.
 */
static int take_lsn(struct session_facts *f, const struct answer *answer,
		    struct error *err)
{
	uint64_t block = 0;
	uint64_t lsn;
	char text[HORIZON_LSN_MAX];

	if (horizon_lsn_parse(answer_text(answer, 0, 3), &lsn) != 0 ||
	    num_u64(answer_text(answer, 0, 4), &block) != 0 || block == 0)
		return error_set(err, ERROR_DATA,
				 "server '%s': its position is none", f->place);
	if (lsn % block == HEAD || lsn % block == HEAD_FIRST)
		lsn -= lsn % block;
	(void)snprintf(f->lsn, sizeof(f->lsn), "%s",
		       horizon_lsn_text(lsn, text));
	return 0;
}

static void take_ids(struct session_facts *f, const struct answer *answer)
{
	KEEP(f->xmin, answer, 0);
	KEEP(f->xmax, answer, 1);
	f->taken = strtoll(answer_text(answer, 0, 2), NULL, 10);
}

/*
 * Aurora tells what is durable of its volume, and an asynchronous commit can be
 * seen before it is; it is written within three delays of the one who does.
 */
static int read_volume(struct session *session, struct session_facts *out,
		       struct error *err)
{
	static const char ids[] =
		XMIN_AND_XMAX ", (SELECT setting FROM pg_settings"
			      " WHERE name = 'wal_writer_delay')";
	static const char volume[] =
		"SELECT durable_lsn::bigint FROM aurora_replica_status()"
		" WHERE session_id = 'MASTER_SESSION_ID'";
	struct answer *answer;
	uint64_t delay = 0;

	if (query_run(session, ids, 0, NULL, &answer, err) != 0)
		return -1;
	take_ids(out, answer);
	if (answer_text(answer, 0, 3) != NULL)
		(void)num_u64(answer_text(answer, 0, 3), &delay);
	answer_free(answer);
	if (delay > 10000)
		delay = 10000;
	if (input_wait_for(-1, 0, (int)(3 * delay), err) < 0 ||
	    query_try(session, volume, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer != NULL && answer_rows(answer) > 0)
		KEEP(out->volume, answer, 0);
	answer_free(answer);
	return 0;
}

/*
 * What no commit waits for is written when a page is full, or else by the next
 * checkpoint or snapshot of the log, many seconds later: that of a transaction
 * which has inserted and does nothing, on a primary that is idle.  The end of
 * any that has an id wakes the one who writes; this one changes nothing.  Whom
 * the server does not let have one, waits.
 */
static int take_id(struct session *session, struct error *err)
{
	static const char sql[] =
		"SELECT CASE WHEN pg_current_wal_flush_lsn()"
		" < pg_current_wal_insert_lsn() THEN txid_current() END";
	struct answer *answer;

	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	answer_free(answer);
	return 0;
}

int position_read(struct session *session, struct session_facts *out,
		  struct error *err)
{
	static const char sql[] =
		XMIN_AND_XMAX ", pg_current_wal_insert_lsn(),"
			      " current_setting('wal_block_size')";
	struct answer *answer;
	int rc;

	*out = session->facts;
	out->lsn[0] = '\0';
	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer == NULL)
		return read_volume(session, out, err);
	take_ids(out, answer);
	rc = take_lsn(out, answer, err);
	answer_free(answer);
	return rc == 0 ? take_id(session, err) : -1;
}

/* The same beside a session that goes on: an id of its own would be in the way
 * of others. */
static int wake_writer(const struct session *beside, struct error *err)
{
	struct error none_left = ERROR_INIT;
	struct session *session;
	int rc;

	if (session_open_current(beside->word, &session, &none_left) != 0)
		return input_check(err);
	rc = take_id(session, &none_left) != 0 ? input_check(err) : 0;
	session_close(session);
	return rc;
}

static int unwritten(const struct session_facts *f, int64_t wait_ms,
		     struct error *err)
{
	char span[CLOCK_TEXT_MAX];

	(void)error_set(err, ERROR_TEMPORARY,
			"server '%s' was at %s and had not written that "
			"within %s",
			f->place, f->lsn, clock_span(wait_ms, span));
	return error_hint(err, "allow for more by --max-lag");
}

int position_settle(struct session *session, int64_t wait_ms, struct error *err)
{
	static const char now[] =
		"SELECT NULL, NULL, NULL, pg_current_wal_insert_lsn(),"
		" current_setting('wal_block_size')";
	static const char sql[] =
		"SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn";
	int64_t limit = clock_ns() + wait_ms * 1000000;
	struct session_facts f = session->facts;
	const char *value = f.lsn;
	struct answer *answer;
	unsigned polls = 0;
	bool written;
	int rc;

	if (query_try(session, now, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	rc = answer != NULL ? take_lsn(&f, answer, err) : 0;
	for (written = answer == NULL; rc == 0 && !written;) {
		answer_free(answer);
		if (query_try(session, sql, 1, &value, &answer, NULL, err) != 0)
			return -1;
		written = answer == NULL || answer_text(answer, 0, 0)[0] == 't';
		if (!written && clock_ns() >= limit)
			rc = unwritten(&f, wait_ms, err);
		else if (!written &&
			 (input_wait_for(-1, 0, 20, err) < 0 ||
			  (polls++ == POLLS && wake_writer(session, err) != 0)))
			rc = -1;
	}
	answer_free(answer);
	return rc;
}

/* How far a server has come, of its own standby's log or of Aurora's volume. */
struct reached {
	bool known;
	uint64_t at;
	uint64_t wanted;
};

/* What is not written yet is lost in a crash, and its ids given out again. */
static int ask_log(struct session *session, struct reached *r,
		   struct error *err)
{
	static const char sql[] =
		"SELECT " FACTS_STARTED ", pg_is_in_recovery(),"
		" CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()"
		" ELSE pg_current_wal_flush_lsn() END";
	static const char less[] =
		"SELECT " FACTS_STARTED ", pg_is_in_recovery(), NULL";
	struct session_facts *f = &session->facts;
	struct answer *answer;

	if (query_try(session, sql, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer == NULL &&
	    query_run(session, less, 0, NULL, &answer, err) != 0)
		return -1;
	KEEP(f->started, answer, 0);
	f->standby = answer_text(answer, 0, 1)[0] == 't';
	KEEP(f->lsn, answer, 2);
	answer_free(answer);
	r->known = f->lsn[0] != '\0' && horizon_lsn_parse(f->lsn, &r->at) == 0;
	return 0;
}

static int ask_volume(struct session *session, struct reached *r,
		      struct error *err)
{
	static const char own[] =
		"SELECT current_read_lsn::bigint FROM aurora_replica_status()"
		" WHERE server_id = aurora_db_instance_identifier()"
		" AND session_id <> 'MASTER_SESSION_ID'";
	static const char all[] = "SELECT min(current_read_lsn)::bigint"
				  " FROM aurora_replica_status()"
				  " WHERE session_id <> 'MASTER_SESSION_ID'";
	struct answer *answer;
	const char *text;

	if (query_try(session, own, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	if (answer == NULL &&
	    query_try(session, all, 0, NULL, &answer, NULL, err) != 0)
		return -1;
	text = answer != NULL && answer_rows(answer) > 0
		       ? answer_text(answer, 0, 0)
		       : NULL;
	r->known = text != NULL && num_u64(text, &r->at) == 0;
	answer_free(answer);
	return 0;
}

static int untold(const struct session *session, const char *place,
		  struct error *err)
{
	(void)error_set(err, ERROR_SOURCE,
			"%s does not tell how far it has come, so that what it "
			"shows may be older than what writer '%s' had",
			session->name, place);
	return error_hint(err, "read the writer itself: name it in --source");
}

/* A server that left the writer's timeline, or never comes to it. */
static int check_history(const struct session_facts *writer,
			 const struct session_facts *here, bool *there,
			 struct error *err)
{
	unsigned long wanted = strtoul(writer->timeline, NULL, 10);
	unsigned long is = strtoul(here->timeline, NULL, 10);

	*there = wanted == 0 || is == 0 || wanted == is;
	if (*there || (here->standby && is < wanted))
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"server '%s' is on timeline %lu, and the writer, "
			"server '%s', on %lu: they do not have the same rows",
			here->place, is, writer->place, wanted);
	return error_hint(err, "name the present primary in --writer, and one "
			       "of its standbys in --source");
}

static int late(const struct session_facts *writer,
		const struct session_facts *here, const struct reached *r,
		bool there, const struct session_goal *goal, struct error *err)
{
	char span[CLOCK_TEXT_MAX];
	char at[40];

	if (writer->lsn[0] != '\0')
		(void)snprintf(at, sizeof(at), "%s", here->lsn);
	else
		(void)snprintf(at, sizeof(at), "%" PRIu64, r->at);
	if (there)
		(void)error_set(err, ERROR_TEMPORARY,
				"server '%s' has come to %s, and the writer, "
				"server '%s', was at %s: it did not come there "
				"within %s",
				here->place, at, writer->place,
				writer->lsn[0] != '\0' ? writer->lsn
						       : writer->volume,
				clock_span(goal->wait_ms, span));
	else
		(void)error_set(err, ERROR_TEMPORARY,
				"server '%s' is on timeline %s, and the "
				"writer, server '%s', on %s: it did not come "
				"there within %s",
				here->place, here->timeline, writer->place,
				writer->timeline,
				clock_span(goal->wait_ms, span));
	return error_hint(err, "see why it lags, or allow for more by "
			       "--max-lag");
}

static bool is_writer(const struct session_facts *writer,
		      const struct session_facts *here)
{
	return !here->standby && strcmp(writer->started, here->started) == 0 &&
	       strcmp(writer->system, here->system) == 0;
}

/* 1: it is there; 0: not yet; or -1. */
static int poll_once(struct session *session, const struct session_goal *goal,
		     struct reached *r, bool *there, struct error *err)
{
	const struct session_facts *w = goal->writer;

	if (ask_log(session, r, err) != 0 || facts_system(session, err) != 0 ||
	    position_check_cluster(w, &session->facts, err) != 0 ||
	    check_history(w, &session->facts, there, err) != 0)
		return -1;
	if (w->lsn[0] == '\0') {
		/* It has no log of its own that could be lost. */
		if (is_writer(w, &session->facts))
			return 1;
		if (w->volume[0] == '\0')
			return untold(session, w->place, err);
		if (ask_volume(session, r, err) != 0)
			return -1;
	}
	if (!r->known)
		return untold(session, w->place, err);
	return *there && r->at >= r->wanted;
}

int position_wait(struct session *session, const struct session_goal *goal,
		  struct error *err)
{
	static const int pauses[] = {20, 50, 100, 200, 500};
	const struct session_facts *w = goal->writer;
	int64_t limit = clock_ns() + goal->wait_ms * 1000000;
	struct reached r = {0};
	bool there;
	int rc;

	if (w->lsn[0] != '\0')
		(void)horizon_lsn_parse(w->lsn, &r.wanted);
	else if (w->volume[0] != '\0')
		(void)num_u64(w->volume, &r.wanted);
	for (size_t i = 0;; i += i + 1 < sizeof(pauses) / sizeof(pauses[0])) {
		rc = poll_once(session, goal, &r, &there, err);
		if (rc != 0)
			return rc > 0 ? 0 : -1;
		if (clock_ns() >= limit)
			return late(w, &session->facts, &r, there, goal, err);
		if (input_wait_for(-1, 0, pauses[i], err) < 0)
			return -1;
	}
}
