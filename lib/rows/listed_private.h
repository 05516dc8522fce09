/* SPDX-License-Identifier: BSD-2-Clause
 *
 * listed_private: for the parts of listed.
 *
 *	listed.c      lists, and the words that mean them
 *	listedfile.c  files, and the lists that they are in
 */
#ifndef BLOOMCTL_ROWS_LISTED_PRIVATE_H
#define BLOOMCTL_ROWS_LISTED_PRIVATE_H

#include "lib/rows/listed.h"

/* The name without its folder; within path. */
const char *listed_name(const char *path);

/*
 * "FOLDER/" of a path, the first len bytes of name, and suffix; owned by the
 * caller, NULL: no memory.
 */
char *listed_beside(const char *path, const char *name, size_t len,
		    const char *suffix);

/* Whether the file that listed_beside() names is there.  1, 0 or -1. */
int listed_exists(const char *path, const char *name, size_t len,
		  const char *suffix, struct error *err);

/* The list of that path, which is read once; NULL: an error. */
struct listed *listed_find(struct file_source *s, const char *path,
			   struct error *err);

#endif
