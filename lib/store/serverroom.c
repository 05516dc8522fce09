/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/redis/info.h"
#include "lib/store/serverbuild.h"

/* What is left on a node for a generation, if that is known. */
static int read_room(struct server *server, size_t node, uint64_t *room,
		     bool *known, struct error *err)
{
	const struct reply *info;
	uint64_t limit = 0;
	uint64_t used = 0;

	*known = false;
	if (server_info(server->cluster, node, "memory", &info, err) != 0)
		return -1;
	if (info == NULL || !info_u64(info, "used_memory", &used))
		return 0;
	if (!info_u64(info, "maxmemory", &limit) || limit == 0)
		(void)info_u64(info, "total_system_memory", &limit);
	if (limit == 0)
		return 0;
	*known = true;
	*room = limit > used ? limit - used : 0;
	if (server->options->allow_eviction)
		*room += server->options->eviction_bytes;
	return 0;
}

static int check_room(struct server *server, size_t node, uint64_t need,
		      struct error *err)
{
	const char *place = cluster_place(server->cluster, node);
	char need_text[NUM_TEXT_MAX];
	char room_text[NUM_TEXT_MAX];
	uint64_t room;
	bool known;

	if (read_room(server, node, &room, &known, err) != 0)
		return -1;
	if (!known) {
		log_note("%s: how much memory it has left is not known", place);
		return 0;
	}
	if (need <= room)
		return 0;
	(void)error_set(err, ERROR_SPACE,
			"%s: the new generation takes %s, and %s are left",
			place, num_bytes_text(need, need_text),
			num_bytes_text(room, room_text));
	return error_hint(err, "give it more memory, remove what is not needed "
			       "(bloomctl swap --prune), or --allow-eviction "
			       "what may go");
}

/* How many buckets each node has; owned by the caller, NULL: no memory. */
static uint32_t *count_buckets(const struct server *server)
{
	uint32_t *counts =
		calloc(cluster_nodes(server->cluster), sizeof(*counts));

	for (uint32_t b = 0;
	     counts != NULL && b < bloomkey_buckets(server->spec); b++) {
		struct keys k;

		keys_of(server->spec, b, NULL, &k);
		counts[cluster_owner(server->cluster, k.slot)]++;
	}
	return counts;
}

int serverroom_fits(struct store *s, const struct filter_params *params,
		    unsigned workers, struct error *err)
{
	struct server *server = (struct server *)s;
	const struct engine *engine = NULL;
	uint32_t *counts = NULL;
	size_t nodes = 0;
	int rc = server_ready(server, err);

	(void)workers;
	if (rc == 0)
		rc = s->ops->engine(s, &engine, err);
	if (rc == 0) {
		/* There may be more when the last one has been asked. */
		nodes = cluster_nodes(server->cluster);
		counts = count_buckets(server);
		rc = counts != NULL ? 0 : error_nomem(err);
	}
	for (size_t i = 0; rc == 0 && i < nodes; i++) {
		uint64_t need = engine != NULL ? engine->layout->memory(params)
					       : params->bytes;

		if (counts[i] == 0)
			continue;
		if (__builtin_add_overflow(need, SERVER_OVERHEAD, &need) ||
		    __builtin_mul_overflow(need, (uint64_t)counts[i], &need))
			need = UINT64_MAX;
		rc = check_room(server, i, need, err);
	}
	free(counts);
	return rc;
}

int serverroom_check_evictions(struct server *server, struct error *err)
{
	const char *place;
	uint64_t keys;

	if (server->options->allow_eviction)
		return 0;
	if (evicted_since(server->build->evicted, server->cluster, &keys,
			  &place, err) != 0)
		return -1;
	return keys == 0 ? 0 : evicted_error(place, keys, err);
}
