/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/cluster_private.h"

/* The map is asked for at most so often, in milliseconds. */
#define ASK_EVERY_MS 50

static const char *const ask_slots[] = {"CLUSTER", "SLOTS"};
static const char *const ask_shards[] = {"CLUSTER", "SHARDS"};

static int64_t in_ms(int ms)
{
	return clock_ns() + (int64_t)ms * 1000000;
}

/* --- what a map says ------------------------------------------------------ */

static int apply(struct cluster *c, const struct slots *map,
		 const struct node *from, struct error *err)
{
	uint16_t number[SLOTS_NODES_MAX] = {0};

	for (size_t i = 0; i < map->count; i++) {
		int n = node_at(c, &map->nodes[i], &from->target, err);

		if (n < 0)
			return -1;
		number[i] = (uint16_t)n;
	}
	for (int slot = 0; slot < SLOTS_COUNT; slot++)
		c->owner[slot] = map->owner[slot] == SLOTS_NOBODY
					 ? SLOTS_NOBODY
					 : number[map->owner[slot]];
	c->stale = false;
	return 0;
}

static int read_map(struct cluster *c, const struct reply *reply,
		    const struct node *from, struct error *err)
{
	struct slots map = {.nodes = NULL};
	int rc = slots_read(reply, c->target->tls.on, &map, err);

	if (rc == 0)
		rc = apply(c, &map, from, err);
	slots_release(&map);
	return rc;
}

/* --- the first one -------------------------------------------------------- */

/*
 * Which node the target itself is: the only one, whatever it calls itself, so
 * that a socket or a tunnel will do; or the one with the target's own address.
 */
static void name_self(struct cluster *c, const struct slots *map)
{
	struct node *self = c->nodes[0];
	const char *host = c->target->address.host;

	for (size_t i = 0; i < map->count; i++) {
		const struct slots_node *n = &map->nodes[i];
		bool same = host != NULL && n->port == self->where.port &&
			    (n->host[0] == '\0' || strcmp(n->host, host) == 0);

		if (!same && map->count > 1)
			continue;
		self->where = *n;
		if (self->where.host[0] == '\0')
			(void)strncpy(self->where.host,
				      host != NULL ? host : "127.0.0.1",
				      sizeof(self->where.host) - 1);
		return;
	}
}

static int read_first(struct cluster *c, const struct reply *reply,
		      struct error *err)
{
	struct node *self = c->nodes[0];
	struct slots map = {.nodes = NULL};
	int rc = slots_read(reply, c->target->tls.on, &map, err);

	if (rc == 0) {
		name_self(c, &map);
		rc = apply(c, &map, self, err);
	}
	slots_release(&map);
	if (rc != 0)
		return error_prefix(err, "%s", c->target->place);
	c->many = true;
	self->conn->bounce = cluster_bounced;
	self->conn->bounce_ctx = self;
	if (cluster_serves(c, 0))
		return 0;
	conn_close(self->conn);
	self->conn = NULL;
	return 0;
}

int map_begin(struct cluster *c, struct error *err)
{
	struct node *self = c->nodes[0];
	const struct conn_facts *facts;
	const struct reply *reply;

	if (c->many)
		return cluster_refresh(c, err);
	if (conn_open(c->target, c->flags, &self->conn, err) != 0)
		return -1;
	facts = conn_facts(self->conn);
	/* Where INFO is refused, it may be one all the same. */
	if (!facts->cluster && facts->version[0] != 0)
		return 0;
	if (conn_call(self->conn, 2, ask_slots, NULL, &reply, err) != 0)
		return -1;
	/* The newer question, where the older one is refused. */
	c->shards = reply->type != REPLY_ARRAY;
	if (c->shards &&
	    conn_call(self->conn, 2, ask_shards, NULL, &reply, err) != 0)
		return -1;
	/*
	 * Some services hide a cluster behind one address, and do not tell:
	 * that is one server then.  Where it is none, keys say so themselves.
	 */
	if (reply->type != REPLY_ARRAY)
		return 0;
	return read_first(c, reply, err);
}

/* --- a new one ------------------------------------------------------------ */

int map_answered(void *ctx, uint64_t node, const struct reply *reply,
		 struct error *err)
{
	struct cluster *c = ctx;

	c->asked = false;
	c->next_ask = in_ms(ASK_EVERY_MS);
	if (read_map(c, reply, c->nodes[node], err) == 0)
		return 0;
	if (err->code != ERROR_TEMPORARY)
		return -1;
	/* Another one may know more: this may be out of the cluster. */
	c->cause = *err;
	(void)error_prefix(&c->cause, "%s", cluster_place(c, node));
	return 0;
}

void map_dropped(struct cluster *c)
{
	c->asked = false;
	c->next_ask = in_ms(ASK_EVERY_MS);
}

/* Those that are connected come first; *open says if it is one. */
static size_t whom_to_ask(struct cluster *c, bool *open)
{
	for (size_t i = 0; i < c->count; i++) {
		size_t node = (c->next_node + i) % c->count;

		*open = node_is_open(c->nodes[node]) &&
			(!c->calling || c->nodes[node]->conn->count == 0);
		if (*open)
			return node;
	}
	for (size_t i = 0; i < c->count; i++) {
		size_t node = (c->next_node + i) % c->count;

		if (!node_is_open(c->nodes[node]) &&
		    c->nodes[node]->next <= clock_ns())
			return node;
	}
	return c->count;
}

int map_refresh(struct cluster *c, struct error *err)
{
	struct conn_pending command = {.fn = map_answered, .ctx = c};
	bool open;
	size_t node;
	int rc;

	if (!c->many || !c->stale || c->asked || clock_ns() < c->next_ask)
		return 0;
	node = whom_to_ask(c, &open);
	if (node == c->count)
		return 0;
	c->next_node = (node + 1) % c->count;
	rc = open ? 1 : node_open(c->nodes[node], err);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		c->cause = c->nodes[node]->cause;
		return 0;
	}
	if (!conn_has_room(c->nodes[node]->conn, 64))
		return 0;
	if (conn_command(2, c->shards ? ask_shards : ask_slots, NULL, &command,
			 err) != 0)
		return cluster_fail(c, err);
	command.tag = node;
	command.slot = CLUSTER_ANY;
	command.node = (int)node;
	c->asked = true;
	if (conn_put(c->nodes[node]->conn, &command, err) != 0)
		return cluster_fail(c, err);
	return 0;
}

int cluster_refresh(struct cluster *c, struct error *err)
{
	/* Two time-outs: behind a node that hangs for one, another may answer.
	 */
	int64_t began = clock_ns() + (int64_t)c->target->timeout_ms * 1000000;

	if (cluster_check(c, err) != 0)
		return -1;
	if (!c->many)
		return 0;
	c->stale = true;
	c->next_ask = 0;
	while (c->stale || c->asked) {
		if (cluster_step(c, err) != 0)
			return -1;
		if (cluster_left(c, began) > 0 || !c->stale)
			continue;
		return cluster_give_up(c, err);
	}
	return 0;
}

int map_redirect(struct cluster *c, const struct slots_redirect *redirect,
		 const struct node *from, struct error *err)
{
	int node = node_at(c, &redirect->node, &from->target, err);

	if (node < 0)
		return cluster_fail(c, err);
	if (!redirect->ask) {
		c->owner[redirect->slot] = (uint16_t)node;
		c->stale = true;
	}
	return node;
}
