/* SPDX-License-Identifier: BSD-2-Clause
 *
 * pipe: what can be read once and ends without a word of its own: standard
 * input, a FIFO.  That it was whole is said by its trailer (trailer.h).
 */
#ifndef BLOOMCTL_ROWS_PIPE_H
#define BLOOMCTL_ROWS_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/rows/source.h"

/*
 * The raw bytes of a descriptor, which is borrowed and must stay open as long
 * as the stream is.  A read waits, until a stop is asked for.
 */
int pipe_stream_open(int fd, struct stream **out, struct error *err);

/*
 * Standard input as a source, for the word "-", which stands alone: rests of
 * more than one word are ERROR_USAGE.  A terminal is ERROR_SOURCE.
 */
int pipe_source_open(const char *const *rests, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err);

#endif
