/* SPDX-License-Identifier: BSD-2-Clause
 *
 * cluster_private: what the files of cluster share.
 *
 *	cluster.c       open, close, nodes, pins
 *	clusternode.c   a node: its place, its connection
 *	clustermap.c    who has which slots: asked, read, applied
 *	clustersend.c   commands to nodes, and what waits for one
 *	clusterwait.c   answers of all nodes, and what goes wrong with one
 */
#ifndef BLOOMCTL_REDIS_CLUSTER_PRIVATE_H
#define BLOOMCTL_REDIS_CLUSTER_PRIVATE_H

#include "lib/redis/cluster.h"
#include "lib/redis/conn_private.h"

/* No node. */
#define NODE_NONE (-1)

struct node {
	struct cluster *cluster;
	size_t number;
	struct slots_node where;    /* as the map names it */
	struct redis_target target; /* of the cluster's; only host and place
				       are its own */
	char *place;                /* owned; NULL: the target's own */
	struct conn *conn;          /* NULL: never connected */
	struct error cause;         /* why the last try failed */
	int64_t next;               /* no try before, by clock_ns() */
	int backoff_ms;
};

/* A command that waits for a node that will do it. */
struct waiting {
	struct waiting *next;
	struct conn_pending command;
	int node;    /* for it this time; NODE_NONE: as the command says */
	int64_t due; /* not before, by clock_ns() */
	bool asking; /* behind ASKING */
	bool again;  /* it may have been done: by this node alone */
};

struct cluster {
	const struct redis_target *target; /* borrowed */
	unsigned flags;
	bool many;           /* it is a cluster */
	struct node **nodes; /* owned; the first is the target itself */
	size_t count;
	uint16_t owner[SLOTS_COUNT]; /* number of a node, or SLOTS_NOBODY */

	struct waiting *waiting; /* owned, in the order of their coming */
	struct waiting **last;   /* where the next one goes */
	size_t waits;            /* of them */

	bool shards;        /* the map is the answer to CLUSTER SHARDS */
	bool stale;         /* the map has been wrong */
	bool asked;         /* for it, and not answered yet */
	bool calling;       /* one command at a time on a connection */
	int64_t next_ask;   /* not before, by clock_ns() */
	size_t next_node;   /* to be asked */
	struct error cause; /* why the last command was not done */

	const struct cluster_pins *pins; /* borrowed; NULL: none */
	uint64_t resent;
	int patient_ms;
	int64_t patient_until;      /* 0: not patient */
	struct error err;           /* of its own; ERROR_NONE: none */
	const struct reply *called; /* of cluster_call() */
};

/* Makes an error the cluster's.  Returns -1. */
int cluster_fail(struct cluster *c, const struct error *err);

/* The first error, if there is one: -1. */
int cluster_check(const struct cluster *c, struct error *err);

/* Milliseconds that are left of the time-out since then, 0 if none. */
int cluster_left(const struct cluster *c, int64_t since);

/* --- clusternode.c -------------------------------------------------------- */

/* The number of the node at a place, made if there is none.  -1: memory. */
int node_at(struct cluster *c, const struct slots_node *where,
	    const struct redis_target *from, struct error *err);

void node_free(struct node *n);

/* Whether commands can be sent there at once. */
bool node_is_open(const struct node *n);

/*
 * One try to connect, unless the last one is too short ago.  1; 0: not now,
 * node->cause says why; -1: the cluster failed, or a stop.
 */
int node_open(struct node *n, struct error *err);

/*
 * Before a command is sent there: its connection is to one of the pins, from
 * now on.  0 or -1.
 */
int node_pin(struct node *n, struct error *err);

/* The connection broke, or could not be made: the next try is later. */
void node_lost(struct node *n, const struct error *cause);

/* --- clustermap.c --------------------------------------------------------- */

/* Asks a server whether it is a cluster, and for the map.  0 or -1. */
int map_begin(struct cluster *c, struct error *err);

/* Asks some node for the map, if it is stale and nobody was asked. */
int map_refresh(struct cluster *c, struct error *err);

/* What a redirect says of the map; the number of the node, or -1. */
int map_redirect(struct cluster *c, const struct slots_redirect *redirect,
		 const struct node *from, struct error *err);

/* As conn_fn, of the question for the map; tag is the node. */
int map_answered(void *ctx, uint64_t node, const struct reply *reply,
		 struct error *err);

/* That question will not be answered. */
void map_dropped(struct cluster *c);

/* --- clustersend.c -------------------------------------------------------- */

/*
 * A command is put where it waits, with its copy.  Without memory the cluster
 * fails.
 */
void wait_add(struct cluster *c, const struct waiting *what);

/* Of all that waits: what can go, goes.  0, or -1: it failed, or a stop. */
int wait_send(struct cluster *c, struct error *err);

/* Milliseconds until something that waits can be tried; -1: nothing waits. */
int wait_ms(const struct cluster *c);

/* What is not done in the target's time: the last cause.  Returns -1. */
int cluster_give_up(struct cluster *c, struct error *err);

/* Forgets all of it. */
void wait_clear(struct cluster *c);

/* As conn_bounce_fn; ctx is the node. */
void cluster_bounced(void *ctx, const struct conn_pending *command,
		     const struct reply *why);

/* --- clusterwait.c -------------------------------------------------------- */

/* Waits until something has moved, and moves it.  0, or -1: as cluster_wait. */
int cluster_step(struct cluster *c, struct error *err);

/* What a broken connection has not answered waits from now on. */
void cluster_harvest(struct node *n);

/* Sends a command, waiting for room; its copy is taken over. */
int cluster_add(struct cluster *c, const struct conn_pending *command,
		struct error *err);

#endif
