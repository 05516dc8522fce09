/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/engine/server.h"

#include <string.h>

struct server server;

typedef int find_fn(const char *name, void *function);

bool server_find(struct module_ctx *ctx)
{
	/* The first word of a context is the function that finds the others. */
	find_fn *find;
	memcpy(&find, ctx, sizeof(find));

	int missing = 0;
#define FIND(result, name, parameters) \
	missing |= find("RedisModule_" #name, &server.name);
	MODULE_FUNCTIONS(FIND)
#undef FIND
#define FIND(result, name, parameters)                             \
	if (find("RedisModule_" #name, &server.name) != MODULE_OK) \
		server.name = NULL;
	MODULE_NEWER_FUNCTIONS(FIND)
#undef FIND
	return missing == MODULE_OK;
}
