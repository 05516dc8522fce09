/* SPDX-License-Identifier: BSD-2-Clause
 *
 * swap: what bloomctl swap does in a file of its own.
 */
#ifndef BLOOMCTL_CMD_SWAP_H
#define BLOOMCTL_CMD_SWAP_H

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "lib/job/audit.h"
#include "lib/store/store.h"

/*
 * swap --adopt: with the rows of --source.  *report is what *receipt tells of,
 * and released by the caller.
 */
int swap_adopt(const struct opts *opts, struct inputs *in, struct store *store,
	       struct receipt *receipt, struct audit_report *report,
	       struct error *err);

/* 0, or ERROR_USAGE: an option on the command line that goes with --adopt. */
int swap_check_adopt(const struct opts *opts, struct error *err);

#endif
