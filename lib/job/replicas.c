/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/replicas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/input.h"
#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/redis/cluster.h"
#include "lib/store/keys.h"

/* Keys of one command; in front of them stand its name, the filter's, and the
 * sentinel. */
#define BATCH 500
#define FRONT 3

/* Where a replica is, and whose it is. */
struct place {
	char host[SLOTS_HOST_MAX];
	uint16_t port;
	size_t node; /* of its primary */
};

struct work {
	const struct replicas_question *q;
	struct redis_target target;
	struct cluster *cluster;
	struct place *places; /* one for each replica */
	struct replicas *out;
	bool *found; /* of each key, by the replica that is asked */
	const char *words[FRONT + BATCH];
	size_t lens[FRONT + BATCH];
	size_t at[BATCH]; /* which keys these are */
};

static bool text_u64(const struct reply *reply, uint64_t *out)
{
	int64_t n;

	if (reply_integer(reply, &n) != 0 || n < 0)
		return false;
	*out = (uint64_t)n;
	return true;
}

/* [host, port, offset] of a replica of a node that has that offset. */
static int add_replica(struct work *w, size_t node, uint64_t offset,
		       const struct reply *r, struct error *err)
{
	struct replicas *out = w->out;
	struct replica *all;
	struct place *places;
	struct place p = {.node = node};
	uint64_t port, has;

	if (r->type != REPLY_ARRAY || r->len < 3 ||
	    r->u.items[0].type != REPLY_BULK || r->u.items[0].len == 0 ||
	    r->u.items[0].len >= sizeof(p.host) ||
	    !text_u64(&r->u.items[1], &port) || port == 0 || port > 65535 ||
	    !text_u64(&r->u.items[2], &has))
		return error_set(err, ERROR_DATA,
				 "%s: ROLE: a replica that cannot be",
				 cluster_place(w->cluster, node));
	memcpy(p.host, r->u.items[0].u.text, r->u.items[0].len);
	p.port = (uint16_t)port;
	all = realloc(out->all, (out->count + 1) * sizeof(*all));
	if (all == NULL)
		return error_nomem(err);
	out->all = all;
	places = realloc(w->places, (out->count + 1) * sizeof(*places));
	if (places == NULL)
		return error_nomem(err);
	w->places = places;
	places[out->count] = p;
	all += out->count++;
	memset(all, 0, sizeof(*all));
	(void)snprintf(all->name, sizeof(all->name), "%s://%s%s%s:%u",
		       w->target.tls.on ? "rediss" : "redis",
		       strchr(p.host, ':') != NULL ? "[" : "", p.host,
		       strchr(p.host, ':') != NULL ? "]" : "",
		       (unsigned)p.port);
	(void)snprintf(all->primary, sizeof(all->primary), "%s",
		       cluster_place(w->cluster, node));
	all->behind = offset > has ? offset - has : 0;
	return 0;
}

static int find_replicas(struct work *w, size_t node, struct error *err)
{
	static const char *const words[] = {"ROLE"};
	const struct reply *role;
	uint64_t offset;

	if (cluster_call_node(w->cluster, node, 1, words, &role, err) != 0)
		return -1;
	if (role->type != REPLY_ARRAY || role->len == 0)
		return reply_refused(role, err, "%s: ROLE",
				     cluster_place(w->cluster, node));
	/* One that is a replica itself names none. */
	if (!reply_is(&role->u.items[0], "master"))
		return 0;
	if (role->len < 3 || !text_u64(&role->u.items[1], &offset) ||
	    role->u.items[2].type != REPLY_ARRAY)
		return reply_refused(role, err, "%s: ROLE",
				     cluster_place(w->cluster, node));
	for (size_t i = 0; i < role->u.items[2].len; i++)
		if (add_replica(w, node, offset, &role->u.items[2].u.items[i],
				err) != 0)
			return -1;
	return 0;
}

/*
 * Asks for the keys that the words hold.  A node of a cluster answers for a
 * replica only behind READONLY, which a new connection has forgotten.
 */
static int ask_batch(struct work *w, struct conn *conn, size_t front, size_t n,
		     struct error *err)
{
	static const char *const readonly[] = {"READONLY"};
	const struct reply *reply;
	bool whole;

	if (cluster_is(w->cluster)) {
		if (conn_call(conn, 1, readonly, NULL, &reply, err) != 0)
			return -1;
		if (!reply_is(reply, "OK"))
			return reply_refused(reply, err, "READONLY");
	}
	if (conn_call(conn, (int)(front + n), w->words, w->lens, &reply, err) !=
	    0)
		return -1;
	if (reply->type != REPLY_ARRAY || reply->len + 2 != front + n)
		return reply_refused(reply, err, "BF.MEXISTS");
	/* Without its sentinel a filter answers for nothing. */
	whole = front == 2 || reply->u.items[0].u.integer == 1;
	for (size_t i = 0; i < n; i++) {
		const struct reply *one = &reply->u.items[front - 2 + i];

		if (one->type != REPLY_INTEGER)
			return reply_refused(one, err, "BF.MEXISTS");
		w->found[w->at[i]] = whole && one->u.integer == 1;
	}
	return 0;
}

