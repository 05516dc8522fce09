/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/show.h"
#include "lib/redis/info.h"
#include "lib/store/server.h"

static void describe_software(const struct conn_facts *f,
			      const struct reply *modules,
			      struct store_node *node)
{
	uint64_t v = modules != NULL ? serverengine_version(modules) : 0;
	int n;

	node->replica = f->replica;
	/* Where INFO is refused. */
	if (f->version[0] == 0) {
		(void)snprintf(node->software, sizeof(node->software),
			       "not known");
		return;
	}
	n = snprintf(node->software, sizeof(node->software), "%s %u.%u.%u",
		     f->valkey ? "valkey" : "redis", f->version[0],
		     f->version[1], f->version[2]);
	if (v != 0 && n > 0 && (size_t)n < sizeof(node->software))
		(void)snprintf(node->software + n,
			       sizeof(node->software) - (size_t)n,
			       ", %s %" PRIu64 ".%" PRIu64 ".%" PRIu64,
			       serverengine_module(v), v / 10000, v / 100 % 100,
			       v % 100);
}

static void describe_memory(const struct reply *info, struct store_node *node)
{
	(void)info_u64(info, "used_memory", &node->used);
	if (!info_u64(info, "maxmemory", &node->limit) || node->limit == 0)
		(void)info_u64(info, "total_system_memory", &node->limit);
	(void)info_text(info, "maxmemory_policy", node->policy,
			sizeof(node->policy));
	show_clean(node->policy);
	/* volatile-*: filters have no TTL. */
	node->evicts = strncmp(node->policy, "allkeys", strlen("allkeys")) == 0;
}

static int describe(struct cluster *c, size_t number, struct store_node *node,
		    struct error *err)
{
	const struct reply *info;

	(void)snprintf(node->name, sizeof(node->name), "%s",
		       cluster_place(c, number));
	if (server_info(c, number, "modules", &info, err) != 0)
		return -1;
	describe_software(cluster_facts(c, number), info, node);
	if (server_info(c, number, "memory", &info, err) != 0)
		return -1;
	if (info != NULL)
		describe_memory(info, node);
	if (server_info(c, number, "stats", &info, err) != 0)
		return -1;
	if (info != NULL)
		(void)info_u64(info, "evicted_keys", &node->evicted);
	if (server_info(c, number, "replication", &info, err) != 0)
		return -1;
	if (info != NULL)
		(void)info_u64(info, "connected_slaves", &node->replicas);
	return 0;
}

int servernodes_nodes(struct store *s, struct store_node **out, size_t *count,
		      struct error *err)
{
	struct server *server = (struct server *)s;
	struct cluster *c;
	struct store_node *nodes;
	size_t n = 0;

	*out = NULL;
	*count = 0;
	if (server_ready(server, err) != 0 ||
	    cluster_connect(server->cluster, err) != 0)
		return -1;
	c = server->cluster;
	nodes = calloc(cluster_nodes(c), sizeof(*nodes));
	if (nodes == NULL)
		return error_nomem(err);
	for (size_t i = 0, all = cluster_nodes(c); i < all; i++) {
		if (!cluster_serves(c, i))
			continue;
		if (describe(c, i, &nodes[n++], err) != 0) {
			free(nodes);
			return -1;
		}
	}
	*out = nodes;
	*count = n;
	return 0;
}
