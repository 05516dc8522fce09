/* SPDX-License-Identifier: BSD-2-Clause
 *
 * exportfile_private: for the parts of exportfile.
 *
 *	exportlock.c  the lock, and what lies around it
 *	exportfile.c  the parts, and how they take their names
 */
#ifndef BLOOMCTL_JOB_EXPORTFILE_PRIVATE_H
#define BLOOMCTL_JOB_EXPORTFILE_PRIVATE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>

#include "lib/job/exportfile.h"

#define EXPORTFILE_MODE 0600

struct exportfile {
	char *path;       /* as it was given */
	const char *base; /* its last part; within path */
	int dir;
	int mark; /* the descriptor that holds the lock; -1: none */
	char mark_name[NAME_MAX + 1];
	char list_name[NAME_MAX + 1];
	char old_name[NAME_MAX + 1];
	bool locked;   /* the mark is ours */
	bool clean;    /* of runs that died nothing is left */
	bool renaming; /* files have begun to take their names */
	bool finished;
	struct exportlist before;  /* the export that is there */
	struct exportlist died[2]; /* those that a run that died had
				      begun to write and to replace */
	struct exportlist *list;
	pthread_mutex_t mutex;
	struct exportpart *parts; /* by number - 1; no name: not done */
	size_t cap;
};

/*
 * Fills in base and names, opens the folder, takes the lock, reads the lists
 * that are there, and removes what runs that died were writing.  0 or -1; what
 * was opened is e's in both cases.
 */
int exportlock_take(struct exportfile *e, struct error *err);

/* Calls look with the name of each file of the folder, until it fails. */
int exportlock_walk(struct exportfile *e,
		    int (*look)(struct exportfile *e, const char *name,
				struct error *err),
		    struct error *err);

/* Whether the first len bytes of a name are the base of e's. */
bool exportfile_is_of(const struct exportfile *e, const char *name, size_t len);

/* Whether a list has a part of that name. */
bool exportfile_has(const struct exportlist *list, const char *name);

/* "file 'PATH': WHAT: errno's text".  Always returns -1. */
int exportfile_fail(const struct exportfile *e, const char *name,
		    const char *what, struct error *err);

/*
 * A part's name, with aside the one under which it is written.  0, or
 * ERROR_USAGE: it is too long.
 */
int exportfile_name(const struct exportfile *e, size_t number, bool aside,
		    char out[NAME_MAX + 1], struct error *err);

#endif
