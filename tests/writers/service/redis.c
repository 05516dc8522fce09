/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Commands to one server or to a cluster.  A service would leave this to the
 * library of its language; here it is as little as does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service.h"

/* Seconds, for a connection and for an answer. */
#define PATIENCE 2
/* How often a command is sent on, before a cluster goes round in circles. */
#define MOVES 8

int redis_open(struct redis *r, const char *place)
{
	memset(r, 0, sizeof(*r));
	if (strlen(place) >= sizeof(r->nodes[0].place))
		return -1;
	strcpy(r->nodes[0].place, place);
	r->count = 1;
	return 0;
}

static void hang_up(struct redis *r, size_t node)
{
	if (r->nodes[node].link != NULL)
		redisFree(r->nodes[node].link);
	r->nodes[node].link = NULL;
}

void redis_close(struct redis *r)
{
	for (size_t i = 0; i < r->count; i++)
		hang_up(r, i);
}

static redisContext *connected(struct redis *r, size_t node, char *why)
{
	const struct timeval patience = {.tv_sec = PATIENCE};
	const char *place = r->nodes[node].place;
	const char *colon = strrchr(place, ':');
	redisContext *c = r->nodes[node].link;
	char host[PLACE_MAX];

	if (c != NULL)
		return c;
	if (place[0] == '/' || colon == NULL) {
		c = redisConnectUnixWithTimeout(place, patience);
	} else {
		snprintf(host, sizeof(host), "%.*s", (int)(colon - place),
			 place);
		c = redisConnectWithTimeout(
			host, (int)strtol(colon + 1, NULL, 10), patience);
	}
	r->nodes[node].link = c;
	if (c != NULL && c->err == 0 && redisSetTimeout(c, patience) == 0)
		return c;
	snprintf(why, 512, "%s cannot be reached: %s", place,
		 c != NULL ? c->errstr : "out of memory");
	hang_up(r, node);
	return NULL;
}

/* The node that the error of a cluster names, behind its last blank. */
static size_t named_node(struct redis *r, const char *error)
{
	const char *place = strrchr(error, ' ') + 1;
	size_t i = 0;

	while (i < r->count && strcmp(r->nodes[i].place, place) != 0)
		i++;
	if (i == NODES || strlen(place) >= PLACE_MAX)
		return 0;
	if (i == r->count) {
		strcpy(r->nodes[i].place, place);
		r->nodes[i].link = NULL;
		r->count++;
	}
	return i;
}

/* One command to one node, and where asking, ASKING before it. */
static redisReply *ask_node(struct redis *r, size_t node, bool asking, int argc,
			    const char **argv, const size_t *lens, char *why)
{
	redisContext *c = connected(r, node, why);
	redisReply *reply = NULL;

	if (c == NULL)
		return NULL;
	if (asking)
		freeReplyObject(redisCommand(c, "ASKING"));
	if (c->err == 0)
		reply = redisCommandArgv(c, argc, argv, lens);
	if (reply == NULL) {
		snprintf(why, 512, "%s did not answer: %s",
			 r->nodes[node].place, c->errstr);
		/* An answer that is late must not be the next one's. */
		hang_up(r, node);
	}
	return reply;
}

redisReply *redis_ask(struct redis *r, size_t *node, int argc,
		      const char **argv, const size_t *lens, char *why)
{
	redisReply *reply;
	bool asking = false;
	size_t at = *node;

	for (int i = 0; i < MOVES; i++) {
		reply = ask_node(r, at, asking, argc, argv, lens, why);
		if (reply == NULL) {
			/* Any other node knows who does it now. */
			*node = (at + 1) % r->count;
			return NULL;
		}
		if (reply->type != REDIS_REPLY_ERROR ||
		    (strncmp(reply->str, "MOVED ", 6) != 0 &&
		     strncmp(reply->str, "ASK ", 4) != 0))
			return reply;
		asking = reply->str[0] == 'A';
		at = named_node(r, reply->str);
		if (!asking)
			*node = at;
		freeReplyObject(reply);
	}
	snprintf(why, 512, "the cluster names one node after the other");
	return NULL;
}
