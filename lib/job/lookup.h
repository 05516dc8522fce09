/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lookup: one key's way through keyspec, bucket and filter.
 */
#ifndef BLOOMCTL_JOB_LOOKUP_H
#define BLOOMCTL_JOB_LOOKUP_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/store/store.h"

struct lookup_report {
	char generation[NAMES_ID_MAX];
	enum manifest_state state;
	double error_now; /* rate of false positives of the filter, as full as
			     it is */
	bool found;       /* maybe there; otherwise certainly not */
};

/*
 * Asks for a key in the generation of id (NULL: the live one).  ERROR_DATA
 * where its filter is missing, damaged or foreign: then nothing is known.
 */
int lookup_run(struct store *store, const struct bloomkey_spec *spec,
	       const char *id, uint32_t bucket, const void *key, size_t len,
	       struct lookup_report *report, struct error *err);

/*
 * Asks the filter of a bucket in a generation, which may also be one that is
 * being built, after its sentinel.  Errors of a probe, or ERROR_VERIFY where
 * the sentinel is not in it.
 */
int lookup_ask(struct store *store, const struct bloomkey_spec *spec,
	       const struct manifest *m, uint32_t bucket, const void *key,
	       size_t len, bool *found, struct error *err);

#endif
