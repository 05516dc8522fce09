/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a writer adds.  The order is what this file is about:
 *
 *	BEGIN, the row
 *	recent-writes, as the last step before COMMIT
 *	COMMIT
 *	the filter
 *
 * In two phases PREPARE TRANSACTION stands before recent-writes, and COMMIT
 * PREPARED behind it.
 *
 * Wherever the writer dies, a row that is committed is in recent-writes, and
 * what is there without a row is only asked for once in vain.  Behind COMMIT
 * there would be a moment at which the row is there and nothing finds it.
 * Much before it, a long transaction would use up the time for which a recent
 * write is kept.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "service.h"

/* One statement; its status tells whether it was done. */
static int sql(struct service *s, const char *statement, int n,
	       const char *const *values, const char *tag)
{
	PGresult *result =
		PQexecParams(s->db, statement, n, NULL, values, NULL, NULL, 0);
	/* COMMIT is well, and says ROLLBACK, where a statement had failed. */
	int well = PQresultStatus(result) == PGRES_COMMAND_OK &&
		   strncmp(PQcmdStatus(result), tag, strlen(tag)) == 0;

	if (!well)
		snprintf(s->why, sizeof(s->why), "%s: %s", tag,
			 PQresultErrorMessage(result));
	PQclear(result);
	return well ? 0 : -1;
}

/* A transaction; in two phases it has a name of its own. */
struct change {
	const char *phase; /* " PREPARED 'NAME'", or "" */
	char name[64];
};

/* One more statement of a change. */
static int phase(struct service *s, const char *what, const struct change *c)
{
	char text[96];

	snprintf(text, sizeof(text), "%s%s", what, c->phase);
	return sql(s, text, 0, NULL, what);
}

/* From here on it may be committed by whoever knows its name. */
static int prepare(struct service *s, struct change *c)
{
	static unsigned long number;
	char text[96];

	snprintf(c->name, sizeof(c->name), " PREPARED 'service-%ld-%lu'",
		 (long)getpid(), number++);
	snprintf(text, sizeof(text), "PREPARE TRANSACTION%s",
		 strchr(c->name, '\'') - 1);
	if (sql(s, text, 0, NULL, "PREPARE TRANSACTION") != 0)
		return -1;
	c->phase = c->name;
	return 0;
}

/*
 * The transaction has failed; s->why says why.  Nothing was committed, and what
 * recent-writes may have is a false positive until it expires.
 */
static enum outcome give_up(struct service *s, const struct change *c)
{
	char why[sizeof(s->why)];

	memcpy(why, s->why, sizeof(why));
	(void)phase(s, "ROLLBACK", c);
	memcpy(s->why, why, sizeof(why));
	return OUTCOME_ALARM;
}

/* 0 once the primary has it, for as long as readers need it there. */
static int remember(struct service *s, const struct key *key)
{
	size_t name = recent_name(s, key);
	const char *seconds = ttl(s);
	const char *argv[] = {"SET", s->name, "1", "EX", seconds};
	const size_t lens[] = {3, name, 1, 2, strlen(seconds)};
	redisReply *reply =
		redis_ask(&s->recent, &s->recent.node, 5, argv, lens, s->why);
	int well = reply != NULL && reply->type == REDIS_REPLY_STATUS;

	if (reply != NULL && !well)
		snprintf(s->why, sizeof(s->why), "recent-writes: %s",
			 reply->str != NULL ? reply->str : "a strange answer");
	if (reply != NULL)
		freeReplyObject(reply);
	return well ? 0 : -1;
}

/* What is wrong with the answer of BF.INSERT for one key; NULL: nothing. */
static const char *complaint(const redisReply *reply)
{
	const redisReply *first = reply;

	/* "full" is an error in the array, or in its place. */
	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 1)
		first = reply->element[0];
	if (first->type == REDIS_REPLY_ERROR)
		return first->str;
	/* 0: it was there already. */
	if (first != reply && first->type == REDIS_REPLY_INTEGER)
		return NULL;
	return "a strange answer";
}

/*
 * NOCREATE, or a filter that is missing would be made anew, with nothing else
 * in it.  What fails is not tried again: a filter that is missing or full stays
 * so until somebody has seen to it.
 */
