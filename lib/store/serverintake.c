/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/serverintake.h"

#include <stdlib.h>
#include <string.h>

/* The add batches of all writers together, in bytes. */
#define ARENA ((size_t)16 << 20)

/* Who is there before the first add, and who has which bucket. */
static int find_homes(struct intake *intake, const struct server *server,
		      struct cluster *c, struct error *err)
{
	struct cluster_pins *pins = &intake->pins;
	uint32_t n = bloomkey_buckets(server->spec);
	uint16_t of[SLOTS_NODES_MAX] = {0};

	if (cluster_connect(c, err) != 0)
		return -1;
	pins->run_ids = calloc(cluster_nodes(c), sizeof(*pins->run_ids));
	intake->home = calloc(n, sizeof(*intake->home));
	if (pins->run_ids == NULL || intake->home == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < cluster_nodes(c); i++) {
		const struct conn_facts *facts = cluster_facts(c, i);

		if (facts == NULL || !cluster_serves(c, i))
			continue;
		of[i] = (uint16_t)pins->count;
		memcpy(pins->run_ids[pins->count++], facts->run_id,
		       CONN_RUN_ID_MAX);
	}
	for (uint32_t b = 0; b < n; b++) {
		struct keys k;

		keys_of(server->spec, b, NULL, &k);
		intake->home[b] = of[cluster_owner(c, k.slot)];
	}
	return 0;
}

void intake_init(struct intake *intake)
{
	(void)pthread_mutex_init(&intake->merge, NULL);
}

int intake_open(struct intake *intake, const struct server *server,
		struct cluster *c, unsigned workers, struct error *err)
{
	uint32_t n = bloomkey_buckets(server->spec);

	intake->memory = ARENA / (workers > 0 ? workers : 1);
	intake->acknowledged = calloc(n, sizeof(*intake->acknowledged));
	intake->added = calloc(n, sizeof(*intake->added));
	if (intake->acknowledged == NULL || intake->added == NULL)
		return error_nomem(err);
	return find_homes(intake, server, c, err);
}

void intake_release(struct intake *intake)
{
	(void)pthread_mutex_destroy(&intake->merge);
	free(intake->pins.run_ids);
	free(intake->home);
	free(intake->acknowledged);
	free(intake->added);
}

const char *intake_run_id(const struct intake *intake, uint32_t bucket)
{
	return intake->pins.run_ids[intake->home[bucket]];
}

const char *intake_name(const struct intake *intake, const struct keys *keys)
{
	return intake->live ? keys->filter : keys->shadow;
}
