/* SPDX-License-Identifier: BSD-2-Clause */
/* The only module that reads files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* Reads up to cap bytes: their number, or -1 with errno.  Closes fd. */
static int read_and_close(int fd, void *out, size_t cap)
{
	size_t used = 0;
	int failed = 0;

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
	const char *slash = strrchr(beside, '/');
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

/* What bloomkey_load() was given. */
struct places {
	const char *keyspec; /* its path */
	bloomkey_lookup *lookup;
};

static int read_variable(const struct places *places, const char *name,
			 void *out, size_t cap)
{
	const char *text = NULL;
	size_t len;

	errno = ENOTSUP;
	if (places->lookup != NULL) {
		text = places->lookup(name);
		errno = ENOENT;
	}
	if (text == NULL)
		return -1;
	len = strlen(text);
	len = len < cap ? len : cap;
	memcpy(out, text, len);
	return (int)len;
}

/* Of any kind: a pipe of the program that keeps the secret is as good. */
static int read_secret_file(const struct places *places, const char *name,
			    void *out, size_t cap)
{
	char path[PATH_MAX];
	int fd;

	if (place_beside(places->keyspec, name, path) != 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -1 : read_and_close(fd, out, cap);
}

static int read_secret(void *ctx, int place, const char *name, void *out,
		       size_t cap)
{
	const struct places *places = ctx;

	return place == BLOOMKEY_PLACE_ENV
		       ? read_variable(places, name, out, cap)
		       : read_secret_file(places, name, out, cap);
}

/* The same for a keyspec, which is a file that others can read again. */
static int read_keyspec(const char *path, char *out, size_t cap,
			struct bloomkey_error *err)
{
	struct stat st;
	char why[128];
	/* O_NONBLOCK: opening a FIFO must not hang before it is refused. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		(void)close(fd);
		(void)bk_error(err, 0, "not a regular file");
		return -1;
	}
	if (fd >= 0)
		n = read_and_close(fd, out, cap);
	if (n < 0) {
		(void)strerror_r(errno, why, sizeof(why));
		(void)bk_error(err, 0, "cannot be read: %s", why);
	}
	return n;
}

int bloomkey_load(const char *path, bloomkey_lookup *lookup,
		  struct bloomkey_spec **out, struct bloomkey_error *err)
{
	struct places places = {path, lookup};
	/* One more than is legal, so that more is seen. */
	const size_t cap = BK_FILE_MAX + 1;
	char *text = malloc(cap);
	int rc = BLOOMKEY_EIO;
	int n;

	*out = NULL;
	if (text == NULL) {
		(void)bk_error(err, 0, "out of memory");
		return BLOOMKEY_ENOMEM;
	}
	n = read_keyspec(path, text, cap, err);
	if (n >= 0)
		rc = bloomkey_parse(text, (size_t)n, read_secret, &places, out,
				    err);
	free(text);
	return rc;
}
