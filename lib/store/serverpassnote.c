/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "lib/store/serverpass.h"

/* A filter that is no place to add to, and so is sent nothing. */
static int close_bucket(struct serverpass *pass, uint32_t bucket,
			const char *what)
{
	struct error why = ERROR_INIT;
	struct keys k;

	keys_of(pass->server->spec, bucket, pass->intake.generation, &k);
	(void)error_set(&why, ERROR_DATA, "filter '%s': %s",
			intake_name(&pass->intake, &k), what);
	(void)error_hint(&why, "%s",
			 pass->intake.live
				 ? "its readers must pass through; build and "
				   "swap a new generation"
				 : "build a new generation");
	pass->closed[bucket] = true;
	serverpass_fail(pass, bucket, &why);
	return 0;
}

/* A field as it is, of at most size - 1 bytes; "" for none.  False: longer. */
static bool copy_field(const struct reply *field, char *out, size_t size)
{
	out[0] = '\0';
	if (field->type != REPLY_BULK)
		return true;
	if (field->len >= size || strlen(field->u.text) != field->len)
		return false;
	memcpy(out, field->u.text, field->len + 1);
	return true;
}

static uint64_t number(const struct reply *field)
{
	int64_t n;

	return reply_integer(field, &n) == 0 && n > 0 ? (uint64_t)n : 0;
}

/* generation, fence, horizon, fingerprint, sealed, items, capacity */
static int on_state(void *ctx, uint64_t tag, const struct reply *reply,
		    struct error *err)
{
	struct serverpass *pass = ctx;
	uint32_t bucket = (uint32_t)tag;
	struct noted *noted = &pass->noted[bucket];
	const struct reply *f = reply->u.items;

	if (reply_is_error(reply, "WRONGTYPE"))
		return close_bucket(pass, bucket,
				    "its state is none of bloomctl's");
	if (reply->type != REPLY_ARRAY || reply->len != 7)
		return reply_refused(reply, err, "state of bucket %" PRIu32,
				     bucket);
	if (f[0].type != REPLY_BULK)
		return close_bucket(pass, bucket, "its state is missing");
	if (!copy_field(&f[0], noted->generation, sizeof(noted->generation)) ||
	    !copy_field(&f[1], noted->fence, sizeof(noted->fence)) ||
	    !copy_field(&f[2], noted->horizon, sizeof(noted->horizon)))
		return close_bucket(pass, bucket,
				    "its state is none of bloomctl's");
	noted->items = number(&f[5]);
	noted->capacity = number(&f[6]);
	if (!reply_is(&f[3], bloomkey_fingerprint(pass->server->spec)))
		return close_bucket(pass, bucket, "it is of another keyspec");
	if (!pass->intake.live &&
	    strcmp(noted->generation, pass->intake.generation) != 0)
		return close_bucket(pass, bucket,
				    "its state is of another generation");
	if (!reply_is(&f[4], "1"))
		return close_bucket(pass, bucket, "it is not finished");
	return 0;
}

static int on_type(void *ctx, uint64_t tag, const struct reply *reply,
		   struct error *err)
{
	struct serverpass *pass = ctx;
	uint32_t bucket = (uint32_t)tag;

	if (reply_is(reply, "MBbloom--") || reply_is(reply, "bloomfltr"))
		return 0;
	if (reply_is(reply, "none"))
		return close_bucket(pass, bucket, "it is missing");
	if (reply->type != REPLY_STATUS)
		return reply_refused(reply, err, "type of bucket %" PRIu32,
				     bucket);
	return close_bucket(pass, bucket, "a key with its name is no filter");
}

static int note_one(struct serverpass *pass, uint32_t bucket, struct error *err)
{
	struct keys k;
	struct cluster *c = pass->cluster;
	const char *const type[] = {"TYPE",
				    pass->intake.live ? k.filter : k.shadow};
	const char *const state[] = {
		"HMGET",      pass->intake.live ? k.state : k.shadow_state,
		"generation", "fence",
		"horizon",    "fingerprint",
		"sealed",     "items",
		"capacity"};

	keys_of(pass->server->spec, bucket, pass->intake.generation, &k);
	if (cluster_sendv(c, k.slot, 2, type, NULL, on_type, pass, bucket,
			  err) != 0)
		return -1;
	return cluster_sendv(c, k.slot, 9, state, NULL, on_state, pass, bucket,
			     err);
}

int serverpassnote_all(struct serverpass *pass, struct error *err)
{
	for (uint32_t b = 0; b < pass->buckets; b++)
		if (note_one(pass, b, err) != 0)
			return -1;
	return cluster_flush(pass->cluster, err);
}
