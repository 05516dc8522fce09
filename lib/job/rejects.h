/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rejects: rows without a key that a scan goes past: how many, why, and if
 * wanted which.
 *
 *	source		row	field	reason
 *	file 'a.csv'	7	id	null
 *
 * The values follow only if they are asked for.
 *
 * The list is COPY text with a header, mode 0600.  It is begun anew by every
 * scan, so that it is that of the last one; a file that is there and neither a
 * list nor empty is left alone.
 */
#ifndef BLOOMCTL_JOB_REJECTS_H
#define BLOOMCTL_JOB_REJECTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"
#include "lib/bloomkey/bloomkey.h"
#include "lib/rows/rowparse.h"

/* The reasons, in the order of reject.def. */
enum rejects_reason {
#define BLOOMKEY_REJECT_ROW(name, code, text) REJECTS_##name,
#include "lib/bloomkey/reject.def"
#undef BLOOMKEY_REJECT_ROW
	REJECTS_REASONS
};

struct rejects_count {
	uint64_t total;
	uint64_t reasons[REJECTS_REASONS];
};

struct rejects {
	uint64_t max;     /* more of them end a scan; 0: the first does */
	const char *path; /* of the list; NULL: none is kept; borrowed */
	bool raw;         /* with the values */
	bool keys;        /* of rows that are keys; scan_run() says so */

	/* Since rejects_begin(). */
	struct rejects_count count;
	const struct bloomkey_spec *spec;
	pthread_mutex_t mutex;
	struct buf list; /* not yet written */
	int fd;          /* -1: closed */
};

/* The word of a reason, such as "null". */
const char *rejects_reason_name(enum rejects_reason reason);

/*
 * Begins a scan: counts are 0, the list is a header.  0, or -1 where the list
 * cannot be written; rejects_end() in both cases.
 */
int rejects_begin(struct rejects *r, const struct bloomkey_spec *spec,
		  struct error *err);

/*
 * Counts and lists a row; from any thread.  part names its source, code and
 * field are bloomkey_derive()'s.  0 to go on; -1 with ERROR_ROWS where it is
 * one too many (it is listed, and not counted as passed), or where the list
 * cannot be written.
 */
int rejects_add(struct rejects *r, const char *part, const struct row *row,
		int code, size_t field, struct error *err);

/* Ends a scan and writes what is left of the list.  0 or -1. */
int rejects_end(struct rejects *r, struct error *err);

/*
 * Puts a reject into words: ERROR_ROWS with the field and the reason, never
 * the value.  Always returns -1.
 */
int rejects_error(const struct bloomkey_spec *spec, int code, size_t field,
		  struct error *err);

#endif
