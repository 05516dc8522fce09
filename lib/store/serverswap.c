/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "lib/store/server.h"

/* Promotions under way: a stop is heeded behind so many buckets. */
#define WINDOW 8

/* One promotion, from the first claim to the last record. */
struct promotion {
	struct server *server;
	const char *generation;
	const struct engine *engine;
	char (*seen)[NAMES_ID_MAX]; /* live, per bucket, when it began */
	bool claim;                 /* looks and keeps others out; else moves */
	uint32_t before;            /* filters that were the new one's */
	uint32_t moved;             /* filters that are */
	bool begun;                 /* readers may have had some of it */
	uint32_t asked;             /* promotions that were sent */
	uint32_t answered;          /* of them */
	struct error refused;       /* the first refusal; NONE: no */
};

/* --- bucket by bucket ----------------------------------------------------- */

static int on_promoted(void *ctx, uint64_t bucket, const struct reply *reply,
		       struct error *err)
{
	struct promotion *p = ctx;
	const char *detail;
	const char *word = script_word(reply, &detail);

	(void)err;
	p->answered++;
	if (strcmp(word, "ok") == 0 || strcmp(word, "already") == 0) {
		p->moved += !p->claim || word[0] == 'a' ? 1 : 0;
		return 0;
	}
	/* What is under way behind it is answered all the same. */
	if (p->refused.code != ERROR_NONE)
		return 0;
	if (word[0] != '\0') {
		serverswap_refuse(p->server, p->generation, p->seen[bucket],
				  (uint32_t)bucket, word, detail, &p->refused);
	} else {
		struct keys k;

		keys_of(p->server->spec, (uint32_t)bucket, p->generation, &k);
		(void)script_refused(SCRIPT_PROMOTE, reply, &p->refused,
				     "filter '%s'", k.filter);
	}
	return 0;
}

static int send_one(struct promotion *p, uint32_t bucket, const char *now,
		    struct error *err)
{
	struct server *server = p->server;
	const char *seen = p->seen[bucket];
	char fence[SERVER_NUMBER_MAX];
	char horizon[HORIZON_TEXT_MAX];
	struct keys k;
	struct keys old;
	const char *const keys[] = {
		k.filter,   k.state,          k.shadow, k.shadow_state,
		old.shadow, old.shadow_state, NULL};
	const char *const args[] = {
		p->claim ? "claim" : "move",
		p->generation,
		seen,
		server_number(server_fence(server), fence),
		bloomkey_fingerprint(server->spec),
		server_type(p->engine),
		now,
		serverpass_promised(server, p->generation, bucket, horizon),
		NULL};

	keys_of(server->spec, bucket, p->generation, &k);
	p->asked++;
	/* Where nothing is live, nothing is renamed to there. */
	keys_of(server->spec, bucket, seen[0] != '\0' ? seen : "none", &old);
	return script_send(server->cluster, SCRIPT_PROMOTE, keys, args,
			   on_promoted, p, bucket, err);
}

/*
 * Every bucket is claimed, or moved.  A stop, a lost lock or a refusal ends it
 * with those that are under way answered, so that p->moved is true.
 */
static int go_through(struct promotion *p, bool claim, struct error *err)
{
	struct server *server = p->server;
	char now[CLOCK_TEXT_MAX];
	struct error ignored = ERROR_INIT;
	int rc = 0;

	(void)clock_text(clock_wall_ms(), now);
	p->claim = claim;
	p->moved = p->asked = p->answered = 0;
	for (uint32_t b = 0; rc == 0 && b < bloomkey_buckets(server->spec);
	     b++) {
		rc = stop_check(err);
		if (rc == 0)
			rc = server_need_lock(server, err);
		if (rc == 0)
			rc = send_one(p, b, now, err);
		if (rc == 0)
			rc = cluster_wait(server->cluster,
					  claim ? 256 : WINDOW - 1, err);
		if (p->refused.code != ERROR_NONE)
			break;
	}
	/* The buckets at hand are finished, also after a stop. */
	server_tidy(server, true);
	if (cluster_flush(server->cluster, rc == 0 ? err : &ignored) != 0)
		rc = -1;
	server_tidy(server, false);
	if (rc == 0 && p->refused.code != ERROR_NONE) {
		*err = p->refused;
		rc = -1;
	}
	return rc;
}

/* --- the whole ------------------------------------------------------------ */

/* What has begun and cannot be told to have ended. */
static int incomplete(const struct promotion *p, struct error *err)
{
	struct error why = *err;

	(void)error_set(err, ERROR_SWAP,
			"generation '%s' is live in %" PRIu32 " of %" PRIu32
			" filters, but %.330s",
			p->generation,
			p->moved > p->before ? p->moved : p->before,
			bloomkey_buckets(p->server->spec), why.text);
	/* What a guard found does not go away by itself. */
	if (why.code == ERROR_GENERATION && why.hint[0] != '\0')
		return error_hint(err, "%s", why.hint);
	if (why.code == ERROR_SPACE && why.hint[0] != '\0')
		return error_hint(err, "%s; then run the same swap again",
				  why.hint);
	return error_hint(err, "run the same swap again to finish");
}

