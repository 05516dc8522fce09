/* SPDX-License-Identifier: BSD-2-Clause
 *
 * listed: files that are parts of exports, held to the lists beside them; for
 * file.c and filelist.c.
 *
 * A word that names a list, or a path whose list there is, stands for all its
 * parts.  Parts that are named one by one, or by a pattern, must be all of
 * their list: an export that lacks a part would be rows that are missing.
 */
#ifndef BLOOMCTL_ROWS_LISTED_H
#define BLOOMCTL_ROWS_LISTED_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/rows/exportlist.h"
#include "lib/rows/source.h"

struct file_entry;
struct file_source;

/* A list that files of a source are in. */
struct listed {
	char *path; /* owned */
	struct exportlist list;
	bool *met;  /* whether a part is a file of the source; owned */
	bool named; /* by a word of its own, and so all its parts are meant */
};

/*
 * Takes a word of -s that means a list: its parts are added to the source.
 * 1; 0 if it means none, or -1.
 */
int listed_take(struct file_source *s, const char *word, struct error *err);

/*
 * Whether the list of an export to that path is there, which then is meant
 * although the path looks like a pattern.
 */
bool listed_is(const char *word);

/*
 * Whether a name that a pattern matched is no file of rows: a list, which is
 * then read, or what an export has not ended.  1, 0 or -1.
 */
int listed_skip(struct file_source *s, const char *path, struct error *err);

/*
 * After all words: finds the lists of the files, and holds the files to be all
 * parts of them, and lists to agree with each other.  0 or -1.
 */
int listed_check(struct file_source *s, struct error *err);

/* Holds a file, by its size, to what its list says.  0 or -1. */
int listed_look(const struct file_entry *file, struct error *err);

/*
 * Makes the stream of a listed file's bytes, which are inner's: finish() holds
 * them to the list's sum, and says how many rows there must be.  inner is
 * taken over, also on failure.
 */
int listed_open(const struct file_entry *file, struct stream *inner,
		struct stream **out, struct error *err);

/* Frees the lists of a source. */
void listed_free(struct file_source *s);

#endif
