/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/store/manifest_text.h"
#include "lib/store/server.h"

/*
 * The order of a swap, and what list() makes of a crash behind each step:
 *
 *	1. `moving` names the next generation   nothing is changed
 *	2. every bucket is claimed              nothing is changed
 *	3. bucket by bucket is promoted         next is live, from the first on
 *	4. next's manifest: live                live's still says live: it is
 *old
 *	5. live's manifest: old                 all is as it should be
 *	6. `moving` is removed                  and that is known
 */

/* --- manifests ------------------------------------------------------------ */

/* What is known beside the manifests. */
struct reading {
	char (*ids)[NAMES_ID_MAX]; /* per bucket, what its live filter is */
	char live[NAMES_ID_MAX];   /* the generation that readers get */
	char moving[NAMES_ID_MAX]; /* whose promotion is not finished */
	bool mixed;                /* filters are of several generations */
	bool held;                 /* the lock, by anybody */
	uint64_t fence;            /* under which */
};

/* 1; 0 if there is none; -1. */
static int read_manifest(struct server *server, const char *id,
			 struct manifest *out, struct error *err)
{
	char key[KEYS_MAX];
	const char *const words[] = {"GET", key};
	const struct reply *reply;

	memset(out, 0, sizeof(*out));
	keys_of_set(server->set, "manifest", id, key);
	if (cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type == REPLY_NIL)
		return 0;
	if (reply->type != REPLY_BULK)
		return reply_refused(reply, err, "manifest");
	if (manifest_decode(reply->u.text, reply->len, out, err) != 0)
		return -1;
	if (manifest_check_place(out, server->set, server->spec, id, err) !=
	    0) {
		manifest_release(out);
		memset(out, 0, sizeof(*out));
		return -1;
	}
	return 1;
}

/* What readers get is decided by the states; the manifest only follows. */
static void set_effective(const struct reading *r, struct manifest *m)
{
	manifest_set_effective(m, r->live, r->held, r->fence);
	if (m->state == MANIFEST_LIVE && m->recorded == MANIFEST_LIVE &&
	    (strcmp(m->generation, r->moving) == 0 || r->mixed))
		m->recorded = strcmp(m->previous, m->generation) > 0
				      ? MANIFEST_OLD
				      : MANIFEST_COMPLETE;
}

static int read_one(struct server *server, const struct reading *r,
		    const char *id, struct manifest *out, struct error *err)
{
	struct error why = ERROR_INIT;
	bool live = strcmp(id, r->live) == 0;
	int rc = read_manifest(server, id, out, &why);

	if (rc > 0) {
		out->recorded = out->state;
		set_effective(r, out);
	} else if (rc < 0 && why.code != ERROR_DATA) {
		*err = why;
		return error_prefix(err, "generation '%s'", id);
	} else {
		if (rc == 0)
			(void)error_set(&why, ERROR_DATA, "not there");
		(void)error_prefix(&why, "%smanifest",
				   live ? "readers get it; " : "");
		manifest_break(out, server->set, id, why.text);
		/* A run that was killed before it wrote one. */
		if (rc == 0 && !live)
			out->state = MANIFEST_ABORTED;
	}
	out->linked = live;
	return 0;
}

/* --- the list ------------------------------------------------------------- */

struct ids {
	char (*id)[NAMES_ID_MAX];
	size_t count;
};

static int by_newest(const void *a, const void *b)
{
	return strcmp(b, a);
}

/*
 * That of what is live, and that of what it took the place of, where they are
 * not on record any more: a lost key must not hide what a rollback needs.
 */
static int add_live(struct server *server, const char *live, struct ids *ids,
		    struct error *err)
{
	struct error why = ERROR_INIT;
	struct manifest m;
	int rc = read_manifest(server, live, &m, &why);

