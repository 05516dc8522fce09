/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/redis/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/cluster_private.h"

/* --- open and close ------------------------------------------------------- */

/* The target itself is node 0, and then those that another one knows. */
static int add_nodes(struct cluster *c, const struct cluster *like,
		     struct error *err)
{
	const struct slots_node self = {.port = c->target->address.port};
	bool known = like != NULL && like->many;

	if (node_at(c, known ? &like->nodes[0]->where : &self, NULL, err) < 0)
		return -1;
	if (!known)
		return 0;
	for (size_t i = 1; i < like->count; i++)
		if (node_at(c, &like->nodes[i]->where, &like->nodes[i]->target,
			    err) < 0)
			return -1;
	c->many = true;
	c->shards = like->shards;
	memcpy(c->owner, like->owner, sizeof(c->owner));
	return 0;
}

int cluster_open(const struct redis_target *target, unsigned flags,
		 const struct cluster *like, struct cluster **out,
		 struct error *err)
{
	struct cluster *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (c == NULL)
		return error_nomem(err);
	c->target = target;
	c->flags = flags;
	c->last = &c->waiting;
	if ((flags & CONN_TIDIES) != 0)
		cluster_set_patient(c, CONN_TIDY_MS);
	if (add_nodes(c, like, err) != 0 || map_begin(c, err) != 0) {
		cluster_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

void cluster_close(struct cluster *c)
{
	if (c == NULL)
		return;
	wait_clear(c);
	for (size_t i = 0; i < c->count; i++)
		node_free(c->nodes[i]);
	free(c->nodes);
	free(c);
}

int cluster_reopen(struct cluster *c, unsigned flags, struct error *err)
{
	wait_clear(c);
	c->flags = flags;
	c->err = c->cause = (struct error)ERROR_INIT;
	c->asked = false;
	c->patient_until = 0;
	if ((flags & CONN_TIDIES) != 0)
		cluster_set_patient(c, CONN_TIDY_MS);
	for (size_t i = 0; i < c->count; i++) {
		struct node *n = c->nodes[i];

		if (n->conn != NULL &&
		    (conn_failed(n->conn) || conn_pending(n->conn) > 0)) {
			conn_close(n->conn);
			n->conn = NULL;
		}
		n->next = 0;
		n->backoff_ms = 0;
	}
	if (!c->many && c->nodes[0]->conn == NULL)
		return map_begin(c, err);
	c->stale = true;
	return 0;
}

/* --- errors --------------------------------------------------------------- */

int cluster_fail(struct cluster *c, const struct error *err)
{
	c->err = *err;
	return -1;
}

int cluster_check(const struct cluster *c, struct error *err)
{
	if (c->err.code == ERROR_NONE)
		return 0;
	*err = c->err;
	return -1;
}

int cluster_left(const struct cluster *c, int64_t since)
{
	int64_t now = clock_ns();
	int64_t until = since + (int64_t)c->target->timeout_ms * 1000000;

	if (c->patient_until != 0 && c->patient_until < until)
		until = c->patient_until;
	return until > now ? (int)((until - now + 999999) / 1000000) : 0;
}

bool cluster_failed(const struct cluster *c)
{
	const struct conn *alone = c->many ? NULL : c->nodes[0]->conn;

	return c->err.code != ERROR_NONE ||
	       (!c->many && (alone == NULL || conn_failed(alone)));
}

/* --- nodes ---------------------------------------------------------------- */

bool cluster_is(const struct cluster *c)
{
	return c->many;
}

size_t cluster_nodes(const struct cluster *c)
{
	return c->count;
}

size_t cluster_owner(const struct cluster *c, int slot)
{
	if (!c->many || slot < 0 || c->owner[slot] == SLOTS_NOBODY)
		return 0;
	return c->owner[slot];
}

bool cluster_serves(const struct cluster *c, size_t node)
{
	if (!c->many)
		return node == 0;
	for (int slot = 0; slot < SLOTS_COUNT; slot++)
		if (c->owner[slot] == node)
			return true;
	return false;
}

const char *cluster_place(const struct cluster *c, size_t node)
{
	return c->nodes[node]->target.place;
}

const struct conn_facts *cluster_facts(const struct cluster *c, size_t node)
{
	const struct conn *conn = c->nodes[node]->conn;

	return conn != NULL && conn_made(conn) > 0 ? conn_facts(conn) : NULL;
}

uint64_t cluster_made(const struct cluster *c, size_t node)
{
	const struct conn *conn = c->nodes[node]->conn;

	return conn != NULL ? conn_made(conn) : 0;
}

/* Until a node is connected, or its time is over. */
static int connect_node(struct cluster *c, size_t node, struct error *err)
{
	int64_t began = clock_ns();
	int rc;

	while ((rc = node_open(c->nodes[node], err)) == 0) {
		c->cause = c->nodes[node]->cause;
		if (cluster_left(c, began) == 0)
			return cluster_give_up(c, err);
		c->stale = true;
		if (map_refresh(c, err) != 0 || cluster_step(c, err) != 0)
			return -1;
		/* Somebody else has its slots now. */
		if (!cluster_serves(c, node))
			return 0;
	}
	return rc < 0 ? -1 : 0;
}

int cluster_connect(struct cluster *c, struct error *err)
{
	if (cluster_check(c, err) != 0)
		return -1;
	for (size_t i = 0; c->many && i < c->count; i++)
		if (cluster_serves(c, i) && connect_node(c, i, err) != 0)
			return -1;
	return 0;
}

/* --- pins ----------------------------------------------------------------- */

int cluster_pin(struct cluster *c, const struct cluster_pins *pins,
		struct error *err)
{
	c->pins = pins;
	for (size_t i = 0; i < c->count; i++)
		if (cluster_facts(c, i) != NULL && cluster_serves(c, i) &&
		    node_pin(c->nodes[i], err) != 0)
			return cluster_fail(c, err);
	return 0;
}

uint64_t cluster_resent(const struct cluster *c)
{
	return c->resent;
}

/* --- patience ------------------------------------------------------------- */

void cluster_set_patient(struct cluster *c, int ms)
{
	c->patient_ms = ms;
	c->patient_until = ms > 0 ? clock_ns() + (int64_t)ms * 1000000 : 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->nodes[i]->conn != NULL)
			conn_set_patient(c->nodes[i]->conn, ms);
}
