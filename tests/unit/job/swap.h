/* SPDX-License-Identifier: BSD-2-Clause
 *
 * swap: what the tests of swap share.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_SWAP_H
#define BLOOMCTL_TESTS_UNIT_JOB_SWAP_H

#include "lib/base/log.h"
#include "lib/job/swap.h"
#include "tests/unit/job/job.h"

struct swapping {
	struct bloomkey_spec *spec;
	struct fake f;
	struct swap_options options;
	struct swap_report report;
	struct error err;
};

static inline void swapping_begin(struct swapping *s)
{
	memset(s, 0, sizeof(*s));
	s->spec = job_spec(JOB_KEYSPEC);
	fake_init(&s->f, s->spec);
	log_init(LOG_QUIET, "test");
}

static inline int swapping_run(struct swapping *s)
{
	return swap_run(&s->f.base, s->spec, &s->options, &s->report, &s->err);
}

/* What readers get: an id, or "" for nothing. */
static inline const char *swapping_live(const struct swapping *s)
{
	for (size_t i = 0; i < FAKE_GENERATIONS; i++)
		if (s->f.all[i].m.generation[0] != '\0' &&
		    s->f.all[i].m.state == MANIFEST_LIVE)
			return s->f.all[i].m.generation;
	return "";
}

static inline void swapping_end(struct swapping *s)
{
	swap_report_release(&s->report);
	fake_done(&s->f);
	bloomkey_free(s->spec);
}

#endif
