/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/pg/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pg/session_private.h"

static struct session *session_new(const char *word, struct error *err)
{
	struct session *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->word = strdup(word);
	if (s == NULL || s->word == NULL) {
		(void)error_nomem(err);
		free(s);
		return NULL;
	}
	return s;
}

/* What it showed of how far it is says nothing of another server. */
static int check_place(const struct session *s, struct error *err)
{
	if (!s->moved)
		return 0;
	(void)error_set(err, ERROR_SOURCE,
			"%s: it was another server that said how far it is",
			s->name);
	return error_hint(err, "give the address of one server, and not of a "
			       "proxy or of all readers");
}

/* Connects, where `like` is if it is given, and begins. */
static int begin(struct session *s, const struct session *like,
		 const struct session_goal *goal, struct error *err)
{
	if (connect_open(s->word, like != NULL ? like->conn : NULL, &s->conn,
			 err) != 0)
		return error_prefix(err, s->current ? "writer" : "source");
	if (facts_before(s, err) != 0 ||
	    (goal != NULL && position_wait(s, goal, err) != 0) ||
	    settings_begin(s, like != NULL ? like->exported : NULL, err) != 0 ||
	    facts_within(s, err) != 0)
		return -1;
	return goal != NULL ? check_place(s, err) : 0;
}

static int open_one(const char *word, bool current,
		    const struct session_goal *goal, struct session **out,
		    struct error *err)
{
	struct session *s = session_new(word, err);

	*out = NULL;
	if (s == NULL)
		return -1;
	s->current = current;
	if (begin(s, NULL, goal, err) != 0) {
		session_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

int session_open(const char *word, struct session **out, struct error *err)
{
	return open_one(word, false, NULL, out, err);
}

int session_open_at(const char *word, const struct session_goal *goal,
		    struct session **out, struct error *err)
{
	return open_one(word, false, goal, out, err);
}

int session_open_current(const char *word, struct session **out,
			 struct error *err)
{
	return open_one(word, true, NULL, out, err);
}

static int export_snapshot(struct session *s, struct error *err)
{
	struct answer *answer;
	const char *name;

	if (query_run(s, "SELECT pg_export_snapshot()", 0, NULL, &answer,
		      err) != 0)
		return -1;
	name = answer_text(answer, 0, 0);
	if (name != NULL && strlen(name) < sizeof(s->exported) &&
	    strspn(name, "0123456789ABCDEFabcdef-") == strlen(name))
		(void)snprintf(s->exported, sizeof(s->exported), "%s", name);
	answer_free(answer);
	if (s->exported[0] != '\0')
		return 0;
	return error_set(err, ERROR_DATA,
			 "%s: the name of its snapshot is none",
			 session_name(s));
}

static int other_server(const struct session *s, struct error *err)
{
	(void)error_set(err, ERROR_SOURCE,
			"%s: another connection has come to another server, "
			"which does not have this snapshot",
			session_name(s));
	return error_hint(err, "give the address of one server, and not of a "
			       "proxy or of all readers; or --jobs 1");
}

int session_join(struct session *first, struct session **out, struct error *err)
{
	struct session *s;
	bool here;

	*out = NULL;
	if (first->exported[0] == '\0' && export_snapshot(first, err) != 0)
		return -1;
	s = session_new(first->word, err);
	if (s == NULL)
		return -1;
	if (begin(s, first, NULL, err) != 0) {
		here = !s->lacks_snapshot;
		session_close(s);
		return here ? -1 : other_server(first, err);
	}
	here = strcmp(s->facts.started, first->facts.started) == 0 &&
	       strcmp(s->facts.system, first->facts.system) == 0;
	if (here) {
		*out = s;
		return 0;
	}
	session_close(s);
	return other_server(first, err);
}

const struct session_facts *session_facts(const struct session *session)
{
	return &session->facts;
}

const char *session_name(const struct session *session)
{
	return session->name;
}

void session_close(struct session *session)
{
	if (session == NULL)
		return;
	PQfinish(session->conn);
	free(session->word);
	free(session);
}
