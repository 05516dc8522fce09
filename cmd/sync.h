/* SPDX-License-Identifier: BSD-2-Clause
 *
 * sync: what the files of bloomctl sync share.
 */
#ifndef BLOOMCTL_CMD_SYNC_H
#define BLOOMCTL_CMD_SYNC_H

#include <stdint.h>

#include "cmd/inputs.h"
#include "cmd/output.h"
#include "lib/job/feed.h"
#include "lib/job/sync.h"
#include "lib/store/store.h"

/* Warns of filters that are nearly full, once for each percent more. */
struct fill_watch {
	const struct bloomkey_spec *spec;
	double from; /* percent */
	int told;    /* the last that was warned of; 0: none */
};

void fill_watch(struct fill_watch *watch, uint32_t bucket, double fill);

/*
 * What a database committed since; in is read up to inputs_format().  Fills in
 * *report, which the caller releases, and what the receipt says of it.
 */
int sync_database(const struct opts *opts, struct inputs *in,
		  struct store *store, struct fill_watch *watch,
		  struct sync_report *report, struct receipt *receipt,
		  struct error *err);

/*
 * Rows of a pipe or of a command; in is read up to inputs_source().  Fills in
 * *report, which the caller releases, and what the receipt says of it.
 */
int sync_pipe(const struct opts *opts, struct inputs *in, struct store *store,
	      struct fill_watch *watch, struct feed_report *report,
	      struct receipt *receipt, struct error *err);

#endif
