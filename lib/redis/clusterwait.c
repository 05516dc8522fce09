/* SPDX-License-Identifier: BSD-2-Clause */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/cluster_private.h"

/* A step lets so many milliseconds pass at most. */
#define STEP_MS 100

/* --- steps ---------------------------------------------------------------- */

/* Whether something is under way there. */
static bool is_busy(const struct node *n)
{
	return node_is_open(n) && n->conn->count > 0;
}

/* How long the next thing that must be done can wait. */
static int step_ms(const struct cluster *c)
{
	int ms = STEP_MS;
	int wait = wait_ms(c);

	if (wait >= 0 && wait < ms)
		ms = wait;
	for (size_t i = 0; i < c->count; i++) {
		int left = is_busy(c->nodes[i])
				   ? conn_left(c->nodes[i]->conn,
					       c->nodes[i]->conn->moved)
				   : ms;

		if (left < ms)
			ms = left;
	}
	return ms;
}

static int push_all(struct cluster *c, struct error *err)
{
	for (size_t i = 0; i < c->count; i++)
		if (is_busy(c->nodes[i]) &&
		    conn_push(c->nodes[i]->conn, err) != 0)
			return cluster_fail(c, err);
	return 0;
}

static int take_ready(struct cluster *c, const struct net_waiting *list,
		      const size_t *node, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].ready &&
		    conn_take(c->nodes[node[i]]->conn, err) != 0)
			return cluster_fail(c, err);
	return 0;
}

static int wait_any(struct cluster *c, struct error *err)
{
	struct net_waiting list[SLOTS_NODES_MAX];
	size_t node[SLOTS_NODES_MAX];
	size_t count = 0;
	int rc;

	for (size_t i = 0; i < c->count; i++) {
		if (!is_busy(c->nodes[i]))
			continue;
		list[count].stream = c->nodes[i]->conn->net;
		list[count].write = c->nodes[i]->conn->unsent > 0;
		list[count].ready = false;
		node[count++] = i;
	}
	/* Without a stream, nothing would say that this is patient. */
	if (count == 0 && c->patient_until != 0) {
		(void)poll(NULL, 0, step_ms(c));
		return 0;
	}
	rc = net_wait_any(list, count, step_ms(c), err);
	if (rc < 0)
		return conn_after_wait(err) == CONN_STOP ? -1
							 : cluster_fail(c, err);
	return take_ready(c, list, node, count, err);
}

/* Silence of a node, while answers are awaited, counts as a break. */
static int look_for_silence(struct cluster *c, struct error *err)
{
	for (size_t i = 0; i < c->count; i++) {
		struct conn *conn = c->nodes[i]->conn;
		char span[CONN_SPAN_MAX];
		bool patient =
			c->patient_until != 0 && c->patient_until <= clock_ns();

		if (!is_busy(c->nodes[i]) || conn_left(conn, conn->moved) > 0)
			continue;
		(void)error_set(err, ERROR_TEMPORARY, "no answer for %s",
				conn_span(patient ? c->patient_ms
						  : c->target->timeout_ms,
					  span));
		conn_lost(conn, err);
		if (!patient)
			continue;
		(void)error_prefix(err, "%s", c->nodes[i]->target.place);
		return cluster_fail(c, err);
	}
	return 0;
}

int cluster_step(struct cluster *c, struct error *err)
{
	if (map_refresh(c, err) != 0 || wait_send(c, err) != 0 ||
	    push_all(c, err) != 0 || wait_any(c, err) != 0 ||
	    look_for_silence(c, err) != 0)
		return -1;
	for (size_t i = 0; i < c->count; i++) {
		const struct conn *conn = c->nodes[i]->conn;

		if (conn != NULL && conn->net == NULL && conn->count > 0)
			cluster_harvest(c->nodes[i]);
	}
	return cluster_check(c, err);
}

/* --- waiting -------------------------------------------------------------- */

