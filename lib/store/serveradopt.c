/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"
#include "lib/base/stop.h"
#include "lib/store/serverlook.h"

/* --- the survey ----------------------------------------------------------- */

static int prefix(const struct server *server, uint32_t bucket,
		  struct error *err)
{
	struct keys k;

	keys_of(server->spec, bucket, NULL, &k);
	return error_prefix(err, "filter '%s'", k.filter);
}

/* What keeps one filter from being adopted, whatever the others are. */
static int check_one(const struct seen *seen, const struct manifest *m,
		     struct error *err)
{
	if (!seen->there)
		return error_set(err, ERROR_GENERATION,
				 "missing, so the set is not whole");
	if (!seen->filter)
		return error_set(err, ERROR_GENERATION,
				 "a key of type '%s' and no Bloom filter",
				 seen->type);
	/* An adoption that was cut short may have come so far. */
	if (seen->held[0] != '\0' && strcmp(seen->held, m->generation) != 0)
		return error_set(err, ERROR_GENERATION,
				 "bloomctl's own already");
	if (seen->ttl_ms >= 0)
		return error_set(err, ERROR_GENERATION,
				 "it has a time to live, so it will vanish");
	if (seen->links != 1) {
		(void)error_set(err, ERROR_GENERATION,
				"it has grown to %" PRIu64 " filters",
				seen->links);
		return error_hint(err, "build a set under other filter names, "
				       "and let readers change to it");
	}
	return 0;
}

/*
 * The rate that a filter has, where the server says it, or else at which
 * filters of this engine are of that many bytes.
 */
static bool find_error(const struct engine *engine, const struct seen *seen,
		       double given, struct manifest *m)
{
	/* RedisBloom halves that of a filter that may grow. */
	const double rates[] = {given, given / 2};
	struct error ignored = ERROR_INIT;
	struct filter_params params;

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		if (engine_size(engine, seen->capacity, rates[i], &params,
				&ignored) != 0)
			continue;
		if (seen->error > 0
			    ? seen->error != rates[i]
			    : seen->memory != engine->layout->memory(&params))
			continue;
		m->capacity = seen->capacity;
		m->error = rates[i];
		m->bytes = params.bytes;
		return true;
	}
	return false;
}

static int other_rate(const struct seen *seen, double given, struct error *err)
{
	char rate[NUM_TEXT_MAX];

	(void)error_set(err, ERROR_GENERATION,
			"it takes %" PRIu64 " bytes for a capacity of "
			"%" PRIu64 ", which an error rate of %s does not make",
			seen->memory, seen->capacity,
			num_double_text(given, rate));
	return error_hint(err, "give the rate with which it was reserved: "
			       "--error");
}

int serveradopt_survey(struct store *s, struct manifest *m, struct error *err)
{
	struct server *server = (struct server *)s;
	struct serverlook *look = calloc(1, sizeof(*look));
	double given = m->error;
	const struct engine *engine;
	uint32_t b = 0;
	int rc = look != NULL ? server_ready(server, err) : error_nomem(err);

	if (rc == 0)
		rc = s->ops->engine(s, &engine, err);
	if (rc == 0)
		(void)strncpy(m->engine, engine->name, sizeof(m->engine) - 1);
	for (; rc == 0 && b < m->buckets; b++) {
		const struct seen *seen = serverlook_at(
			look, server, server->cluster, SERVERLOOK_ANY, b, err);

		rc = seen != NULL ? stop_check(err) : -1;
		if (rc != 0)
			break;
		rc = check_one(seen, m, err);
		if (rc == 0 && b == 0 && !find_error(engine, seen, given, m))
			rc = other_rate(seen, given, err);
		if (rc == 0 && seen->capacity != m->capacity)
			rc = error_set(err, ERROR_GENERATION,
				       "its capacity is %" PRIu64 ", that of "
				       "the first one %" PRIu64,
				       seen->capacity, m->capacity);
		if (rc != 0)
			(void)prefix(server, b, err);
	}
	free(look);
	return rc;
}

/* --- states --------------------------------------------------------------- */

struct adoption {
	struct server *server;
	const struct manifest *m;
};

static int on_planted(void *ctx, uint64_t bucket, const struct reply *reply,
		      struct error *err)
{
	const struct adoption *a = ctx;

