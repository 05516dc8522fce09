/* SPDX-License-Identifier: BSD-2-Clause
 *
 * file: files that are there whole or not at all.
 *
 * A file that others read is written beside its place, synced, and renamed;
 * the folder is synced after it.  Descriptors are close-on-exec.
 */
#ifndef BLOOMCTL_BASE_FILE_H
#define BLOOMCTL_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/error.h"

/*
 * The calls of those names, begun again where a signal cut them short.  For
 * file_close() that is a success: the descriptor is closed.  They set errno.
 */
int file_openat(int dirfd, const char *name, int flags, mode_t mode);
int file_fsync(int fd);
int file_close(int fd);

/*
 * Reads len bytes at an offset, fewer only where the file ends: how many, or
 * -1 with errno.
 */
ssize_t file_pread(int fd, void *data, size_t len, off_t at);

/*
 * Reads a whole regular file of at most out->max bytes into out.  On failure
 * -1 with the code given as missing for a file that is not there, unreadable
 * or no regular file, ERROR_DATA for a read error or one that is larger.
 * Messages begin "file 'PATH': ".
 */
int file_read(const char *path, struct buf *out, enum error_code missing,
	      struct error *err);

/*
 * Writes all of data to an open descriptor.  0, or -1 with errno's code
 * (error_code_of_errno()) and a message that begins with what.
 */
int file_write_all(int fd, const void *data, size_t len, const char *what,
		   struct error *err);

/*
 * Replaces the file `name` in the open folder dirfd by data: written to
 * `name.tmp`, synced, renamed, and the folder synced.  On failure the old
 * file is as it was.  what names the file in messages.
 */
int file_replace(int dirfd, const char *name, const void *data, size_t len,
		 mode_t mode, const char *what, struct error *err);

/* Syncs an open folder.  0 or -1. */
int file_sync_dir(int dirfd, const char *what, struct error *err);

/* As file_replace() for a path, whatever its folder. */
int file_replace_path(const char *path, const void *data, size_t len,
		      mode_t mode, struct error *err);

#endif
