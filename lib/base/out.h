/* SPDX-License-Identifier: BSD-2-Clause
 *
 * out: a descriptor that is written to without ever waiting longer than a stop.
 *
 * A reader that does not read must not keep a run from ending, so what waits
 * for room waits for a stop (lib/base/stop.h) too.  The descriptor is often
 * shared with other programs, to whom O_NONBLOCK would be a surprise: on Linux
 * a pipe or a terminal is opened once more instead, and a socket is asked call
 * by call.  Where neither is possible it is polled, and gets no more at once
 * than a pipe with any room has room for.  Files are simply written.
 *
 * A stop ends only what would have to wait: a reader that keeps up gets all.
 * What was accepted is written in order and once, up to the first error; after
 * it nothing is, and every later call has the same error.  Not for several
 * threads at a time.
 */
#ifndef BLOOMCTL_BASE_OUT_H
#define BLOOMCTL_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

#define OUT_SIZE (64u << 10)

enum out_way {
	OUT_UNKNOWN, /* nothing was written yet */
	OUT_PLAIN,   /* a file: write() waits for a disk at most */
	OUT_FREE,    /* a pipe or terminal, opened here: write() never waits */
	OUT_SOCKET,  /* send() is told not to wait */
	OUT_CAREFUL, /* write() may wait, and follows a poll() */
};

struct out_end {
	int given;        /* borrowed */
	const char *name; /* for messages; borrowed */
	enum out_way way;
	int fd; /* the given one, or with OUT_FREE one of its own */
};

struct out {
	struct out_end end;
	struct error failure; /* the first; ERROR_NONE while all is well */
	size_t len;
	char data[OUT_SIZE];
};

/* What a static struct out begins as. */
#define OUT_INIT(fd, name)                                      \
	{                                                       \
		{(fd), (name), OUT_UNKNOWN, -1}, ERROR_INIT, 0, \
		{                                               \
			0                                       \
		}                                               \
	}

/* Begins with a descriptor, which is looked at when it is first written to. */
void out_init(struct out *out, int fd, const char *name);

/*
 * Accepts bytes, and writes when there are many.  0, or -1: ERROR_DATA with
 * the name and the errno's text; or a stop came first and has its own error
 * (stop_check()).  Of the bytes of a call that failed some may be written.
 */
int out_write(struct out *out, const void *data, size_t len, struct error *err);

/* Writes what was accepted.  0 or -1 as out_write(). */
int out_flush(struct out *out, struct error *err);

/* Closes what was opened here.  What is not flushed is lost. */
void out_release(struct out *out);

/*
 * The same for a line now and then: nothing is kept between calls, so threads
 * may call it, and the descriptor may be another one each time.
 */
int out_now(int fd, const char *name, const void *data, size_t len,
	    struct error *err);

#endif
