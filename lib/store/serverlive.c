/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/store/server.h"

struct lives {
	const struct server *server;
	char (*ids)[NAMES_ID_MAX];
	uint64_t fence;
};

static int on_live(void *ctx, uint64_t bucket, const struct reply *reply,
		   struct error *err)
{
	struct lives *lives = ctx;
	const struct reply *id;
	int64_t fence;

	if (reply->type != REPLY_ARRAY || reply->len != 3) {
		struct keys keys;

		keys_of(lives->server->spec, (uint32_t)bucket, NULL, &keys);
		return reply_refused(reply, err, "state '%s'", keys.state);
	}
	id = &reply->u.items[0];
	/* Another keyspec's filter under our name is none of ours. */
	if (id->type == REPLY_BULK && names_id_valid(id->u.text) &&
	    reply_is(&reply->u.items[2],
		     bloomkey_fingerprint(lives->server->spec)))
		memcpy(lives->ids[bucket], id->u.text, id->len + 1);
	if (reply_integer(&reply->u.items[1], &fence) == 0 && fence > 0 &&
	    (uint64_t)fence > lives->fence)
		lives->fence = (uint64_t)fence;
	return 0;
}

int serverlive_read(struct server *server, char (**out)[NAMES_ID_MAX],
		    uint64_t *fence, struct error *err)
{
	uint32_t n = bloomkey_buckets(server->spec);
	struct lives lives = {server, calloc(n, sizeof(*lives.ids)), 0};
	struct keys keys;
	int rc = lives.ids != NULL ? server_ready(server, err)
				   : error_nomem(err);

	for (uint32_t b = 0; rc == 0 && b < n; b++) {
		const char *const words[] = {"HMGET", keys.state, "generation",
					     "fence", "fingerprint"};

		keys_of(server->spec, b, NULL, &keys);
		rc = cluster_sendv(server->cluster, keys.slot, 5, words, NULL,
				   on_live, &lives, b, err);
	}
	if (rc == 0)
		rc = cluster_flush(server->cluster, err);
	if (rc != 0) {
		free(lives.ids);
		lives.ids = NULL;
	}
	*out = lives.ids;
	*fence = lives.fence;
	return rc;
}
