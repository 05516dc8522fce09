/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exportfile: the files of one export, which are there whole or not at all.
 *
 *	PATH.00001.csv.gz.tmp  PATH.export.json.tmp    while rows are read
 *	PATH.00001.csv.gz      PATH.export.json        afterwards
 *
 * Parts are written beside their places.  Only when all are whole and synced
 * does an earlier export of that PATH go: its list becomes PATH.export.json.old
 * first, so that none of its parts looks listed any more; then the new parts
 * take their names, parts that only the earlier one had are removed, and the
 * list comes last.
 *
 * PATH.export.json.tmp is the lock, and the mark of an export that has not
 * ended: readers take no part without a list while it is there.  It holds the
 * new list before the first part takes its name: the next run removes what is
 * in it, and in the old one, if this one dies here.
 */
#ifndef BLOOMCTL_JOB_EXPORTFILE_H
#define BLOOMCTL_JOB_EXPORTFILE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/rows/exportlist.h"

struct exportfile;

/*
 * Takes the lock of PATH and clears away what runs that died left half
 * written.  list says what parts will be (kind, packed); it is borrowed until
 * the close.  ERROR_LOCKED while another export writes there; ERROR_SOURCE if
 * there is no such folder; ERROR_DATA where files stand in the way that no
 * list calls parts of an export, which are left alone; ERROR_USAGE for a path
 * that cannot name files.
 */
int exportfile_open(const char *path, struct exportlist *list,
		    struct exportfile **out, struct error *err);

/*
 * Opens the part of that number (from 1) for writing; by several threads.
 * A descriptor that exportfile_done() or exportfile_drop() closes, or -1.
 */
int exportfile_begin(struct exportfile *e, size_t number, struct error *err);

/* Empties a part, to be written once more.  0 or -1. */
int exportfile_again(struct exportfile *e, size_t number, int fd,
		     struct error *err);

/* The part is written: syncs it and notes rows, bytes and sum of its file. */
int exportfile_done(struct exportfile *e, size_t number, int fd,
		    const struct exportpart *part, struct error *err);

/* Removes a part that was not written to its end. */
void exportfile_drop(struct exportfile *e, size_t number, int fd);

/* "file 'PATH.00001.csv.gz'", for messages about a part. */
void exportfile_part(const struct exportfile *e, size_t number, char *out,
		     size_t size);

/*
 * All parts are done: gives them their names.  The list gets its parts and
 * total of rows; its other members are the caller's to have filled in.  After
 * an error nothing looks whole, and an earlier export still does only if none
 * of its files was touched.
 */
int exportfile_finish(struct exportfile *e, struct error *err);

/* Gives up the lock; removes what was not finished.  NULL is legal. */
void exportfile_close(struct exportfile *e);

#endif
