/* SPDX-License-Identifier: BSD-2-Clause
 *
 * build: what bloomctl build and bloomctl rebuild make of the same options.
 */
#ifndef BLOOMCTL_CMD_BUILD_H
#define BLOOMCTL_CMD_BUILD_H

#include "cmd/opts.h"
#include "lib/job/build.h"

/* Fills in all but the source's name. */
void build_read(const struct opts *opts, struct build_options *o);

/* Says what was built, or in a dry run what would be. */
int build_say(const struct build_report *r, bool dry_run, struct error *err);

#endif
