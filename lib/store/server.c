/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/input.h"
#include "lib/store/serverintake.h"

const char *server_place(const struct server *server)
{
	return server->target.place;
}

const char *server_number(uint64_t n, char out[SERVER_NUMBER_MAX])
{
	(void)snprintf(out, SERVER_NUMBER_MAX, "%" PRIu64, n);
	return out;
}

int server_connect(const struct server *server, const struct cluster *like,
		   unsigned flags, struct cluster **out, struct error *err)
{
	return cluster_open(&server->target, flags, like, out, err);
}

int server_ready(struct server *server, struct error *err)
{
	unsigned flags = server->flags;
	int rc;

	if (server->cluster != NULL && !cluster_failed(server->cluster) &&
	    cluster_pending(server->cluster) == 0)
		return 0;
	if (server->tidying)
		flags |= CONN_TIDIES;
	rc = server->cluster != NULL
		     ? cluster_reopen(server->cluster, flags, err)
		     : server_connect(server, NULL, flags, &server->cluster,
				      err);
	if (rc == 0)
		server->flags |= CONN_KNOWN;
	return rc;
}

void server_tidy(struct server *server, bool tidying)
{
	server->tidying = tidying;
	input_set_patient(tidying);
	if (server->cluster != NULL)
		cluster_set_patient(server->cluster,
				    tidying ? CONN_TIDY_MS : 0);
}

int server_info(struct cluster *c, size_t node, const char *section,
		const struct reply **out, struct error *err)
{
	const char *const words[] = {"INFO", section};

	if (cluster_call_node(c, node, 2, words, out, err) != 0)
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
	if (lease_take(server, command, false, &server->lease, err) != 0)
		return -1;
	serverlook_forget(server);
	serverpass_forget(server);
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

static int locked_by(struct store *s, bool sync, char *out, size_t size,
		     struct error *err)
{
	struct server *server = (struct server *)s;
	const char *name = sync ? "sync-lock" : "lock";
	char key[KEYS_MAX];
	const char *const words[] = {"HGETALL", key};
	const struct reply *reply;

	out[0] = '\0';
	keys_of_set(server->set, name, NULL, key);
	if (server_ready(server, err) != 0 ||
	    cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	/* An unreadable lock is no permission. */
	if (reply->type != REPLY_ARRAY)
		return reply_refused(reply, err, "set '%s': %s", server->set,
				     name);
	if (reply->len > 0)
		lease_owner(reply, out, size);
	return 0;
}

/* --- open and close ------------------------------------------------------- */

static void server_close(struct store *s)
{
	struct server *server = (struct server *)s;

	serverpass_drop(s);
	serverpass_forget(server);
	serversync_unlock(s);
	unlock(s);
	serverbuild_free(server->build);
	serverlook_forget(server);
	cluster_close(server->cluster);
	redis_target_release(&server->target);
	free(server);
}

static const struct store_ops server_ops = {
	.facts = facts,
	.engine = serverengine_engine,
	.nodes = servernodes_nodes,
	.list = serverlist_list,
	.lock = lock,
	.unlock = unlock,
	.phase = phase,
	.held = held,
	.locked_by = locked_by,
	.fits = serverroom_fits,
	.reserve = serverbuild_reserve,
	.writer = serverwriter_open,
	.seal = serverseal_seal,
	.pass_begin = serverpass_begin,
	.pass_end = serverpass_end,
	.pass_drop = serverpass_drop,
	.sync_lock = serversync_lock,
	.sync_unlock = serversync_unlock,
	.fed = serversync_fed,
	.set_fed = serversync_set_fed,
	.exposure = serversync_exposure,
	.set_exposure = serversync_set_exposure,
	.put = server_put,
	.info = serverlook_info,
	.probe = serverprobe_probe,
	.promote = serverswap_promote,
	.survey = serveradopt_survey,
	.adopt = serveradopt_adopt,
	.disown = serveradopt_disown,
	.drop = serverdrop_drop,
	.retire = serverdrop_retire,
	.close = server_close,
};

/* What is said where nothing is said. */
static const struct redis_options no_options;

int server_open(const char *target, const struct bloomkey_spec *spec,
		const struct store_options *options, struct store **out,
		struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));
	char key[KEYS_MAX];

	*out = NULL;
	if (server == NULL)
		return error_nomem(err);
	server->base.ops = &server_ops;
	server->spec = spec;
	server->options = options;
	server->flags =
		options->create || options->writes ? CONN_WRITES : CONN_READS;
	names_set(spec, server->set);
	keys_of_set(server->set, "lock", NULL, key);
	server->slot = keys_slot(key);
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
