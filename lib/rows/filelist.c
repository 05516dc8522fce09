/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rows/decode.h"
#include "lib/rows/file.h"
#include "lib/rows/inflate.h"
#include "lib/rows/magic.h"
#include "lib/rows/quote.h"
#include "lib/rows/trailer.h"

/* How much of a pattern or path a message of two of them shows. */
#define QUOTE_SHORT 100u

int filelist_add(struct file_source *s, const char *path, struct error *err)
{
	struct file_entry *files;

	files = realloc(s->files, (s->count + 1) * sizeof(*files));
	if (files == NULL)
		return error_nomem(err);
	s->files = files;
	memset(&files[s->count], 0, sizeof(*files));
	files[s->count].fd = -1;
	files[s->count].path = strdup(path);
	if (files[s->count].path == NULL)
		return error_nomem(err);
	s->count++;
	return 0;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int no_match(int result, int errnum, const char *pattern,
		    struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];

	quote_bytes(shown, pattern, strlen(pattern), QUOTE_PATH_MAX);
	if (result == GLOB_NOMATCH)
		return error_set(err, ERROR_SOURCE, "no file matches '%.300s'",
				 shown);
	if (result == GLOB_NOSPACE)
		return error_nomem(err);
	if (errnum == 0)
		return error_set(err, ERROR_SOURCE,
				 "pattern '%.300s': a folder cannot be read",
				 shown);
	return error_errno(err, ERROR_SOURCE, errnum,
			   "pattern '%.300s': a folder cannot be read", shown);
}

static int add_matches(struct file_source *s, const char *pattern,
		       struct error *err)
{
	glob_t found;
	size_t before = s->count;
	size_t lists = s->list_count;
	int rc = 0;

	/* Sorted here: glob(3) would sort as the locale has it. */
	memset(&found, 0, sizeof(found));
	errno = 0;
	rc = glob(pattern, GLOB_ERR | GLOB_NOSORT, NULL, &found);
	if (rc != 0) {
		rc = no_match(rc, errno, pattern, err);
		globfree(&found);
		return rc;
	}
	qsort(found.gl_pathv, found.gl_pathc, sizeof(*found.gl_pathv),
	      by_bytes);
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		rc = listed_skip(s, path, err);
		if (rc == 0)
			rc = filelist_add(s, path, err);
		else if (rc > 0)
			rc = 0;
	}
	globfree(&found);
	if (rc == 0 && s->count == before && s->list_count == lists)
		return no_match(GLOB_NOMATCH, 0, pattern, err);
	return rc;
}

static int add_pattern(struct file_source *s, const char *pattern,
		       struct error *err)
{
	struct stat st;
	int rc;

	if (pattern[0] == '\0') {
		error_set(err, ERROR_USAGE, "a source 'file:' has no path");
		return error_hint(err, "file:PATH");
	}
	if (pattern[strcspn(pattern, "*?[")] == '\0' ||
	    lstat(pattern, &st) == 0 || listed_is(pattern)) {
		rc = listed_take(s, pattern, err);
		if (rc != 0)
			return rc > 0 ? 0 : -1;
		return filelist_add(s, pattern, err);
	}
	return add_matches(s, pattern, err);
}

/* Whether the last bytes are a trailer. */
static int find_trailer(struct file_entry *file, int fd, struct error *err)
{
	char end[TRAILER_MAX + 1];
	struct trailer trailer;
	uint64_t size = (uint64_t)file->stat.st_size;
	uint64_t from = size > sizeof(end) ? size - sizeof(end) : 0;
	int64_t got = file_entry_read(fd, end, sizeof(end), from);

	if (got < 0)
		return error_errno(err, ERROR_SOURCE, errno, "cannot read it");
	file->trailer = trailer_find(end, (size_t)got, &trailer) > 0;
	return 0;
}

/* What is packed is unpacked a little, to see what is in it. */
static int look_inside(const struct file_entry *file, struct error *err)
{
	struct source_part all = {.end = (uint64_t)file->stat.st_size};
	struct stream *stream;

	if (file_entry_stream(file, &all, &stream, err) != 0)
		return -1;
	if (decode_open(stream, false, &stream, err) != 0)
		return -1;
	stream->ops->close(stream);
	return 0;
}

