/* SPDX-License-Identifier: BSD-2-Clause
 *
 * catchup: what several subcommands make of the options that say how what was
 * committed since is found.
 */
#ifndef BLOOMCTL_CMD_CATCHUP_H
#define BLOOMCTL_CMD_CATCHUP_H

#include "cmd/inputs.h"
#include "cmd/opts.h"
#include "lib/job/catchup.h"

/* How --catch-up says that what changed is found. */
enum catchup_way { CATCHUP_XMIN, CATCHUP_STAMP, CATCHUP_NONE };

enum catchup_way catchup_way(const struct opts *opts);

/*
 * After inputs_format(), of a database: fills in *out, which borrows of *in and
 * *opts, and is then all that a pass needs.  ERROR_USAGE where the options do
 * not go together.  *is is false where no database is named: then nothing is
 * to be caught up from.
 */
int catchup_read(struct catchup *out, bool *is, struct inputs *in,
		 const struct opts *opts, struct error *err);

/*
 * --static and --horizon: whether nothing was committed since, and ms since
 * 1970 or 0.  ERROR_USAGE for a horizon where what changed is not found by
 * stamps.
 */
int catchup_said(const struct opts *opts, bool database, bool *unchanging,
		 int64_t *since, struct error *err);

#endif
