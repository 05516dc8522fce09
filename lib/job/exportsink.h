/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exportsink: one worker's way from rows to the packed bytes of an export.
 */
#ifndef BLOOMCTL_JOB_EXPORTSINK_H
#define BLOOMCTL_JOB_EXPORTSINK_H

#include <stdbool.h>

#include "lib/base/buf.h"
#include "lib/job/exportfile.h"
#include "lib/job/scan.h"
#include "lib/rows/pack.h"

/* Takes a pipe's packed bytes. */
struct exportpipe {
	int (*write)(void *ctx, const void *data, size_t len,
		     struct error *err);
	void *ctx;
};

struct exportsink {
	struct sink base;
	struct exportfile *file;       /* borrowed; NULL: a pipe */
	const struct exportpipe *pipe; /* borrowed; NULL: files */
	struct pack *pack;
	struct sum_stream *sum; /* of a part's file, or a pipe's rows */
	struct buf keys;        /* lines not yet packed */
	struct buf header;      /* that the part borrows */
	size_t number;          /* of the part; 0: none is open */
	int fd;
	struct exportpart part; /* so far */
	uint64_t unpacked;      /* bytes of parts that are done */
	uint64_t unpacked_part; /* bytes of this one */
};

/*
 * Makes a sink of files or of a pipe; keys: lines of keys are written, and not
 * the bytes of rows.  Release in both cases.
 */
int exportsink_init(struct exportsink *s, struct exportfile *file,
		    const struct exportpipe *pipe, enum pack_kind packed,
		    bool keys, struct error *err);

/* The end of a pipe: its trailer. */
int exportsink_trailer(struct exportsink *s, struct error *err);

/* Removes the part that is open.  Legal for one of all zeros. */
void exportsink_release(struct exportsink *s);

#endif
