/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What of sessions is not a server's: who has which.
 */
#include <pthread.h>
#include <stdlib.h>

#include "lib/pg/session_private.h"
#include "lib/rows/postgres.h"
#include "tests/unit/unit.h"

#define SESSIONS 4
#define THREADS  4
#define ROUNDS   2000

/* Sessions that are connected to nobody. */
static void init(struct pgsessions *s)
{
	memset(s, 0, sizeof(*s));
	(void)pthread_mutex_init(&s->mutex, NULL);
	s->word = strdup("host=/nowhere");
	s->idle = calloc(SESSIONS, sizeof(struct session *));
	REQUIRE(s->word != NULL && s->idle != NULL);
	s->cap = SESSIONS;
	for (; s->count < SESSIONS; s->count++) {
		s->idle[s->count] = calloc(1, sizeof(struct session));
		REQUIRE(s->idle[s->count] != NULL);
	}
	s->first = s->idle[0];
}

static void *take_and_give(void *arg)
{
	struct pgsessions *s = arg;
	struct session *session;
	struct error err = ERROR_INIT;
	bool idle;

	for (int i = 0; i < ROUNDS; i++) {
		if (pgsessions_take(s, &session, &idle, &err) != 0 || !idle)
			break; /* and is missing in the sum */
		/* Whoever else had it would be seen by ThreadSanitizer. */
		session->facts.version++;
		pgsessions_give(s, session, true);
	}
	return NULL;
}

static void one_at_a_time_has_a_session(void)
{
	pthread_t threads[THREADS];
	struct pgsessions s;
	int taken = 0;

	init(&s);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, take_and_give, &s) ==
			0);
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	CHECK_U64(s.count, SESSIONS);
	for (size_t i = 0; i < SESSIONS; i++)
		taken += s.idle[i]->facts.version;
	CHECK(taken == THREADS * ROUNDS);
	CHECK(!s.late);
	pgsessions_release(&s);
}

static void one_that_is_not_good_is_not_lent_again(void)
{
	struct session *session;
	struct pgsessions s;
	struct error err = ERROR_INIT;
	bool idle;

	init(&s);
	for (size_t i = SESSIONS; i > 0; i--) {
		REQUIRE(pgsessions_take(&s, &session, &idle, &err) == 0);
		CHECK_U64(s.count, i - 1);
		/* Nobody can share the snapshot of one that is closed. */
		CHECK(s.first != NULL);
		pgsessions_give(&s, session, false);
		CHECK_U64(s.count, i - 1);
	}
	CHECK(s.first == NULL);
	/* And a new one has a later snapshot. */
	CHECK(pgsessions_take(&s, &session, &idle, &err) == -1);
	CHECK(!idle && session == NULL && s.late);
	CHECK_U64(err.code, ERROR_TEMPORARY);
	CHECK_STR(err.hint, "run it again");
	pgsessions_release(&s);
}

static void a_change_is_for_all(void)
{
	struct pgsessions s;

	init(&s);
	CHECK(!pgsessions_changed(&s));
	pgsessions_set_changed(&s);
	CHECK(pgsessions_changed(&s));
	pgsessions_drop(&s);
	CHECK(s.count == 0 && s.first == NULL);
	pgsessions_release(&s);
}

int main(void)
{
	UNIT(one_at_a_time_has_a_session,
	     "pgsessions: a session is lent to one thread at a time");
	UNIT(one_that_is_not_good_is_not_lent_again,
	     "pgsessions: one that is not good is not lent again");
	UNIT(a_change_is_for_all, "pgsessions: a changed table is for all");
	return unit_end();
}
