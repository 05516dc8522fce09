/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"
#include "lib/job/swap_private.h"

bool swapcatch_wanted(const struct swapping *s)
{
	return s->o->catchup != NULL && !s->o->unchanging &&
	       (s->o->since != 0 || !horizon_none(&s->next_horizon));
}

/* A pass of no rows: the filters are said to have this horizon. */
static int declare(struct swapping *s, struct error *err)
{
	const struct store_ops *ops = s->store->ops;
	const struct horizon to = {.read_at = s->o->since,
				   .since = s->o->since};
	struct pass_report done;
	struct horizon oldest;
	uint64_t *keys = calloc(s->next->buckets, sizeof(*keys));
	int rc;

	if (keys == NULL)
		return error_nomem(err);
	rc = ops->pass_begin(s->store, s->next, false, 1, &oldest, err);
	if (rc == 0)
		rc = ops->pass_end(s->store, &to, keys, &done, err);
	free(keys);
	if (rc == 0 && done.failed > 0) {
		*err = done.why;
		return -1;
	}
	if (rc != 0 || done.changed == 0)
		return rc;
	(void)error_set(err, ERROR_TEMPORARY,
			"generation '%s': %" PRIu32 " filters were changed by "
			"others meanwhile",
			s->next->generation, done.changed);
	return error_hint(err, "run it again");
}

int swapcatch_before(struct swapping *s, struct error *err)
{
	if (s->o->unchanging)
		return 0;
	if (s->o->since != 0 && declare(s, err) != 0)
		return -1;
	if (!swapcatch_wanted(s))
		return 0;
	s->report->caught = true;
	return catchup_shadow(s->store, s->spec, s->next, s->o->catchup,
			      &s->report->shadow, err);
}

/*
 * A standby shows by then what was committed before the last rename, if it
 * never lags longer.
 */
static int wait_overlap(const struct swapping *s, struct error *err)
{
	const struct source_query *q = s->o->catchup->query;

	if (!s->report->shadow.standby || q->writer != NULL ||
	    q->overlap_ms <= 0)
		return 0;
	for (int64_t left = q->overlap_ms; left > 0; left -= 1000)
		if (input_wait_for(-1, 0, left < 1000 ? (int)left : 1000, err) <
		    0)
			return -1;
	return 0;
}

static int64_t since(const struct horizon *h, int64_t ended)
{
	return !horizon_none(h) && ended > h->read_at ? ended - h->read_at : 0;
}

/*
 * A row whose writer died before its add is in no live filter from its commit
 * until a pass has read it: by the renames it was in none that was not before
 * the last horizon then, and before them in none that live had not caught up.
 */
static void tell_exposure(struct swapping *s)
{
	struct swap_report *r = s->report;
	int64_t gap = since(&s->live_horizon, r->live.ended);

	r->exposure_ms =
		since(r->shadow.passes > 0 ? &r->shadow.to : &r->live.from,
		      r->live.ended);
	r->recent_ms = catchup_recent_ms(
		s->o->catchup, gap > r->exposure_ms ? gap : r->exposure_ms);
	catchup_record(s->store, r->live.ended, r->exposure_ms, r->recent_ms);
}

static int behind(const struct swapping *s, struct error *err)
{
	struct error why = *err;
	char when[CLOCK_TEXT_MAX];
	const struct swap_report *r = s->report;

	(void)error_set(err, why.code,
			"generation '%s' is live, but may lack what was "
			"committed since %s: %.330s",
			s->next->generation,
			clock_text(r->shadow.passes > 0
					   ? r->shadow.to.read_at
					   : s->next_horizon.read_at,
				   when),
			why.text);
	if (why.code == ERROR_FULL)
		return error_hint(err, "%s", why.hint);
	return error_hint(err, "run bloomctl sync, or the same swap again");
}

int swapcatch_after(struct swapping *s, struct error *err)
{
	struct swap_report *r = s->report;
	int rc;

	if (!swapcatch_wanted(s))
		return 0;
	r->caught = true;
	s->store->ops->phase(s->store, "catching up", 0, 0);
	rc = wait_overlap(s, err);
	if (rc == 0)
		rc = catchup_live(s->store, s->spec, s->next, s->o->catchup,
				  &r->live, err);
	if (rc != 0)
		return behind(s, err);
	tell_exposure(s);
	return 0;
}
