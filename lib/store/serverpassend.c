/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <string.h>

#include "lib/store/serverpass.h"

struct ending {
	struct serverpass *pass;
	const struct horizon *to; /* NULL: no horizon moves */
	const uint64_t *keys;
	struct pass_report *out;
};

/* What the horizon of a filter becomes. */
static void moved_from(const struct ending *e, uint32_t bucket,
		       struct horizon *out)
{
	struct horizon from;

	/* One that cannot be read is as good as none. */
	(void)horizon_parse(e->pass->noted[bucket].horizon, &from);
	horizon_move(&from, e->to, out);
}

static int fail(struct ending *e, uint32_t bucket, struct error *why)
{
	struct keys k;

	keys_of(e->pass->server->spec, bucket, e->pass->intake.generation, &k);
	(void)error_prefix(why, "filter '%s'",
			   intake_name(&e->pass->intake, &k));
	serverpass_fail(e->pass, bucket, why);
	return 0;
}

/* What a filter has become meanwhile that nothing may be moved of. */
static void say_bad(const struct noted *noted, const char *word,
		    const char *detail, struct error *why)
{
	if (strcmp(word, "missing") == 0) {
		(void)error_set(why, ERROR_DATA,
				"missing: evicted, expired or deleted "
				"meanwhile");
		(void)error_hint(why, "its readers must pass through; build "
				      "and swap a new generation");
	} else if (strcmp(word, "ttl") == 0) {
		(void)error_set(why, ERROR_DATA,
				"somebody gave it a time to live, so it would "
				"vanish");
		(void)error_hint(why, "take the TTL away (PERSIST), find who "
				      "set it, and run it again");
	} else {
		(void)error_set(why, ERROR_VERIFY,
				"it holds %.20s items, fewer than the %" PRIu64
				" of its state: it is from an older copy, or "
				"somebody made it anew",
				detail, noted->items);
		(void)error_hint(why, "build and swap a new generation");
	}
}

static uint64_t second_number(const struct reply *reply)
{
	int64_t n;

	return reply->len > 1 && reply_integer(&reply->u.items[1], &n) == 0 &&
			       n > 0
		       ? (uint64_t)n
		       : 0;
}

static int on_advanced(void *ctx, uint64_t tag, const struct reply *reply,
		       struct error *err)
{
	struct ending *e = ctx;
	uint32_t bucket = (uint32_t)tag;
	struct noted *noted = &e->pass->noted[bucket];
	struct error why = ERROR_INIT;
	struct horizon now;
	const char *detail;
	const char *word = script_word(reply, &detail);

	if (strcmp(word, "changed") == 0 || strcmp(word, "run") == 0) {
		e->out->changed++;
		return 0;
	}
	if (strcmp(word, "ok") == 0) {
		noted->items = second_number(reply);
		if (e->to == NULL)
			return 0;
		e->out->moved++;
		moved_from(e, bucket, &now);
		serverpass_promise(e->pass->server, bucket, &now);
		return 0;
	}
	if (word[0] != '\0') {
		say_bad(noted, word, detail, &why);
		return fail(e, bucket, &why);
	}
	(void)script_refused(SCRIPT_ADVANCE, reply, &why,
			     "its state cannot be changed");
	(void)fail(e, bucket, &why);
	/* What the user or the server may not, it may not of any. */
	if (why.code != ERROR_RIGHTS && why.code != ERROR_ENGINE)
		return 0;
	*err = why;
	return -1;
}

/*
 * By the connection over which it was noted, and by no other: where that is
 * gone, or the slot, what was acknowledged may be, too.
 */
static int advance_there(struct ending *e, uint32_t bucket,
			 const char *const keys[], const char *const args[],
			 struct error *err)
{
	struct serverpass *pass = e->pass;
	const struct reply *reply;

	if (script_call_node(pass->own, pass->noted[bucket].node,
			     SCRIPT_ADVANCE, keys, args, &reply, err) != 0)
		return -1;
	return on_advanced(e, bucket, reply, err);
}

static int advance(struct ending *e, uint32_t bucket, struct error *err)
{
	struct serverpass *pass = e->pass;
	const struct noted *noted = &pass->noted[bucket];
	char rows[SERVER_NUMBER_MAX];
	char added[SERVER_NUMBER_MAX];
	char text[HORIZON_TEXT_MAX] = "";
	struct horizon now;
	struct keys k;
	const char *const keys[] = {
		pass->intake.live ? k.filter : k.shadow,
		pass->intake.live ? k.state : k.shadow_state, NULL};
	const char *const args[] = {
		noted->generation,
		noted->fence,
		intake_run_id(&pass->intake, bucket),
		server_number(e->keys[bucket], rows),
		server_number(pass->intake.added[bucket], added),
		e->to != NULL ? "1" : "0",
		noted->horizon,
		text,
		NULL};

	keys_of(pass->server->spec, bucket, pass->intake.generation, &k);
	if (e->to != NULL) {
		moved_from(e, bucket, &now);
		(void)horizon_text(&now, text);
	}
	if (pass->own != NULL)
		return advance_there(e, bucket, keys, args, err);
	return script_send(pass->cluster, SCRIPT_ADVANCE, keys, args,
			   on_advanced, e, bucket, err);
}

/* Two counts on two ways: what was sent, and what was answered. */
static int check_counts(const struct ending *e, struct error *err)
{
	const struct serverpass *pass = e->pass;
	const struct intake *intake = &pass->intake;

	if (intake->writers > 0 || intake->lost)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': a pass ended with items under way",
				 pass->server->set);
	for (uint32_t b = 0; b < pass->buckets; b++)
		if (!pass->noted[b].failed &&
		    intake->acknowledged[b] < e->keys[b])
			return error_set(err, ERROR_INTERNAL,
					 "bucket %" PRIu32 ": %" PRIu64
					 " keys were derived and %" PRIu64
					 " acknowledged",
					 b, e->keys[b],
					 intake->acknowledged[b]);
	return 0;
}

static void tell_fill(const struct serverpass *pass, struct pass_report *out)
{
	for (uint32_t b = 0; b < pass->buckets; b++) {
		const struct noted *noted = &pass->noted[b];
		double fill =
			noted->capacity > 0
				? (double)noted->items / (double)noted->capacity
				: 0;

		out->acknowledged += pass->intake.acknowledged[b];
		out->added += pass->intake.added[b];
		out->failed += noted->failed ? 1 : 0;
		if (fill <= out->fill)
			continue;
		out->fill = fill;
		out->fullest = b;
	}
	out->why = pass->why;
}

int serverpassend_all(struct serverpass *pass, const struct horizon *to,
		      const uint64_t *keys, struct pass_report *out,
		      struct error *err)
{
	struct ending e = {pass, to, keys, out};

	if (check_counts(&e, err) != 0)
		return -1;
	for (uint32_t b = 0; b < pass->buckets; b++) {
		if (pass->noted[b].failed || (to == NULL && keys[b] == 0))
			continue;
		if (advance(&e, b, err) != 0)
			return -1;
	}
	if (cluster_flush(pass->cluster, err) != 0)
		return -1;
	tell_fill(pass, out);
	return 0;
}