static int look_at_bytes(struct file_entry *file, int fd, struct error *err)
{
	char start[MAGIC_SIZE];
	const struct magic *magic;
	int64_t got = file_entry_read(fd, start, sizeof(start), 0);

	if (got < 0)
		return error_errno(err, ERROR_SOURCE, errno, "cannot read it");
	file->packed = inflate_kind(start, (size_t)got) != INFLATE_NONE;
	if (file->listed != NULL && listed_look(file, err) != 0)
		return -1;
	if (file->packed)
		return look_inside(file, err);
	magic = magic_find(start, (size_t)got);
	if (magic != NULL)
		return magic_refuse(magic, err);
	return file->listed != NULL ? 0 : find_trailer(file, fd, err);
}

/* *keep: whether the descriptor is the entry's now. */
static int look_at(struct file_entry *file, int fd, bool *keep,
		   struct error *err)
{
	*keep = false;
	if (fstat(fd, &file->stat) != 0)
		return error_errno(err, ERROR_SOURCE, errno,
				   "cannot look at it");
	if (S_ISREG(file->stat.st_mode))
		return look_at_bytes(file, fd, err);
	if (!S_ISFIFO(file->stat.st_mode) || file->listed != NULL)
		return error_set(err, ERROR_SOURCE,
				 "neither a regular file nor a pipe");
	/* Its writer must not see it closed in between. */
	file->fd = fd;
	*keep = true;
	return 0;
}

static int first_look(struct file_entry *file, struct error *err)
{
	int fd = file_entry_open(file->path);
	bool keep;
	int rc;

	if (fd < 0) {
		/* A socket cannot be opened at all. */
		if (errno == ENXIO)
			error_set(err, ERROR_SOURCE,
				  "neither a regular file nor a pipe");
		else if (errno == ENOENT && file->listed != NULL)
			error_set(err, ERROR_DATA,
				  "it is not there, and its list says that it "
				  "is");
		else
			error_errno(err, ERROR_SOURCE, errno, "cannot open it");
		return file_entry_prefix(file, err);
	}
	rc = look_at(file, fd, &keep, err);
	if (!keep)
		(void)close(fd);
	return rc == 0 ? 0 : file_entry_prefix(file, err);
}

static int by_inode(const void *a, const void *b)
{
	const struct file_entry *x = *(const struct file_entry *const *)a;
	const struct file_entry *y = *(const struct file_entry *const *)b;

	if (x->stat.st_dev != y->stat.st_dev)
		return x->stat.st_dev < y->stat.st_dev ? -1 : 1;
	if (x->stat.st_ino != y->stat.st_ino)
		return x->stat.st_ino < y->stat.st_ino ? -1 : 1;
	return 0;
}

static int same_file(const struct file_entry *x, const struct file_entry *y,
		     struct error *err)
{
	char one[QUOTE_SIZE(QUOTE_SHORT)], two[QUOTE_SIZE(QUOTE_SHORT)];

	quote_bytes(one, x->path, strlen(x->path), QUOTE_SHORT);
	quote_bytes(two, y->path, strlen(y->path), QUOTE_SHORT);
	error_set(err, ERROR_USAGE,
		  "file '%.200s' and file '%.200s' are the same", one, two);
	return error_hint(err, "name every file once: its rows count once");
}

/* Rows read twice would not add keys, but every count would be wrong. */
static int check_twice(const struct file_source *s, struct error *err)
{
	const struct file_entry **sorted;
	int rc = 0;

	sorted = calloc(s->count + 1, sizeof(*sorted));
	if (sorted == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < s->count; i++)
		sorted[i] = &s->files[i];
	qsort(sorted, s->count, sizeof(*sorted), by_inode);
	for (size_t i = 1; rc == 0 && i < s->count; i++) {
		const struct file_entry *x = sorted[i - 1], *y = sorted[i];

		if (by_inode(&x, &y) == 0)
			rc = x < y ? same_file(x, y, err)
				   : same_file(y, x, err);
	}
	free(sorted);
	return rc;
}

int filelist_read(struct file_source *s, const char *const *patterns,
		  size_t count, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_pattern(s, patterns[i], err);
	if (rc == 0)
		rc = listed_check(s, err);
	for (size_t i = 0; rc == 0 && i < s->count; i++)
		rc = first_look(&s->files[i], err);
	return rc == 0 ? check_twice(s, err) : -1;
}
