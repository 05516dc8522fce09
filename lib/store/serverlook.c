/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/serverlook.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/num.h"

/* Buckets that are looked at the first time; four times as many the next. */
#define LOOK_FIRST 16

struct reading {
	struct serverlook *look;
	const struct server *server;
};

static bool member_is(const struct reply *fields, const char *name,
		      const char *value)
{
	const struct reply *member = reply_member(fields, name);

	return member != NULL && reply_is(member, value);
}

static uint64_t member_number(const struct reply *fields, const char *name)
{
	const struct reply *member = reply_member(fields, name);
	int64_t n;

	return member != NULL && reply_integer(member, &n) == 0 && n > 0
		       ? (uint64_t)n
		       : 0;
}

static double member_rate(const struct reply *fields, const char *name)
{
	const struct reply *member = reply_member(fields, name);
	double rate;

	return member != NULL && member->type == REPLY_BULK &&
			       num_double(member->u.text, &rate) == 0
		       ? rate
		       : 0;
}

static void copy_id(const struct reply *id, char out[NAMES_ID_MAX])
{
	if (id != NULL && id->type == REPLY_BULK && names_id_valid(id->u.text))
		memcpy(out, id->u.text, id->len + 1);
}

static void member_horizon(const struct reply *state, struct horizon *out)
{
	const struct reply *member = reply_member(state, "horizon");
	char text[HORIZON_TEXT_MAX] = "";

	if (member != NULL && member->type == REPLY_BULK &&
	    member->len < sizeof(text))
		memcpy(text, member->u.text, member->len + 1);
	(void)horizon_parse(text, out);
}

/* The answer of SCRIPT_LOOK. */
static int on_look(void *ctx, uint64_t bucket, const struct reply *reply,
		   struct error *err)
{
	const struct reading *r = ctx;
	struct seen *seen = &r->look->seen[bucket - r->look->first];
	const struct reply *items = reply->u.items;
	const char *type;
	const struct reply *state;

	if (reply->type != REPLY_ARRAY || reply->len != 6 ||
	    (items[1].type != REPLY_BULK && items[1].type != REPLY_STATUS) ||
	    items[2].type != REPLY_INTEGER)
		return script_refused(SCRIPT_LOOK, reply, err,
				      "bucket %" PRIu64, bucket);
	memset(seen, 0, sizeof(*seen));
	type = items[1].u.text;
	state = &items[3];
	seen->live = reply_is(&items[0], "live");
	seen->there = strcmp(type, "none") != 0;
	seen->filter = strcmp(type, "MBbloom--") == 0 ||
		       strcmp(type, "bloomfltr") == 0;
	(void)snprintf(seen->type, sizeof(seen->type), "%.20s", type);
	seen->ttl_ms = items[2].u.integer >= 0 ? items[2].u.integer : -1;
	seen->own = member_is(state, "generation", r->look->generation) &&
		    member_is(state, "fingerprint",
			      bloomkey_fingerprint(r->server->spec));
	seen->sealed = member_is(state, "sealed", "1");
	copy_id(&items[5], seen->serves);
	if (seen->sealed)
		copy_id(reply_member(state, "generation"), seen->held);
	seen->rows = member_number(state, "rows");
	member_horizon(state, &seen->horizon);
	seen->links = member_number(&items[4], "Number of filters");
	seen->capacity = member_number(&items[4], "Capacity");
	seen->error = member_rate(&items[4], "Error rate");
	seen->memory = member_number(&items[4], "Size");
	seen->reserved = member_number(state, "capacity");
	seen->least = member_number(state, "items");
	seen->items = member_number(&items[4], "Number of items inserted");
	return 0;
}

static int look_ahead(struct reading *r, struct cluster *c, uint32_t bucket,
		      struct error *err)
{
	struct serverlook *look = r->look;
	uint32_t left = bloomkey_buckets(r->server->spec) - bucket;
	uint32_t n = look->ahead == 0 ? LOOK_FIRST : look->ahead * 4;
	const char *const args[] = {look->generation, NULL};
	struct keys k;
	const char *const keys[] = {k.filter, k.state, k.shadow, k.shadow_state,
				    NULL};

	if (n > SERVER_LOOK_AHEAD)
		n = SERVER_LOOK_AHEAD;
	look->ahead = n;
	if (n > left)
		n = left;
	look->first = bucket;
	look->count = 0;
	for (uint32_t b = bucket; b < bucket + n; b++) {
		keys_of(r->server->spec, b, look->generation, &k);
		if (strcmp(look->generation, SERVERLOOK_ANY) == 0) {
			memcpy(k.shadow, k.filter, sizeof(k.shadow));
			memcpy(k.shadow_state, k.state, sizeof(k.state));
		}
		if (script_send(c, SCRIPT_LOOK, keys, args, on_look, r, b,
				err) != 0)
			return -1;
	}
	if (cluster_flush(c, err) != 0)
		return -1;
	look->count = n;
	return 0;
}

