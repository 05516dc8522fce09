/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/pipe.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/base/input.h"
#include "lib/rows/decode.h"

struct pipe_stream {
	struct stream base;
	int fd;
};

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	return input_read(((struct pipe_stream *)stream)->fd, buf, cap, got,
			  err);
}

static int stream_finish(struct stream *stream, struct error *err)
{
	(void)stream;
	(void)err;
	return 0;
}

static void stream_close(struct stream *stream)
{
	free(stream);
}

int pipe_stream_open(int fd, struct stream **out, struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct pipe_stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->fd = fd;
	*out = &s->base;
	return 0;
}

struct pipe_source {
	struct source base;
	bool trailer; /* there must be one */
};

static int pipe_split(struct source *source, unsigned jobs,
		      const struct rowformat *format,
		      struct source_part **parts, size_t *count,
		      struct error *err)
{
	(void)source;
	(void)jobs;
	(void)format;
	*parts = NULL;
	*count = 0;
	return source_part_add(parts, count, "standard input", err) != NULL
		       ? 0
		       : -1;
}

static int pipe_open(struct source *source, const struct source_part *part,
		     struct stream **out, struct error *err)
{
	struct pipe_source *s = (struct pipe_source *)source;
	struct stream *raw;

	(void)part;
	*out = NULL;
	if (pipe_stream_open(STDIN_FILENO, &raw, err) != 0)
		return -1;
	return decode_open(raw, s->trailer, out, err);
}

static void pipe_free(struct source *source)
{
	free(source);
}

int pipe_source_open(const char *const *rests, size_t count,
		     const struct source_options *options, struct source **out,
		     struct error *err)
{
	static const struct source_ops ops = {
		.split = pipe_split, .open = pipe_open, .free = pipe_free};
	struct pipe_source *s;

	(void)rests;
	*out = NULL;
	if (count > 1)
		return error_set(err, ERROR_USAGE,
				 "source '-' is given twice: standard input is "
				 "read once");
	if (isatty(STDIN_FILENO) == 1) {
		(void)error_set(err, ERROR_SOURCE,
				"standard input: a terminal, not rows");
		return error_hint(err, "pipe rows into it, for example from "
				       "bloomctl export -t -");
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->base.once = true;
	s->trailer = !options->no_trailer;
	*out = &s->base;
	return 0;
}
