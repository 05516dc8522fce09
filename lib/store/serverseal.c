/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/stop.h"
#include "lib/store/serverbuild.h"

struct seal {
	struct server *server;
	const struct manifest *m;
	bool *again;    /* per bucket: it is on another node than it was */
	uint32_t moved; /* of them */
};

/* How often a filter is sought that moves on from node to node. */
#define SEAL_ROUNDS 5

/* What a script found wrong with a filter, said of it. */
static int bad(const struct serverbuild *build, uint32_t bucket,
	       const char *word, const char *detail, struct error *err)
{
	if (strcmp(word, "run") == 0) {
		(void)error_set(err, ERROR_TEMPORARY,
				"the server was restarted or replaced during "
				"the build, and may have lost what it "
				"acknowledged");
		return error_hint(err, "run it again");
	}
	if (strcmp(word, "ttl") == 0) {
		(void)error_set(err, ERROR_DATA,
				"somebody gave it a time to live");
		return error_hint(err,
				  "find who sets a TTL (EXPIRE) on keys "
				  "that hold ':bloomctl', and build again");
	}
	if (strcmp(word, "items") == 0)
		(void)error_set(err, ERROR_VERIFY,
				"it holds %.20s items, and %" PRIu64
				" were acknowledged as added",
				detail,
				build->intake.added[bucket] + build->planted);
	else if (strcmp(word, "capacity") == 0)
		(void)error_set(err, ERROR_DATA,
				"its capacity is %.20s, and %" PRIu64
				" was reserved: somebody made it anew",
				detail, build->params.capacity);
	else if (strcmp(word, "state") == 0)
		(void)error_set(err, ERROR_DATA,
				"its state is of another generation, '%.40s'",
				detail);
	else
		(void)error_set(err, ERROR_LOCKED,
				"its state was changed by another run, with "
				"fence %.20s",
				detail);
	return error_hint(err, "see what bloomctl inspect shows, find who else "
			       "changes these keys, and build again");
}

/*
 * A filter is on another node than when its build began.  That is well if that
 * node was there, too, and nothing was sent twice: then it moved with all that
 * was acknowledged, or the count of its items tells.
 */
static bool has_moved(struct seal *seal, uint32_t bucket, const char *run_id)
{
	struct serverbuild *build = seal->server->build;

	if (!cluster_is(seal->server->cluster) || build->intake.unsure)
		return false;
	for (size_t i = 0; i < build->intake.pins.count; i++) {
		if (strcmp(build->intake.pins.run_ids[i], run_id) != 0)
			continue;
		build->intake.home[bucket] = (uint16_t)i;
		seal->again[bucket] = true;
		seal->moved++;
		return true;
	}
	return false;
}

static int on_sealed(void *ctx, uint64_t tag, const struct reply *reply,
		     struct error *err)
{
	struct seal *seal = ctx;
	struct server *server = seal->server;
	uint32_t bucket = (uint32_t)tag;
	const char *detail;
	const char *word = script_word(reply, &detail);

	if (strcmp(word, "ok") == 0 ||
	    (strcmp(word, "run") == 0 && has_moved(seal, bucket, detail)))
		return 0;
	if (strcmp(word, "missing") == 0)
		return serverbuild_vanished(server, bucket, "it is", err);
	if (strcmp(word, "state") == 0 && detail[0] == '\0')
		return serverbuild_vanished(server, bucket, "its state is",
					    err);
	if (word[0] == '\0')
		(void)script_refused(SCRIPT_SEAL, reply, err,
				     "cannot be sealed");
	else
		(void)bad(server->build, bucket, word, detail, err);
	return serverbuild_prefix(server, bucket, err);
}

static int seal_bucket(struct seal *seal, uint32_t bucket, struct error *err)
{
	struct server *server = seal->server;
	struct serverbuild *build = server->build;
	char fence[SERVER_NUMBER_MAX];
	char capacity[SERVER_NUMBER_MAX];
	char least[SERVER_NUMBER_MAX];
	char rows[SERVER_NUMBER_MAX];
	char added[SERVER_NUMBER_MAX];
	char horizon[HORIZON_TEXT_MAX];
	struct keys keys;
	const char *const names[] = {keys.shadow, keys.shadow_state, NULL};
	const char *const args[] = {
		build->intake.generation,
		server_number(server_fence(server), fence),
		intake_run_id(&build->intake, bucket),
		server_number(build->params.capacity, capacity),
		server_number(build->intake.added[bucket] + build->planted,
			      least),
		server_number(seal->m->bucket_keys[bucket], rows),
		server_number(build->intake.added[bucket], added),
		horizon_text(&seal->m->horizon, horizon),
		NULL};

	keys_of(server->spec, bucket, build->intake.generation, &keys);
	return script_send(server->cluster, SCRIPT_SEAL, names, args, on_sealed,
			   seal, bucket, err);
}

/* Two counts on two ways: what the workers sent, and what was answered. */
static int check_counts(const struct serverbuild *build,
			const struct manifest *m, struct error *err)
{
	if (build->intake.writers > 0 || build->intake.lost)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': sealed with items under way",
				 m->generation);
	for (uint32_t b = 0; b < m->buckets; b++)
		if (build->intake.acknowledged[b] != manifest_sent(m, b))
			return error_set(err, ERROR_INTERNAL,
					 "bucket %" PRIu32 ": %" PRIu64
					 " keys were derived and %" PRIu64
					 " acknowledged",
					 b, manifest_sent(m, b),
					 build->intake.acknowledged[b]);
	return 0;
}

