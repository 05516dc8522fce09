/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/serverbuild.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/redis/info.h"

/* The add batches of all writers together, in bytes. */
#define ARENA ((size_t)16 << 20)

/* --- room ----------------------------------------------------------------- */

/* What is left on the server for a generation, if that is known. */
static int read_room(struct server *server, uint64_t *room, bool *known,
		     struct error *err)
{
	const struct reply *info;
	uint64_t limit = 0;
	uint64_t used = 0;

	*known = false;
	if (server_info(server->conn, "memory", &info, err) != 0)
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

int serverbuild_fits(struct store *s, const struct filter_params *params,
		     unsigned workers, struct error *err)
{
	struct server *server = (struct server *)s;
	uint32_t n = bloomkey_buckets(server->spec);
	const struct engine *engine;
	char need_text[NUM_TEXT_MAX];
	char room_text[NUM_TEXT_MAX];
	uint64_t need;
	uint64_t room;
	bool known;

	(void)workers;
	if (server_ready(server, err) != 0 ||
	    s->ops->engine(s, &engine, err) != 0 ||
	    read_room(server, &room, &known, err) != 0)
		return -1;
	if (__builtin_mul_overflow(engine->layout->memory(params) +
					   SERVER_OVERHEAD,
				   (uint64_t)n, &need))
		need = UINT64_MAX;
	if (!known) {
		log_note("%s: how much memory it has left is not known",
			 server_place(server));
		return 0;
	}
	if (need <= room)
		return 0;
	(void)error_set(err, ERROR_SPACE,
			"%s: the new generation takes %s, and %s are left",
			server_place(server), num_bytes_text(need, need_text),
			num_bytes_text(room, room_text));
	return error_hint(err, "give it more memory, remove what is not needed "
			       "(bloomctl swap --prune), or --allow-eviction "
			       "what may go");
}

static int read_evicted(struct conn *c, uint64_t *out, bool *known,
			struct error *err)
{
	const struct reply *info;

	if (server_info(c, "stats", &info, err) != 0)
		return -1;
	*known = info != NULL && info_u64(info, "evicted_keys", out);
	return 0;
}

/* How many keys were evicted since; 0 where that is not known. */
static int evicted_since(struct server *server, struct conn *c, uint64_t *out,
			 struct error *err)
{
	uint64_t now;
	bool known;

	*out = 0;
	if (!server->build->evicted_known)
		return 0;
	if (read_evicted(c, &now, &known, err) != 0)
		return -1;
	if (known && now > server->build->evicted)
		*out = now - server->build->evicted;
	return 0;
}

int serverbuild_check_evictions(struct server *server, struct error *err)
{
	uint64_t evicted;

	if (server->options->allow_eviction)
		return 0;
	if (evicted_since(server, server->conn, &evicted, err) != 0)
		return -1;
	if (evicted == 0)
		return 0;
	(void)error_set(err, ERROR_SPACE,
			"%s: it evicted %" PRIu64 " keys since the build began",
			server_place(server), evicted);
	return error_hint(err, "give it more memory, or --allow-eviction if "
			       "what it evicts may go");
}

int serverbuild_prefix(const struct server *server, uint32_t bucket,
		       struct error *err)
{
	struct keys keys;

	keys_of(server->spec, bucket, server->build->generation, &keys);
	return error_prefix(err, "filter '%s'", keys.shadow);
}

int serverbuild_vanished(struct server *server, uint32_t bucket,
			 const char *what, struct error *err)
{
	struct conn *c = NULL;
	struct error why = ERROR_INIT;
	uint64_t evicted = 0;
	int rc = server_connect(server, CONN_WRITES | CONN_KNOWN, &c, &why);

	if (rc == 0)
		rc = lease_confirm(server->lease, c, &why);
	if (rc == 0)
		rc = evicted_since(server, c, &evicted, &why);
	conn_close(c);
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
	(void)pthread_mutex_destroy(&build->merge);
	free(build->acknowledged);
	free(build->added);
	free(build);
}

void serverbuild_free(struct serverbuild *build)
{
	build_free(build);
}

static int build_new(struct server *server, const struct manifest *m,
		     const struct filter_params *params, unsigned workers,
		     struct error *err)
{
	struct serverbuild *build = calloc(1, sizeof(*build));
	const void *sentinel;

