/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/num.h"
#include "lib/store/dir.h"

/* Digits of the mark's time, and a newline: one write of one size. */
#define FED_DIGITS 20
#define FED_SIZE   (FED_DIGITS + 1)

static int need_set(struct dir *dir, struct error *err)
{
	if (dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return error_set(err, ERROR_SOURCE, "set '%s': not in '%s'",
				 dir->set, dir->place);
	return 0;
}

int dirsync_lock(struct store *s, const char *command, struct error *err)
{
	struct dir *dir = (struct dir *)s;

	if (dir->sync >= 0)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': sync: locked twice", dir->set);
	if (need_set(dir, err) != 0)
		return -1;
	dir->sync =
		dirlock_take(dir, dir->folder, DIR_SYNC, "sync: locked", err);
	if (dir->sync < 0)
		return -1;
	if (dirlock_write(dir, dir->sync, DIR_SYNC, command, 0, err) == 0)
		return 0;
	dirsync_unlock(s);
	return -1;
}

void dirsync_unlock(struct store *s)
{
	struct dir *dir = (struct dir *)s;

	if (dir->sync >= 0)
		(void)close(dir->sync);
	dir->sync = -1;
}

/* --- the mark of sets that were fed --------------------------------------- */

static int fed_failed(const struct dir *dir, enum error_code code, int errnum,
		      struct error *err)
{
	return error_errno(err, code, errnum, "'%s/%s/" DIR_FED "'", dir->shown,
			   dir->set);
}

/*
 * What an open mark says: 0, and *at is 0 where it is empty, as a run leaves
 * it that died before it added anything; 1: no time; -1 with errno.
 */
static int read_fed(int fd, int64_t *at)
{
	char text[FED_SIZE + 1];
	uint64_t ms;
	ssize_t n = file_pread(fd, text, sizeof(text), 0);

	*at = 0;
	if (n <= 0)
		return n < 0 ? -1 : 0;
	if (n != FED_SIZE || text[FED_DIGITS] != '\n' ||
	    memchr(text, '\0', FED_DIGITS) != NULL)
		return 1;
	text[FED_DIGITS] = '\0';
	if (strspn(text, "0123456789") != FED_DIGITS ||
	    num_u64(text + strspn(text, "0"), &ms) != 0 || ms > INT64_MAX)
		return 1;
	*at = (int64_t)ms;
	return 0;
}

int dirsync_fed(struct store *s, int64_t *at, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	int rc;
	int fd;

	*at = 0;
	if (dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return 0;
	fd = file_openat(dir->folder, DIR_FED,
			 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fed_failed(dir, error_code_of_errno(errno), errno, err);
	rc = read_fed(fd, at);
	if (rc < 0)
		(void)fed_failed(dir, ERROR_DATA, errno, err);
	(void)close(fd);
	if (rc <= 0)
		return rc;
	(void)error_set(err, ERROR_DATA,
			"'%s/%s/" DIR_FED "': no time in milliseconds",
			dir->shown, dir->set);
	return error_hint(err, "find who changed it; the next sync of a pipe "
			       "writes it anew");
}

/* Several may feed: the latest counts. */
static int raise_fed(int fd, int64_t at)
{
	char text[FED_SIZE + 1];
	int64_t was;
	ssize_t n;

	while (flock(fd, LOCK_EX) != 0)
		if (errno != EINTR)
			return -1;
	if (read_fed(fd, &was) < 0)
		return -1;
	if (was < at) {
		(void)snprintf(text, sizeof(text), "%0*" PRId64 "\n",
			       FED_DIGITS, at);
		do {
			n = pwrite(fd, text, FED_SIZE, 0);
		} while (n < 0 && errno == EINTR);
		if (n >= 0 && n != FED_SIZE)
			errno = ENOSPC;
		if (n != FED_SIZE || ftruncate(fd, FED_SIZE) != 0)
			return -1;
	}
	return file_fsync(fd);
}

int dirsync_set_fed(struct store *s, int64_t at, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct stat st;
	int rc = 0;
	int fd;

	if (need_set(dir, err) != 0)
		return -1;
	fd = file_openat(dir->folder, DIR_FED,
			 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
			 0644);
	if (fd < 0)
		return fed_failed(dir, error_code_of_errno(errno), errno, err);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = error_set(err, ERROR_DATA,
			       "'%s/%s/" DIR_FED "': not a regular file",
			       dir->shown, dir->set);
	else if (raise_fed(fd, at) != 0)
		rc = fed_failed(dir, error_code_of_errno(errno), errno, err);
	(void)close(fd);
	return rc == 0 ? dir_sync_set(dir, err) : -1;
}
