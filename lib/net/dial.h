/* SPDX-License-Identifier: BSD-2-Clause
 *
 * dial: a connected socket to an address, within a time, for stream.c alone.
 */
#ifndef BLOOMCTL_NET_DIAL_H
#define BLOOMCTL_NET_DIAL_H

#include <stdint.h>

#include "lib/base/clock.h"
#include "lib/base/error.h"
#include "lib/net/stream.h"

/* The time of clock_ns() at which ms milliseconds will have passed. */
int64_t dial_limit(int ms);

/* Milliseconds until then, rounded up, so that 0 is the end. */
int dial_left(int64_t limit);

/* "30 s", or "300 ms" where it is less than one.  Returns out. */
const char *dial_span(int ms, char out[CLOCK_TEXT_MAX]);

/*
 * Resolves and connects, until limit; ms is what messages call it.  *fd is
 * owned by the caller, does not block and is closed on exec.  The resolver's
 * time is its own: it ends with neither the limit nor a stop.  0, or -1 as
 * net_open().
 */
int dial(const struct net_address *address, int ms, int64_t limit, int *fd,
	 struct error *err);

#endif
