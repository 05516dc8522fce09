/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/random.h"
#include "lib/redis/info.h"
#include "lib/store/server.h"

/* Of the module's version: 2.8.2 is 20802, valkey-bloom 1.0.1 is 10001. */
#define REDISBLOOM_FIRST 20000
#define REDIS8_FIRST     80000

/* What INFO server says of the operating system. */
#define ELASTICACHE "Amazon ElastiCache"

/* What bloomctl calls, and behind that what only one of the two has. */
static const char *const commands[] = {
	"BF.RESERVE", "BF.INSERT", "BF.MEXISTS",   "BF.INFO",
	"BF.CARD",    "BF.LOAD",   "BF.LOADCHUNK",
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define NEEDED   (COMMANDS - 2)

/* What a server says of itself. */
struct told {
	uint64_t version; /* of the module; 0: it does not say */
	bool commands;    /* it says which it has: */
	bool has[COMMANDS];
	bool elasticache;
	const struct layout_ops *layout; /* NULL: not known yet */
};

/* The node that is asked about itself, as all are taken to be the same. */
static size_t first_node(const struct server *server)
{
	return cluster_owner(server->cluster, server->slot);
}

static const struct layout_ops *layout_of_type(const struct reply *type)
{
	if (reply_is(type, "MBbloom--"))
		return &layout_redisbloom;
	return reply_is(type, "bloomfltr") ? &layout_valkeybloom : NULL;
}

const char *server_type(const struct engine *engine)
{
	return engine->layout == &layout_redisbloom ? "MBbloom--" : "bloomfltr";
}

uint64_t serverengine_version(const struct reply *info)
{
	const char *at = info->u.text;

	while ((at = strstr(at, "module:name=bf,ver=")) != NULL) {
		at += strlen("module:name=bf,ver=");
		return strtoull(at, NULL, 10);
	}
	return 0;
}

const char *serverengine_module(uint64_t version)
{
	return version < REDISBLOOM_FIRST ? "valkey-bloom" : "RedisBloom";
}

/* --- commands ------------------------------------------------------------- */

static int no_module(const struct server *server, struct error *err)
{
	(void)error_set(err, ERROR_ENGINE,
			"%s: no module for Bloom filters is loaded",
			server_place(server));
	return error_hint(err, "load the RedisBloom or valkey-bloom module; "
			       "Redis 8 and the Valkey bundle have it");
}

/* 0 if it has all that is needed, as far as it says. */
static int check_commands(const struct server *server, const struct told *told,
			  struct error *err)
{
	char missing[128] = "";
	size_t count = 0;

	for (size_t i = 0; i < NEEDED && told->commands; i++) {
		if (told->has[i])
			continue;
		count++;
		(void)snprintf(missing + strlen(missing),
			       sizeof(missing) - strlen(missing), "%s%s",
			       count > 1 ? ", " : "", commands[i]);
	}
	if (count == 0)
		return 0;
	if (count == NEEDED)
		return no_module(server, err);
	(void)error_set(err, ERROR_ENGINE,
			"%s: it has Bloom filters, but not the %s %s",
			server_place(server),
			count > 1 ? "commands" : "command", missing);
	return error_hint(err, "RedisBloom 2.4.4 and later, Redis 8 and "
			       "valkey-bloom have what is needed; others, as "
			       "Dragonfly, will not do");
}

static int ask_commands(struct server *server, struct told *told,
			struct error *err)
{
	const char *words[2 + COMMANDS] = {"COMMAND", "INFO"};
	const struct reply *reply;

	memcpy(words + 2, commands, sizeof(commands));
	if (cluster_call(server->cluster, CLUSTER_ANY, 2 + COMMANDS, words,
			 NULL, &reply, err) != 0)
		return -1;
	/* What may not be asked shows at the first command. */
	if (reply->type != REPLY_ARRAY || reply->len != COMMANDS)
		return 0;
	told->commands = true;
	for (size_t i = 0; i < COMMANDS; i++)
		told->has[i] = reply->u.items[i].type == REPLY_ARRAY &&
			       reply->u.items[i].len > 0;
	return check_commands(server, told, err);
}

/* --- the layout ----------------------------------------------------------- */

/* By what there is already. */
static int ask_live(struct server *server, struct told *told, struct error *err)
{
	struct keys k;
	const char *const words[] = {"TYPE", k.filter};
	const struct reply *reply;

	keys_of(server->spec, 0, NULL, &k);
	if (cluster_call(server->cluster, k.slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	told->layout = layout_of_type(reply);
	return 0;
}

/* By a filter that is there only while the server is looking at it. */
static int ask_probe(struct server *server, struct told *told,
		     struct error *err)
{
	uint64_t random[2];
	char id[2 * 16 + 1];
	char key[KEYS_MAX];
	const char *const keys[] = {key, NULL};
	const char *const args[] = {NULL};
	const struct reply *reply;

	if (random_bytes(random, sizeof(random), err) != 0)
		return -1;
	(void)snprintf(id, sizeof(id), "%016llx%016llx",
		       (unsigned long long)random[0],
		       (unsigned long long)random[1]);
	keys_of_set(server->set, "probe", id, key);
	if (script_call(server->cluster, SCRIPT_PROBE, keys, args, "engine",
			&reply, err) != 0)
		return error_prefix(err, "%s", server_place(server));
	told->layout = layout_of_type(&reply->u.items[0]);
	if (told->layout != NULL)
		return 0;
	(void)error_set(err, ERROR_ENGINE,
			"%s: its Bloom filters are of type '%.40s'",
			server_place(server), script_word(reply, NULL));
	return error_hint(err, "bloomctl knows those of RedisBloom, MBbloom--, "
			       "and of valkey-bloom, bloomfltr");
}

/*
 * From what can be relied on most to what can be least.  ElastiCache lists no
 * module and has neither of the commands that tell the two apart.
 */
static int find_layout(struct server *server, struct told *told,
		       struct error *err)
{
	bool load = told->has[COMMANDS - 2];
	bool chunk = told->has[COMMANDS - 1];

	if (load != chunk)
		told->layout = chunk ? &layout_redisbloom : &layout_valkeybloom;
	else if (told->version != 0)
		told->layout = told->version < REDISBLOOM_FIRST
				       ? &layout_valkeybloom
				       : &layout_redisbloom;
	if (told->layout == NULL && ask_live(server, told, err) != 0)
		return -1;
	if (told->layout == NULL && (server->flags & CONN_WRITES) != 0)
		return ask_probe(server, told, err);
	if (told->layout == NULL &&
	    (told->elasticache ||
	     cluster_facts(server->cluster, first_node(server))->valkey))
		told->layout = &layout_valkeybloom;
	return 0;
}

/* --- limits --------------------------------------------------------------- */

/* What it is set to for one filter; 0: it does not say. */
static int ask_limit(struct cluster *c, uint64_t *out, struct error *err)
{
	const char *const words[] = {"CONFIG", "GET",
				     "bf.bloom-memory-usage-limit"};
	const struct reply *reply;
	const struct reply *value;
	int64_t n;

	*out = 0;
	if (cluster_call(c, CLUSTER_ANY, 3, words, NULL, &reply, err) != 0)
		return -1;
	value = reply_member(reply, words[2]);
	if (value != NULL && reply_integer(value, &n) == 0 && n > 0)
		*out = (uint64_t)n;
	return 0;
}

/* That of valkey-bloom, but for a limit that is lower than its default. */
static int find_limit(struct server *server, struct error *err)
{
	uint64_t limit;

	if (ask_limit(server->cluster, &limit, err) != 0)
		return -1;
	server->engine = &engines[ENGINE_VALKEY_BLOOM];
	if (limit == 0 || limit >= server->engine->memory_max)
		return 0;
	server->limited = *server->engine;
	server->limited.memory_max = limit;
	server->limited.hint = "spread the keys over more buckets, or raise "
			       "bf.bloom-memory-usage-limit on the server";
	server->engine = &server->limited;
	return 0;
}

/* --- all of it ------------------------------------------------------------ */

static int ask_itself(struct server *server, struct told *told,
		      struct error *err)
{
	const struct reply *info;
	char os[sizeof(ELASTICACHE)] = "";

	if (server_info(server->cluster, first_node(server), "modules", &info,
			err) != 0)
		return -1;
	if (info != NULL)
		told->version = serverengine_version(info);
	if (server_info(server->cluster, first_node(server), "server", &info,
			err) != 0)
		return -1;
	if (info != NULL)
		(void)info_text(info, "os", os, sizeof(os));
	told->elasticache = strcmp(os, ELASTICACHE) == 0;
	return ask_commands(server, told, err);
}

static int detect(struct server *server, struct error *err)
{
	struct told told = {0};
	const struct conn_facts *facts;
	bool redis8;

	if (server_ready(server, err) != 0 ||
	    ask_itself(server, &told, err) != 0 ||
	    find_layout(server, &told, err) != 0)
		return -1;
	if (told.layout == NULL)
		return 0;
	if (told.layout == &layout_redisbloom) {
		facts = cluster_facts(server->cluster, first_node(server));
		redis8 = told.version != 0
				 ? told.version >= REDIS8_FIRST
				 : facts->version[0] >= 8 && !facts->valkey;
		server->engine =
			&engines[redis8 ? ENGINE_REDIS8 : ENGINE_REDISBLOOM];
		return 0;
	}
	if (!told.elasticache)
		return find_limit(server, err);
	server->engine = &engines[ENGINE_ELASTICACHE];
	return 0;
}

int serverengine_engine(struct store *s, const struct engine **out,
			struct error *err)
{
	struct server *server = (struct server *)s;

	if (server->engine == NULL && detect(server, err) != 0)
		return -1;
	*out = server->engine;
	return 0;
}
