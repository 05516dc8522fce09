/* SPDX-License-Identifier: BSD-2-Clause
 *
 * answers: a conn_fn that writes down what it is called with.
 */
#ifndef BLOOMCTL_TESTS_UNIT_REDIS_ANSWERS_H
#define BLOOMCTL_TESTS_UNIT_REDIS_ANSWERS_H

#include "lib/redis/conn.h"
#include "tests/unit/unit.h"

struct answers {
	size_t count;
	bool fails;      /* refuses each */
	bool wrong;      /* answers_sum(): an integer was not the tag */
	uint64_t sum;    /* answers_sum(): of the integers */
	char text[4096]; /* "TAG=INTEGER " of each, as far as there is room */
};

static inline int answers_take(void *ctx, uint64_t tag,
			       const struct reply *reply, struct error *err)
{
	struct answers *a = ctx;
	size_t at = strlen(a->text);
	int64_t n = -1;

	a->count++;
	(void)reply_integer(reply, &n);
	(void)snprintf(a->text + at, sizeof(a->text) - at,
		       "%" PRIu64 "=%" PRId64 " ", tag, n);
	if (a->fails)
		return error_set(err, ERROR_FULL, "filter 'x' is full");
	return 0;
}

/* For many: their tags are what is to come. */
static inline int answers_sum(void *ctx, uint64_t tag,
			      const struct reply *reply, struct error *err)
{
	struct answers *a = ctx;
	int64_t n = -1;

	(void)err;
	a->count++;
	a->wrong =
		a->wrong || reply_integer(reply, &n) != 0 || (uint64_t)n != tag;
	a->sum += (uint64_t)n;
	return 0;
}

/* Sends a command of one word. */
static inline int answers_send(struct answers *a, struct conn *c,
			       const char *word, uint64_t tag,
			       struct error *err)
{
	return conn_sendv(c, 1, &word, NULL, answers_take, a, tag, err);
}

#endif
