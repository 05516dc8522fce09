/* SPDX-License-Identifier: BSD-2-Clause
 *
 * feed: rows that come one by one go into the filters that readers get.
 *
 *	pipe ─► rows ─► keys that wait ─► one pass ─► "so many are in them"
 *	                 └ 50 ms, 10,000 rows or 4 MiB
 *
 * What waits is added by a pass of its own, which ends before it is told: at
 * that moment the filters that readers get have taken it, whatever was
 * swapped meanwhile.  Whoever feeds may forget a row from then on, and sends
 * those again that were not told.  Between passes nothing is held open, so that
 * a silent pipe costs nobody anything.
 */
#ifndef BLOOMCTL_JOB_FEED_H
#define BLOOMCTL_JOB_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/job/rejects.h"
#include "lib/rows/rowparse.h"
#include "lib/store/store.h"

/* How long the first of the rows that wait does, in ms. */
#define FEED_WAIT_MS 50
/* So many rows go at once. */
#define FEED_ROWS 10000u

struct feed_report {
	struct manifest m;     /* live at the last pass */
	uint64_t rows;         /* that were told, with those without a key */
	uint64_t keys;         /* of them, those that have one */
	uint64_t acknowledged; /* by the store, those sent again included */
	uint64_t added;        /* of them, those that set a bit */
	uint64_t passes;
	double fill;      /* the fullest filter's items by its capacity */
	uint32_t fullest; /* which that is */
};

/*
 * So many rows more are in the filters, or have no key and were passed over;
 * report has them.  0, or -1 to end.
 */
typedef int feed_told(void *ctx, uint64_t rows,
		      const struct feed_report *report, struct error *err);

/* All borrowed. */
struct feed_options {
	const struct bloomkey_spec *spec;
	const struct rowformat *format;
	bool keys; /* rows are keys (keyrow.h) */
	struct rejects *rejects;
	const char *command;      /* whose output it is; NULL: that of fd */
	char *const *environment; /* of the command, ended by NULL */
	int fd;
	feed_told *told;
	void *ctx;
};

/*
 * Adds rows until the pipe or the command ends; every end leaves those that
 * were whole before it in the filters, and told.  0 where it ended behind a
 * row.  ERROR_DATA: within one, the command failed, or it is no rows;
 * ERROR_SOURCE: something else than rows; ERROR_ROWS: a row without a key too
 * many; ERROR_FULL and others of struct pass_report: nothing is told of the
 * rows that waited; ERROR_TEMPORARY: filters changed during each of
 * CATCHUP_ROUNDS passes; a stop; errors of generation_pick() and of told.
 * feed_report_release() in any case.
 */
int feed_run(struct store *store, const struct feed_options *options,
	     struct feed_report *report, struct error *err);

void feed_report_release(struct feed_report *report);

#endif
