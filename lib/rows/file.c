/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/file.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rows/magic.h"
#include "lib/rows/quote.h"

/* How much of a pattern or path a message of two of them shows. */
#define QUOTE_SHORT 100u

static int add_file(struct file_source *s, const char *path, struct error *err)
{
	struct file_entry *files;

	files = realloc(s->files, (s->count + 1) * sizeof(*files));
	if (files == NULL)
		return error_nomem(err);
	s->files = files;
	memset(&files[s->count], 0, sizeof(*files));
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
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
		rc = add_file(s, found.gl_pathv[i], err);
	globfree(&found);
	return rc;
}

static int add_pattern(struct file_source *s, const char *pattern,
		       struct error *err)
{
	struct stat st;

	if (pattern[0] == '\0') {
		error_set(err, ERROR_USAGE, "a source 'file:' has no path");
		return error_hint(err, "file:PATH");
	}
	if (pattern[strcspn(pattern, "*?[")] == '\0' ||
	    lstat(pattern, &st) == 0)
		return add_file(s, pattern, err);
	return add_matches(s, pattern, err);
}

static int refuse(const struct magic *magic, struct error *err)
{
	error_set(err, ERROR_SOURCE, "it is %s by its first bytes, not rows",
		  magic->name);
	return error_hint(err, "%s", magic->remedy);
}

static int look_at(struct file_entry *file, int fd, struct error *err)
{
	char start[MAGIC_SIZE];
	const struct magic *magic;
	int64_t got;

	if (fstat(fd, &file->stat) != 0)
		return error_errno(err, ERROR_SOURCE, errno,
				   "cannot look at it");
	if (!S_ISREG(file->stat.st_mode))
		return error_set(err, ERROR_SOURCE, "not a regular file");
	got = file_entry_read(fd, start, sizeof(start), 0);
	if (got < 0)
		return error_errno(err, ERROR_SOURCE, errno, "cannot read it");
	magic = magic_find(start, (size_t)got);
	return magic != NULL ? refuse(magic, err) : 0;
}

static int first_look(struct file_entry *file, struct error *err)
{
	int fd = file_entry_open(file->path);
	int rc;

	if (fd < 0) {
		/* A socket cannot be opened at all. */
		if (errno == ENXIO)
			error_set(err, ERROR_SOURCE, "not a regular file");
		else
			error_errno(err, ERROR_SOURCE, errno, "cannot open it");
		return file_entry_prefix(file, err);
	}
	rc = look_at(file, fd, err);
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

struct partlist {
	struct source_part *parts;
	size_t count;
};

static int add_part(struct partlist *list, const struct file_source *s,
		    size_t index, uint64_t start, uint64_t end,
		    struct error *err)
{
	const struct file_entry *file = &s->files[index];
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];
	char name[sizeof(shown) + 8];
	struct source_part *parts, *part;

	parts = realloc(list->parts, (list->count + 1) * sizeof(*parts));
	if (parts == NULL)
		return error_nomem(err);
	list->parts = parts;
	part = &parts[list->count++];
	memset(part, 0, sizeof(*part));
	quote_bytes(shown, file->path, strlen(file->path), QUOTE_PATH_MAX);
	(void)snprintf(name, sizeof(name), "file '%s'", shown);
	part->name = strdup(name);
	part->index = index;
	part->start = start;
	part->end = end;
	part->at_end = end == (uint64_t)file->stat.st_size;
	return part->name != NULL ? 0 : error_nomem(err);
}

static int add_header(struct source_part *part, const char *header, size_t len,
		      struct error *err)
{
	if (len == 0 || part->start == 0)
		return 0;
	part->header = malloc(len);
	if (part->header == NULL)
		return error_nomem(err);
	memcpy(part->header, header, len);
	part->header_len = len;
	return 0;
}

/* Cuts one open file into parts of about step bytes. */
static int cut_file(struct partlist *list, const struct file_source *s,
		    size_t index, int fd, uint64_t step, bool header,
		    struct error *err)
{
	uint64_t size = (uint64_t)s->files[index].stat.st_size;
	uint64_t start = 0, end;
	char *row = NULL;
	size_t row_len = 0;
	int rc = 0;

