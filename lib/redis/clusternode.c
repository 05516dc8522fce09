/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/redis/cluster_private.h"

#define BACKOFF_MIN_MS 20
#define BACKOFF_MAX_MS 500
/* What one step of a login may take, so that a node that hangs does not keep
 * the others waiting: a replica may have taken over. */
#define TRY_MS 2000

/* --- places --------------------------------------------------------------- */

/* "redis://HOST:PORT", as target.c writes it. */
static char *place_of(const struct node *n)
{
	size_t size = strlen(n->where.host) + 32;
	char *place = malloc(size);
	bool v6 = strchr(n->where.host, ':') != NULL;

	if (place != NULL)
		(void)snprintf(place, size, "%s://%s%s%s:%" PRIu16,
			       n->target.tls.on ? "rediss" : "redis",
			       v6 ? "[" : "", n->where.host, v6 ? "]" : "",
			       n->where.port);
	return place;
}

static bool same_place(const struct slots_node *a, const struct slots_node *b)
{
	return a->port == b->port && strcmp(a->host, b->host) == 0;
}

/* Where the map names no host, it is that of whoever was asked. */
static void fill_host(struct slots_node *where, const struct redis_target *from)
{
	const char *host = from->address.host;

	if (where->host[0] == '\0')
		(void)snprintf(where->host, sizeof(where->host), "%s",
			       host != NULL ? host : "127.0.0.1");
}

static struct node *node_new(struct cluster *c, const struct slots_node *where)
{
	struct node *n = calloc(1, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->cluster = c;
	n->number = c->count;
	n->where = *where;
	n->target = *c->target;
	if (c->count == 0)
		return n;
	n->target.address.path = NULL;
	n->target.address.host = n->where.host;
	n->target.address.port = n->where.port;
	n->target.db = 0;
	n->target.place = n->place = place_of(n);
	if (n->place != NULL)
		return n;
	free(n);
	return NULL;
}

int node_at(struct cluster *c, const struct slots_node *where,
	    const struct redis_target *from, struct error *err)
{
	struct slots_node full = *where;
	struct node **nodes;

	if (from != NULL)
		fill_host(&full, from);
	for (size_t i = 0; i < c->count; i++)
		if (same_place(&c->nodes[i]->where, &full))
			return (int)i;
	if (c->count >= SLOTS_NODES_MAX)
		return error_set(err, ERROR_DATA,
				 "%s: more than %d nodes were named",
				 c->target->place, SLOTS_NODES_MAX);
	nodes = realloc(c->nodes, (c->count + 1) * sizeof(*nodes));
	if (nodes == NULL)
		return error_nomem(err);
	c->nodes = nodes;
	nodes[c->count] = node_new(c, &full);
	if (nodes[c->count] == NULL)
		return error_nomem(err);
	return (int)c->count++;
}

void node_free(struct node *n)
{
	if (n == NULL)
		return;
	conn_close(n->conn);
	free(n->place);
	free(n);
}

/* --- pins ----------------------------------------------------------------- */

int node_pin(struct node *n, struct error *err)
{
	const struct cluster_pins *pins = n->cluster->pins;
	const char *run_id = n->conn->facts.run_id;

	if (pins == NULL || n->conn->pinned)
		return 0;
	for (size_t i = 0; i < pins->count; i++) {
		if (strcmp(pins->run_ids[i], run_id) != 0)
			continue;
		conn_pin(n->conn);
		return 0;
	}
	(void)error_set(err, ERROR_TEMPORARY,
			"%s: the server was restarted or replaced meanwhile: "
			"what it acknowledged may be lost",
			n->target.place);
	return error_hint(err, "run the same command again");
}

/* --- connections ---------------------------------------------------------- */

bool node_is_open(const struct node *n)
{
	return n->conn != NULL && n->conn->net != NULL;
}

void node_lost(struct node *n, const struct error *cause)
{
	n->cause = *cause;
	n->backoff_ms *= 2;
	if (n->backoff_ms < BACKOFF_MIN_MS)
		n->backoff_ms = BACKOFF_MIN_MS;
	if (n->backoff_ms > BACKOFF_MAX_MS)
		n->backoff_ms = BACKOFF_MAX_MS;
	n->next = clock_ns() + (int64_t)n->backoff_ms * 1000000;
}

static int prepare(struct node *n, struct error *err)
{
	struct cluster *c = n->cluster;
	int left;

	if (n->conn == NULL)
		n->conn = conn_new(&n->target,
				   (c->flags & CONN_WRITES) | CONN_KNOWN);
	if (n->conn == NULL)
		return error_nomem(err);
	n->conn->bounce = cluster_bounced;
	n->conn->bounce_ctx = n;
	left = cluster_left(c, clock_ns());
	n->conn->try_ms = left < TRY_MS ? left : TRY_MS;
	conn_set_patient(n->conn, c->patient_until != 0 ? left : 0);
	n->conn->trouble = clock_ns();
	return 0;
}

int node_open(struct node *n, struct error *err)
{
	struct cluster *c = n->cluster;
	enum conn_after after;
	struct error why = ERROR_INIT;

	if (node_is_open(n))
		return 1;
	if (n->conn != NULL && n->conn->count > 0)
		cluster_harvest(n);
	if (clock_ns() < n->next)
		return 0;
	if (prepare(n, err) != 0)
		return cluster_fail(c, err);
	if (conn_login(n->conn, &after, &why) == 0) {
		n->conn->made++;
		n->conn->trouble = 0;
		n->conn->moved = clock_ns();
		n->conn->sent_off = 0;
		n->backoff_ms = 0;
		return 1;
	}
	net_close(n->conn->net);
	n->conn->net = NULL;
	if (after != CONN_STOP)
		(void)error_prefix(&why, "%s", n->target.place);
	*err = why;
	if (after == CONN_STOP)
		return -1;
	if (after == CONN_FATAL)
		return cluster_fail(c, err);
	node_lost(n, &why);
	return 0;
}
