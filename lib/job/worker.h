/* SPDX-License-Identifier: BSD-2-Clause
 *
 * worker: one thread of a scan; for scan.c only.
 *
 *	crew: parts, the next one, how far all are
 *	  └ worker: part → stream → rowparse → bloomkey_derive → sink
 */
#ifndef BLOOMCTL_JOB_WORKER_H
#define BLOOMCTL_JOB_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/job/scan.h"

/* What the workers share. */
struct crew {
	const struct scan *scan;
	struct source_part *parts;
	size_t count;
	atomic_size_t next;
	atomic_size_t limit; /* parts below it are to be read: all, until one
				fails; then none behind that */
	atomic_uint_fast64_t rows;
	atomic_uint_fast64_t bytes;
	bool last;   /* no parts will come behind these */
	int done[2]; /* a pipe: one byte for each worker that has ended */
};

struct worker {
	struct crew *crew;
	struct sink *sink; /* NULL: keys are derived and dropped */
	const struct source_part *part;
	pthread_t thread;
	char *chunk;
	unsigned char *key; /* BLOOMKEY_MAX bytes */
	uint64_t rows;
	uint64_t part_rows;     /* of the last part that was whole */
	size_t index;           /* of the part */
	uint64_t rejected;      /* rows of the part without a key, so far */
	uint64_t rejected_last; /* of them, the one that ended the part; or 0 */
	bool elsewhere;         /* err is of a filter or a list, not of part */
	bool cut;               /* err is of the part's stream */
	bool again;       /* the part is read once more, for its message */
	struct error err; /* code ERROR_NONE while all is well */
};

/* Gives a worker its memory: 0 or -1 (ERROR_INTERNAL). */
int worker_init(struct worker *w, struct crew *crew, struct sink *sink,
		struct error *err);

/* Frees it; legal after zeroing. */
void worker_release(struct worker *w);

/* The thread: takes parts until none is left or wanted.  arg is a worker. */
void *worker_run(void *arg);

/* Ends the scan for all parts from `limit` on. */
void crew_lower_limit(struct crew *crew, size_t limit);

#endif
