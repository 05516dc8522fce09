/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rebuild: a new generation is built, checked, made live and verified, under
 * one lock from the first step to the last.
 *
 *	finish ─► prune ─► doctor ─► build ─► swap ─► verify
 *
 * Each step is what the command of that name does; the first one is what an
 * earlier swap has left undone.  The first that fails ends the run.
 */
#ifndef BLOOMCTL_JOB_REBUILD_H
#define BLOOMCTL_JOB_REBUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/audit.h"
#include "lib/job/build.h"
#include "lib/job/doctor.h"
#include "lib/job/prune.h"
#include "lib/job/scan.h"
#include "lib/job/swap.h"
#include "lib/store/store.h"

enum rebuild_step {
	REBUILD_LOCK,
	REBUILD_FINISH,
	REBUILD_PRUNE,
	REBUILD_DOCTOR,
	REBUILD_BUILD,
	REBUILD_SWAP,
	REBUILD_VERIFY,
	REBUILD_DONE,
};

struct rebuild_options {
	struct build_options build; /* dry_run: nothing is written at all */
	/* The generation is that of the build, and there is no way back. */
	struct swap_options swap;
	uint64_t keep;   /* retired generations that stay */
	uint64_t sample; /* rows of a database that are asked for at the end;
			    0: all */
	uint64_t absent; /* random non-members, likewise */
	/*
	 * Called when the rows of the source were read and it is not needed any
	 * more: what it keeps open would keep the database from forgetting.
	 * scan->source may be gone then.
	 */
	void (*read)(void *ctx);
	void *ctx;
};

struct rebuild_report {
	enum rebuild_step step;     /* that it came to */
	char live[NAMES_ID_MAX];    /* what was, before the swap; "": nothing */
	bool finished;              /* what an earlier swap had left undone */
	bool verified;              /* rows were asked for */
	struct prune_report pruned; /* and what each step says of itself */
	struct doctor_report doctor;
	struct build_report build;
	struct swap_report swap;
	struct audit_report audit;
};

/*
 * Rebuilds.  The error is that of the step that failed, and says which one and
 * what readers get.  store may be NULL in a dry run, for a target that is not
 * there.  *report is filled in as far as the run came, also on failure.
 */
int rebuild_run(struct store *store, const struct scan *scan,
		const struct rebuild_options *options,
		struct rebuild_report *report, struct error *err);

/* "build"; of REBUILD_DONE NULL. */
const char *rebuild_step_name(enum rebuild_step step);

void rebuild_report_release(struct rebuild_report *report);

#endif