	if (header && file_rows_first(fd, &row, &row_len, err) != 0)
		return -1;
	/* Without a whole header row there is nothing to cut behind. */
	if (header && row_len == 0)
		return add_part(list, s, index, 0, size, err);
	do {
		end = size;
		/* A rest of less than a step and a half stays in one piece. */
		if (size - start > step + step / 2) {
			end = start + step > row_len ? start + step : row_len;
			rc = file_rows_cut(fd, end, size, &end, err);
		}
		if (rc == 0)
			rc = add_part(list, s, index, start, end, err);
		if (rc == 0)
			rc = add_header(&list->parts[list->count - 1], row,
					row_len, err);
		start = end;
	} while (rc == 0 && start < size);
	free(row);
	return rc;
}

static uint64_t file_bytes(const struct source *source)
{
	const struct file_source *s = (const struct file_source *)source;
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->count; i++)
		bytes += (uint64_t)s->files[i].stat.st_size;
	return bytes;
}

static int split_file(struct partlist *list, const struct file_source *s,
		      size_t index, uint64_t step,
		      const struct rowformat *format, struct error *err)
{
	const struct file_entry *file = &s->files[index];
	uint64_t size = (uint64_t)file->stat.st_size;
	bool header = format->header || format->names == NULL;
	int fd, rc;

	if (step == 0 || size <= step + step / 2)
		return add_part(list, s, index, 0, size, err);
	fd = file_entry_reopen(file, err);
	if (fd < 0)
		return -1;
	rc = cut_file(list, s, index, fd, step, header, err);
	(void)close(fd);
	return rc == 0 ? 0 : file_entry_prefix(file, err);
}

static int file_split(struct source *source, unsigned jobs,
		      const struct rowformat *format,
		      struct source_part **parts, size_t *count,
		      struct error *err)
{
	struct file_source *s = (struct file_source *)source;
	struct partlist list = {NULL, 0};
	uint64_t step = 0;

	*parts = NULL;
	*count = 0;
	if (jobs > 1 && format->kind == ROWFORMAT_TEXT) {
		step = file_bytes(source) / jobs / FILE_PARTS_PER_JOB;
		if (step < s->part_min)
			step = s->part_min;
	}
	for (size_t i = 0; i < s->count; i++) {
		if (split_file(&list, s, i, step, format, err) != 0) {
			source_parts_free(list.parts, list.count);
			return -1;
		}
	}
	*parts = list.parts;
	*count = list.count;
	return 0;
}

static int file_part_open(struct source *source, const struct source_part *part,
			  struct stream **out, struct error *err)
{
	struct file_source *s = (struct file_source *)source;

	return file_entry_stream(&s->files[part->index], part, out, err);
}

static uint64_t file_rows_before(struct source *source,
				 const struct source_part *part,
				 const struct rowformat *format)
{
	struct file_source *s = (struct file_source *)source;
	bool header = format->header || format->names == NULL;
	uint64_t rows;
	int fd;

	if (part->start == 0)
		return 0;
	fd = file_entry_open(s->files[part->index].path);
	if (fd < 0)
		return 0;
	rows = file_rows_count(fd, part->start);
	(void)close(fd);
	return header && rows > 0 ? rows - 1 : rows;
}

static void file_free(struct source *source)
{
	struct file_source *s = (struct file_source *)source;

	for (size_t i = 0; i < s->count; i++)
		free(s->files[i].path);
	free(s->files);
	free(s);
}

int file_source_open(const char *const *patterns, size_t count,
		     struct source **out, struct error *err)
{
	static const struct source_ops ops = {file_split, file_part_open,
					      file_rows_before, file_bytes,
					      file_free};
	struct file_source *s = calloc(1, sizeof(*s));
	int rc = 0;

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->part_min = FILE_PART_MIN;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_pattern(s, patterns[i], err);
	for (size_t i = 0; rc == 0 && i < s->count; i++)
		rc = first_look(&s->files[i], err);
	if (rc == 0)
		rc = check_twice(s, err);
	if (rc != 0) {
		file_free(&s->base);
		return -1;
	}
	*out = &s->base;
	return 0;
}