/* Asks for keys of one bucket, from that one on; *next is behind them. */
static int ask_bucket(struct work *w, struct conn *conn, size_t node,
		      size_t from, size_t *next, struct replica *r,
		      struct error *err)
{
	const struct replicas_question *q = w->q;
	uint32_t bucket = q->keys[from].key.bucket;
	size_t front = FRONT - 1;
	const void *sentinel;
	size_t n = 0;
	struct keys k;

	keys_of(q->spec, bucket, q->m->generation, &k);
	w->words[0] = "BF.MEXISTS";
	w->words[1] = q->m->state == MANIFEST_LIVE ? k.filter : k.shadow;
	w->lens[0] = strlen(w->words[0]);
	w->lens[1] = strlen(w->words[1]);
	w->lens[2] = bloomkey_sentinel(q->spec, &sentinel);
	w->words[2] = sentinel;
	front += w->lens[2] > 0;
	for (*next = from; *next < q->count && n < BATCH; (*next)++) {
		const struct missed_key *key = &q->keys[*next].key;

		if (key->bucket != bucket)
			break;
		if (w->found[*next])
			continue;
		w->at[n] = *next;
		w->words[front + n] = (const char *)key->key;
		w->lens[front + n] = key->len;
		n++;
	}
	if (n == 0 || cluster_owner(w->cluster, k.slot) != node)
		return 0;
	if (stop_check(err) != 0 || ask_batch(w, conn, front, n, err) != 0)
		return -1;
	r->asked += n;
	for (size_t i = 0; i < n; i++)
		r->missing += !w->found[w->at[i]];
	return 0;
}

static int ask_all(struct work *w, struct conn *conn, size_t node,
		   struct replica *r, struct error *err)
{
	size_t next;

	r->missing = 0;
	for (size_t i = 0; i < w->q->count; i = next)
		if (ask_bucket(w, conn, node, i, &next, r, err) != 0)
			return -1;
	return 0;
}

static int ask_replica(struct work *w, size_t i, struct error *err)
{
	struct replica *r = &w->out->all[i];
	struct redis_target target = w->target;
	struct conn *conn;
	uint64_t asked;
	int rc;

	target.address = (struct net_address){.host = w->places[i].host,
					      .port = w->places[i].port};
	target.place = r->name;
	if (cluster_is(w->cluster))
		target.db = 0;
	memset(w->found, 0, w->q->count * sizeof(*w->found));
	if (conn_open(&target, CONN_READS, &conn, err) != 0)
		return error_prefix(err, "replica");
	rc = ask_all(w, conn, w->places[i].node, r, err);
	asked = r->asked;
	if (rc == 0 && r->missing > 0) {
		rc = w->q->grace_ms > 0 &&
				     input_wait_for(-1, 0, (int)w->q->grace_ms,
						    err) < 0
			     ? -1
			     : ask_all(w, conn, w->places[i].node, r, err);
		r->asked = asked;
	}
	conn_close(conn);
	return rc == 0 ? 0 : error_prefix(err, "replica %s", r->name);
}

static int by_bucket(const void *a, const void *b)
{
	const struct drawn *x = a;
	const struct drawn *y = b;

	return x->key.bucket < y->key.bucket ? -1
					     : x->key.bucket > y->key.bucket;
}

/* The first that lacks something. */
static int judge(const struct replicas *all, struct error *err)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct replica *r = &all->all[i];

		if (r->missing == 0)
			continue;
		(void)error_set(err, ERROR_VERIFY,
				"replica %s: %" PRIu64 " of %" PRIu64
				" keys that its primary has are missing; it "
				"was %" PRIu64 " bytes behind",
				r->name, r->missing, r->asked, r->behind);
		return error_hint(err, "readers that ask it are told no; have "
				       "them ask the primary until it has come "
				       "up to it");
	}
	return 0;
}

static int run(struct work *w, struct error *err)
{
	int rc;

	if (redis_target_parse(w->q->server, w->q->options, &w->target, err) !=
		    0 ||
	    cluster_open(&w->target, CONN_READS, NULL, &w->cluster, err) != 0 ||
	    cluster_connect(w->cluster, err) != 0)
		return -1;
	for (size_t i = 0; i < cluster_nodes(w->cluster); i++)
		if (cluster_serves(w->cluster, i) &&
		    find_replicas(w, i, err) != 0)
			return -1;
	if (w->out->count == 0 || w->q->count == 0)
		return 0;
	qsort(w->q->keys, w->q->count, sizeof(*w->q->keys), by_bucket);
	w->found = calloc(w->q->count, sizeof(*w->found));
	rc = w->found == NULL ? error_nomem(err) : 0;
	for (size_t i = 0; rc == 0 && i < w->out->count; i++)
		rc = ask_replica(w, i, err);
	return rc == 0 ? judge(w->out, err) : -1;
}

int replicas_run(const struct replicas_question *question, struct replicas *out,
		 struct error *err)
{
	struct work *w = calloc(1, sizeof(*w));
	int rc;

	memset(out, 0, sizeof(*out));
	if (w == NULL)
		return error_nomem(err);
	w->q = question;
	w->out = out;
	rc = run(w, err);
	cluster_close(w->cluster);
	redis_target_release(&w->target);
	free(w->places);
	free(w->found);
	free(w);
	return rc;
}

void replicas_release(struct replicas *replicas)
{
	free(replicas->all);
	memset(replicas, 0, sizeof(*replicas));
}
