/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/redis/batch.h"
#include "lib/store/serverbuild.h"

/*
 * One worker's way into the shadows: BF.INSERT ... NOCREATE, so that a filter
 * that is gone is an error and not a new one of the server's own size.
 */
struct server_writer {
	struct writer base;
	struct server *server;
	struct cluster *cluster;
	struct batch *batch;
	uint64_t *sent;         /* items per bucket */
	uint64_t *acknowledged; /* answered for */
	uint64_t *added;        /* of them, those that set a bit */
	bool flushed;           /* nothing is under way */
};

static size_t shadow_key(void *ctx, uint32_t bucket, char out[1024])
{
	const struct server *server = ((struct server_writer *)ctx)->server;
	struct keys keys;
	size_t len;

	keys_of(server->spec, bucket, server->build->generation, &keys);
	len = strlen(keys.shadow);
	memcpy(out, keys.shadow, len + 1);
	return len;
}

static int full(const struct server_writer *w, uint32_t bucket, size_t taken,
		size_t of, struct error *err)
{
	const struct serverbuild *build = w->server->build;

	(void)error_set(err, ERROR_FULL,
			"it is full: bucket %" PRIu32 " with a capacity of "
			"%" PRIu64 " took %zu of %zu items, after %" PRIu64,
			bucket, build->params.capacity, taken, of,
			w->acknowledged[bucket]);
	(void)serverbuild_prefix(w->server, bucket, err);
	return error_hint(err, "give a larger --capacity or --keys, or "
			       "--capacity auto");
}

static bool says_full(const struct reply *reply)
{
	return reply_error_begins(reply, "ERR non scaling filter is full");
}

static int refused(const struct server_writer *w, uint32_t bucket,
		   const struct reply *reply, struct error *err)
{
	if (reply_error_begins(reply, "ERR not found"))
		return serverbuild_vanished(w->server, bucket, "it is", err);
	(void)reply_refused(reply, err, "takes no items");
	return serverbuild_prefix(w->server, bucket, err);
}

/* Every item must be answered for: a short array is a full filter. */
static int on_reply(void *ctx, uint32_t bucket, const struct batch_items *items,
		    const struct reply *reply, struct error *err)
{
	struct server_writer *w = ctx;
	size_t count = batch_items_count(items);
	uint64_t ones = 0;

	if (reply->type != REPLY_ARRAY)
		return says_full(reply) ? full(w, bucket, 0, count, err)
					: refused(w, bucket, reply, err);
	for (size_t i = 0; i < reply->len; i++) {
		const struct reply *item = &reply->u.items[i];

		if (item->type != REPLY_INTEGER || item->u.integer < 0 ||
		    item->u.integer > 1)
			return says_full(item) ? full(w, bucket, i, count, err)
					       : refused(w, bucket, item, err);
		ones += (uint64_t)item->u.integer;
	}
	if (reply->len != count)
		return full(w, bucket, reply->len, count, err);
	w->acknowledged[bucket] += count;
	w->added[bucket] += ones;
	return 0;
}

static int writer_add(struct writer *base, uint32_t bucket, const void *key,
		      size_t len, struct error *err)
{
	struct server_writer *w = (struct server_writer *)base;

	w->flushed = false;
	w->sent[bucket]++;
	return batch_add(w->batch, bucket, key, len, err);
}

static int writer_flush(struct writer *base, struct error *err)
{
	struct server_writer *w = (struct server_writer *)base;
	uint32_t n = bloomkey_buckets(w->server->spec);

	if (batch_flush(w->batch, err) != 0)
		return -1;
	for (uint32_t b = 0; b < n; b++)
		if (w->sent[b] != w->acknowledged[b])
			return error_set(err, ERROR_INTERNAL,
					 "bucket %" PRIu32 ": %" PRIu64
					 " items were sent and %" PRIu64
					 " were answered for",
					 b, w->sent[b], w->acknowledged[b]);
	w->flushed = true;
	return server_need_all(w->server, err);
}

static void merge(const struct server_writer *w)
{
	struct serverbuild *build = w->server->build;

	(void)pthread_mutex_lock(&build->merge);
	build->writers--;
	build->lost = build->lost || !w->flushed;
	build->unsure = build->unsure || cluster_resent(w->cluster) > 0;
	for (uint32_t b = 0; b < bloomkey_buckets(w->server->spec); b++) {
		build->acknowledged[b] += w->acknowledged[b];
		build->added[b] += w->added[b];
	}
	(void)pthread_mutex_unlock(&build->merge);
}

static void writer_release(struct server_writer *w)
{
	cluster_close(w->cluster);
	batch_free(w->batch);
	free(w->sent);
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
	return cluster_pin(w->cluster, &server->build->pins, err);
}

int serverbuild_writer(struct store *s, struct writer **out, struct error *err)
{
	struct server *server = (struct server *)s;
	struct server_writer *w = calloc(1, sizeof(*w));
	uint32_t n = bloomkey_buckets(server->spec);
	const struct batch_options options = {
		.buckets = n,
		.memory = server->build->memory,
		.before = "BF.INSERT",
		.behind = {"NOCREATE", "ITEMS", NULL},
		.key = shadow_key,
		.reply = on_reply,
		.ctx = w,
	};

	if (w == NULL)
		return error_nomem(err);
	w->base.ops = &server_writer_ops;
	w->server = server;
	w->flushed = true;
	w->sent = calloc(n, sizeof(*w->sent));
	w->acknowledged = calloc(n, sizeof(*w->acknowledged));
	w->added = calloc(n, sizeof(*w->added));
	if (w->sent == NULL || w->acknowledged == NULL || w->added == NULL) {
		(void)error_nomem(err);
		goto fail;
	}
	if (connect_writer(w, err) != 0 ||
	    batch_new(w->cluster, &options, &w->batch, err) != 0)
		goto fail;
	(void)pthread_mutex_lock(&server->build->merge);
	server->build->writers++;
	(void)pthread_mutex_unlock(&server->build->merge);
	*out = &w->base;
	return 0;
fail:
	writer_release(w);
	return -1;
}
