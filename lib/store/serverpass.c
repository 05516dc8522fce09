/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/serverpass.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The horizons that promote() wants of a generation's filters. */
struct serverpromise {
	char generation[NAMES_ID_MAX];
	struct horizon horizons[]; /* per bucket; none: any will do */
};

struct intake *serverpass_intake(struct serverpass *pass)
{
	return &pass->intake;
}

void serverpass_fail(struct serverpass *pass, uint32_t bucket,
		     const struct error *why)
{
	(void)pthread_mutex_lock(&pass->intake.merge);
	pass->noted[bucket].failed = true;
	if (pass->why.code == ERROR_NONE)
		pass->why = *why;
	(void)pthread_mutex_unlock(&pass->intake.merge);
}

/* --- filters that do not take all ----------------------------------------- */

static void say_full(struct serverpass *pass, uint32_t bucket,
		     const struct intake_refusal *refusal, struct error *why)
{
	(void)error_set(why, ERROR_FULL,
			"it is full: bucket %" PRIu32 " with a capacity of "
			"%" PRIu64 " took %" PRIu64 " of %" PRIu64 " items",
			bucket, pass->noted[bucket].capacity, refusal->taken,
			refusal->of);
	(void)error_hint(why, "build a generation with a larger --capacity, "
			      "and swap it in");
	(void)pthread_mutex_lock(&pass->intake.merge);
	if (pass->noted[bucket].items < pass->noted[bucket].capacity)
		pass->noted[bucket].items = pass->noted[bucket].capacity;
	(void)pthread_mutex_unlock(&pass->intake.merge);
}

/* The others take what is theirs all the same. */
static int refuse(struct server *server, uint32_t bucket,
		  const struct intake_refusal *refusal, struct error *err)
{
	struct serverpass *pass = server->pass;
	struct error why = ERROR_INIT;
	struct keys k;

	if (refusal->reply == NULL) {
		say_full(pass, bucket, refusal, &why);
	} else if (reply_error_begins(refusal->reply, "ERR not found")) {
		(void)error_set(&why, ERROR_DATA,
				"missing: evicted, expired or deleted");
		(void)error_hint(&why, "its readers must pass through; build "
				       "and swap a new generation");
	} else {
		(void)reply_refused(refusal->reply, &why, "takes no items");
	}
	keys_of(server->spec, bucket, pass->intake.generation, &k);
	(void)error_prefix(&why, "filter '%s'", intake_name(&pass->intake, &k));
	serverpass_fail(pass, bucket, &why);
	/* What the user or the server may not, it may not of any. */
	if (why.code != ERROR_RIGHTS && why.code != ERROR_ENGINE)
		return 0;
	*err = why;
	return -1;
}

/* --- what promote() wants ------------------------------------------------- */

/* Of the passes into one generation under one lock. */
static int promise_new(struct server *server, const struct manifest *m,
		       struct error *err)
{
	size_t size;

	if (server->promise != NULL &&
	    strcmp(server->promise->generation, m->generation) == 0)
		return 0;
	serverpass_forget(server);
	if (__builtin_mul_overflow(sizeof(struct horizon), (size_t)m->buckets,
				   &size) ||
	    __builtin_add_overflow(size, sizeof(*server->promise), &size))
		return error_nomem(err);
	server->promise = calloc(1, size);
	if (server->promise == NULL)
		return error_nomem(err);
	memcpy(server->promise->generation, m->generation,
	       sizeof(server->promise->generation));
	return 0;
}

void serverpass_promise(struct server *server, uint32_t bucket,
			const struct horizon *horizon)
{
	const struct serverpass *pass = server->pass;

	if (server->promise != NULL && !pass->intake.live)
		server->promise->horizons[bucket] = *horizon;
}

const char *serverpass_promised(const struct server *server,
				const char *generation, uint32_t bucket,
				char out[HORIZON_TEXT_MAX])
{
	const struct serverpromise *p = server->promise;

	if (p == NULL || strcmp(p->generation, generation) != 0 ||
	    horizon_none(&p->horizons[bucket]))
		return "*";
	return horizon_text(&p->horizons[bucket], out);
}

void serverpass_forget(struct server *server)
{
	free(server->promise);
	server->promise = NULL;
}

/* --- begin and end -------------------------------------------------------- */

static void pass_free(struct serverpass *pass)
{
	if (pass == NULL)
		return;
	intake_release(&pass->intake);
	cluster_close(pass->own);
	free(pass->noted);
	free(pass->closed);
	free(pass);
}

void serverpass_drop(struct store *s)
{
	struct server *server = (struct server *)s;

	pass_free(server->pass);
	server->pass = NULL;
}

