/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/redis/batch.h"
#include "lib/store/serverbuild.h"
#include "lib/store/serverpass.h"

/*
 * One worker's way into filters: BF.INSERT ... NOCREATE, so that a filter
 * that is gone is an error and not a new one of the server's own size.
 */
struct server_writer {
	struct writer base;
	struct server *server;
	struct intake *intake;
	struct cluster *cluster;
	struct batch *batch;
	uint64_t sent;          /* items */
	uint64_t answered;      /* for, well or not */
	uint64_t *acknowledged; /* items per bucket that were taken */
	uint64_t *added;        /* of them, those that set a bit */
	bool flushed;           /* nothing is under way */
};

static size_t filter_key(void *ctx, uint32_t bucket, char out[1024])
{
	const struct server_writer *w = ctx;
	struct keys keys;
	const char *name;
	size_t len;

	keys_of(w->server->spec, bucket, w->intake->generation, &keys);
	name = intake_name(w->intake, &keys);
	len = strlen(name);
	memcpy(out, name, len + 1);
	return len;
}

static bool says_full(const struct reply *reply)
{
	return reply_error_begins(reply, "ERR non scaling filter is full");
}

static int refused(struct server_writer *w, uint32_t bucket,
		   const struct reply *reply, uint64_t taken, uint64_t of,
		   struct error *err)
{
	const struct intake_refusal refusal = {
		.reply = reply == NULL || says_full(reply) ? NULL : reply,
		.taken = taken,
		.of = of,
		.before = w->acknowledged[bucket]};

	return w->intake->refuse(w->server, bucket, &refusal, err);
}

/* Every item must be answered for: a short array is a full filter. */
static int on_reply(void *ctx, uint32_t bucket, const struct batch_items *items,
		    const struct reply *reply, struct error *err)
{
	struct server_writer *w = ctx;
	size_t count = batch_items_count(items);
	uint64_t ones = 0;

	w->answered += count;
	if (reply->type != REPLY_ARRAY)
		return refused(w, bucket, reply, 0, count, err);
	for (size_t i = 0; i < reply->len; i++) {
		const struct reply *item = &reply->u.items[i];

		if (item->type != REPLY_INTEGER || item->u.integer < 0 ||
		    item->u.integer > 1)
			return refused(w, bucket, item, i, count, err);
		ones += (uint64_t)item->u.integer;
	}
	if (reply->len != count)
		return refused(w, bucket, NULL, reply->len, count, err);
	w->acknowledged[bucket] += count;
	w->added[bucket] += ones;
	return 0;
}

static int writer_add(struct writer *base, uint32_t bucket, const void *key,
		      size_t len, struct error *err)
{
	struct server_writer *w = (struct server_writer *)base;

	if (w->intake->closed != NULL && w->intake->closed[bucket])
		return 0;
	w->flushed = false;
	w->sent++;
	return batch_add(w->batch, bucket, key, len, err);
}

/* Whoever adds to what is live needs no lock, but should keep one he has. */
static int still_ours(const struct server_writer *w, struct error *err)
{
	return w->intake->live ? server_keep_sync(w->server, err)
			       : server_need_all(w->server, err);
}

static int writer_flush(struct writer *base, struct error *err)
{
	struct server_writer *w = (struct server_writer *)base;

	if (batch_flush(w->batch, err) != 0)
		return -1;
	if (w->sent != w->answered)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': %" PRIu64 " items were sent and "
				 "%" PRIu64 " were answered for",
				 w->server->set, w->sent, w->answered);
	w->flushed = true;
	return still_ours(w, err);
}

static void merge(const struct server_writer *w)
{
	struct intake *to = w->intake;

	(void)pthread_mutex_lock(&to->merge);
	to->writers--;
	to->lost = to->lost || !w->flushed;
	to->unsure = to->unsure || cluster_resent(w->cluster) > 0;
	for (uint32_t b = 0; b < bloomkey_buckets(w->server->spec); b++) {
		to->acknowledged[b] += w->acknowledged[b];
		to->added[b] += w->added[b];
	}
	(void)pthread_mutex_unlock(&to->merge);
}

static void writer_release(struct server_writer *w)
{
	cluster_close(w->cluster);
	batch_free(w->batch);
	free(w->acknowledged);
	free(w->added);
	free(w);
}

static void writer_close(struct writer *base)
{
	struct server_writer *w = (struct server_writer *)base;

	merge(w);
	writer_release(w);
}

static const struct writer_ops server_writer_ops = {
	.add = writer_add,
	.flush = writer_flush,
	.close = writer_close,
};

/* To the processes that were there, and to no other from now on. */
static int connect_writer(struct server_writer *w, struct error *err)
{
	const struct server *server = w->server;

	if (server_connect(server, server->cluster, CONN_WRITES | CONN_KNOWN,
			   &w->cluster, err) != 0)
		return -1;
	return cluster_pin(w->cluster, &w->intake->pins, err);
}

int serverwriter_open(struct store *s, struct writer **out, struct error *err)
{
	struct server *server = (struct server *)s;
	struct server_writer *w = calloc(1, sizeof(*w));
	struct intake *intake = server->pass != NULL
					? serverpass_intake(server->pass)
					: &server->build->intake;
	uint32_t n = bloomkey_buckets(server->spec);
	const struct batch_options options = {
		.buckets = n,
		.memory = intake->memory,
		.before = "BF.INSERT",
		.behind = {"NOCREATE", "ITEMS", NULL},
		.key = filter_key,
		.reply = on_reply,
		.ctx = w,
	};

	if (w == NULL)
		return error_nomem(err);
	w->base.ops = &server_writer_ops;
	w->server = server;
	w->intake = intake;
	w->flushed = true;
	w->acknowledged = calloc(n, sizeof(*w->acknowledged));
	w->added = calloc(n, sizeof(*w->added));
	if (w->acknowledged == NULL || w->added == NULL) {
		(void)error_nomem(err);
		goto fail;
	}
	if (connect_writer(w, err) != 0 ||
	    batch_new(w->cluster, &options, &w->batch, err) != 0)
		goto fail;
	(void)pthread_mutex_lock(&intake->merge);
	intake->writers++;
	(void)pthread_mutex_unlock(&intake->merge);
	*out = &w->base;
	return 0;
fail:
	writer_release(w);
	return -1;
}
