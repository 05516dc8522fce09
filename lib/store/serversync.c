/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "lib/store/server.h"

int server_keep_sync(const struct server *server, struct error *err)
{
	return server->sync != NULL ? lease_check(server->sync, err) : 0;
}

int serversync_lock(struct store *s, const char *command, struct error *err)
{
	struct server *server = (struct server *)s;

	if (server->sync != NULL)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': sync: locked twice", server->set);
	return lease_take(server, command, true, &server->sync, err);
}

void serversync_unlock(struct store *s)
{
	struct server *server = (struct server *)s;

	if (server->sync != NULL)
		lease_release(server->sync);
	server->sync = NULL;
}

/* --- the mark of sets that were fed --------------------------------------- */

int serversync_fed(struct store *s, int64_t *at, struct error *err)
{
	struct server *server = (struct server *)s;
	char key[KEYS_MAX];
	const char *const words[] = {"GET", key};
	const struct reply *reply;

	*at = 0;
	keys_of_set(server->set, "fed", NULL, key);
	if (server_ready(server, err) != 0 ||
	    cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type == REPLY_NIL)
		return 0;
	if (reply->type != REPLY_BULK)
		return reply_refused(reply, err, "set '%s': mark '%s'",
				     server->set, key);
	if (reply_integer(reply, at) == 0 && *at >= 0)
		return 0;
	(void)error_set(err, ERROR_DATA,
			"set '%s': mark '%s': no time in milliseconds",
			server->set, key);
	return error_hint(err, "find who changed it, and set it to when the "
			       "set was fed last, or later");
}

int serversync_set_fed(struct store *s, int64_t at, struct error *err)
{
	struct server *server = (struct server *)s;
	char key[KEYS_MAX];
	char text[SERVER_NUMBER_MAX];
	const char *const keys[] = {key, NULL};
	const char *const args[] = {
		server_number(at > 0 ? (uint64_t)at : 0, text), NULL};
	const struct reply *reply;

	keys_of_set(server->set, "fed", NULL, key);
	if (server_ready(server, err) != 0 ||
	    script_call(server->cluster, SCRIPT_FED, keys, args, "mark", &reply,
			err) != 0)
		return error_prefix(err, "set '%s'", server->set);
	return 0;
}

/* --- for whoever keeps recent-writes -------------------------------------- */

/* What is no record says nothing: the next run writes it anew. */
int serversync_exposure(struct store *s, struct exposure *out,
			struct error *err)
{
	struct server *server = (struct server *)s;
	char key[KEYS_MAX];
	const char *const words[] = {"GET", key};
	const struct reply *reply;

	memset(out, 0, sizeof(*out));
	keys_of_set(server->set, "exposure", NULL, key);
	if (server_ready(server, err) != 0 ||
	    cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type == REPLY_BULK)
		(void)exposure_parse(reply->u.text, reply->len, out);
	return reply->type == REPLY_BULK || reply->type == REPLY_NIL
		       ? 0
		       : reply_refused(reply, err, "set '%s': exposure",
				       server->set);
}

int serversync_set_exposure(struct store *s, const struct exposure *e,
			    struct error *err)
{
	struct server *server = (struct server *)s;
	char key[KEYS_MAX];
	char text[EXPOSURE_SIZE + 1];
	const char *const words[] = {"SET", key, text};
	const struct reply *reply;

	exposure_text(e, text);
	keys_of_set(server->set, "exposure", NULL, key);
	if (server_ready(server, err) != 0 ||
	    cluster_call(server->cluster, server->slot, 3, words, NULL, &reply,
			 err) != 0)
		return -1;
	return reply->type == REPLY_STATUS
		       ? 0
		       : reply_refused(reply, err, "set '%s': exposure",
				       server->set);
}
