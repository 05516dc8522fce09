/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hook: a command of the operator's that is told how a run goes, and may say
 * no to it.
 *
 * It gets a text on standard input, which it need not read; what it prints goes
 * to standard error.
 */
#ifndef BLOOMCTL_JOB_HOOK_H
#define BLOOMCTL_JOB_HOOK_H

#include <stddef.h>

#include "lib/base/error.h"

struct hook {
	const char *option;  /* that names it, for messages */
	const char *command; /* of the shell */
	char *const *environment;
	/* How long it may take, in ms, whatever stop is asked for; 0: until
	 * one is. */
	int patience_ms;
};

/*
 * Runs it to its end.  ERROR_VERIFY: it did not end with 0; ERROR_TEMPORARY:
 * its patience_ms are over; ERROR_INTERNAL; or a stop.  Nothing of it runs any
 * more then.
 */
int hook_run(const struct hook *hook, const void *text, size_t len,
	     struct error *err);

#endif
