/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/store/dir.h"

static int failed(const struct dir *dir, enum error_code code, int errnum,
		  struct error *err)
{
	return error_errno(err, code, errnum, "'%s/%s/" DIR_EXPOSURE "'",
			   dir->shown, dir->set);
}

/* What is no record says nothing: the next run writes it anew. */
int direxposure_read(struct store *s, struct exposure *out, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char text[EXPOSURE_SIZE + 1];
	ssize_t n;
	int fd;

	memset(out, 0, sizeof(*out));
	if (dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return 0;
	fd = file_openat(dir->folder, DIR_EXPOSURE,
			 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return failed(dir, error_code_of_errno(errno), errno, err);
	n = file_pread(fd, text, sizeof(text), 0);
	if (n > 0)
		(void)exposure_parse(text, (size_t)n, out);
	else if (n < 0)
		(void)failed(dir, ERROR_DATA, errno, err);
	(void)close(fd);
	return n < 0 ? -1 : 0;
}

/* One write of one size: of two at a time the last one counts. */
int direxposure_write(struct store *s, const struct exposure *e,
		      struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char text[EXPOSURE_SIZE + 1];
	ssize_t n = -1;
	int rc = 0;
	int fd;

	exposure_text(e, text);
	if (dir_set(dir, false, err) != 0)
		return -1;
	fd = file_openat(
		dir->folder, DIR_EXPOSURE,
		O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);
	if (fd < 0)
		return failed(dir, error_code_of_errno(errno), errno, err);
	do {
		n = pwrite(fd, text, EXPOSURE_SIZE, 0);
	} while (n < 0 && errno == EINTR);
	if (n >= 0 && n != EXPOSURE_SIZE)
		errno = ENOSPC;
	if (n != EXPOSURE_SIZE || ftruncate(fd, EXPOSURE_SIZE) != 0)
		rc = failed(dir, error_code_of_errno(errno), errno, err);
	(void)close(fd);
	return rc;
}
