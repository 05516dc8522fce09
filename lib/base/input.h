/* SPDX-License-Identifier: BSD-2-Clause
 *
 * input: reading a descriptor that may let us wait, such as a pipe, and waits
 * for whatever else a descriptor may do.  A wait ends when a stop is asked for.
 */
#ifndef BLOOMCTL_BASE_INPUT_H
#define BLOOMCTL_BASE_INPUT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* Whether what a thread waits for is still wanted. */
typedef bool input_wanted(void *ctx);

/*
 * Has the waits of the calling thread ask, about once a second, whether they
 * are wanted, until it is called again with NULL.  Those that are not fail
 * with ERROR_INTERRUPTED.
 */
void input_set_wanted(input_wanted *wanted, void *ctx);

/*
 * Has no stop end the waits of the calling thread, until it is called again
 * with false: for what must be tidied up after one, or in spite of it.
 */
void input_set_patient(bool patient);

/* 0, or -1 with ERROR_INTERRUPTED: a stop, or it is not wanted any more. */
int input_check(struct error *err);

/*
 * Waits at most ms milliseconds (-1: for ever) until one of the events of
 * poll(2) has come, or the end or an error of fd.  1 then, 0 when the time is
 * over, -1 as input_check() or ERROR_INTERNAL.  With fd -1 it only lets the
 * time pass.
 */
int input_wait_for(int fd, short events, int ms, struct error *err);

/*
 * The same for several, as poll(2) has them: those with fd -1 are passed over,
 * and revents says which are ready.
 */
int input_wait_many(struct pollfd *fds, size_t count, int ms,
		    struct error *err);

/* As input_wait_for(), until there is something to read. */
int input_wait(int fd, int ms, struct error *err);

/*
 * Waits and reads up to cap bytes, as many as are there; *got is 0 only at
 * the end.  0, or -1: a stop, or ERROR_DATA "cannot read it".
 */
int input_read(int fd, void *buf, size_t cap, size_t *got, struct error *err);

#endif
