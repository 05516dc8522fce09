/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/input.h"
#include "lib/base/show.h"
#include "lib/redis/info.h"

/* Of the module's version: 2.8.2 is 20802, valkey-bloom 1.0.1 is 10001. */
#define REDISBLOOM_FIRST 20000
#define REDIS8_FIRST     80000

const char *server_place(const struct server *server)
{
	return server->target.place;
}

const char *server_number(uint64_t n, char out[SERVER_NUMBER_MAX])
{
	(void)snprintf(out, SERVER_NUMBER_MAX, "%" PRIu64, n);
	return out;
}

int server_connect(const struct server *server, unsigned flags,
		   struct conn **out, struct error *err)
{
	return conn_open(&server->target, flags, out, err);
}

int server_ready(struct server *server, struct error *err)
{
	unsigned flags = server->flags;

	if (server->conn != NULL && !conn_failed(server->conn) &&
	    conn_pending(server->conn) == 0)
		return 0;
	conn_close(server->conn);
	server->conn = NULL;
	if (server->tidying)
		flags |= CONN_TIDIES;
	if (server_connect(server, flags, &server->conn, err) != 0)
		return -1;
	server->flags |= CONN_KNOWN;
	return 0;
}

void server_tidy(struct server *server, bool tidying)
{
	server->tidying = tidying;
	input_set_patient(tidying);
	if (server->conn != NULL)
		conn_set_patient(server->conn, tidying ? CONN_TIDY_MS : 0);
}

int server_info(struct conn *c, const char *section, const struct reply **out,
		struct error *err)
{
	const char *const words[] = {"INFO", section};

	if (conn_call(c, 2, words, NULL, out, err) != 0)
		return -1;
	if ((*out)->type != REPLY_BULK && (*out)->type != REPLY_STATUS)
		*out = NULL;
	return 0;
}

static int facts(struct store *s, struct store_facts *out, struct error *err)
{
	(void)err;
	out->place = server_place((struct server *)s);
	out->server = true;
	return 0;
}

/* --- the engine ----------------------------------------------------------- */

const char *server_type(const struct engine *engine)
{
	return engine->layout == &layout_redisbloom ? "MBbloom--" : "bloomfltr";
}

/*
 * The version of the module "bf" in the lines of INFO modules,
 * "module:name=bf,ver=20802,..."; 0 if it is not there.
 */
static uint64_t module_version(const struct reply *info)
{
	const char *at = info->u.text;

	while ((at = strstr(at, "module:name=bf,ver=")) != NULL) {
		at += strlen("module:name=bf,ver=");
		return strtoull(at, NULL, 10);
	}
	return 0;
}

static enum engine_id engine_of(uint64_t version)
{
	if (version < REDISBLOOM_FIRST)
		return ENGINE_VALKEY_BLOOM;
	return version < REDIS8_FIRST ? ENGINE_REDISBLOOM : ENGINE_REDIS8;
}

static int no_module(const struct server *server, struct error *err)
{
	(void)error_set(err, ERROR_ENGINE,
			"%s: no module for Bloom filters is loaded",
			server_place(server));
	return error_hint(err, "load the RedisBloom or valkey-bloom module; "
			       "Redis 8 and the Valkey bundle have it");
}

/* Where INFO is refused: whether BF.INSERT is a command, by asking for it. */
static int ask_command(struct server *server, struct error *err)
{
	const char *const words[] = {"COMMAND", "INFO", "BF.INSERT", "BF.LOAD"};
	const struct reply *reply;

	if (conn_call(server->conn, 4, words, NULL, &reply, err) != 0)
		return -1;
	/* What may not be asked shows at the first command. */
	if (reply->type != REPLY_ARRAY || reply->len != 2) {
		server->engine = &engines[ENGINE_REDISBLOOM];
		return 0;
	}
	if (reply->u.items[0].type != REPLY_ARRAY)
		return no_module(server, err);
	server->engine = &engines[reply->u.items[1].type == REPLY_ARRAY
					  ? ENGINE_VALKEY_BLOOM
					  : ENGINE_REDISBLOOM];
	return 0;
}

static int engine(struct store *s, const struct engine **out, struct error *err)
{
	struct server *server = (struct server *)s;
	const struct reply *info;
	uint64_t version;

	if (server->engine == NULL) {
		if (server_ready(server, err) != 0 ||
		    server_info(server->conn, "modules", &info, err) != 0)
			return -1;
		version = info != NULL ? module_version(info) : 0;
		if (info != NULL && version == 0)
			return no_module(server, err);
		if (info != NULL)
			server->engine = &engines[engine_of(version)];
		else if (ask_command(server, err) != 0)
			return -1;
	}
	*out = server->engine;
	return 0;
}

/* --- nodes ---------------------------------------------------------------- */

static void describe_software(const struct conn_facts *f,
			      const struct reply *modules,
			      struct store_node *node)
{
	uint64_t v = modules != NULL ? module_version(modules) : 0;
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
		(void)snprintf(
			node->software + n, sizeof(node->software) - (size_t)n,
			", %s %" PRIu64 ".%" PRIu64 ".%" PRIu64,
			v < REDISBLOOM_FIRST ? "valkey-bloom" : "RedisBloom",
			v / 10000, v / 100 % 100, v % 100);
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

static int nodes(struct store *s, struct store_node **out, size_t *count,
		 struct error *err)
{
	struct server *server = (struct server *)s;
	struct store_node *node = calloc(1, sizeof(*node));
	const struct reply *info;

