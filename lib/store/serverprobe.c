/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/redis/batch.h"
#include "lib/store/serverlook.h"

/* The question batches of one probe, in bytes. */
#define ARENA ((size_t)4 << 20)

/* Where the filter of a bucket is. */
enum where { WHERE_UNKNOWN, WHERE_LIVE, WHERE_SHADOW };

/*
 * BF.MEXISTS with the sentinel before the keys: a missing filter answers 0 to
 * everything, and so does one that was made anew.
 */
struct server_probe {
	struct probe base;
	const struct server *server;
	char generation[NAMES_ID_MAX];
	probe_fn *fn;
	void *ctx;
	struct cluster *cluster;
	struct batch *batch;
	struct serverlook *look;
	unsigned char *where; /* enum where, per bucket */
	bool sentinel;        /* each command begins with it */
	bool sealed;          /* filters must be whole */
};

static const char *filter_of(const struct server_probe *p, uint32_t bucket,
			     struct keys *k)
{
	keys_of(p->server->spec, bucket, p->generation, k);
	return p->where[bucket] == WHERE_SHADOW ? k->shadow : k->filter;
}

static size_t probe_key(void *ctx, uint32_t bucket, char out[1024])
{
	const struct server_probe *p = ctx;
	struct keys k;
	const char *name;

	/* Before anything is known, the longest there may be. */
	keys_of(p->server->spec, bucket, p->generation, &k);
	name = p->where[bucket] == WHERE_LIVE ? k.filter : k.shadow;
	memcpy(out, name, strlen(name) + 1);
	return strlen(name);
}

static int no_sentinel(const struct server_probe *p, uint32_t bucket,
		       struct error *err)
{
	struct keys k;

	(void)error_set(err, ERROR_DATA,
			"filter '%s': the sentinel is not in it: it is "
			"missing, or of another keyspec",
			filter_of(p, bucket, &k));
	return error_hint(err, "its answers mean nothing; see what bloomctl "
			       "inspect shows");
}

static int on_reply(void *ctx, uint32_t bucket, const struct batch_items *items,
		    const struct reply *reply, struct error *err)
{
	struct server_probe *p = ctx;
	const struct reply *found = reply->u.items;
	const void *key;
	size_t at = 0;
	size_t len;
	struct keys k;

	if (reply->type != REPLY_ARRAY ||
	    reply->len != batch_items_count(items))
		return reply_refused(reply, err, "filter '%s': BF.MEXISTS",
				     filter_of(p, bucket, &k));
	for (size_t i = 0; i < reply->len; i++) {
		key = batch_items_next(items, &at, &len);
		if (found[i].type != REPLY_INTEGER || key == NULL)
			return reply_refused(&found[i], err,
					     "filter '%s': BF.MEXISTS",
					     filter_of(p, bucket, &k));
		if (i > 0 || !p->sentinel)
			p->fn(p->ctx, bucket, key, len,
			      found[i].u.integer == 1);
		else if (found[i].u.integer != 1)
			return no_sentinel(p, bucket, err);
	}
	return 0;
}

/*
 * Where the filter of a bucket and of those around it is.  Buckets are asked in
 * any order: so that none is looked at time and again for being behind another
 * one, it is begun with those in front that are not known yet either, as far as
 * a look certainly goes.
 */
static int locate(struct server_probe *p, uint32_t bucket, struct error *err)
{
	const struct seen *seen;
	uint32_t first = bucket;

	while (first > 0 && p->where[first - 1] == WHERE_UNKNOWN &&
	       bucket - first + 1 < p->look->ahead)
		first--;
	seen = serverlook_at(p->look, p->server, p->cluster, p->generation,
			     first, err);
	if (seen != NULL)
		seen = serverlook_at(p->look, p->server, p->cluster,
				     p->generation, bucket, err);
	if (seen == NULL || serverlook_check(seen, p->server, p->generation,
					     bucket, p->sealed, err) != 0)
		return -1;
	for (uint32_t i = 0; i < p->look->count; i++)
		if (p->look->seen[i].own &&
		    (p->look->seen[i].sealed || !p->sealed))
			p->where[p->look->first + i] = p->look->seen[i].live
							       ? WHERE_LIVE
							       : WHERE_SHADOW;
	return 0;
}

/*
 * Whether filters that were asked are where they were: a swap that came in
 * between has put those of another generation in their places.
 */
