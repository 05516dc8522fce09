/* SPDX-License-Identifier: BSD-2-Clause
 *
 * load: the workers of a scan send their keys into a generation.
 */
#ifndef BLOOMCTL_JOB_LOAD_H
#define BLOOMCTL_JOB_LOAD_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/sample.h"
#include "lib/job/scan.h"
#include "lib/job/tally.h"
#include "lib/store/store.h"

/* Sends a worker's keys to its writer, and counts them per bucket. */
struct load_sink {
	struct sink base;
	struct writer *writer;
	struct tally tally;
	struct sample *sample;
};

/* One worker's sink each, and the table of pointers that a scan takes. */
struct load {
	unsigned jobs;
	struct load_sink *sinks;
	struct sink **table;
	struct sample *samples; /* of each worker's keys */
};

/*
 * Opens a writer for each worker into the generation that was reserved last.
 * load_release() in any case.
 */
int load_init(struct load *load, struct store *store, unsigned jobs,
	      uint32_t buckets, struct error *err);

/* The workers' counts added up, per bucket; and what was sent besides. */
void load_keys(const struct load *load, uint64_t *keys, uint64_t *again,
	       uint32_t buckets);

/* After the scan, so that the generation can be sealed. */
void load_close_writers(struct load *load);
void load_release(struct load *load);

#endif
