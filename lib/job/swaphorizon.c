/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/job/swap_private.h"

/*
 * The oldest of the live filters' horizons, as far as they can be read; that
 * of the build where one has none.
 */
static void read_live(struct swapping *s)
{
	struct horizon *oldest = &s->live_horizon;
	struct bucket_info info;

	if (s->live == NULL)
		return;
	for (uint32_t b = 0; b < s->live->buckets; b++) {
		struct error ignored = ERROR_INIT;

		if (s->store->ops->info(s->store, s->live, b, false, &info,
					&ignored) != 0)
			memset(&info.horizon, 0, sizeof(info.horizon));
		if (b == 0)
			*oldest = info.horizon;
		horizon_oldest(oldest, &info.horizon);
		if (horizon_none(oldest))
			break;
	}
	if (horizon_none(oldest))
		*oldest = s->live->horizon;
}

static int was_fed(const struct swapping *s, int64_t fed, struct error *err)
{
	char when[CLOCK_TEXT_MAX];

	(void)error_set(err, ERROR_GENERATION,
			"set '%s': it was fed by sync until %s, and no source "
			"gives that again to generation '%s'",
			s->next->set, clock_text(fed, when),
			s->next->generation);
	return error_hint(err,
			  "give --horizon TIME, have the feeder begin again "
			  "there, and no later; or --static, if that may be "
			  "lost");
}

static int lacks(const struct swapping *s, struct error *err)
{
	char when[CLOCK_TEXT_MAX];

	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': it lacks what was committed since "
			"%s",
			s->next->generation,
			clock_text(s->next_horizon.read_at, when));
	return error_hint(err, "give the database, --source and --table, to "
			       "catch up from; or --static, if nothing was");
}

static int has_none(const struct swapping *s, struct error *err)
{
	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': it has no horizon, and the live one "
			"has: what it lacks of that cannot be told",
			s->next->generation);
	return error_hint(err, "say what it is: --horizon TIME; or --static, "
			       "if nothing was committed since it was read");
}

int swaphorizon_check(struct swapping *s, struct error *err)
{
	const struct swap_options *o = s->o;
	int64_t fed;

	read_live(s);
	if (o->unchanging)
		return 0;
	if (s->store->ops->fed(s->store, &fed, err) != 0)
		return -1;
	if (fed != 0 && o->since == 0)
		return was_fed(s, fed, err);
	if (horizon_none(&s->next_horizon))
		s->next_horizon = s->next->horizon;
	if (o->since != 0)
		return 0;
	if (!horizon_none(&s->next_horizon))
		return o->catchup != NULL ? 0 : lacks(s, err);
	return horizon_none(&s->live_horizon) ? 0 : has_none(s, err);
}
