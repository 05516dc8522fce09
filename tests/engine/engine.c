/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/engine.h"

#include "tests/engine/args.h"
#include "tests/engine/commands.h"
#include "tests/engine/image.h"
#include "tests/engine/server.h"

#include <string.h>

enum { MODULE_VERSION = 10001, METHODS_VERSION = 3, TYPE_VERSION = 1 };

struct engine engine = {.limit = 134217728};

/* The one function that the server looks up. */
__attribute__((visibility("default"))) int
RedisModule_OnLoad(struct module_ctx *, struct module_string **argv, int argc);

/* --- the type ------------------------------------------------------------ */

static size_t type_memory(const void *object)
{
	return object_memory(object);
}

/* More than what a server frees at once, in its own thread. */
static size_t type_effort(struct module_string *key, const void *object)
{
	(void)key;
	(void)object;
	return 1000000;
}

static void type_free(void *object)
{
	object_free(object);
}

static void *type_copy(struct module_string *from, struct module_string *to,
		       const void *object)
{
	(void)from;
	(void)to;
	return object_copy(object);
}

static void digest_double(struct module_digest *digest, double value)
{
	server.DigestAddStringBuffer(digest, (const char *)&value,
				     sizeof(value));
}

static void type_digest(struct module_digest *digest, void *object)
{
	const struct object *o = object;

	server.DigestAddLongLong(digest, o->expansion);
	digest_double(digest, o->error);
	digest_double(digest, o->tightening);
	server.DigestAddLongLong(digest, o->random_seed);
	for (uint64_t i = 0; i < o->n_filters; i++) {
		const struct filter *f = &o->filters[i];
		server.DigestAddStringBuffer(digest, (const char *)f->blob,
					     BLOB_HEADER + f->bytes);
		server.DigestAddLongLong(digest, f->items);
		server.DigestAddLongLong(digest, f->capacity);
	}
	server.DigestEndSequence(digest);
}

static struct module_type *type_create(struct module_ctx *ctx)
{
	static const struct module_methods methods = {
		.version = METHODS_VERSION,
		.rdb_load = image_load,
		.rdb_save = image_save,
		.aof_rewrite = image_rewrite,
		.mem_usage = type_memory,
		.digest = type_digest,
		.free = type_free,
		.free_effort = type_effort,
		.copy = type_copy};
	return server.CreateDataType(ctx, "bloomfltr", TYPE_VERSION, &methods);
}

/* --- what it is told ----------------------------------------------------- */

static bool argument(const char *word)
{
	static const char limit[] = "limit=";
	int64_t bytes;

	if (strncmp(word, limit, sizeof(limit) - 1) == 0) {
		if (!args_number(word + sizeof(limit) - 1, &bytes) || bytes < 0)
			return false;
		atomic_store(&engine.limit, bytes);
		return true;
	}
	if (strcmp(word, "seed=random") == 0 || strcmp(word, "seed=fixed") == 0)
		atomic_store(&engine.fixed_seed, word[5] == 'f');
	else if (strcmp(word, "order=capacity") == 0 ||
		 strcmp(word, "order=blob") == 0)
		engine.blob_first = word[6] == 'b';
	else if (strcmp(word, "full=short") == 0 ||
		 strcmp(word, "full=refuse") == 0)
		engine.refuse_whole = word[5] == 'r';
	else
		return false;
	return true;
}

static long long get_limit(const char *name, void *data)
{
	(void)name;
	(void)data;
	return atomic_load(&engine.limit);
}

static int set_limit(const char *name, long long value, void *data,
		     struct module_string **error)
{
	(void)name;
	(void)data;
	(void)error;
	atomic_store(&engine.limit, value);
	return MODULE_OK;
}

static int get_random(const char *name, void *data)
{
	(void)name;
	(void)data;
	return !atomic_load(&engine.fixed_seed);
}

static int set_random(const char *name, int value, void *data,
		      struct module_string **error)
{
	(void)name;
	(void)data;
	(void)error;
	atomic_store(&engine.fixed_seed, value == 0);
	return MODULE_OK;
}

/* CONFIG GET bf.bloom-memory-usage-limit, and so on. */
static bool register_configs(struct module_ctx *ctx)
{
	return server.RegisterNumericConfig(ctx, "bloom-memory-usage-limit",
					    atomic_load(&engine.limit), 0, 0,
					    INT64_MAX, get_limit, set_limit,
					    NULL, NULL) == MODULE_OK &&
	       server.RegisterBoolConfig(ctx, "bloom-use-random-seed",
					 !atomic_load(&engine.fixed_seed), 0,
					 get_random, set_random, NULL,
					 NULL) == MODULE_OK &&
	       server.LoadConfigs(ctx) == MODULE_OK;
}

int RedisModule_OnLoad(struct module_ctx *ctx, struct module_string **argv,
		       int argc)
{
	if (!server_find(ctx))
		return MODULE_ERROR;
	server.SetModuleAttribs(ctx, "bf", MODULE_VERSION, MODULE_API);
	server.SetModuleOptions(ctx, MODULE_HANDLES_IO_ERRORS);
	for (int i = 0; i < argc; i++) {
		const char *word = server.StringPtrLen(argv[i], NULL);
		if (argument(word))
			continue;
		server.Log(ctx, "warning", "there is no argument '%s'", word);
		return MODULE_ERROR;
	}
	engine.type = type_create(ctx);
	if (engine.type == NULL || !commands_register(ctx) ||
	    !register_configs(ctx) ||
	    server.RegisterInfoFunc(ctx, info_sections) != MODULE_OK)
		return MODULE_ERROR;
	return MODULE_OK;
}
