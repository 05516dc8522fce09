/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/num.h"
#include "lib/store/lease_private.h"

const char *lease_name(const struct lease *l)
{
	return l->sync ? "sync-lock" : "lock";
}

static int held_by(const struct lease *l, const struct reply *reply,
		   const char *how, struct error *err)
{
	char owner[256] = "another run";

	if (reply->len > 1 && reply->u.items[1].type == REPLY_ARRAY)
		lease_owner(&reply->u.items[1], owner, sizeof(owner));
	return error_set(err, ERROR_LOCKED, "set '%s': %s by %s",
			 l->server->set, how, owner);
}

/* The words of SCRIPT_LOCK and SCRIPT_BEAT; last is what they end with. */
struct words {
	char lock[KEYS_MAX];
	char fence[KEYS_MAX];
	char ms[SERVER_NUMBER_MAX];
	char pid[SERVER_NUMBER_MAX];
	char phase[64];
	char done[SERVER_NUMBER_MAX];
	char total[SERVER_NUMBER_MAX];
	char last[SERVER_NUMBER_MAX];
	const char *keys[3];
	const char *args[11];
};

static void fill(const struct lease *l, uint64_t last, struct words *w)
{
	const char *const args[] = {l->token, w->ms,    l->command, l->host,
				    w->pid,   l->since, w->phase,   w->done,
				    w->total, w->last,  NULL};

	keys_of_set(l->server->set, lease_name(l), NULL, w->lock);
	keys_of_set(l->server->set, l->sync ? "sync-fence" : "fence", NULL,
		    w->fence);
	(void)server_number((uint64_t)l->lease_ms, w->ms);
	(void)server_number((uint64_t)getpid(), w->pid);
	memcpy(w->phase, l->phase, sizeof(w->phase));
	(void)server_number(l->done, w->done);
	(void)server_number(l->total, w->total);
	(void)server_number(last, w->last);
	w->keys[0] = w->lock;
	w->keys[1] = w->fence;
	w->keys[2] = NULL;
	memcpy(w->args, args, sizeof(args));
}

static int lock_lost(const struct lease *l, struct error *err)
{
	(void)error_set(err, ERROR_TEMPORARY,
			"set '%s': its lock was lost on the server, and "
			"another run may have had it meanwhile",
			l->server->set);
	return error_hint(err, "see what bloomctl inspect shows, and run it "
			       "again");
}

static int passed(const struct lease *l, struct error *err)
{
	(void)error_set(err, ERROR_LOCKED,
			"set '%s': the lock ran out, and another run has had "
			"it since",
			l->server->set);
	return error_hint(err, "see what bloomctl inspect shows, and run it "
			       "again");
}

int lease_confirm(struct lease *l, struct cluster *c, struct error *err)
{
	const struct reply *reply;
	struct words w;
	const char *word;

	(void)pthread_mutex_lock(&l->mutex);
	fill(l, l->fence, &w);
	(void)pthread_mutex_unlock(&l->mutex);
	if (script_call(c, SCRIPT_BEAT, w.keys, w.args, "lock", &reply, err) !=
	    0)
		return -1;
	word = script_word(reply, NULL);
	if (strcmp(word, "taken") == 0)
		return held_by(l, reply, "the lock was taken over", err);
	if (strcmp(word, "passed") == 0)
		return passed(l, err);
	if (strcmp(word, "gone") == 0)
		return lock_lost(l, err);
	if (strcmp(word, "again") == 0)
		log_warn("set '%s': the lock was gone from the server, and is "
			 "taken again: nobody else had it",
			 l->server->set);
	return 0;
}

int lease_lock(struct lease *l, uint64_t least, struct error *err)
{
	const struct reply *reply;
	const char *fence;
	struct words w;

	fill(l, least, &w);
	l->beaten = clock_ns();
	if (script_call(l->cluster, SCRIPT_LOCK, w.keys, w.args, "lock", &reply,
			err) != 0)
		return error_prefix(err, "set '%s'", l->server->set);
	if (strcmp(script_word(reply, &fence), "held") == 0)
		return held_by(l, reply, l->sync ? "kept up to date" : "locked",
			       err);
	if (num_u64(fence, &l->fence) != 0)
		return error_set(err, ERROR_DATA, "set '%s': lock: no fence",
				 l->server->set);
	return 0;
}
