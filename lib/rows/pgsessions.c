/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/rows/postgres.h"

int pgsessions_init(struct pgsessions *s, const char *word,
		    const struct session_goal *goal, struct error *err)
{
	struct session *first;

	memset(s, 0, sizeof(*s));
	(void)pthread_mutex_init(&s->mutex, NULL);
	s->word = strdup(word);
	s->idle = malloc(sizeof(struct session *));
	if (s->word == NULL || s->idle == NULL)
		return error_nomem(err);
	s->cap = 1;
	if (session_open_at(word, goal, &first, err) != 0)
		return -1;
	s->facts = *session_facts(first);
	s->first = first;
	s->idle[s->count++] = first;
	return 0;
}

/* Room for as many in all, lent ones too, so that giving back cannot fail. */
static int reserve(struct pgsessions *s, size_t n, struct error *err)
{
	struct session **more;

	if (n <= s->cap)
		return 0;
	more = realloc(s->idle, n * sizeof(struct session *));
	if (more == NULL)
		return error_nomem(err);
	s->idle = more;
	s->cap = n;
	return 0;
}

int pgsessions_share(struct pgsessions *s, unsigned n, struct error *err)
{
	struct session *joined;

	if (reserve(s, n, err) != 0)
		return -1;
	while (s->first != NULL && s->count < n) {
		if (session_join(s->first, &joined, err) != 0)
			return -1;
		s->idle[s->count++] = joined;
	}
	return 0;
}

/* A snapshot of another server is not later than those before. */
static int open_late(struct pgsessions *s, struct session **out,
		     struct error *err)
{
	const struct session_facts *facts;

	if (session_open(s->word, out, err) != 0) {
		if (err->code != ERROR_UNREACHED)
			return -1;
		/* It was there before, and may be back soon. */
		err->code = ERROR_TEMPORARY;
		return error_hint(err, "run it again");
	}
	facts = session_facts(*out);
	if (strcmp(facts->started, s->facts.started) == 0 &&
	    strcmp(facts->system, s->facts.system) == 0)
		return 0;
	(void)error_set(err, ERROR_TEMPORARY,
			"%s is not the server of which rows were read before, "
			"or has started anew",
			session_name(*out));
	session_close(*out);
	*out = NULL;
	return error_hint(err, "run it again");
}

int pgsessions_take(struct pgsessions *s, struct session **out, bool *idle,
		    struct error *err)
{
	*out = NULL;
	(void)pthread_mutex_lock(&s->mutex);
	if (s->count > 0)
		*out = s->idle[--s->count];
	else
		s->late = true;
	(void)pthread_mutex_unlock(&s->mutex);
	*idle = *out != NULL;
	return *idle ? 0 : open_late(s, out, err);
}

void pgsessions_set_changed(struct pgsessions *s)
{
	(void)pthread_mutex_lock(&s->mutex);
	s->changed = true;
	(void)pthread_mutex_unlock(&s->mutex);
}

bool pgsessions_changed(struct pgsessions *s)
{
	bool changed;

	(void)pthread_mutex_lock(&s->mutex);
	changed = s->changed;
	(void)pthread_mutex_unlock(&s->mutex);
	return changed;
}

void pgsessions_give(struct pgsessions *s, struct session *session, bool good)
{
	(void)pthread_mutex_lock(&s->mutex);
	good = good && s->count < s->cap;
	if (good)
		s->idle[s->count++] = session;
	else if (session == s->first)
		s->first = NULL;
	(void)pthread_mutex_unlock(&s->mutex);
	if (!good)
		session_close(session);
}

void pgsessions_drop(struct pgsessions *s)
{
	while (s->count > 0)
		session_close(s->idle[--s->count]);
	s->first = NULL;
}

void pgsessions_release(struct pgsessions *s)
{
	pgsessions_drop(s);
	free(s->idle);
	free(s->word);
	(void)pthread_mutex_destroy(&s->mutex);
}
