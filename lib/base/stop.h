/* SPDX-License-Identifier: BSD-2-Clause
 *
 * stop: SIGINT, SIGTERM, SIGHUP and a deadline as a request that every loop
 * looks at.
 *
 * The handler sets a flag and makes a descriptor readable, so that a worker
 * may test and a poll may wait.  A second signal changes nothing: the work in
 * hand is brought to a safe end within seconds.
 */
#ifndef BLOOMCTL_BASE_STOP_H
#define BLOOMCTL_BASE_STOP_H

#include <stdbool.h>

#include "lib/base/error.h"

/* Installs the handlers; SIGPIPE and SIGXFSZ are ignored.  Once, from main. */
int stop_init(struct error *err);

/*
 * Asks for a stop at a time, or when a duration has passed from now on; text
 * says which, as clock_parse_time() and clock_parse_span() read them.  Once,
 * after stop_init(); SIGALRM is used for it.  ERROR_TEMPORARY if the time is
 * past; ERROR_USAGE if text is neither.
 */
int stop_deadline(const char *text, struct error *err);

/* Readable once a stop is asked for; -1 before stop_init(). */
int stop_fd(void);

/* Whether a stop is asked for. */
bool stop_asked(void);

/*
 * 0, or if a stop is asked for -1 with ERROR_INTERRUPTED, ERROR_TERMINATED or,
 * by the deadline, ERROR_TEMPORARY.
 */
int stop_check(struct error *err);

#endif
