/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lookup: what the files of the subcommand share.
 *
 *	lookup.c        the subcommand
 *	lookupask.c     its options, as a question to the tiers
 *	lookupprint.c   the answers, as text
 */
#ifndef BLOOMCTL_CMD_LOOKUP_H
#define BLOOMCTL_CMD_LOOKUP_H

#include "cmd/opts.h"
#include "cmd/rowkey.h"
#include "cmd/target.h"
#include "lib/job/tiers.h"

/*
 * What of the question the options say; database is filled and used where one
 * is to be asked.  Before the key is known; ERROR_USAGE where options do not go
 * together, a pattern has no key, or a password is on the command line.
 */
int lookupask_read(const struct opts *opts, struct tiers_database *database,
		   struct tiers_question *out, struct error *err);

/*
 * The rest, of the key and of the open target, all borrowed.  ERROR_USAGE where
 * the row was a key, of which a database knows nothing.
 */
int lookupask_key(const struct opts *opts, const struct rowkey *key,
		  const struct target *target, struct tiers_question *out,
		  struct error *err);

/* Prints all answers, in the form of --format. */
int lookupprint(const struct opts *opts, const struct rowkey *key,
		const struct tiers_report *report, struct error *err);

/*
 * Of TIERS_FALSE_NEGATIVE: what it means, as an error, ERROR_VERIFY.  Always
 * -1.
 */
int lookupprint_loud(const struct rowkey *key,
		     const struct tiers_report *report, struct error *err);

#endif