static int has_moved(struct server_probe *p, struct cluster *c, bool *moved,
		     struct error *err)
{
	uint32_t n = bloomkey_buckets(p->server->spec);

	memset(p->look, 0, sizeof(*p->look));
	*moved = false;
	for (uint32_t b = 0; b < n && !*moved; b++) {
		const struct seen *seen;

		if (p->where[b] == WHERE_UNKNOWN)
			continue;
		seen = serverlook_at(p->look, p->server, c, p->generation, b,
				     err);
		if (seen == NULL)
			return -1;
		*moved = seen->live != (p->where[b] == WHERE_LIVE);
	}
	return 0;
}

/*
 * What a probe is to end with, when it has ended with rc.  While the lock is
 * held nothing moves but by us.
 */
static int judge(struct server_probe *p, int rc, struct error *err)
{
	struct error why = ERROR_INIT;
	struct cluster *c = NULL;
	bool moved = false;

	if (p->server->lease != NULL || (rc != 0 && err->code != ERROR_DATA))
		return rc;
	/* After an error there is no other way to ask. */
	if (server_connect(p->server, p->server->cluster,
			   CONN_READS | CONN_KNOWN, &c, &why) == 0 &&
	    has_moved(p, c, &moved, &why) != 0)
		moved = false;
	cluster_close(c);
	if (rc == 0 && why.code != ERROR_NONE) {
		*err = why;
		return -1;
	}
	if (!moved)
		return rc;
	(void)error_set(err, ERROR_TEMPORARY,
			"generation '%s': a swap moved its filters while they "
			"were asked",
			p->generation);
	return error_hint(err, "run it again");
}

static int probe_ask(struct probe *base, uint32_t bucket, const void *key,
		     size_t len, struct error *err)
{
	struct server_probe *p = (struct server_probe *)base;

	if (bucket >= bloomkey_buckets(p->server->spec))
		return error_set(err, ERROR_INTERNAL, "bucket %" PRIu32,
				 bucket);
	if ((p->where[bucket] == WHERE_UNKNOWN &&
	     locate(p, bucket, err) != 0) ||
	    batch_add(p->batch, bucket, key, len, err) != 0)
		return judge(p, -1, err);
	return 0;
}

static int probe_flush(struct probe *base, struct error *err)
{
	struct server_probe *p = (struct server_probe *)base;

	return judge(p, batch_flush(p->batch, err), err);
}

static void probe_close(struct probe *base)
{
	struct server_probe *p = (struct server_probe *)base;

	cluster_close(p->cluster);
	batch_free(p->batch);
	free(p->look);
	free(p->where);
	free(p);
}

static const struct probe_ops server_probe_ops = {
	.ask = probe_ask,
	.flush = probe_flush,
	.close = probe_close,
};

int serverprobe_probe(struct store *s, const struct manifest *m, probe_fn *fn,
		      void *ctx, struct probe **out, struct error *err)
{
	struct server *server = (struct server *)s;
	uint32_t n = bloomkey_buckets(server->spec);
	struct server_probe *p = calloc(1, sizeof(*p));
	struct batch_options options = {
		.buckets = n,
		.memory = ARENA,
		.before = "BF.MEXISTS",
		.behind = {NULL},
		.key = probe_key,
		.reply = on_reply,
		.ctx = p,
	};

	if (p == NULL)
		return error_nomem(err);
	options.first_len = bloomkey_sentinel(server->spec, &options.first);
	p->base.ops = &server_probe_ops;
	p->server = server;
	memcpy(p->generation, m->generation, sizeof(p->generation));
	p->fn = fn;
	p->ctx = ctx;
	p->sentinel = options.first_len > 0;
	p->sealed = m->state != MANIFEST_BUILDING; /* as one being adopted */
	p->look = calloc(1, sizeof(*p->look));
	p->where = calloc(n, sizeof(*p->where));
	if (p->look == NULL || p->where == NULL) {
		(void)error_nomem(err);
		goto fail;
	}
	if (server_connect(server, server->cluster, CONN_READS | CONN_KNOWN,
			   &p->cluster, err) != 0 ||
	    batch_new(p->cluster, &options, &p->batch, err) != 0)
		goto fail;
	*out = &p->base;
	return 0;
fail:
	probe_close(&p->base);
	return -1;
}
