/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/sum.h"
#include "lib/rows/file.h"

int listed_look(const struct file_entry *file, struct error *err)
{
	uint64_t size = (uint64_t)file->stat.st_size;

	if (size == file->listed->bytes)
		return 0;
	return error_set(err, ERROR_DATA,
			 "%" PRIu64 " bytes, where its list says %" PRIu64,
			 size, file->listed->bytes);
}

struct listed_stream {
	struct stream base;
	const struct file_entry *file;
	struct stream *inner; /* owned */
	struct sum_stream *sum;
};

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	struct listed_stream *s = (struct listed_stream *)stream;

	if (s->inner->ops->read(s->inner, buf, cap, got, err) != 0)
		return -1;
	sum_stream_add(s->sum, buf, *got);
	return 0;
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct listed_stream *s = (struct listed_stream *)stream;

	if (s->inner->ops->finish(s->inner, err) != 0)
		return -1;
	if (sum_stream_value(s->sum) != s->file->listed->xxh64) {
		(void)error_set(err, ERROR_DATA,
				"its checksum is not that of its list");
		return file_entry_prefix(s->file, err);
	}
	stream->counted = true;
	stream->rows = s->file->listed->rows;
	stream->witness = "its list";
	return 0;
}

static void stream_close(struct stream *stream)
{
	struct listed_stream *s = (struct listed_stream *)stream;

	s->inner->ops->close(s->inner);
	sum_stream_free(s->sum);
	free(s);
}

int listed_open(const struct file_entry *file, struct stream *inner,
		struct stream **out, struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct listed_stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s != NULL)
		s->sum = sum_stream_new();
	if (s == NULL || s->sum == NULL) {
		free(s);
		inner->ops->close(inner);
		return error_nomem(err);
	}
	s->base.ops = &ops;
	s->file = file;
	s->inner = inner;
	*out = &s->base;
	return 0;
}
