/* SPDX-License-Identifier: BSD-2-Clause
 *
 * doctor: whether a target is fit for a set, before anything is done to it.
 */
#ifndef BLOOMCTL_JOB_DOCTOR_H
#define BLOOMCTL_JOB_DOCTOR_H

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/finding.h"
#include "lib/store/store.h"

struct doctor_report {
	char set[NAMES_SET_MAX];
	struct findings findings; /* also what is as it should be */
};

/*
 * Looks at a target without writing anything: engine, servers, generations,
 * lock, rights and room.  What is wrong is a finding; the call fails only if
 * it is stopped or memory is out.  store is NULL where the target could not
 * be opened: opened says why, or with ERROR_NONE that a build would make it.
 */
int doctor_run(struct store *store, const struct bloomkey_spec *spec,
	       const struct error *opened, struct doctor_report *report,
	       struct error *err);

/*
 * The same for one that holds the set's lock and will build and swap: nothing
 * is said of the lock, and what a new generation mends is a warning at most.
 */
int doctor_locked(struct store *store, const struct bloomkey_spec *spec,
		  struct doctor_report *report, struct error *err);

void doctor_report_release(struct doctor_report *report);

#endif