/* Of the servers that have the filters now, whatever was answered before. */
static int check_all(struct promotion *p, struct error *err)
{
	uint32_t n = bloomkey_buckets(p->server->spec);
	char(*ids)[NAMES_ID_MAX];
	uint64_t fence;
	uint32_t good = 0;

	if (server_ready(p->server, err) != 0 ||
	    cluster_refresh(p->server->cluster, err) != 0 ||
	    serverlive_read(p->server, &ids, &fence, err) != 0)
		return -1;
	for (uint32_t b = 0; b < n; b++)
		good += strcmp(ids[b], p->generation) == 0;
	free(ids);
	/* What it knew before was of another server, maybe. */
	p->before = p->moved = good;
	p->begun = true;
	if (good == n)
		return 0;
	return error_set(err, ERROR_SWAP,
			 "%" PRIu32 " filters are not: lost by a failover, or "
			 "changed meanwhile",
			 n - good);
}

static int put_state(struct server *server, struct manifest *m,
		     enum manifest_state state, int64_t now, struct error *err)
{
	if (m->state == MANIFEST_BROKEN)
		return 0;
	m->state = state;
	if (state == MANIFEST_LIVE)
		m->promoted = now;
	else
		m->retired = now;
	return server_put(&server->base, m, err);
}

static int finish(struct promotion *p, struct manifest *next,
		  struct manifest *live, struct error *err)
{
	struct server *server = p->server;
	int64_t now = clock_wall_ms();

	/* All have moved: a stop that comes now finds it done. */
	server_tidy(server, true);
	if (check_all(p, err) != 0 ||
	    put_state(server, next, MANIFEST_LIVE, now, err) != 0 ||
	    (live != NULL &&
	     put_state(server, live, MANIFEST_OLD, now, err) != 0))
		return -1;
	return server_record(server, SCRIPT_MOVING, "swap", "", NULL, err);
}

/* Also where it is not known, as the answer never came. */
static bool moved(const struct promotion *p)
{
	return p->begun || p->moved > 0 ||
	       (!p->claim && p->asked > p->answered);
}

/*
 * After the lock was lost: whether readers still have some filters of this
 * generation and some of others, as whoever has the lock now does not swap.
 */
static bool left_mixed(struct promotion *p)
{
	uint32_t n = bloomkey_buckets(p->server->spec);
	struct error ignored = ERROR_INIT;

	return check_all(p, &ignored) != 0 && p->moved > 0 && p->moved < n;
}

/* Nothing has moved, so what is said there means nothing: it may also stay. */
static void forget_moving(struct server *server)
{
	struct error ignored = ERROR_INIT;

	server_tidy(server, true);
	(void)server_record(server, SCRIPT_MOVING, "swap", "", NULL, &ignored);
}

static int move_all(struct promotion *p, struct manifest *next,
		    struct manifest *live, bool resuming, struct error *err)
{
	struct server *server = p->server;
	int rc;

	if (!resuming)
		memset(next->previous, 0, sizeof(next->previous));
	if (!resuming && live != NULL && live->state != MANIFEST_BROKEN)
		memcpy(next->previous, live->generation,
		       sizeof(next->previous));
	rc = server_put(&server->base, next, err);
	if (rc == 0)
		rc = server_record(server, SCRIPT_MOVING, "swap", p->generation,
				   NULL, err);
	if (rc == 0)
		rc = go_through(p, true, err);
	if (rc == 0)
		rc = go_through(p, false, err);
	if (rc == 0)
		rc = finish(p, next, live, err);
	else if (!moved(p) && !resuming && server->cluster != NULL &&
		 !cluster_failed(server->cluster))
		forget_moving(server);
	server_tidy(server, false);
	if (rc == 0 || (!moved(p) && !resuming))
		return rc;
	/* Another swap has finished it, or gone elsewhere with all of it. */
	if (err->code == ERROR_LOCKED && !left_mixed(p))
		return rc;
	return incomplete(p, err);
}

/* Whether readers have what the caller saw, or already some of the next. */
static int check_seen(struct promotion *p, const struct manifest *live,
		      bool *resuming, struct error *err)
{
	uint32_t same = 0;
	uint32_t next = 0;

	for (uint32_t b = 0; b < bloomkey_buckets(p->server->spec); b++) {
		next += strcmp(p->seen[b], p->generation) == 0;
		same += live != NULL &&
			strcmp(p->seen[b], live->generation) == 0;
	}
	p->before = next;
	*resuming = next > 0;
	if (live == NULL || next > 0 || same > 0)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"set '%s': changed meanwhile: '%s' is not live any "
			"more",
			p->server->set, live->generation);
	return error_hint(err, "see what bloomctl inspect shows");
}

int serverswap_promote(struct store *s, struct manifest *next,
		       struct manifest *live, struct error *err)
{
	struct server *server = (struct server *)s;
	struct filter_params params;
	struct promotion p = {.server = server,
			      .generation = next->generation,
			      .refused = ERROR_INIT};
	uint64_t fence;
	bool resuming;
	int rc;

	serverlook_forget(server);
	if (server_need_lock(server, err) != 0 ||
	    store_params(next, &p.engine, &params, err) != 0 ||
	    serverlive_read(server, &p.seen, &fence, err) != 0)
		return -1;
	rc = check_seen(&p, live, &resuming, err);
	if (rc == 0)
		rc = move_all(&p, next, live, resuming, err);
	free(p.seen);
	return rc;
}