	if (reply->type == REPLY_ARRAY && reply->len == 1 &&
	    reply->u.items[0].type == REPLY_INTEGER)
		return 0;
	if (reply->type == REPLY_ARRAY && reply->len == 1)
		reply = &reply->u.items[0];
	(void)reply_refused(reply, err, "takes no sentinel");
	return prefix(a->server, (uint32_t)bucket, err);
}

static int on_state(void *ctx, uint64_t bucket, const struct reply *reply,
		    struct error *err)
{
	const struct adoption *a = ctx;
	const char *detail;
	const char *word = script_word(reply, &detail);

	if (strcmp(word, "ok") == 0)
		return 0;
	if (word[0] == '\0')
		(void)reply_refused(reply, err, "state");
	else
		(void)error_set(err,
				strcmp(word, "fence") == 0 ? ERROR_LOCKED
							   : ERROR_GENERATION,
				"changed meanwhile by somebody: %s %.40s", word,
				detail);
	return prefix(a->server, (uint32_t)bucket, err);
}

static int plant(struct adoption *a, uint32_t bucket, struct error *err)
{
	struct keys k;
	const void *sentinel;
	size_t len = bloomkey_sentinel(a->server->spec, &sentinel);
	const char *const words[] = {"BF.INSERT", k.filter, "NOCREATE", "ITEMS",
				     sentinel};
	size_t lens[5];

	if (len == 0)
		return 0;
	keys_of(a->server->spec, bucket, NULL, &k);
	for (int i = 0; i < 4; i++)
		lens[i] = strlen(words[i]);
	lens[4] = len;
	return cluster_sendv(a->server->cluster, k.slot, 5, words, lens,
			     on_planted, a, bucket, err);
}

static int write_state(struct adoption *a, uint32_t bucket, struct error *err)
{
	const struct manifest *m = a->m;
	struct server *server = a->server;
	char fence[SERVER_NUMBER_MAX];
	char capacity[SERVER_NUMBER_MAX];
	char rate[NUM_TEXT_MAX];
	char rows[SERVER_NUMBER_MAX] = "";
	struct keys k;
	const char *const keys[] = {k.filter, k.state, NULL};
	const char *const args[] = {m->generation,
				    m->fingerprint,
				    server_type(server->engine),
				    m->engine,
				    server_number(server_fence(server), fence),
				    server_number(m->capacity, capacity),
				    num_double_text(m->error, rate),
				    rows,
				    NULL};

	keys_of(server->spec, bucket, NULL, &k);
	if (m->bucket_keys != NULL)
		(void)server_number(m->bucket_keys[bucket], rows);
	return script_send(server->cluster, SCRIPT_ADOPT, keys, args, on_state,
			   a, bucket, err);
}

int serveradopt_adopt(struct store *s, const struct manifest *m,
		      struct error *err)
{
	struct server *server = (struct server *)s;
	struct adoption a = {server, m};
	int rc = server_need_lock(server, err);

	serverlook_forget(server);
	if (rc == 0)
		rc = server_ready(server, err);
	for (uint32_t b = 0; rc == 0 && b < m->buckets; b++) {
		rc = stop_check(err);
		if (rc == 0 && m->bucket_keys == NULL)
			rc = plant(&a, b, err);
		if (rc == 0)
			rc = write_state(&a, b, err);
	}
	if (rc == 0)
		rc = cluster_flush(server->cluster, err);
	return rc;
}

int serveradopt_disown(struct store *s, const struct manifest *m,
		       struct error *err)
{
	struct server *server = (struct server *)s;
	struct adoption a = {server, m};
	const char *const args[] = {m->generation, NULL};
	struct keys k;
	const char *const keys[] = {k.state, NULL};
	int rc;

	server_tidy(server, true);
	rc = server_ready(server, err);
	for (uint32_t b = 0; rc == 0 && b < m->buckets; b++) {
		keys_of(server->spec, b, NULL, &k);
		rc = script_send(server->cluster, SCRIPT_DISOWN, keys, args,
				 on_state, &a, b, err);
	}
	if (rc == 0)
		rc = cluster_flush(server->cluster, err);
	if (rc == 0)
		rc = server_record(server, SCRIPT_FORGET, "manifest",
				   m->generation, NULL, err);
	server_tidy(server, false);
	return rc;
}