const struct seen *serverlook_at(struct serverlook *look,
				 const struct server *server, struct cluster *c,
				 const char *generation, uint32_t bucket,
				 struct error *err)
{
	struct reading r = {look, server};

	if (look->count == 0 || strcmp(look->generation, generation) != 0 ||
	    bucket < look->first || bucket - look->first >= look->count) {
		(void)snprintf(look->generation, sizeof(look->generation), "%s",
			       generation);
		if (look_ahead(&r, c, bucket, err) != 0)
			return NULL;
	}
	return &look->seen[bucket - look->first];
}

static int hint_again(const struct seen *seen, struct error *err)
{
	return error_hint(err, "%s",
			  seen->live ? "readers of it must pass through; build "
				       "and swap a new generation"
				     : "build a new generation");
}

int serverlook_check(const struct seen *seen, const struct server *server,
		     const char *generation, uint32_t bucket, bool sealed,
		     struct error *err)
{
	struct keys k;

	keys_of(server->spec, bucket, generation, &k);
	if (!seen->there)
		(void)error_set(err, ERROR_DATA, "it is missing");
	else if (!seen->filter)
		(void)error_set(err, ERROR_DATA,
				"it is a key of type '%s' and no filter",
				seen->type);
	else if (!seen->own)
		(void)error_set(err, ERROR_DATA,
				"its state is missing, or of another "
				"generation than '%s'",
				generation);
	else if (sealed && !seen->sealed)
		(void)error_set(err, ERROR_DATA, "it is not finished");
	else if (seen->capacity != seen->reserved)
		(void)error_set(err, ERROR_DATA,
				"a filter of capacity %" PRIu64
				", where its state says %" PRIu64
				": somebody made it anew",
				seen->capacity, seen->reserved);
	else if (seen->items < seen->least)
		(void)error_set(err, ERROR_DATA,
				"it holds %" PRIu64 " items, fewer than the "
				"%" PRIu64 " when it was built: it is from an "
				"older copy, or somebody made it anew",
				seen->items, seen->least);
	else
		return 0;
	(void)error_prefix(err, "filter '%s'",
			   seen->live ? k.filter : k.shadow);
	return hint_again(seen, err);
}

void serverlook_forget(struct server *server)
{
	free(server->look);
	server->look = NULL;
}

/* What the manifest says it is, and what the server has. */
static int fill(const struct seen *seen, const struct server *server,
		const struct manifest *m, uint32_t bucket,
		struct bucket_info *out, struct error *err)
{
	if (serverlook_check(seen, server, m->generation, bucket, true, err) !=
	    0) {
		out->missing = !seen->there;
		out->foreign =
			seen->there &&
			(!seen->filter || !seen->own ||
			 (seen->sealed && seen->capacity != seen->reserved));
		return -1;
	}
	if (seen->capacity != out->params.capacity) {
		out->foreign = true;
		(void)error_set(err, ERROR_DATA,
				"bucket %" PRIu32 ": a filter of capacity "
				"%" PRIu64 ", where the manifest of '%s' says "
				"%" PRIu64,
				bucket, seen->capacity, m->generation,
				out->params.capacity);
		return hint_again(seen, err);
	}
	out->items = seen->items;
	out->keys = seen->rows;
	out->horizon = seen->horizon;
	out->memory = seen->memory;
	out->ttl_ms = seen->ttl_ms;
	if (m->state == MANIFEST_LIVE && !seen->live)
		memcpy(out->instead, seen->serves, sizeof(out->instead));
	return 0;
}

int serverlook_info(struct store *s, const struct manifest *m, uint32_t bucket,
		    bool whole, struct bucket_info *out, struct error *err)
{
	struct server *server = (struct server *)s;
	const struct engine *engine;
	const struct seen *seen;
	struct keys k;

	(void)whole; /* a server has no bits to read */
	memset(out, 0, sizeof(*out));
	out->ttl_ms = -1;
	out->bits_set = UINT64_MAX;
	if (bucket >= bloomkey_buckets(server->spec))
		return error_set(err, ERROR_INTERNAL, "bucket %" PRIu32,
				 bucket);
	if (server_ready(server, err) != 0)
		return -1;
	keys_of(server->spec, bucket, NULL, &k);
	out->slot = cluster_is(server->cluster) ? k.slot : -1;
	if (store_params(m, &engine, &out->params, err) != 0)
		return -1;
	out->layout = engine->layout;
	if (server->look == NULL)
		server->look = calloc(1, sizeof(*server->look));
	if (server->look == NULL)
		return error_nomem(err);
	seen = serverlook_at(server->look, server, server->cluster,
			     m->generation, bucket, err);
	if (seen == NULL)
		return -1;
	return fill(seen, server, m, bucket, out, err);
}
