/* SPDX-License-Identifier: BSD-2-Clause
 *
 * phase: others see how far the run is that holds a set's lock.
 */
#ifndef BLOOMCTL_JOB_PHASE_H
#define BLOOMCTL_JOB_PHASE_H

#include "lib/job/scan.h"
#include "lib/store/store.h"

struct phase {
	struct store *store;
	struct progress inner; /* who looks on here */
};

/*
 * From now on a scan's progress goes to others, too: in bytes where their
 * total is known, else in rows; and it ends when the lock is lost.  *phase must
 * stay where it is for as long.
 */
void phase_watch(struct phase *phase, struct store *store, struct scan *scan);

#endif
