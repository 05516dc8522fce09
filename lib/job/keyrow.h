/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keyrow: a row whose one value is a key, as an export of keys holds them.
 */
#ifndef BLOOMCTL_JOB_KEYROW_H
#define BLOOMCTL_JOB_KEYROW_H

#include "lib/bloomkey/bloomkey.h"
#include "lib/rows/rowparse.h"

/*
 * The bucket of the first value, which is the key and has 1 to BLOOMKEY_MAX
 * bytes: as bloomkey_derive(), 0 or BLOOMKEY_REJECT_..., the field at fault
 * being the key as a whole.
 */
int keyrow_take(const struct bloomkey_spec *spec, const void *const *values,
		const size_t *lens, struct bloomkey_result *result);

/* Makes a format that of such rows: COPY text of one column, no header. */
void keyrow_format(struct rowformat *format);

#endif
