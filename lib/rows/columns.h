/* SPDX-License-Identifier: BSD-2-Clause
 *
 * columns: which of a file's columns are the wanted ones.
 *
 *	file:    id | scope | entity_id | note
 *	wanted:  entity_id, scope
 *	slots:   2, 1                             used: 0 1 1 0
 *
 * The names come one at a time, from a header row or from the options;
 * columns_done() then says whether every wanted column is there once.
 * Names are bytes and are compared as such.
 */
#ifndef BLOOMCTL_ROWS_COLUMNS_H
#define BLOOMCTL_ROWS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

/* More columns are ERROR_DATA: a header that long is not one. */
#define COLUMNS_MAX 65536u

struct columns {
	const char *const *wanted; /* borrowed */
	size_t wanted_count;
	size_t count;        /* of the file */
	size_t *slots;       /* per wanted one: its place in the file; owned */
	unsigned char *used; /* per column of the file: is it wanted; owned */
	size_t twice;        /* the first wanted one met twice, or SIZE_MAX */
	bool told;           /* the names are the options', not a header's: they
				may stand in a message */
	char seen[320];      /* the first names, for a message */
};

/*
 * Makes a set without columns; wanted is borrowed until the release.  0 or -1
 * (ERROR_INTERNAL); columns_release() is legal in both cases.
 */
int columns_init(struct columns *c, const char *const *wanted, size_t count,
		 struct error *err);

/* Frees what is owned; legal after zeroing, too. */
void columns_release(struct columns *c);

/* The file's next column is called so.  0 or -1 (ERROR_DATA: too many). */
int columns_add(struct columns *c, const void *name, size_t len,
		struct error *err);

/*
 * There are no more.  0, or -1 with ERROR_ROWS: a wanted column is missing,
 * or named twice; ERROR_INTERNAL: no memory.
 */
int columns_done(struct columns *c, struct error *err);

#endif
