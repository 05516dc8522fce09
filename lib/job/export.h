/* SPDX-License-Identifier: BSD-2-Clause
 *
 * export: the rows of a source, or their keys, as bytes that say that they are
 * whole: files with a list, or a pipe with a trailer.
 *
 *	scan ── rows as they are, or keys ── pack ── PATH.00001.csv.gz ... list
 *	                                         └── a pipe, and its trailer
 *
 * Rows are parsed on the way, to be counted and because bytes that are no rows
 * are no export.
 */
#ifndef BLOOMCTL_JOB_EXPORT_H
#define BLOOMCTL_JOB_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/job/exportsink.h"
#include "lib/job/scan.h"
#include "lib/rows/exportlist.h"

struct export
{
	/* With a keyspec keys are derived; without, bytes are copied. */
	const struct scan *scan;
	const char *path; /* of files; NULL: a pipe, which has one part */
	/*
	 * What it will be.  The caller fills in kind, packed, header, columns,
	 * set, fingerprint and source; the rest is found out.
	 */
	struct exportlist list;
	struct exportpipe pipe; /* where path is NULL */
};

/* How far it came. */
struct export_report {
	uint64_t read;  /* rows, those without a key included */
	uint64_t rows;  /* or keys, that were exported */
	uint64_t bytes; /* of these, unpacked */
	uint64_t packed;
	size_t parts;
};

/*
 * Exports all rows; e->list is the caller's to release in both cases.
 * ERROR_USAGE for a pipe of a source of several parts; the errors of
 * scan_run(), exportfile_open() and pipe.write(); where a disk is full or
 * fails the file's name and errno.  After an error no list and no trailer was
 * written.
 */
int export_run(struct export *e, struct export_report *report,
	       struct error *err);

#endif
