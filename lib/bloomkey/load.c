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

/*
 * Reads up to cap bytes of a regular file: their number, or -1 with errno.
 * Nothing else is read: a FIFO would hang where no signal ends it.
 */
static int read_file(const char *path, void *out, size_t cap)
{
	/* O_NONBLOCK: for the time until it is known what it is. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t used = 0;
	struct stat st;
	int failed = 0;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0)
		failed = errno;
	else if (!S_ISREG(st.st_mode))
		failed = ENOTSUP;
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

static int read_secret_file(const struct places *places, const char *name,
			    void *out, size_t cap)
{
	char path[PATH_MAX];

	if (place_beside(places->keyspec, name, path) != 0)
		return -1;
	return read_file(path, out, cap);
}

static int read_secret(void *ctx, int place, const char *name, void *out,
		       size_t cap)
{
	const struct places *places = ctx;

	return place == BLOOMKEY_PLACE_ENV
		       ? read_variable(places, name, out, cap)
		       : read_secret_file(places, name, out, cap);
}

static int read_keyspec(const char *path, char *out, size_t cap,
			struct bloomkey_error *err)
{
	int n = read_file(path, out, cap);
	char why[128];

	if (n < 0 && errno == ENOTSUP) {
		(void)bk_error(err, 0, "not a regular file");
	} else if (n < 0) {
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
