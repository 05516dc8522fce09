/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How a reader asks.  Only where the filter and recent-writes both say no, it
 * is no.  Whatever is in doubt is a question for the exact cache, which this
 * service has none of, and for the database.
 */
#include <stdio.h>
#include <string.h>

#include "service.h"

static enum answer pass(struct service *s, const char *what, const char *why)
{
	snprintf(s->why, sizeof(s->why), "%.100s: %.300s", what, why);
	return ANSWER_PASS;
}

/*
 * The sentinel is in every filter: where it is not found, the filter is
 * missing, which would say no to everything, or it is another set's.
 */
enum answer ask_filter(struct service *s, const struct key *key)
{
	char filter[BLOOMKEY_FILTER_MAX + 1], why[512] = "";
	int len = bloomkey_filter(s->spec, key->bucket, filter, sizeof(filter));
	const void *sentinel;
	size_t sentinel_len = bloomkey_sentinel(s->spec, &sentinel);
	const char *argv[] = {"BF.MEXISTS", filter, sentinel, key->bytes};
	const size_t lens[] = {10, (size_t)len, sentinel_len, key->len};
	enum answer answer = ANSWER_PASS;
	redisReply *reply;

	if (len < 0 || sentinel_len == 0)
		return pass(s, filter, "without a sentinel nothing is sure");
	reply = redis_ask(&s->filters, &s->nodes[key->bucket], 4, argv, lens,
			  why);
	if (reply == NULL)
		return pass(s, filter, why);
	if (reply->type == REDIS_REPLY_ERROR)
		(void)pass(s, filter, reply->str);
	else if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
		 reply->element[0]->type != REDIS_REPLY_INTEGER ||
		 reply->element[1]->type != REDIS_REPLY_INTEGER)
		(void)pass(s, filter, "a strange answer");
	else if (reply->element[0]->integer != 1)
		(void)pass(s, filter, "the sentinel is missing");
	else if (reply->element[1]->integer != 0)
		answer = ANSWER_FILTER;
	else
		answer = ANSWER_NO;
	freeReplyObject(reply);
	return answer;
}

/*
 * GETEX without an option is GET, but counts as a write, so that a replica,
 * which may lag, refuses it: only a primary may say that there is nothing.
 */
static enum answer ask_recent(struct service *s, const struct key *key)
{
	size_t name = recent_name(s, key);
	const char *argv[] = {"GETEX", s->name};
	const size_t lens[] = {5, name};
	char why[512] = "";
	enum answer answer = ANSWER_PASS;
	redisReply *reply =
		redis_ask(&s->recent, &s->recent.node, 2, argv, lens, why);

	if (reply == NULL)
		return pass(s, "recent-writes", why);
	if (reply->type == REDIS_REPLY_NIL)
		answer = ANSWER_NO;
	else if (reply->type == REDIS_REPLY_STRING)
		answer = ANSWER_RECENT;
	else
		(void)pass(s, "recent-writes",
			   reply->str != NULL ? reply->str
					      : "a strange answer");
	freeReplyObject(reply);
	return answer;
}

/*
 * The filter first, as it says most of the time all there is to say.  A writer
 * that adds to it meanwhile has been in recent-writes since before it
 * committed.
 */
enum answer ask(struct service *s, const struct key *key)
{
	enum answer answer = ask_filter(s, key);

	return answer == ANSWER_NO ? ask_recent(s, key) : answer;
}

int ask_database(struct service *s, const char *const values[FIELDS])
{
	PGresult *result =
		PQexecParams(s->db,
			     "SELECT FROM cards WHERE entity_id = $1 "
			     "AND scope = $2 AND status = 1",
			     FIELDS, NULL, values, NULL, NULL, 0);
	int found = -1;

	if (PQresultStatus(result) == PGRES_TUPLES_OK)
		found = PQntuples(result) > 0;
	else
		snprintf(s->why, sizeof(s->why), "%s",
			 PQresultErrorMessage(result));
	PQclear(result);
	return found;
}
