/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cluster: all the servers of a target: one, or the nodes of a cluster.
 *
 *	cluster_send(slot) ─► node that has the slot ─► conn, with its window
 *	                                  MOVED, ASK, TRYAGAIN, a broken
 *	                                  connection ─► what waits ─► again
 *
 * A server alone is a node that has all slots, and its connection does what
 * conn.h says.  Whether it is a cluster is asked when it is opened, and then
 * each node that is needed gets a connection and a window of its own.
 *
 * What a node of a cluster did not do is done by the one that it names, or
 * again a little later: a slot is moving, the cluster is down, it is too much
 * at a time for the service, a node is gone and a replica takes over.  Who has
 *which slots is then asked anew, and what was not answered goes to the slot's
 *present owner.  So every command must be one that may be done twice; those for
 *one slot stay in their order, but for one that a node refuses while it does
 *those behind it.  What cannot be done for the target's time-out is
 *ERROR_TEMPORARY with the last reason.
 *
 * All else is as of a conn: bytes are borrowed until answered, errors name the
 * place, after an error of its own every call ends with it, a stop is none,
 * and it belongs to one thread at a time.
 */
#ifndef BLOOMCTL_REDIS_CLUSTER_H
#define BLOOMCTL_REDIS_CLUSTER_H

#include "lib/redis/conn.h"
#include "lib/redis/slots.h"

/* For a command without a key: any node does. */
#define CLUSTER_ANY (-1)

struct cluster;

/*
 * Connects, as conn_open(), and asks for the map of the slots if there is one.
 * like may be NULL, or a cluster of the same target that knows its nodes, not
 * in use meanwhile: they are then tried, too, where the target itself is gone.
 */
int cluster_open(const struct redis_target *target, unsigned flags,
		 const struct cluster *like, struct cluster **out,
		 struct error *err);

/* Closes without waiting for answers; NULL is legal. */
void cluster_close(struct cluster *c);

/*
 * Makes it usable after an error of its own, or a stop: what is under way is
 * forgotten, and what failed is connected anew, with these flags from now on.
 */
int cluster_reopen(struct cluster *c, unsigned flags, struct error *err);

/* --- nodes ---------------------------------------------------------------- */

/* Whether it is a cluster, also one of one node. */
bool cluster_is(const struct cluster *c);

/*
 * How many nodes there ever were.  Their numbers stay the same; those that
 * have no slot any more have only that number left.
 */
size_t cluster_nodes(const struct cluster *c);

/* The node that has a slot, by what is known; 0 where nobody has it. */
size_t cluster_owner(const struct cluster *c, int slot);

/* Whether a node has any slots, by what is known. */
bool cluster_serves(const struct cluster *c, size_t node);

/* "redis://HOST:PORT", for messages. */
const char *cluster_place(const struct cluster *c, size_t node);

/* Asks for the map again.  Without effect where there is none. */
int cluster_refresh(struct cluster *c, struct error *err);

/* Connects to all nodes that have slots. */
int cluster_connect(struct cluster *c, struct error *err);

/*
 * Who is there, as of its last connection, borrowed.  NULL: it was never
 * connected.
 */
const struct conn_facts *cluster_facts(const struct cluster *c, size_t node);

/* As conn_made(), of a node's connection. */
uint64_t cluster_made(const struct cluster *c, size_t node);

/* Processes, by their run ids. */
struct cluster_pins {
	size_t count;
	char (*run_ids)[CONN_RUN_ID_MAX]; /* "": one that is not known */
};

/*
 * From now on only to these processes, and never to another one in the place
 * of one: that may have lost what the first acknowledged.  ERROR_TEMPORARY
 * then.  pins is borrowed until the end.
 */
int cluster_pin(struct cluster *c, const struct cluster_pins *pins,
		struct error *err);

/* How many commands were sent again that may have been done before. */
uint64_t cluster_resent(const struct cluster *c);

/* --- commands ------------------------------------------------------------- */

/* As conn_set_patient(). */
void cluster_set_patient(struct cluster *c, int ms);

/*
 * As conn_send() and conn_sendv(), to the node that has the slot of the
 * command's keys, or CLUSTER_ANY.
 */
int cluster_send(struct cluster *c, int slot, const void *bytes, size_t len,
		 conn_fn *fn, void *ctx, uint64_t tag, struct error *err);
int cluster_sendv(struct cluster *c, int slot, int argc,
		  const char *const argv[], const size_t *lens, conn_fn *fn,
		  void *ctx, uint64_t tag, struct error *err);

/* As conn_wait() and conn_flush(), for all nodes. */
int cluster_wait(struct cluster *c, size_t pending, struct error *err);
int cluster_flush(struct cluster *c, struct error *err);

/* Whether it has an error of its own. */
bool cluster_failed(const struct cluster *c);

/* Commands that are not answered. */
size_t cluster_pending(const struct cluster *c);

/* As conn_call(): nothing may be pending, and the reply is borrowed. */
int cluster_call(struct cluster *c, int slot, int argc,
		 const char *const argv[], const size_t *lens,
		 const struct reply **out, struct error *err);

/* The same of one node, whatever slots it has. */
int cluster_call_node(struct cluster *c, size_t node, int argc,
		      const char *const argv[], const struct reply **out,
		      struct error *err);

#endif
