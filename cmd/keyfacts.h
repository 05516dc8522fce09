/* SPDX-License-Identifier: BSD-2-Clause
 *
 * keyfacts: what a keyspec is without any row: fingerprint, sentinel, the
 * check values of its secrets.  For `bloomctl key`.
 */
#ifndef BLOOMCTL_CMD_KEYFACTS_H
#define BLOOMCTL_CMD_KEYFACTS_H

#include "cmd/opts.h"
#include "lib/bloomkey/bloomkey.h"

/* Whether --fingerprint or --sentinel asks for them. */
bool keyfacts_wanted(const struct opts *opts);

/*
 * Prints the one that is asked for or, with --format, all of them.
 * ERROR_USAGE if there are values.
 */
int keyfacts_print(const struct opts *opts, const struct bloomkey_spec *spec,
		   struct error *err);

#endif