	if (build == NULL)
		return error_nomem(err);
	(void)pthread_mutex_init(&build->merge, NULL);
	memcpy(build->generation, m->generation, sizeof(build->generation));
	memcpy(build->run_id, conn_facts(server->conn)->run_id,
	       sizeof(build->run_id));
	build->params = *params;
	build->planted = bloomkey_sentinel(server->spec, &sentinel) > 0;
	build->memory = ARENA / (workers > 0 ? workers : 1);
	build->acknowledged = calloc(m->buckets, sizeof(uint64_t));
	build->added = calloc(m->buckets, sizeof(uint64_t));
	if (build->acknowledged == NULL || build->added == NULL) {
		build_free(build);
		return error_nomem(err);
	}
	build_free(server->build);
	server->build = build;
	return read_evicted(server->conn, &build->evicted,
			    &build->evicted_known, err);
}

static int on_reserved(void *ctx, uint64_t bucket, const struct reply *reply,
		       struct error *err)
{
	struct server *server = ctx;

	/* It goes twice over a connection that broke, and the id is new. */
	if (reply_is(reply, "OK") ||
	    reply_error_begins(reply, "ERR item exists"))
		return 0;
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

static int send_sentinel(struct server *server, const struct keys *keys,
			 uint32_t bucket, struct error *err)
{
	const void *sentinel;
	size_t len = bloomkey_sentinel(server->spec, &sentinel);
	const char *const words[] = {"BF.INSERT", keys->shadow, "NOCREATE",
				     "ITEMS", sentinel};
	const size_t lens[] = {strlen(words[0]), strlen(words[1]),
			       strlen(words[2]), strlen(words[3]), len};

	if (len == 0)
		return 0;
	return conn_sendv(server->conn, 5, words, lens, on_planted, server,
			  bucket, err);
}

static int reserve_bucket(struct server *server, const struct words *w,
			  uint32_t bucket, struct error *err)
{
	struct keys keys;
	const char *const reserve[] = {"BF.RESERVE", keys.shadow, w->error,
				       w->capacity, "NONSCALING"};
	const char *const state_keys[] = {keys.shadow_state, NULL};
	const char *const state[] = {server->build->generation,
				     bloomkey_fingerprint(server->spec),
				     server_type(server->engine),
				     server->engine->name,
				     w->fence,
				     w->capacity,
				     w->error,
				     NULL};

	keys_of(server->spec, bucket, server->build->generation, &keys);
	/* The state first: a filter without one would be nobody's. */
	if (script_send(server->conn, SCRIPT_STATE, state_keys, state, on_state,
			server, bucket, err) != 0)
		return -1;
	if (conn_sendv(server->conn, 5, reserve, NULL, on_reserved, server,
		       bucket, err) != 0)
		return -1;
	return send_sentinel(server, &keys, bucket, err);
}

/* Whether it is what is known of the engine, by the first filter. */
static int check_type(struct server *server, struct error *err)
{
	struct keys keys;
	const char *const words[] = {"TYPE", keys.shadow};
	const struct reply *reply;

	keys_of(server->spec, 0, server->build->generation, &keys);
	if (conn_call(server->conn, 2, words, NULL, &reply, err) != 0)
		return -1;
	if (reply_is(reply, server_type(server->engine)))
		return 0;
	if (reply->type != REPLY_STATUS)
		return reply_refused(reply, err, "filter '%s': type",
				     keys.shadow);
	return error_set(err, ERROR_ENGINE,
			 "filter '%s': of type '%.40s', where %s makes '%s'",
			 keys.shadow, reply->u.text, server->engine->name,
			 server_type(server->engine));
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
	    serverbuild_fits(s, params, workers, err) != 0)
		return -1;
	memcpy(server->begun, m->generation, sizeof(server->begun));
	if (server_put(s, m, err) != 0 ||
	    build_new(server, m, params, workers, err) != 0)
		return -1;
	if (server->build->evicted_known && !server->options->allow_eviction)
		lease_watch(server->lease, server->build->evicted);
	(void)server_number(params->capacity, w.capacity);
	(void)num_double_text(params->error, w.error);
	(void)server_number(server_fence(server), w.fence);
	for (uint32_t b = 0; b < m->buckets; b++)
		if (stop_check(err) != 0 ||
		    server_need_lock(server, err) != 0 ||
		    reserve_bucket(server, &w, b, err) != 0)
			return -1;
	if (conn_flush(server->conn, err) != 0)
		return -1;
	return check_type(server, err);
}
