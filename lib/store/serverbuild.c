/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/serverbuild.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/redis/info.h"

int serverbuild_prefix(const struct server *server, uint32_t bucket,
		       struct error *err)
{
	struct keys keys;

	keys_of(server->spec, bucket, server->build->intake.generation, &keys);
	return error_prefix(err, "filter '%s'", keys.shadow);
}

int serverbuild_vanished(struct server *server, uint32_t bucket,
			 const char *what, struct error *err)
{
	struct cluster *c = NULL;
	struct error why = ERROR_INIT;
	const char *place = "";
	uint64_t evicted = 0;
	int rc = server_connect(server, NULL, CONN_WRITES | CONN_KNOWN, &c,
				&why);

	if (rc == 0)
		rc = lease_confirm(server->lease, c, &why);
	if (rc == 0)
		rc = evicted_since(server->build->evicted, c, &evicted, &place,
				   &why);
	cluster_close(c);
	if (rc != 0) {
		*err = why;
		return -1;
	}
	if (evicted > 0)
		(void)error_set(err, ERROR_SPACE,
				"%s gone: the server evicted %" PRIu64
				" keys since the build began",
				what, evicted);
	else
		(void)error_set(err, ERROR_DATA,
				"%s gone: deleted, flushed or expired while it "
				"was built",
				what);
	(void)serverbuild_prefix(server, bucket, err);
	if (evicted > 0)
		return error_hint(err, "give it more memory, or a policy that "
				       "does not evict filters: volatile-lru, "
				       "noeviction");
	return error_hint(err, "find who did that, and build again");
}

/* --- reserving ------------------------------------------------------------ */

static void build_free(struct serverbuild *build)
{
	if (build == NULL)
		return;
	intake_release(&build->intake);
	evicted_free(build->evicted);
	free(build);
}

void serverbuild_free(struct serverbuild *build)
{
	build_free(build);
}

static int full(const struct server *server, uint32_t bucket,
		const struct intake_refusal *refusal, struct error *err)
{
	(void)error_set(err, ERROR_FULL,
			"it is full: bucket %" PRIu32 " with a capacity of "
			"%" PRIu64 " took %" PRIu64 " of %" PRIu64
			" items, after %" PRIu64,
			bucket, server->build->params.capacity, refusal->taken,
			refusal->of, refusal->before);
	(void)serverbuild_prefix(server, bucket, err);
	return error_hint(err, "give a larger --capacity or --keys, or "
			       "--capacity auto");
}

/* A filter that does not take all ends the build. */
static int refuse(struct server *server, uint32_t bucket,
		  const struct intake_refusal *refusal, struct error *err)
{
	if (refusal->reply == NULL)
		return full(server, bucket, refusal, err);
	if (reply_error_begins(refusal->reply, "ERR not found"))
		return serverbuild_vanished(server, bucket, "it is", err);
	(void)reply_refused(refusal->reply, err, "takes no items");
	return serverbuild_prefix(server, bucket, err);
}

static int build_new(struct server *server, const struct manifest *m,
		     const struct filter_params *params, unsigned workers,
		     struct error *err)
{
	struct serverbuild *build = calloc(1, sizeof(*build));
	const void *sentinel;

	if (build == NULL)
		return error_nomem(err);
	intake_init(&build->intake);
	memcpy(build->intake.generation, m->generation,
	       sizeof(build->intake.generation));
	build->intake.refuse = refuse;
	build->params = *params;
	build->planted = bloomkey_sentinel(server->spec, &sentinel) > 0;
	if (intake_open(&build->intake, server, server->cluster, workers,
			err) != 0 ||
	    evicted_read(server->cluster, &build->evicted, err) != 0) {
		build_free(build);
		return -1;
	}
	build_free(server->build);
	server->build = build;
	return 0;
}

/* Its limit is lower than what was planned for, and it does not tell which. */
static int too_large(const struct server *server, uint32_t bucket,
		     struct error *err)
{
	(void)error_set(err, ERROR_SPACE,
			"it takes %" PRIu64 " bytes, and the server allows a "
			"filter less",
			server->engine->layout->memory(&server->build->params));
	(void)serverbuild_prefix(server, bucket, err);
	return error_hint(err, "spread the keys over more buckets, or raise "
			       "bf.bloom-memory-usage-limit on the server");
}

static int on_reserved(void *ctx, uint64_t bucket, const struct reply *reply,
		       struct error *err)
{
	struct server *server = ctx;

	/* It goes twice over a connection that broke, and the id is new. */
	if (reply_is(reply, "OK") ||
	    reply_error_begins(reply, "ERR item exists"))
		return 0;
	if (reply_error_begins(reply, "ERR operation exceeds bloom object "
				      "memory limit"))
		return too_large(server, (uint32_t)bucket, err);
	(void)reply_refused(reply, err, "cannot be reserved");
	return serverbuild_prefix(server, (uint32_t)bucket, err);
}

static int on_planted(void *ctx, uint64_t bucket, const struct reply *reply,
		      struct error *err)
{
	struct server *server = ctx;