size_t cluster_pending(const struct cluster *c)
{
	size_t sum = c->waits;

	for (size_t i = 0; i < c->count; i++)
		if (c->nodes[i]->conn != NULL)
			sum += conn_pending(c->nodes[i]->conn);
	return sum - (c->asked ? 1 : 0);
}

int cluster_wait(struct cluster *c, size_t pending, struct error *err)
{
	bool waited = false;

	if (!c->many)
		return conn_wait(c->nodes[0]->conn, pending, err);
	if (cluster_check(c, err) != 0)
		return -1;
	while (cluster_pending(c) > pending) {
		/* While nobody waited, no node was silent. */
		for (size_t i = 0; !waited && i < c->count; i++)
			if (c->nodes[i]->conn != NULL)
				c->nodes[i]->conn->moved = clock_ns();
		waited = true;
		if (cluster_step(c, err) != 0)
			return -1;
	}
	return 0;
}

int cluster_flush(struct cluster *c, struct error *err)
{
	return cluster_wait(c, 0, err);
}

/* --- commands ------------------------------------------------------------- */

int cluster_send(struct cluster *c, int slot, const void *bytes, size_t len,
		 conn_fn *fn, void *ctx, uint64_t tag, struct error *err)
{
	const struct conn_pending command = {.bytes = bytes,
					     .len = len,
					     .fn = fn,
					     .ctx = ctx,
					     .tag = tag,
					     .slot = slot,
					     .node = NODE_NONE};

	return c->many ? cluster_add(c, &command, err)
		       : conn_add(c->nodes[0]->conn, &command, err);
}

int cluster_sendv(struct cluster *c, int slot, int argc,
		  const char *const argv[], const size_t *lens, conn_fn *fn,
		  void *ctx, uint64_t tag, struct error *err)
{
	struct conn_pending command = {.fn = fn,
				       .ctx = ctx,
				       .tag = tag,
				       .slot = slot,
				       .node = NODE_NONE};

	if (conn_command(argc, argv, lens, &command, err) != 0)
		return -1;
	return c->many ? cluster_add(c, &command, err)
		       : conn_add(c->nodes[0]->conn, &command, err);
}

static int keep_reply(void *ctx, uint64_t tag, const struct reply *reply,
		      struct error *err)
{
	struct cluster *c = ctx;

	(void)tag, (void)err;
	c->called = reply;
	return 0;
}

static int call(struct cluster *c, int slot, int node, int argc,
		const char *const argv[], const size_t *lens,
		const struct reply **out, struct error *err)
{
	struct conn_pending command = {
		.fn = keep_reply, .ctx = c, .slot = slot, .node = node};
	int rc;

	*out = NULL;
	c->called = NULL;
	if (conn_command(argc, argv, lens, &command, err) != 0)
		return -1;
	/* Nothing else goes behind it: its reply would be overwritten. */
	c->calling = true;
	rc = cluster_add(c, &command, err);
	for (size_t i = 0; i < c->count; i++)
		if (c->nodes[i]->conn != NULL)
			c->nodes[i]->conn->moved = clock_ns();
	while (rc == 0 && c->called == NULL)
		rc = cluster_step(c, err);
	c->calling = false;
	*out = rc == 0 ? c->called : NULL;
	return rc;
}

int cluster_call(struct cluster *c, int slot, int argc,
		 const char *const argv[], const size_t *lens,
		 const struct reply **out, struct error *err)
{
	if (!c->many)
		return conn_call(c->nodes[0]->conn, argc, argv, lens, out, err);
	return call(c, slot, NODE_NONE, argc, argv, lens, out, err);
}

int cluster_call_node(struct cluster *c, size_t node, int argc,
		      const char *const argv[], const struct reply **out,
		      struct error *err)
{
	if (!c->many)
		return conn_call(c->nodes[0]->conn, argc, argv, NULL, out, err);
	return call(c, CLUSTER_ANY, (int)node, argc, argv, NULL, out, err);
}
