/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/store/serverbuild.h"

/* A guarded change of the set's records; *lost: of which the lock is gone. */
static int change(struct server *server, enum script script,
		  const char *const keys[], const char *const args[],
		  const char *what, bool *lost, struct error *err)
{
	const struct reply *reply;
	const char *word;

	if (script_call(server->cluster, script, keys, args, what, &reply,
			err) != 0)
		return error_prefix(err, "set '%s'", server->set);
	word = script_word(reply, NULL);
	*lost = strcmp(word, "lost") == 0;
	if (*lost || strcmp(word, "ok") == 0)
		return 0;
	return error_set(err, ERROR_DATA, "set '%s': %s: '%.40s'", server->set,
			 what, word);
}

static int lost_lock(const struct server *server, const char *what,
		     struct error *err)
{
	(void)error_set(err, ERROR_LOCKED,
			"set '%s': the lock is not held any more, so %s is not "
			"changed",
			server->set, what);
	return error_hint(err, "see what bloomctl inspect shows, and run it "
			       "again");
}

int server_record(struct server *server, enum script script, const char *name,
		  const char *id, const char *text, struct error *err)
{
	char lock[KEYS_MAX];
	char first[KEYS_MAX];
	char second[KEYS_MAX];
	const char *const keys[] = {
		lock, first, script == SCRIPT_MOVING ? NULL : second, NULL};
	const char *const args[] = {server_token(server), id, text, NULL};
	bool lost;

	if (server_ready(server, err) != 0)
		return -1;
	keys_of_set(server->set, "lock", NULL, lock);
	keys_of_set(server->set,
		    script == SCRIPT_MOVING ? "moving" : "generations", NULL,
		    first);
	keys_of_set(server->set, "manifest", id, second);
	if (change(server, script, keys, args, name, &lost, err) != 0)
		return -1;
	if (!lost)
		return 0;
	/* Its key may be gone and nobody have had it: evicted, say. */
	if (server_need_lock(server, err) != 0 ||
	    lease_confirm(server->lease, server->cluster, err) != 0 ||
	    change(server, script, keys, args, name, &lost, err) != 0)
		return -1;
	return lost ? lost_lock(server, name, err) : 0;
}

/*
 * Filters are reserved without a look at the lock, which lies in another slot:
 * those of a run that woke up late would be nobody's.  What is not sealed
 * nobody else can have taken.
 */
static void drop_ours(struct server *server, const struct manifest *m)
{
	const struct serverbuild *build = server->build;
	struct error ignored = ERROR_INIT;

	if (server->lease == NULL || build == NULL || build->sealed ||
	    strcmp(build->intake.generation, m->generation) != 0)
		return;
	server_tidy(server, true);
	(void)serverdrop_filters(server, m->generation, &ignored);
}

int server_put(struct store *s, const struct manifest *m, struct error *err)
{
	struct server *server = (struct server *)s;
	bool aborted = m->state == MANIFEST_ABORTED;
	size_t len;
	char *text;
	int rc;

	/* A build that found no room has nothing that must be marked. */
	if (aborted && strcmp(server->begun, m->generation) != 0)
		return 0;
	/* What was evicted is why it ends, and no reason to leave the rest. */
	if (aborted && server->lease != NULL)
		lease_unwatch(server->lease);
	rc = server_need_lock(server, err);
	if (rc != 0 && aborted)
		drop_ours(server, m);
	/* Also when a stop is why: what is left over must not stay. */
	if (rc == 0 && aborted) {
		server_tidy(server, true);
		rc = serverdrop_filters(server, m->generation, err);
	}
	text = rc == 0 ? manifest_encode(m, &len, err) : NULL;
	rc = text != NULL ? server_record(server, SCRIPT_RECORD, "manifest",
					  m->generation, text, err)
			  : -1;
	free(text);
	if (aborted)
		server_tidy(server, false);
	return rc;
}