	if (reply->type == REPLY_ARRAY && reply->len == 1 &&
	    reply->u.items[0].type == REPLY_INTEGER)
		return 0;
	(void)reply_refused(reply, err, "takes no sentinel");
	return serverbuild_prefix(server, (uint32_t)bucket, err);
}

static int on_state(void *ctx, uint64_t bucket, const struct reply *reply,
		    struct error *err)
{
	struct server *server = ctx;

	if (strcmp(script_word(reply, NULL), "ok") == 0)
		return 0;
	(void)script_refused(SCRIPT_STATE, reply, err, "state");
	return serverbuild_prefix(server, (uint32_t)bucket, err);
}

/* What all filters of a generation have in common, as words. */
struct words {
	char capacity[SERVER_NUMBER_MAX];
	char error[NUM_TEXT_MAX];
	char fence[SERVER_NUMBER_MAX];
};

static int plant_bucket(struct server *server, uint32_t bucket,
			struct error *err)
{
	struct keys keys;
	const void *sentinel;
	size_t len = bloomkey_sentinel(server->spec, &sentinel);
	const char *const words[] = {"BF.INSERT", keys.shadow, "NOCREATE",
				     "ITEMS", sentinel};
	size_t lens[] = {0, 0, 0, 0, len};

	if (len == 0)
		return 0;
	keys_of(server->spec, bucket, server->build->intake.generation, &keys);
	for (int i = 0; i < 4; i++)
		lens[i] = strlen(words[i]);
	return cluster_sendv(server->cluster, keys.slot, 5, words, lens,
			     on_planted, server, bucket, err);
}

static int reserve_bucket(struct server *server, const struct words *w,
			  uint32_t bucket, struct error *err)
{
	struct keys keys;
	const char *const reserve[] = {"BF.RESERVE", keys.shadow, w->error,
				       w->capacity, "NONSCALING"};
	const char *const state_keys[] = {keys.shadow_state, NULL};
	const char *const state[] = {server->build->intake.generation,
				     bloomkey_fingerprint(server->spec),
				     server_type(server->engine),
				     server->engine->name,
				     w->fence,
				     w->capacity,
				     w->error,
				     NULL};

	keys_of(server->spec, bucket, server->build->intake.generation, &keys);
	/* The state first: a filter without one would be nobody's. */
	if (script_send(server->cluster, SCRIPT_STATE, state_keys, state,
			on_state, server, bucket, err) != 0)
		return -1;
	return cluster_sendv(server->cluster, keys.slot, 5, reserve, NULL,
			     on_reserved, server, bucket, err);
}

/*
 * Before all others are made: whether the first filter is what is known of the
 * engine.
 */
static int check_first(struct server *server, struct error *err)
{
	struct keys keys;
	const char *const words[] = {"TYPE", keys.shadow};
	const struct reply *reply;

	keys_of(server->spec, 0, server->build->intake.generation, &keys);
	if (cluster_flush(server->cluster, err) != 0 ||
	    cluster_call(server->cluster, keys.slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply_is(reply, server_type(server->engine)))
		return 0;
	if (reply->type != REPLY_STATUS)
		return reply_refused(reply, err, "filter '%s': type",
				     keys.shadow);
	(void)error_set(err, ERROR_ENGINE,
			"filter '%s': of type '%.40s', where %s makes '%s'",
			keys.shadow, reply->u.text, server->engine->name,
			server_type(server->engine));
	return error_hint(err,
			  "%s: see whether its Bloom module is one that "
			  "bloomctl knows: INFO modules",
			  server_place(server));
}

int serverbuild_reserve(struct store *s, const struct manifest *m,
			const struct layout_ops *layout,
			const struct filter_params *params, unsigned workers,
			struct error *err)
{
	struct server *server = (struct server *)s;
	struct words w;

	(void)layout;
	if (server_need_lock(server, err) != 0 ||
	    serverroom_fits(s, params, workers, err) != 0)
		return -1;
	memcpy(server->begun, m->generation, sizeof(server->begun));
	if (server_put(s, m, err) != 0 ||
	    build_new(server, m, params, workers, err) != 0)
		return -1;
	if (!server->options->allow_eviction)
		lease_watch(server->lease, server->build->evicted);
	(void)server_number(params->capacity, w.capacity);
	(void)num_double_text(params->error, w.error);
	(void)server_number(server_fence(server), w.fence);
	for (uint32_t b = 0; b < m->buckets; b++)
		if (stop_check(err) != 0 ||
		    server_need_lock(server, err) != 0 ||
		    reserve_bucket(server, &w, b, err) != 0 ||
		    (b == 0 && check_first(server, err) != 0))
			return -1;
	/* A node may put a command off, and not the one behind it. */
	if (cluster_flush(server->cluster, err) != 0)
		return -1;
	for (uint32_t b = 0; b < m->buckets; b++)
		if (plant_bucket(server, b, err) != 0)
			return -1;
	return cluster_flush(server->cluster, err);
}