static int insert(struct service *s, const struct key *key)
{
	char filter[BLOOMKEY_FILTER_MAX + 1];
	int len = bloomkey_filter(s->spec, key->bucket, filter, sizeof(filter));
	const char *argv[] = {"BF.INSERT", filter, "NOCREATE", "ITEMS",
			      key->bytes};
	const size_t lens[] = {9, (size_t)len, 8, 5, key->len};
	char why[sizeof(s->why)] = "";
	const char *wrong = why;
	redisReply *reply;

	if (len < 0)
		return -1;
	reply = redis_ask(&s->filters, &s->nodes[key->bucket], 5, argv, lens,
			  why);
	if (reply != NULL)
		wrong = complaint(reply);
	if (wrong != NULL)
		snprintf(s->why, sizeof(s->why),
			 "filter %.100s did not take a key: %.300s", filter,
			 wrong);
	if (reply != NULL)
		freeReplyObject(reply);
	return wrong == NULL ? 0 : -1;
}

/*
 * A card that is blocked already is blocked again, and one that was blocked
 * once is again in the set: so an update adds to the filter as an insert does.
 */
#define UPSERT                                                      \
	"INSERT INTO cards (entity_id, scope, status, updated_at) " \
	"VALUES ($1, $2, 1, coalesce($3::timestamptz, now())) "     \
	"ON CONFLICT (entity_id, scope) DO UPDATE SET status = 1"
#define STAMPED ", updated_at = excluded.updated_at"

static int change_row(struct service *s, const char *const values[FIELDS],
		      const struct manner *manner, struct change *c)
{
	const char *const row[] = {values[0], values[1], manner->clock};

	if (sql(s, manner->unstamped ? UPSERT : UPSERT STAMPED, 3, row,
		"INSERT") != 0)
		return -1;
	return manner->two_phase ? prepare(s, c) : 0;
}

/* It is committed.  What fails now is for an operator, and for readers well. */
static enum outcome tell_filter(struct service *s, const struct key *key,
				const struct manner *manner)
{
	if (log_key(s, key, false) != 0)
		return OUTCOME_ALARM;
	return manner->lost || insert(s, key) == 0 ? OUTCOME_DONE
						   : OUTCOME_ALARM;
}

enum outcome block(struct service *s, const char *const values[FIELDS],
		   const struct manner *manner)
{
	struct change change = {.phase = ""};
	struct key key;
	const bool has_key = derive(s, values, &key) == 0;

	if (sql(s, "BEGIN", 0, NULL, "BEGIN") != 0)
		return OUTCOME_ALARM;
	if (change_row(s, values, manner, &change) != 0)
		return give_up(s, &change);
	sleep_for(s->hold / 1000.0);
	if (has_key && remember(s, &key) != 0)
		return give_up(s, &change);
	if (manner->rolled_back) {
		(void)give_up(s, &change);
		return OUTCOME_ROLLED_BACK;
	}
	if (phase(s, "COMMIT", &change) != 0) {
		/* It may be committed, if only the answer was lost. */
		if (PQstatus(s->db) == CONNECTION_BAD && has_key)
			(void)insert(s, &key);
		return OUTCOME_ALARM;
	}
	return has_key ? tell_filter(s, &key, manner) : OUTCOME_NO_KEY;
}

/* Filters do not forget: until the next build the database says no. */
enum outcome unblock(struct service *s, const char *const values[FIELDS],
		     const struct manner *manner)
{
	static const char update[] =
		"UPDATE cards SET status = 0, updated_at = now() "
		"WHERE entity_id = $1 AND scope = $2";
	static const char remove[] =
		"DELETE FROM cards WHERE entity_id = $1 AND scope = $2";
	struct key key;
	int rc;

	/* From here on nobody may count on it. */
	if (derive(s, values, &key) == 0 && log_key(s, &key, true) != 0)
		return OUTCOME_ALARM;
	rc = manner->removes ? sql(s, remove, FIELDS, values, "DELETE")
			     : sql(s, update, FIELDS, values, "UPDATE");
	return rc == 0 ? OUTCOME_DONE : OUTCOME_ALARM;
}
