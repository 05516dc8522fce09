/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/export.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"
#include "lib/base/sum.h"

/* What is read, parsed and written at once. */
#define CHUNK (256u << 10)

struct copy {
	const struct export *e;
	struct stream *stream;
	struct rowparse *parse;
	struct sum_stream *sum;
	char *chunk;
	int64_t started;
	struct trailer *done;
};

static int no_work(void *ctx, const struct row *row, struct error *err)
{
	(void)ctx;
	(void)row;
	(void)err;
	return 0;
}

static void tell(const struct copy *c)
{
	const struct progress *progress = &c->e->progress;
	const struct source *source = c->e->source;
	struct scan_progress p = {
		.phase = "exporting",
		.rows = c->done->rows,
		.bytes = c->done->bytes,
		.bytes_total = source->ops->bytes != NULL
				       ? source->ops->bytes(source)
				       : 0,
		.elapsed_ns = clock_ns() - c->started,
	};

	if (progress->fn != NULL)
		progress->fn(progress->ctx, &p);
}

static int copy_bytes(struct copy *c, struct error *err)
{
	size_t got;

	for (;;) {
		if (stop_check(err) != 0 ||
		    c->stream->ops->read(c->stream, c->chunk, CHUNK, &got,
					 err) != 0)
			return -1;
		if (got == 0)
			return c->stream->ops->finish(c->stream, err);
		sum_stream_add(c->sum, c->chunk, got);
		/* Before they are parsed, which writes to them. */
		if (c->e->write(c->e->ctx, c->chunk, got, err) != 0 ||
		    rowparse_feed(c->parse, c->chunk, got, err) != 0)
			return -1;
		c->done->bytes += got;
		c->done->rows = c->parse->rows;
		tell(c);
	}
}

static int copy_part(struct copy *c, const struct source_part *part,
		     struct error *err)
{
	const struct export *e = c->e;
	char text[TRAILER_MAX + 1];
	size_t len;

	if (rowparse_new(e->format, no_work, NULL, &c->parse, err) != 0 ||
	    e->source->ops->open(e->source, part, &c->stream, err) != 0 ||
	    copy_bytes(c, err) != 0 ||
	    rowparse_end(c->parse, part->at_end, err) != 0 ||
	    stream_check_rows(c->stream, c->parse->rows, err) != 0)
		return -1;
	c->done->rows = c->parse->rows;
	c->done->xxh64 = sum_stream_value(c->sum);
	len = trailer_format(c->done, text);
	return e->write(e->ctx, text, len, err);
}

static int prefix(const struct source_part *part, struct error *err)
{
	size_t len = strlen(part->name);

	/* Some errors say by themselves what they are about. */
	if (stop_asked() ||
	    (strncmp(err->text, part->name, len) == 0 && err->text[len] == ':'))
		return -1;
	return error_prefix(err, "%s", part->name);
}

int export_run(const struct export *e, struct trailer *done, struct error *err)
{
	struct copy c = {.e = e, .done = done, .started = clock_ns()};
	struct source_part *parts;
	size_t count;
	int rc;

	memset(done, 0, sizeof(*done));
	if (e->source->ops->split(e->source, 1, e->format, &parts, &count,
				  err) != 0)
		return -1;
	c.sum = sum_stream_new();
	c.chunk = malloc(CHUNK);
	if (count != 1) {
		(void)error_set(err, ERROR_USAGE,
				"%zu sources: one is exported at a time",
				count);
		rc = error_hint(err, "each has a header and an end of its own");
	} else if (c.sum == NULL || c.chunk == NULL) {
		rc = error_nomem(err);
	} else {
		rc = copy_part(&c, &parts[0], err);
		if (rc != 0)
			rc = prefix(&parts[0], err);
	}
	if (c.stream != NULL)
		c.stream->ops->close(c.stream);
	rowparse_free(c.parse);
	sum_stream_free(c.sum);
	free(c.chunk);
	source_parts_free(parts, count);
	return rc;
}
