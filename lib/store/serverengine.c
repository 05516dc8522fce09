/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/store/server.h"

/* Of the module's version: 2.8.2 is 20802, valkey-bloom 1.0.1 is 10001. */
#define REDISBLOOM_FIRST 20000
#define REDIS8_FIRST     80000

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

	if (cluster_call(server->cluster, CLUSTER_ANY, 4, words, NULL, &reply, err) != 0)
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

int serverengine_engine(struct store *s, const struct engine **out,
			struct error *err)
{
	struct server *server = (struct server *)s;
	const struct reply *info;
	uint64_t version;

	if (server->engine == NULL) {
		if (server_ready(server, err) != 0 ||
		    server_info(server->cluster, "modules", &info, err) != 0)
			return -1;
		version = info != NULL ? serverengine_version(info) : 0;
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
