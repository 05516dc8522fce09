/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keyargs: one row's key from the values on the command line.
 */
#ifndef BLOOMCTL_CMD_KEYARGS_H
#define BLOOMCTL_CMD_KEYARGS_H

#include "cmd/opts.h"
#include "lib/bloomkey/bloomkey.h"

/* Room for a key escaped (show_copy()), \xHH a byte, and a NUL. */
#define KEYARGS_SHOWN_MAX ((size_t)4 * BLOOMKEY_MAX + 1)

struct key {
	unsigned char bytes[BLOOMKEY_MAX];
	struct bloomkey_result at;
	char filter[BLOOMKEY_FILTER_MAX + 1];
};

/*
 * Derives the key of the arguments, which are the values of the keyspec's
 * fields in template order.  ERROR_USAGE if their number is another,
 * ERROR_ROWS if they have no key.
 */
int keyargs_derive(const struct opts *opts, const struct bloomkey_spec *spec,
		   struct key *out, struct error *err);

#endif
