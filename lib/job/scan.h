/* SPDX-License-Identifier: BSD-2-Clause
 *
 * scan: every row of a source, as keys, into sinks.
 *
 *	source_read(chunk) → rowparse → bloomkey_derive → sink, per worker
 *
 * Workers take parts of the source until none is left.  A part that was cut off
 * may be read again, where its source can do so without losing a row.  The
 * first row without a key that may not be passed over, the first damaged or
 * cut-off file and the first error of a sink end the scan; with several workers
 * the error of the earliest part is the one that is told.  Memory is a chunk
 * and a row for each worker, whatever the number of rows.
 */
#ifndef BLOOMCTL_JOB_SCAN_H
#define BLOOMCTL_JOB_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/rejects.h"
#include "lib/rows/source.h"

/* The most workers. */
#define SCAN_JOBS_MAX 64

/* Takes the keys of one worker. */
struct sink {
	const struct sink_ops *ops;
};

/* All may be NULL; each returns 0, or -1 to end the scan with that error. */
struct sink_ops {
	/* One row's key; borrowed until return.  NULL: none is derived. */
	int (*key)(struct sink *sink, uint32_t bucket, const void *key,
		   size_t len, struct error *err);
	/* The row that a key will be of, before key(); its values stay until
	 * that returns. */
	int (*row)(struct sink *sink, const struct row *row, struct error *err);
	/* After the worker's last key; not called after an error. */
	int (*end)(struct sink *sink, struct error *err);
	/* A part begins. */
	int (*begin)(struct sink *sink, const struct source_part *part,
		     struct error *err);
	/* Its bytes, in order, each time before they are parsed. */
	int (*bytes)(struct sink *sink, const void *data, size_t len,
		     struct error *err);
	/* It was whole, and had so many rows. */
	int (*done)(struct sink *sink, uint64_t rows, struct error *err);
	/* It was cut off and will be read from its start once more: what came
	 * since begin() is not to count. */
	int (*again)(struct sink *sink, struct error *err);
};

/* How far a scan is; what is not known is 0. */
struct scan_progress {
	const char *phase; /* "counting", "building", "verifying" */
	uint64_t rows;
	uint64_t bytes;
	uint64_t bytes_total;
	int64_t elapsed_ns;
};

/* Called several times a second from the thread that called scan_run(). */
typedef void progress_fn(void *ctx, const struct scan_progress *progress);

struct progress {
	progress_fn *fn; /* NULL: nobody looks */
	void *ctx;
};

/* Asked as often, by the same thread: 0, or -1 ends the scan with *err. */
struct scan_check {
	int (*fn)(void *ctx, struct error *err); /* NULL: it always goes on */
	void *ctx;
};

struct scan {
	const struct bloomkey_spec *spec; /* NULL where no sink takes keys */
	bool keys; /* a row's one value is its key, which goes past the
		      keyspec's template */
	struct source *source;
	const struct rowformat *format;
	struct rejects *rejects; /* NULL: the first row without a key ends it */
	unsigned jobs;           /* 1 to SCAN_JOBS_MAX */
	const char *phase;
	struct progress progress;
	struct scan_check check;
};

/*
 * Runs a scan.  sinks holds scan->jobs sinks, one a worker; *rows is the
 * number of rows read, those without a key included.  ERROR_ROWS: a row
 * without a key that may not be passed over (its number, field and reason,
 * never its value); ERROR_DATA, ERROR_SOURCE from the source; a sink's own;
 * that of a list of rejects; ERROR_INTERRUPTED, ERROR_TERMINATED.
 */
int scan_run(const struct scan *scan, struct sink *const *sinks, uint64_t *rows,
	     struct error *err);

/*
 * How many workers a scan can use: its jobs, or fewer where the source has
 * fewer parts (one CSV file is one part).  *jobs is 1 at least.
 */
int scan_jobs(const struct scan *scan, unsigned *jobs, struct error *err);

/*
 * Sets a format's wanted columns to those that the keyspec's fields name;
 * *wanted is an array that the caller frees when the format is done.
 */
int scan_columns(const struct bloomkey_spec *spec, struct rowformat *format,
		 const char ***wanted, struct error *err);

#endif
