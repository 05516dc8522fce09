/* SPDX-License-Identifier: BSD-2-Clause
 *
 * file: files as a source; for source.c, and for what cuts them.
 *
 *	filelist.c      which files, and a first look at each
 *	listed.c        words that mean lists of exports
 *	listedfile.c    those that are parts of exports, and their lists
 *	file.c          their parts, and streams of rows
 *	listedstream.c  a part's bytes, held to its list
 *	filecut.c       where a file of COPY text may be cut
 *	fileread.c      a part as a stream, and whether the file stayed the same
 */
#ifndef BLOOMCTL_ROWS_FILE_H
#define BLOOMCTL_ROWS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/rows/listed.h"
#include "lib/rows/source.h"

/* No part is smaller, unless its file is. */
#define FILE_PART_MIN (1u << 20)

/* So many parts per job, so that jobs end at about the same time. */
#define FILE_PARTS_PER_JOB 4u

struct file_entry {
	char *path;                      /* owned */
	struct stat stat;                /* when the source was opened */
	bool packed;                     /* by its first bytes */
	bool trailer;                    /* its last line is one */
	const struct exportpart *listed; /* what its list says; borrowed from
					    the source; NULL: it is in none */
	int fd; /* of a FIFO, which is open from first to last; owned;
		   -1: a regular file */
};

struct file_source {
	struct source base;
	struct file_entry *files; /* owned */
	size_t count;
	uint64_t part_min; /* FILE_PART_MIN; tests make it small */
	bool trailers;     /* a FIFO must end in one */
	enum source_parts kind;
	struct listed *lists; /* owned */
	size_t list_count;
};

/* Adds a file, not yet looked at.  0 or -1 (ERROR_INTERNAL). */
int filelist_add(struct file_source *s, const char *path, struct error *err);

/*
 * Opens the files that paths and patterns name, in that order, the matches of
 * a pattern sorted by their bytes.  A path that exists is itself even if it
 * looks like a pattern.  As source_open(); one file named twice is
 * ERROR_USAGE.
 */
int file_source_open(const char *const *patterns, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err);

/*
 * Fills s with the files that patterns name, each looked at.  0 or -1; what
 * was added is s's in both cases.
 */
int filelist_read(struct file_source *s, const char *const *patterns,
		  size_t count, struct error *err);

/*
 * Opens a file for reading, without waiting and without taking a terminal.
 * A descriptor that the caller closes, or -1 with errno.
 */
int file_entry_open(const char *path);

/* Reads at most len bytes at offset, fewer only at the end; -1 with errno. */
int64_t file_entry_read(int fd, void *buf, size_t len, uint64_t offset);

/* "file 'PATH'", in front of err's text, once.  Always returns -1. */
int file_entry_prefix(const struct file_entry *file, struct error *err);

/*
 * Opens a file of the source again and holds it to what it was.  A descriptor
 * that the caller closes, or -1 with ERROR_DATA, the file's name in front.
 */
int file_entry_reopen(const struct file_entry *file, struct error *err);

/* Whether fd is still what the entry saw: 0 or -1 (ERROR_DATA), likewise. */
int file_entry_unchanged(const struct file_entry *file, int fd,
			 struct error *err);

/* The stream of source_ops. */
int file_entry_stream(const struct file_entry *file,
		      const struct source_part *part, struct stream **out,
		      struct error *err);

/*
 * Where a file of COPY text may be cut: the start of the first row at or
 * after offset, or the file's end.  A row that begins with a BOM is passed
 * over, for a parser would drop it.  0 or -1 (ERROR_DATA).
 */
int file_rows_cut(int fd, uint64_t offset, uint64_t size, uint64_t *cut,
		  struct error *err);

/*
 * Reads the first row of COPY text with its newline; *out is owned by the
 * caller and *len 0 (and *out NULL) if the row is too long or not ended.
 */
int file_rows_first(int fd, char **out, size_t *len, struct error *err);

/* How many rows of COPY text end in the first size bytes; stops at errors. */
uint64_t file_rows_count(int fd, uint64_t size);

#endif
