/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/base/stop.h"
#include "lib/store/server.h"

/*
 * A filter is freed in the server's main thread, whatever command frees it.
 * So there is one at a time, and a pause behind it in which the server does
 * for others so many times what it did for us.
 */
#define PAUSE_FACTOR 4
/* What is as short as this is no burden, in nanoseconds. */
#define PAUSE_FROM 500000
#define PAUSE_MAX  1000 /* ms */

static int pause_after(int64_t took, struct error *err)
{
	int64_t ms = took * PAUSE_FACTOR / 1000000;

	if (took < PAUSE_FROM)
		return input_check(err);
	return input_wait(-1, ms < PAUSE_MAX ? (int)ms : PAUSE_MAX, err);
}

static int check(const struct reply *reply, const char *filter,
		 struct error *err)
{
	const char *detail;
	const char *word = script_word(reply, &detail);

	if (strcmp(word, "ok") == 0)
		return 0;
	return error_set(err, ERROR_LOCKED,
			 "filter '%s': a newer run, with fence %.20s, has "
			 "taken it over",
			 filter, detail);
}

/* Two keys of a bucket: a filter and its state. */
static int drop_pair(struct server *server, const char *filter,
		     const char *state, struct error *err)
{
	char fence[SERVER_NUMBER_MAX];
	char what[KEYS_MAX + 16];
	const char *const keys[] = {filter, state, NULL};
	const char *const args[] = {server_number(server_fence(server), fence),
				    NULL};
	const struct reply *reply;

	(void)snprintf(what, sizeof(what), "filter '%s'", filter);
	return script_call(server->cluster, SCRIPT_DROP, keys, args, what,
			   &reply, err) == 0
		       ? check(reply, filter, err)
		       : -1;
}

int serverdrop_filters(struct server *server, const char *generation,
		       struct error *err)
{
	struct keys k;

	serverlook_forget(server);
	if (server_ready(server, err) != 0)
		return -1;
	for (uint32_t b = 0; b < bloomkey_buckets(server->spec); b++) {
		int64_t began = clock_ns();

		/* Another run may need what this one was to remove. */
		if (!server->tidying && server_need_lock(server, err) != 0)
			return -1;
		keys_of(server->spec, b, generation, &k);
		if (drop_pair(server, k.shadow, k.shadow_state, err) != 0)
			return -1;
		if (!server->tidying &&
		    pause_after(clock_ns() - began, err) != 0)
			return -1;
	}
	return 0;
}

/* A generation that any reader gets is not removed. */
static int check_live(struct server *server, const char *generation,
		      struct error *err)
{
	char(*ids)[NAMES_ID_MAX];
	uint64_t fence;
	uint32_t live = 0;

	if (serverlive_read(server, &ids, &fence, err) != 0)
		return -1;
	for (uint32_t b = 0; b < bloomkey_buckets(server->spec); b++)
		live += strcmp(ids[b], generation) == 0;
	free(ids);
	if (live == 0)
		return 0;
	return error_set(err, ERROR_GENERATION,
			 "generation '%s': readers get %" PRIu32
			 " of its filters, so it is not removed",
			 generation, live);
}

int serverdrop_drop(struct store *s, const char *generation, struct error *err)
{
	struct server *server = (struct server *)s;

	if (server_need_lock(server, err) != 0 ||
	    check_live(server, generation, err) != 0 ||
	    serverdrop_filters(server, generation, err) != 0)
		return -1;
	return server_record(server, SCRIPT_FORGET, "manifest", generation,
			     NULL, err);
}

int serverdrop_retire(struct store *s, struct error *err)
{
	struct server *server = (struct server *)s;
	char moving[KEYS_MAX];
	char fed[KEYS_MAX];
	char exposure[KEYS_MAX];
	const char *const words[] = {"UNLINK", moving, fed, exposure};
	const struct reply *reply;
	struct keys k;

	serverlook_forget(server);
	if (server_ready(server, err) != 0)
		return -1;
	for (uint32_t b = 0; b < bloomkey_buckets(server->spec); b++) {
		int64_t began = clock_ns();

		keys_of(server->spec, b, NULL, &k);
		if (stop_check(err) != 0 ||
		    server_need_lock(server, err) != 0 ||
		    drop_pair(server, k.filter, k.state, err) != 0 ||
		    pause_after(clock_ns() - began, err) != 0)
			return -1;
	}
	keys_of_set(server->set, "moving", NULL, moving);
	keys_of_set(server->set, "fed", NULL, fed);
	keys_of_set(server->set, "exposure", NULL, exposure);
	if (cluster_call(server->cluster, server->slot, 4, words, NULL, &reply,
			 err) != 0)
		return -1;
	return reply->type == REPLY_INTEGER
		       ? 0
		       : reply_refused(reply, err, "set '%s'", server->set);
}