	memcpy(ids->id[ids->count++], live, strlen(live) + 1);
	if (rc < 0 && why.code != ERROR_DATA) {
		*err = why;
		return -1;
	}
	if (rc <= 0)
		return 0;
	rc = names_id_valid(m.previous) ? 1 : 0;
	for (size_t i = 0; rc > 0 && i < ids->count; i++)
		if (strcmp(ids->id[i], m.previous) == 0)
			rc = 0;
	if (rc > 0)
		memcpy(ids->id[ids->count++], m.previous, sizeof(m.previous));
	manifest_release(&m);
	return 0;
}

/* The ids on record, and that of what is live, newest first. */
static int collect(struct server *server, const char *live, struct ids *ids,
		   struct error *err)
{
	char key[KEYS_MAX];
	const char *const words[] = {"SMEMBERS", key};
	const struct reply *reply;
	bool have = live[0] == '\0';

	keys_of_set(server->set, "generations", NULL, key);
	if (cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type != REPLY_ARRAY)
		return reply_refused(reply, err, "set '%s': generations",
				     server->set);
	ids->id = calloc(reply->len + 2, sizeof(*ids->id));
	if (ids->id == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < reply->len; i++) {
		const struct reply *id = &reply->u.items[i];

		if (id->type != REPLY_BULK || !names_id_valid(id->u.text))
			continue;
		have = have || strcmp(id->u.text, live) == 0;
		memcpy(ids->id[ids->count++], id->u.text, id->len + 1);
	}
	if (!have && add_live(server, live, ids, err) != 0)
		return -1;
	if (ids->count > 1)
		qsort(ids->id, ids->count, sizeof(*ids->id), by_newest);
	return 0;
}

static int read_lock(struct server *server, struct reading *r,
		     struct error *err)
{
	char key[KEYS_MAX];
	const char *const words[] = {"HMGET", key, "token", "fence"};
	const struct reply *reply;
	int64_t fence = 0;

	keys_of_set(server->set, "lock", NULL, key);
	if (cluster_call(server->cluster, server->slot, 4, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type != REPLY_ARRAY || reply->len != 2)
		return reply_refused(reply, err, "set '%s': lock", server->set);
	r->held = reply->u.items[0].type == REPLY_BULK;
	if (reply_integer(&reply->u.items[1], &fence) == 0)
		r->fence = (uint64_t)fence;
	return 0;
}

static int read_moving(struct server *server, struct reading *r,
		       struct error *err)
{
	char key[KEYS_MAX];
	const char *const words[] = {"GET", key};
	const struct reply *reply;

	keys_of_set(server->set, "moving", NULL, key);
	if (cluster_call(server->cluster, server->slot, 2, words, NULL, &reply,
			 err) != 0)
		return -1;
	if (reply->type == REPLY_BULK && names_id_valid(reply->u.text))
		memcpy(r->moving, reply->u.text, reply->len + 1);
	else if (reply->type == REPLY_ERROR)
		return reply_refused(reply, err, "set '%s': moving",
				     server->set);
	return 0;
}

/* Generations that filters can be of at a time, for all that is counted. */
#define TALLIES 16

struct tally {
	char id[NAMES_ID_MAX];
	uint32_t count;
};

/* The generations that filters are of, the most frequent first. */
static int count_all(const struct server *server, const struct reading *r,
		     struct tally tallies[TALLIES])
{
	int n = 0;

	for (uint32_t b = 0; b < bloomkey_buckets(server->spec); b++) {
		int i = 0;

		if (r->ids[b][0] == '\0')
			continue;
		while (i < n && strcmp(tallies[i].id, r->ids[b]) != 0)
			i++;
		if (i == n && n < TALLIES)
			memcpy(tallies[n++].id, r->ids[b], NAMES_ID_MAX);
		if (i < n)
			tallies[i].count++;
	}
	for (int i = 1; i < n; i++) {
		struct tally t = tallies[i];

		if (t.count <= tallies[0].count)
			continue;
		tallies[i] = tallies[0];
		tallies[0] = t;
	}
	return n;
}

/* Whether the last swap that ended was to it. */
static int was_promoted(struct server *server, const char *id, bool *was,
			struct error *err)
{
	struct error why = ERROR_INIT;
	struct manifest m;
	int rc = read_manifest(server, id, &m, &why);

