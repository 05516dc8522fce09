/* SPDX-License-Identifier: BSD-2-Clause */
/* The only module that reads files and the environment. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Reads up to cap bytes of a file: their number, or -1 with errno. */
static int read_file(const char *path, void *out, size_t cap)
{
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int failed = 0;

	if (fd < 0)
		return -1;
	while (used < cap && failed == 0) {
		ssize_t n = read(fd, (char *)out + used, cap - used);

		if (n == 0)
			break;
		if (n > 0)
			used += (size_t)n;
		else if (errno != EINTR)
			failed = errno;
	}
	(void)close(fd);
	errno = failed;
	return failed == 0 ? (int)used : -1;
}

/* path, or where it is below the folder of the file `beside`. */
static int place_beside(const char *beside, const char *path,
			char out[PATH_MAX])
{
	const char *slash = beside != NULL ? strrchr(beside, '/') : NULL;
	size_t folder = 0;
	size_t len = strlen(path);

	if (path[0] != '/' && slash != NULL)
		folder = (size_t)(slash - beside) + 1;
	if (folder >= PATH_MAX || len >= PATH_MAX - folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (folder > 0)
		memcpy(out, beside, folder);
	memcpy(out + folder, path, len + 1);
	return 0;
}

int bloomkey_secret_read(void *ctx, int place, const char *name, void *out,
			 size_t cap)
{
	char path[PATH_MAX];
	const char *text;
	size_t len;

	if (cap > INT_MAX)
		cap = INT_MAX;
	switch ((enum bloomkey_place)place) {
	case BLOOMKEY_PLACE_ENV:
		text = getenv(name);
		if (text == NULL)
			break;
		len = strlen(text);
		len = len < cap ? len : cap;
		memcpy(out, text, len);
		return (int)len;
	case BLOOMKEY_PLACE_FILE:
		if (place_beside(ctx, name, path) != 0)
			return -1;
		return read_file(path, out, cap);
	}
	errno = ENOENT;
	return -1;
}

int bloomkey_load(const char *path, struct bloomkey_spec **out,
		  struct bloomkey_error *err)
{
	/* One more than is legal, so that more is seen. */
	const size_t cap = BK_FILE_MAX + 1;
	char *text = malloc(cap);
	int n = text != NULL ? read_file(path, text, cap) : -1;
	char why[128];
	int rc;

	*out = NULL;
	if (text == NULL) {
		(void)bk_error(err, 0, "out of memory");
		return BLOOMKEY_ENOMEM;
	}
	if (n >= 0) {
		/* The callback has it back as a const char *. */
		rc = bloomkey_parse(text, (size_t)n, bloomkey_secret_read,
				    (void *)path, out, err);
	} else {
		(void)strerror_r(errno, why, sizeof(why));
		(void)bk_error(err, 0, "the file cannot be read: %s", why);
		rc = BLOOMKEY_EIO;
	}
	free(text);
	return rc;
}
