/* SPDX-License-Identifier: BSD-2-Clause
 *
 * target: the store of --target, and how to log in where it is a server.
 */
#ifndef BLOOMCTL_CMD_TARGET_H
#define BLOOMCTL_CMD_TARGET_H

#include "cmd/opts.h"
#include "lib/redis/target.h"
#include "lib/store/store.h"

/* What a command does to a target. */
enum target_use {
	TARGET_READS,  /* nothing, so a replica will do */
	TARGET_WRITES, /* changes a set */
	TARGET_MAKES,  /* the same, and makes a folder if it is not there */
};

struct target {
	struct store_options options;
	struct redis_options server;
	struct store *store; /* owned; NULL: not open */
};

/*
 * Opens the set of a keyspec in the target of --target; the struct must stay
 * where it is until target_close(), as must opts.  ERROR_USAGE also if there is
 * no --target, if a password stands on the command line, or an option there
 * that this target has no use for; as store_open().
 */
int target_open(struct target *t, const struct opts *opts,
		const struct bloomkey_spec *spec, enum target_use use,
		struct error *err);

/* Closes what is open; a zeroed struct is legal. */
void target_close(struct target *t);

#endif