/* A bucket that a node has; false: it has none. */
static bool bucket_on(const struct server *server, size_t node,
		      uint32_t *bucket)
{
	for (uint32_t b = bloomkey_buckets(server->spec); b > 0; b--) {
		struct keys k;

		keys_of(server->spec, b - 1, NULL, &k);
		*bucket = b - 1;
		if (cluster_owner(server->cluster, k.slot) == node)
			return true;
	}
	return false;
}

/*
 * WAIT is for what was written over its own connection, so something is: a
 * filter of the node is sealed once more.
 */
static int ask_replicas(struct seal *seal, size_t node, uint32_t bucket,
			const struct reply **reply, struct error *err)
{
	struct server *server = seal->server;
	char number[SERVER_NUMBER_MAX];
	char ms[SERVER_NUMBER_MAX];
	const char *const words[] = {
		"WAIT", server_number(server->options->wait_replicas, number),
		ms};
	uint64_t made;

	/* The server answers before its silence would count as one. */
	(void)server_number((uint64_t)server->target.timeout_ms / 2, ms);
	do {
		made = cluster_made(server->cluster, node);
		if (seal_bucket(seal, bucket, err) != 0 ||
		    cluster_flush(server->cluster, err) != 0 ||
		    cluster_call_node(server->cluster, node, 3, words, reply,
				      err) != 0)
			return -1;
	} while (cluster_made(server->cluster, node) != made);
	return 0;
}

static int wait_node(struct seal *seal, size_t node, uint32_t bucket,
		     struct error *err)
{
	const struct server *server = seal->server;
	unsigned want = server->options->wait_replicas;
	const struct reply *reply;
	const char *place = cluster_place(server->cluster, node);

	if (ask_replicas(seal, node, bucket, &reply, err) != 0)
		return -1;
	if (reply->type != REPLY_INTEGER)
		return reply_refused(reply, err, "%s: WAIT", place);
	if (reply->u.integer >= want)
		return 0;
	(void)error_set(err, ERROR_TEMPORARY,
			"%s: %" PRId64 " of %u replicas have the generation",
			place, reply->u.integer, want);
	return error_hint(err, "see to its replicas, give a longer --timeout, "
			       "or a smaller --wait-replicas");
}

/* Waits until so many replicas of each node have everything. */
static int wait_replicas(struct seal *seal, struct error *err)
{
	const struct server *server = seal->server;
	uint32_t bucket;

	if (server->options->wait_replicas == 0)
		return 0;
	for (size_t i = 0; i < cluster_nodes(server->cluster); i++)
		if (bucket_on(server, i, &bucket) &&
		    wait_node(seal, i, bucket, err) != 0)
			return -1;
	return 0;
}

static int seal_all(struct seal *seal, struct error *err)
{
	for (uint32_t b = 0; b < seal->m->buckets; b++)
		if (stop_check(err) != 0 || seal_bucket(seal, b, err) != 0)
			return -1;
	if (cluster_flush(seal->server->cluster, err) != 0)
		return -1;
	for (int i = 0; seal->moved > 0 && i < SEAL_ROUNDS; i++) {
		seal->moved = 0;
		for (uint32_t b = 0; b < seal->m->buckets; b++) {
			if (!seal->again[b])
				continue;
			seal->again[b] = false;
			if (stop_check(err) != 0 ||
			    seal_bucket(seal, b, err) != 0)
				return -1;
		}
		if (cluster_flush(seal->server->cluster, err) != 0)
			return -1;
	}
	if (seal->moved == 0)
		return 0;
	(void)error_set(err, ERROR_TEMPORARY,
			"%" PRIu32 " filters move from node to node",
			seal->moved);
	return error_hint(err, "run it again when the cluster is at rest");
}

int serverseal_seal(struct store *s, struct manifest *m, struct error *err)
{
	struct server *server = (struct server *)s;
	struct serverbuild *build = server->build;
	struct seal seal = {.server = server, .m = m};
	int rc;

	if (server_need_lock(server, err) != 0 ||
	    server_ready(server, err) != 0 ||
	    check_counts(build, m, err) != 0 ||
	    serverroom_check_evictions(server, err) != 0)
		return -1;
	build->sealed = true;
	/* From here to its manifest: another server may not have it all. */
	if (!cluster_is(server->cluster) &&
	    build->intake.pins.run_ids[0][0] != '\0' &&
	    cluster_pin(server->cluster, &build->intake.pins, err) != 0)
		return -1;
	seal.again = calloc(m->buckets, sizeof(*seal.again));
	rc = seal.again != NULL ? seal_all(&seal, err) : error_nomem(err);
	if (rc == 0)
		rc = wait_replicas(&seal, err);
	free(seal.again);
	if (rc != 0 || serverroom_check_evictions(server, err) != 0)
		return -1;
	lease_unwatch(server->lease);
	m->added = 0;
	for (uint32_t b = 0; b < m->buckets; b++)
		m->added += build->intake.added[b];
	serverlook_forget(server);
	return server_need_lock(server, err);
}