static bool knows_all(const struct cluster_pins *pins)
{
	for (size_t i = 0; i < pins->count; i++)
		if (pins->run_ids[i][0] == '\0')
			return false;
	return true;
}

/*
 * A process that does not say who it is is told from another one only by its
 * connection: what is noted and ended goes over ones that are never made anew.
 */
static int connect_own(struct serverpass *pass, struct error *err)
{
	struct server *server = pass->server;

	if (server_connect(server, server->cluster, CONN_WRITES | CONN_KNOWN,
			   &pass->own, err) != 0 ||
	    cluster_connect(pass->own, err) != 0 ||
	    cluster_pin(pass->own, &pass->intake.pins, err) != 0)
		return -1;
	pass->cluster = pass->own;
	return 0;
}

static int note(struct serverpass *pass, unsigned workers, struct error *err)
{
	struct server *server = pass->server;

	if (server_ready(server, err) != 0)
		return -1;
	pass->cluster = server->cluster;
	/*
	 * States first, servers behind them: a state that an earlier process
	 * had is that of its successor, too, or the end will tell.
	 */
	if (serverpassnote_all(pass, err) != 0 ||
	    intake_open(&pass->intake, server, server->cluster, workers, err) !=
		    0)
		return -1;
	if (knows_all(&pass->intake.pins))
		return 0;
	if (connect_own(pass, err) != 0 || serverpassnote_all(pass, err) != 0)
		return -1;
	for (uint32_t b = 0; b < pass->buckets; b++) {
		struct keys k;

		keys_of(server->spec, b, NULL, &k);
		pass->noted[b].node = cluster_owner(pass->own, k.slot);
	}
	return 0;
}

/* Of those that are added to: the others gain nothing by an older one. */
static void find_oldest(const struct serverpass *pass, struct horizon *oldest)
{
	bool first = true;

	for (uint32_t b = 0; b < pass->buckets; b++) {
		struct horizon one;

		if (pass->closed[b])
			continue;
		(void)horizon_parse(pass->noted[b].horizon, &one);
		if (first)
			*oldest = one;
		else
			horizon_oldest(oldest, &one);
		first = false;
	}
}

static struct serverpass *pass_new(struct server *server,
				   const struct manifest *m, bool live)
{
	struct serverpass *pass = calloc(1, sizeof(*pass));

	if (pass == NULL)
		return NULL;
	intake_init(&pass->intake);
	pass->server = server;
	pass->buckets = m->buckets;
	pass->intake.live = live;
	pass->intake.refuse = refuse;
	memcpy(pass->intake.generation, m->generation,
	       sizeof(pass->intake.generation));
	pass->noted = calloc(m->buckets, sizeof(*pass->noted));
	pass->closed = calloc(m->buckets, sizeof(*pass->closed));
	pass->intake.closed = pass->closed;
	return pass;
}

int serverpass_begin(struct store *s, const struct manifest *m, bool live,
		     unsigned workers, struct horizon *oldest,
		     struct error *err)
{
	struct server *server = (struct server *)s;
	struct serverpass *pass;

	memset(oldest, 0, sizeof(*oldest));
	if (server->pass != NULL)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': a pass within a pass", server->set);
	if (!live && server_need_lock(server, err) != 0)
		return -1;
	serverlook_forget(server);
	pass = pass_new(server, m, live);
	if (pass == NULL)
		return error_nomem(err);
	server->pass = pass;
	if (pass->noted == NULL || pass->closed == NULL) {
		serverpass_drop(s);
		return error_nomem(err);
	}
	if (note(pass, workers, err) != 0 ||
	    (!live && promise_new(server, m, err) != 0)) {
		serverpass_drop(s);
		return -1;
	}
	find_oldest(pass, oldest);
	return 0;
}

int serverpass_end(struct store *s, const struct horizon *to,
		   const uint64_t *keys, struct pass_report *out,
		   struct error *err)
{
	struct server *server = (struct server *)s;
	struct serverpass *pass = server->pass;
	int rc;

	memset(out, 0, sizeof(*out));
	if (pass == NULL)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': a pass ended that had not begun",
				 server->set);
	serverlook_forget(server);
	rc = pass->intake.live ? server_keep_sync(server, err)
			       : server_need_lock(server, err);
	if (rc == 0 && pass->own == NULL)
		rc = server_ready(server, err);
	if (rc == 0) {
		/* server_ready() may have made another one. */
		pass->cluster = pass->own != NULL ? pass->own : server->cluster;
		rc = serverpassend_all(pass, to, keys, out, err);
	}
	serverpass_drop(s);
	return rc;
}
