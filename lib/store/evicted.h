/* SPDX-License-Identifier: BSD-2-Clause
 *
 * evicted: how many keys the nodes of a server have evicted, before and after.
 *
 * Filters often share a server with a cache; one that evicts may have evicted
 * a filter, or what others need.
 */
#ifndef BLOOMCTL_STORE_EVICTED_H
#define BLOOMCTL_STORE_EVICTED_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/redis/cluster.h"

/* What was counted at a time; opaque. */
struct evicted;

/*
 * Asks all nodes that have slots.  Those that do not tell are left out.  *out
 * is owned by the caller, who frees it by evicted_free().
 */
int evicted_read(struct cluster *c, struct evicted **out, struct error *err);

/* NULL is legal; evicted_copy() gives NULL when memory is out. */
void evicted_free(struct evicted *e);
struct evicted *evicted_copy(const struct evicted *e);

/*
 * How many keys were evicted since, on all nodes, and by which: its place is
 * borrowed from c.  A node that restarted has evicted none.
 */
int evicted_since(const struct evicted *before, struct cluster *c,
		  uint64_t *keys, const char **place, struct error *err);

/* "PLACE: it evicted N keys since the build began": ERROR_SPACE. */
int evicted_error(const char *place, uint64_t keys, struct error *err);

#endif