	*out = NULL;
	*count = 0;
	if (node == NULL)
		return error_nomem(err);
	(void)snprintf(node->name, sizeof(node->name), "%s",
		       server_place(server));
	if (server_ready(server, err) != 0 ||
	    server_info(server->conn, "modules", &info, err) != 0)
		goto fail;
	describe_software(conn_facts(server->conn), info, node);
	if (server_info(server->conn, "memory", &info, err) != 0)
		goto fail;
	if (info != NULL)
		describe_memory(info, node);
	if (server_info(server->conn, "stats", &info, err) != 0)
		goto fail;
	if (info != NULL)
		(void)info_u64(info, "evicted_keys", &node->evicted);
	if (server_info(server->conn, "replication", &info, err) != 0)
		goto fail;
	if (info != NULL)
		(void)info_u64(info, "connected_slaves", &node->replicas);
	*out = node;
	*count = 1;
	return 0;
fail:
	free(node);
	return -1;
}

/* --- the lock ------------------------------------------------------------- */

static int no_lock(const struct server *server, struct error *err)
{
	return error_set(err, ERROR_INTERNAL,
			 "set '%s': changed without its lock", server->set);
}

int server_need_lock(const struct server *server, struct error *err)
{
	return server->lease != NULL ? lease_check(server->lease, err)
				     : no_lock(server, err);
}

int server_need_all(const struct server *server, struct error *err)
{
	return server->lease != NULL ? lease_check_all(server->lease, err)
				     : no_lock(server, err);
}

static void unlock(struct store *s)
{
	struct server *server = (struct server *)s;

	if (server->lease != NULL)
		lease_release(server->lease);
	server->lease = NULL;
}

static int lock(struct store *s, const char *command, uint64_t *fence,
		struct error *err)
{
	struct server *server = (struct server *)s;

	if (server->lease != NULL)
		return error_set(err, ERROR_INTERNAL, "set '%s': locked twice",
				 server->set);
	if (lease_take(server, command, &server->lease, err) != 0)
		return -1;
	serverlook_forget(server);
	*fence = server_fence(server);
	return 0;
}

static void phase(struct store *s, const char *phase, uint64_t done,
		  uint64_t total)
{
	struct server *server = (struct server *)s;

	if (server->lease != NULL)
		lease_phase(server->lease, phase, done, total);
}

static int held(struct store *s, struct error *err)
{
	return server_need_all((struct server *)s, err);
}

static int locked_by(struct store *s, char *out, size_t size, struct error *err)
{
	struct server *server = (struct server *)s;
	char key[KEYS_MAX];
	const char *const words[] = {"HGETALL", key};
	const struct reply *reply;

	out[0] = '\0';
	keys_of_set(server->set, "lock", NULL, key);
	if (server_ready(server, err) != 0 ||
	    conn_call(server->conn, 2, words, NULL, &reply, err) != 0)
		return -1;
	/* An unreadable lock is no permission. */
	if (reply->type != REPLY_ARRAY)
		return reply_refused(reply, err, "set '%s': lock", server->set);
	if (reply->len > 0)
		lease_owner(reply, out, size);
	return 0;
}

/* --- open and close ------------------------------------------------------- */

static void server_close(struct store *s)
{
	struct server *server = (struct server *)s;

	unlock(s);
	serverbuild_free(server->build);
	serverlook_forget(server);
	conn_close(server->conn);
	redis_target_release(&server->target);
	free(server);
}

static const struct store_ops server_ops = {
	.facts = facts,
	.engine = engine,
	.nodes = nodes,
	.list = serverlist_list,
	.lock = lock,
	.unlock = unlock,
	.phase = phase,
	.held = held,
	.locked_by = locked_by,
	.fits = serverbuild_fits,
	.reserve = serverbuild_reserve,
	.writer = serverbuild_writer,
	.seal = serverseal_seal,
	.put = server_put,
	.info = serverlook_info,
	.probe = serverprobe_probe,
	.promote = serverswap_promote,
	.survey = serveradopt_survey,
	.adopt = serveradopt_adopt,
	.disown = serveradopt_disown,
	.drop = serverdrop_drop,
	.close = server_close,
};

/* What is said where nothing is said. */
static const struct redis_options no_options;

int server_open(const char *target, const struct bloomkey_spec *spec,
		const struct store_options *options, struct store **out,
		struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));

	*out = NULL;
	if (server == NULL)
		return error_nomem(err);
	server->base.ops = &server_ops;
	server->spec = spec;
	server->options = options;
	server->flags =
		options->create || options->writes ? CONN_WRITES : CONN_READS;
	names_set(spec, server->set);
	if (redis_target_parse(target,
			       options->server != NULL ? options->server
						       : &no_options,
			       &server->target, err) != 0 ||
	    server_ready(server, err) != 0) {
		server_close(&server->base);
		return -1;
	}
	*out = &server->base;
	return 0;
}
