/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_openat(int dirfd, const char *name, int flags, mode_t mode)
{
	int fd;

	do {
		fd = openat(dirfd, name, flags, mode);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

int file_fsync(int fd)
{
	int rc;

	do {
		rc = fsync(fd);
	} while (rc != 0 && errno == EINTR);
	return rc;
}

int file_close(int fd)
{
	/* Again would close what another thread has opened meanwhile. */
	return close(fd) != 0 && errno != EINTR ? -1 : 0;
}

ssize_t file_pread(int fd, void *data, size_t len, off_t at)
{
	char *p = data;
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, p + done, len - done, at + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int read_all(int fd, const char *path, struct buf *out,
		    struct error *err)
{
	size_t room;
	char one;
	ssize_t n;

	for (;;) {
		room = out->max - out->len < 65536 ? out->max - out->len
						   : 65536;
		if (room > 0 && buf_reserve(out, room) != 0)
			return error_nomem(err);
		/* A full buffer is right if nothing follows. */
		n = room > 0 ? read(fd, out->data + out->len, room)
			     : read(fd, &one, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, ERROR_DATA, errno, "file '%s'",
					   path);
		if (n == 0)
			return 0;
		if (room == 0)
			return error_set(err, ERROR_DATA,
					 "file '%s': larger than %zu bytes",
					 path, out->max);
		out->len += (size_t)n;
	}
}

int file_read(const char *path, struct buf *out, enum error_code missing,
	      struct error *err)
{
	struct stat st;
	int rc;
	/* O_NONBLOCK: opening a FIFO must not hang before it is refused. */
	int fd = file_openat(AT_FDCWD, path,
			     O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0)
		return error_errno(err, missing, errno, "file '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = error_set(err, missing, "file '%s': not a regular file",
			       path);
	else
		rc = read_all(fd, path, out, err);
	(void)close(fd);
	return rc;
}

int file_write_all(int fd, const void *data, size_t len, const char *what,
		   struct error *err)
{
	const char *p = data;
	ssize_t n;

	while (len > 0) {
		/* Linux writes at most 2 GiB at once. */
		n = write(fd, p, len > (1u << 30) ? (1u << 30) : len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, error_code_of_errno(errno),
					   errno, "%s", what);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_sync_dir(int dirfd, const char *what, struct error *err)
{
	/* Some file systems have no fsync for folders and say EINVAL. */
	if (file_fsync(dirfd) != 0 && errno != EINVAL)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "%s: sync of its folder", what);
	return 0;
}

static int write_synced(int dirfd, const char *name, const void *data,
			size_t len, mode_t mode, const char *what,
			struct error *err)
{
	int fd = file_openat(
		dirfd, name,
		O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	int rc;

	if (fd < 0)
		return error_errno(err, error_code_of_errno(errno), errno, "%s",
				   what);
	rc = file_write_all(fd, data, len, what, err);
	if (rc == 0 && file_fsync(fd) != 0)
		rc = error_errno(err, error_code_of_errno(errno), errno,
				 "%s: sync", what);
	if (file_close(fd) != 0 && rc == 0)
		rc = error_errno(err, error_code_of_errno(errno), errno, "%s",
				 what);
	return rc;
}

int file_replace(int dirfd, const char *name, const void *data, size_t len,
		 mode_t mode, const char *what, struct error *err)
{
	char tmp[NAME_MAX + 1];
	int n = snprintf(tmp, sizeof(tmp), "%s.tmp", name);

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return error_set(err, ERROR_DATA, "%s: name too long", what);
	if (write_synced(dirfd, tmp, data, len, mode, what, err) != 0) {
		(void)unlinkat(dirfd, tmp, 0);
		return -1;
	}
	if (renameat(dirfd, tmp, dirfd, name) != 0) {
		(void)error_errno(err, error_code_of_errno(errno), errno,
				  "%s: rename", what);
		(void)unlinkat(dirfd, tmp, 0);
		return -1;
	}
	return file_sync_dir(dirfd, what, err);
}

int file_replace_path(const char *path, const void *data, size_t len,
		      mode_t mode, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	char what[PATH_MAX + 16];
	char *folder;
	int dirfd;
	int rc;

	(void)snprintf(what, sizeof(what), "file '%s'", path);
	if (slash == NULL)
		folder = strdup(".");
	else
		folder = strndup(path,
				 slash == path ? 1 : (size_t)(slash - path));
	if (folder == NULL)
		return error_nomem(err);
	dirfd = file_openat(AT_FDCWD, folder,
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	free(folder);
	if (dirfd < 0)
		return error_errno(err, error_code_of_errno(errno), errno, "%s",
				   what);
	rc = file_replace(dirfd, name, data, len, mode, what, err);
	(void)close(dirfd);
	return rc;
}
