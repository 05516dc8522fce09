/* SPDX-License-Identifier: BSD-2-Clause
 *
 * slots: which node of a cluster has which of its 16384 slots, as the answer
 * to CLUSTER SLOTS or CLUSTER SHARDS says it.
 *
 * Source: the cluster specification of Redis and Valkey.
 */
#ifndef BLOOMCTL_REDIS_SLOTS_H
#define BLOOMCTL_REDIS_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/redis/reply.h"

#define SLOTS_COUNT 16384
/* A slot that nobody has; and the most nodes of a map. */
#define SLOTS_NOBODY    UINT16_MAX
#define SLOTS_NODES_MAX 1024
/* Room for a host name or an address, and a NUL. */
#define SLOTS_HOST_MAX 256

/* Where a primary is. */
struct slots_node {
	char host[SLOTS_HOST_MAX]; /* without brackets; "": that of the
				      connection over which it was asked */
	uint16_t port;
};

/* A zeroed one is no map: slots_read() fills it. */
struct slots {
	struct slots_node *nodes; /* owned; those that have slots, each once, in
				     the order of their lowest slot */
	size_t count;
	uint16_t owner[SLOTS_COUNT]; /* index of nodes, or SLOTS_NOBODY */
};

/*
 * The slot of a key: CRC-16/XMODEM of what stands between its first { and the
 * first } behind it, if that is not empty, else of all of it; modulo 16384.
 */
int slots_of(const char *key, size_t len);

/*
 * Reads the answer to CLUSTER SLOTS, or to CLUSTER SHARDS: they are told
 * apart.  Replicas are left out.  tls: the ports for TLS are wanted, where
 * both kinds are named (SHARDS).  A host that is NULL, "" or "?" is "" in the
 * map; where SHARDS has both a "hostname" that is not empty and an "endpoint",
 * the endpoint is the one to use, as the server's own preference.
 *
 * 0; -1: *out is a zeroed map, and *err says what is wrong with the answer:
 * ERROR_DATA for a shape, slot, port or host that cannot be; ERROR_TEMPORARY
 * for no slots at all; for an error reply reply_refused() of
 * "CLUSTER SLOTS"; ERROR_INTERNAL without memory.  Unknown members are no
 * error; a slot that two nodes claim belongs to the later one.
 */
int slots_read(const struct reply *reply, bool tls, struct slots *out,
	       struct error *err);

/* Frees what a map owns and zeroes it; a zeroed one is legal. */
void slots_release(struct slots *slots);

/* What "MOVED 3999 10.0.0.2:6379" and "ASK 3999 host:6379" say. */
struct slots_redirect {
	bool ask; /* this command only; else the slot is there for good */
	int slot;
	struct slots_node node; /* its host may be "" */
};

/*
 * Whether a reply is such an error, and then what it says.  The host may be an
 * IPv6 address without brackets: the port is behind the last colon.  One that
 * cannot be read is no redirect.
 */
bool slots_redirect(const struct reply *reply, struct slots_redirect *out);

#endif