	*was = rc > 0 && m.state == MANIFEST_LIVE;
	if (rc > 0)
		manifest_release(&m);
	if (rc >= 0 || why.code == ERROR_DATA)
		return 0;
	*err = why;
	return -1;
}

/*
 * Which generation readers get, where all filters are of the same.  During a
 * promotion it is the one that is coming, as soon as one filter is of it.
 * Where filters are of several and no promotion is under way, as a failover
 * may leave them, it is the one that was promoted last.
 */
static int find_live(struct server *server, struct reading *r,
		     struct error *err)
{
	struct tally tallies[TALLIES] = {{"", 0}};
	int n = count_all(server, r, tallies);
	bool was = false;

	r->mixed = n > 1;
	for (int i = 0; i < n && r->moving[0] != '\0'; i++) {
		if (strcmp(tallies[i].id, r->moving) != 0)
			continue;
		memcpy(r->live, r->moving, sizeof(r->live));
		return 0;
	}
	r->moving[0] = '\0'; /* none has moved */
	if (n > 0)
		memcpy(r->live, tallies[0].id, sizeof(r->live));
	for (int i = 0; i < n && n > 1 && !was; i++) {
		if (was_promoted(server, tallies[i].id, &was, err) != 0)
			return -1;
		if (was)
			memcpy(r->live, tallies[i].id, sizeof(r->live));
	}
	return 0;
}

static int read_all(struct server *server, struct reading *r,
		    struct manifest **out, size_t *count, struct error *err)
{
	struct ids ids = {NULL, 0};
	uint64_t fence;
	int rc = -1;

	if (server_ready(server, err) == 0 &&
	    read_moving(server, r, err) == 0 &&
	    serverlive_read(server, &r->ids, &fence, err) == 0 &&
	    read_lock(server, r, err) == 0 && find_live(server, r, err) == 0)
		rc = collect(server, r->live, &ids, err);
	if (rc == 0) {
		*out = calloc(ids.count + 1, sizeof(**out));
		rc = *out != NULL ? 0 : error_nomem(err);
	}
	for (size_t i = 0; rc == 0 && i < ids.count; i++) {
		rc = read_one(server, r, ids.id[i], &(*out)[i], err);
		*count += rc == 0 ? 1 : 0;
	}
	free(ids.id);
	free(r->ids);
	r->ids = NULL;
	return rc;
}

/* Whether a build may have begun or ended since the lock was read. */
static int lock_moved(struct server *server, const struct reading *r,
		      bool *moved, struct error *err)
{
	struct reading now;

	memset(&now, 0, sizeof(now));
	*moved = false;
	if (server->lease != NULL)
		return 0; /* it is ours */
	if (read_lock(server, &now, err) != 0)
		return -1;
	*moved = now.held != r->held || now.fence != r->fence;
	return 0;
}

/* How often what was read at different moments is read again. */
#define READINGS 5

int serverlist_list(struct store *s, struct manifest **out, size_t *count,
		    struct error *err)
{
	struct server *server = (struct server *)s;
	struct reading r;
	bool moved = true;
	int rc = 0;

	*out = NULL;
	*count = 0;
	for (int i = 0; rc == 0 && moved && i < READINGS; i++) {
		store_list_free(*out, *count);
		*out = NULL;
		*count = 0;
		memset(&r, 0, sizeof(r));
		rc = read_all(server, &r, out, count, err);
		if (rc == 0)
			rc = lock_moved(server, &r, &moved, err);
	}
	if (rc == 0)
		return 0;
	store_list_free(*out, *count);
	*out = NULL;
	*count = 0;
	return -1;
}
