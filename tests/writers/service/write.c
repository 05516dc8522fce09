/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks cards, one after the other, and unblocks and blocks again some that
 * were there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service.h"

struct writer {
	struct service *s;
	const struct work *w;
	uint64_t random;
	bool *blocked; /* of each card that was begun */
	size_t cards, room;
	unsigned long done[OUTCOME_ALARM + 1];
};

/* A number below `below`, by a generator that is the same everywhere. */
static uint64_t draw(struct writer *me, uint64_t below)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 7;
	me->random ^= me->random << 17;
	return me->random % below;
}

static bool happens(struct writer *me, unsigned percent)
{
	return percent > 0 && draw(me, 100) < percent;
}

/* How the next transaction goes; its stamp, if it has one, is in clock. */
static struct manner draw_manner(struct writer *me, char *clock, size_t size)
{
	const struct work *w = me->w;
	struct manner manner = {
		.rolled_back = happens(me, w->rollback),
		.two_phase = happens(me, w->two_phase),
		.unstamped = happens(me, w->unstamped),
		.removes = happens(me, w->removes),
		.lost = happens(me, w->lost),
	};
	const double at = now() + w->clock;
	const time_t second = (time_t)at;
	struct tm tm;
	size_t len;

	if (!w->own_clock || gmtime_r(&second, &tm) == NULL)
		return manner;
	len = strftime(clock, size, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(clock + len, size - len, ".%06dZ",
		 (int)((at - (double)second) * 1e6));
	manner.clock = clock;
	return manner;
}

/* Number of a card that was there or, mostly, of a new one. */
static size_t choose(struct writer *me)
{
	bool *more;

	if (me->cards > 0 && happens(me, me->w->flip))
		return draw(me, me->cards);
	if (me->cards == me->room) {
		me->room = me->room * 2 + 1024;
		more = realloc(me->blocked, me->room * sizeof(*more));
		if (more == NULL)
			abort();
		me->blocked = more;
	}
	me->blocked[me->cards] = false;
	return me->cards++;
}

static enum outcome one(struct writer *me)
{
	char entity[256], clock[32];
	const char *values[FIELDS] = {entity, me->w->scope};
	const struct manner manner = draw_manner(me, clock, sizeof(clock));
	size_t i = choose(me);
	enum outcome outcome;

	snprintf(entity, sizeof(entity), "%.200s%07zu", me->w->name, i);
	if (me->blocked[i]) {
		outcome = unblock(me->s, values, &manner);
		me->blocked[i] = outcome != OUTCOME_DONE;
		return outcome;
	}
	outcome = block(me->s, values, &manner);
	me->blocked[i] = outcome == OUTCOME_DONE || outcome == OUTCOME_NO_KEY;
	return outcome;
}

int write_cards(struct service *s, const struct work *w)
{
	const double began = now();
	struct writer me = {.s = s, .w = w, .random = w->seed * 2 + 1};
	enum outcome outcome;

	for (unsigned long i = 0; w->number == 0 || i < w->number; i++) {
		if (w->rate > 0)
			sleep_for(began + (double)i / w->rate - now());
		if (stopped() || (w->until > 0 && now() >= w->until))
			break;
		outcome = one(&me);
		me.done[outcome]++;
		if (outcome == OUTCOME_NO_KEY)
			fprintf(stderr, "in the database only: %s\n", s->why);
		if (outcome != OUTCOME_ALARM)
			continue;
		fprintf(stderr, "ALARM: %s\n", s->why);
		if (me.done[OUTCOME_ALARM] >= w->alarms ||
		    PQstatus(s->db) != CONNECTION_OK)
			break;
	}
	free(me.blocked);
	printf("done=%lu rolled_back=%lu no_key=%lu alarms=%lu\n",
	       me.done[OUTCOME_DONE], me.done[OUTCOME_ROLLED_BACK],
	       me.done[OUTCOME_NO_KEY], me.done[OUTCOME_ALARM]);
	return me.done[OUTCOME_ALARM] == 0 ? 0 : 1;
}
