/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/evicted.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/redis/info.h"

struct count {
	char *place; /* owned */
	uint64_t keys;
};

struct evicted {
	size_t count;
	struct count nodes[];
};

void evicted_free(struct evicted *e)
{
	for (size_t i = 0; e != NULL && i < e->count; i++)
		free(e->nodes[i].place);
	free(e);
}

static struct evicted *new_of(size_t room)
{
	return calloc(1, sizeof(struct evicted) + room * sizeof(struct count));
}

static int add(struct evicted *e, const char *place, uint64_t keys)
{
	e->nodes[e->count].place = strdup(place);
	if (e->nodes[e->count].place == NULL)
		return -1;
	e->nodes[e->count++].keys = keys;
	return 0;
}

struct evicted *evicted_copy(const struct evicted *e)
{
	struct evicted *copy = new_of(e->count);

	for (size_t i = 0; copy != NULL && i < e->count; i++) {
		if (add(copy, e->nodes[i].place, e->nodes[i].keys) == 0)
			continue;
		evicted_free(copy);
		return NULL;
	}
	return copy;
}

/* 1; 0: it does not tell; -1. */
static int ask(struct cluster *c, size_t node, uint64_t *keys,
	       struct error *err)
{
	static const char *const words[] = {"INFO", "stats"};
	const struct reply *reply;

	if (cluster_call_node(c, node, 2, words, &reply, err) != 0)
		return -1;
	return info_u64(reply, "evicted_keys", keys) ? 1 : 0;
}

int evicted_read(struct cluster *c, struct evicted **out, struct error *err)
{
	size_t count = cluster_nodes(c);
	struct evicted *e = new_of(count);
	int rc = e != NULL ? 0 : error_nomem(err);

	*out = NULL;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		uint64_t keys;

		if (!cluster_serves(c, i))
			continue;
		rc = ask(c, i, &keys, err);
		if (rc > 0)
			rc = add(e, cluster_place(c, i), keys) == 0
				     ? 0
				     : error_nomem(err);
	}
	if (rc != 0) {
		evicted_free(e);
		return -1;
	}
	*out = e;
	return 0;
}

static const struct count *before_of(const struct evicted *before,
				     const char *place)
{
	for (size_t i = 0; i < before->count; i++)
		if (strcmp(before->nodes[i].place, place) == 0)
			return &before->nodes[i];
	return NULL;
}

int evicted_since(const struct evicted *before, struct cluster *c,
		  uint64_t *keys, const char **place, struct error *err)
{
	*keys = 0;
	*place = "";
	for (size_t i = 0; before->count > 0 && i < cluster_nodes(c); i++) {
		const struct count *b = before_of(before, cluster_place(c, i));
		uint64_t now;
		int rc;

		if (b == NULL || !cluster_serves(c, i))
			continue;
		rc = ask(c, i, &now, err);
		if (rc < 0)
			return -1;
		if (rc == 0 || now <= b->keys)
			continue;
		*keys += now - b->keys;
		if (*place[0] == '\0')
			*place = cluster_place(c, i);
	}
	return 0;
}

int evicted_error(const char *place, uint64_t keys, struct error *err)
{
	(void)error_set(err, ERROR_SPACE,
			"%s: it evicted %" PRIu64 " keys since the build began",
			place, keys);
	return error_hint(err, "give it more memory, or --allow-eviction if "
			       "what it evicts may go");
}
