/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rows/decode.h"
#include "lib/rows/origin.h"
#include "lib/rows/pipe.h"
#include "lib/rows/quote.h"
#include "lib/rows/trailer.h"

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
	struct source_part *part;

	quote_bytes(shown, file->path, strlen(file->path), QUOTE_PATH_MAX);
	(void)snprintf(name, sizeof(name), "file '%s'", shown);
	part = source_part_add(&list->parts, &list->count, name, err);
	if (part == NULL)
		return -1;
	part->index = index;
	part->start = start;
	part->end = end;
	part->at_end = end == (uint64_t)file->stat.st_size;
	return 0;
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

static uint64_t all_bytes(const struct file_source *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->count; i++)
		bytes += (uint64_t)s->files[i].stat.st_size;
	return bytes;
}

static uint64_t file_bytes(const struct source *source)
{
	const struct file_source *s = (const struct file_source *)source;

	for (size_t i = 0; i < s->count; i++) {
		if (s->files[i].packed || s->files[i].fd >= 0)
			return 0;
	}
	return all_bytes(s);
}

static int split_file(struct partlist *list, const struct file_source *s,
		      size_t index, uint64_t step,
		      const struct rowformat *format, struct error *err)
{
	const struct file_entry *file = &s->files[index];
	uint64_t size = (uint64_t)file->stat.st_size;
	bool header = format->header || format->names == NULL;
	int fd, rc;

	/* A sum is that of the bytes from first to last. */
	if (step == 0 || size <= step + step / 2 || file->packed ||
	    file->trailer || file->listed != NULL || file->fd >= 0)
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
		step = all_bytes(s) / jobs / FILE_PARTS_PER_JOB;
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
	const struct file_entry *file = &s->files[part->index];
	int rc;

	if (file->fd >= 0) {
		rc = pipe_stream_open(file->fd, out, err);
		return rc == 0 ? decode_open(*out, s->trailers, out, err) : -1;
	}
	if (file_entry_stream(file, part, out, err) != 0 ||
	    (file->listed != NULL && listed_open(file, *out, out, err) != 0))
		return -1;
	if (file->packed)
		return decode_open(*out, false, out, err);
	return file->trailer ? trailer_open(*out, false, out, err) : 0;
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

	for (size_t i = 0; i < s->count; i++) {
		free(s->files[i].path);
		if (s->files[i].fd >= 0)
			(void)close(s->files[i].fd);
	}
	free(s->files);
	listed_free(s);
	free(s);
}

static const struct exportlist *file_list(const struct source *source)
{
	const struct file_source *s = (const struct file_source *)source;

	return s->list_count > 0 ? &s->lists[0].list : NULL;
}

/* Where rows came from before they were exported. */
static int file_origin(const struct source *source, struct origin *out,
		       struct error *err)
{
	const struct file_source *s = (const struct file_source *)source;
	const char *text = s->list_count == 1 ? s->lists[0].list.origin : NULL;
	json_t *json;
	int rc;

	if (text == NULL)
		return 1;
	json = json_parse(text, strlen(text), err);
	rc = json != NULL ? origin_read(json, out, err) : -1;
	json_decref(json);
	return rc;
}

static int file_horizon(const struct source *source, struct horizon *out,
			struct error *err)
{
	const struct file_source *s = (const struct file_source *)source;

	(void)err;
	if (s->list_count == 1)
		*out = s->lists[0].list.horizon;
	return 0;
}

int file_source_open(const char *const *patterns, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err)
{
	static const struct source_ops ops = {.split = file_split,
					      .open = file_part_open,
					      .rows_before = file_rows_before,
					      .bytes = file_bytes,
					      .origin = file_origin,
					      .horizon = file_horizon,
					      .list = file_list,
					      .free = file_free};
	struct file_source *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->part_min = FILE_PART_MIN;
	s->trailers = !options->no_trailer;
	s->kind = options->parts;
	if (filelist_read(s, patterns, count, err) != 0) {
		file_free(&s->base);
		return -1;
	}
	for (size_t i = 0; i < s->count; i++)
		s->base.once |= s->files[i].fd >= 0;
	*out = &s->base;
	return 0;
}
