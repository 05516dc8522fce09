/* SPDX-License-Identifier: BSD-2-Clause
 *
 * verdict: an inspection as one line and one status, for monitors.
 */
#ifndef BLOOMCTL_JOB_VERDICT_H
#define BLOOMCTL_JOB_VERDICT_H

#include "lib/job/inspect.h"

/* The statuses that monitors know. */
enum verdict_status {
	VERDICT_OK = 0,
	VERDICT_WARNING = 1,
	VERDICT_CRITICAL = 2,
	VERDICT_UNKNOWN = 3, /* it could not look */
};

struct verdict {
	enum verdict_status status;
	char text[1024]; /* one line: "WARNING: set 'cards-...': ..." */
};

/*
 * Judges what inspect_run() has reported, or with rc other than 0 why it has
 * not (err).  warn and crit are percentages of the fullest filter's capacity.
 * A filter that is missing, damaged or foreign, or that vanishes, and a set
 * without a live generation are critical, whatever the fill.
 */
void verdict_of(const struct inspect_report *r, int rc, const struct error *err,
		double warn, double crit, struct verdict *out);

#endif
