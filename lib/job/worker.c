/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/input.h"
#include "lib/base/stop.h"
#include "lib/job/keyrow.h"
#include "lib/job/rejects.h"

/* What is read at once; a row that crosses its end is copied. */
#define CHUNK (256u << 10)

/* A row without a key: 0 to go past it, or -1. */
static int on_reject(struct worker *w, const struct row *row, int code,
		     size_t field, struct error *err)
{
	const struct scan *scan = w->crew->scan;
	int rc = -1;

	w->rejected++;
	/* What was passed over before is passed over again. */
	if (w->again && w->rejected != w->rejected_last)
		return 0;
	if (scan->rejects == NULL || w->again) {
		(void)rejects_error(scan->spec, code, field, err);
		(void)error_prefix(err, "row %" PRIu64, row->number);
	} else {
		rc = rejects_add(scan->rejects, w->part->name, row, code, field,
				 err);
		w->elsewhere = rc != 0 && err->code != ERROR_ROWS;
	}
	if (rc != 0)
		w->rejected_last = w->rejected;
	return rc;
}

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct worker *w = ctx;
	const struct bloomkey_spec *spec = w->crew->scan->spec;
	struct bloomkey_result result;
	int code;

	w->rows++;
	if (spec == NULL || (w->sink != NULL && w->sink->ops->key == NULL))
		return 0;
	code = w->crew->scan->keys
		       ? keyrow_take(spec, row->values, row->lens, &result)
		       : bloomkey_derive(spec, row->values, row->lens, w->key,
					 BLOOMKEY_MAX, &result);
	if (code != 0)
		return on_reject(w, row, code, result.field, err);
	if (w->sink == NULL)
		return 0;
	if ((w->sink->ops->row == NULL ||
	     w->sink->ops->row(w->sink, row, err) == 0) &&
	    w->sink->ops->key(w->sink, result.bucket,
			      w->crew->scan->keys ? row->values[0] : w->key,
			      result.len, err) == 0)
		return 0;
	w->elsewhere = err->code == ERROR_DATA;
	return -1;
}

/*
 * Whether the worker's part still matters: nothing before it has failed.  With
 * pipes and commands nothing at all: one that is silent may be so for ever.
 */
static bool wanted(const struct worker *w)
{
	size_t limit =
		atomic_load_explicit(&w->crew->limit, memory_order_relaxed);

	if (w->crew->scan->source->once)
		return limit == SIZE_MAX;
	return w->again || w->index < limit;
}

static bool still_wanted(void *ctx)
{
	return wanted(ctx);
}

/* Counts for whoever looks on; what is read again is not counted again. */
static void add_progress(struct worker *w, uint64_t rows, uint64_t bytes)
{
	if (w->again)
		return;
	atomic_fetch_add_explicit(&w->crew->rows, rows, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->crew->bytes, bytes, memory_order_relaxed);
}

void crew_lower_limit(struct crew *crew, size_t limit)
{
	size_t now = atomic_load(&crew->limit);

	while (limit < now &&
	       !atomic_compare_exchange_weak(&crew->limit, &now, limit))
		;
}

/* The sink's word on the bytes of a chunk. */
static int sink_bytes(struct worker *w, size_t len, struct error *err)
{
	if (w->sink == NULL || w->sink->ops->bytes == NULL ||
	    w->sink->ops->bytes(w->sink, w->chunk, len, err) == 0)
		return 0;
	w->elsewhere = true;
	return -1;
}

static int pump(struct worker *w, struct stream *stream, struct rowparse *parse,
		struct error *err)
{
	uint64_t rows;
	size_t got;

	for (;;) {
		if (stop_check(err) != 0)
			return -1;
		if (!wanted(w))
			return 0;
		w->cut = true;
		if (stream->ops->read(stream, w->chunk, CHUNK, &got, err) !=
			    0 ||
		    (got == 0 && stream->ops->finish(stream, err) != 0))
			return -1;
		w->cut = false;
		if (got == 0)
			return 0;
		rows = w->rows;
		/* Before they are parsed, which writes to them. */
		if (sink_bytes(w, got, err) != 0 ||
		    rowparse_feed(parse, w->chunk, got, err) != 0)
			return -1;
		add_progress(w, w->rows - rows, got);
	}
}

/* Parses the part's own bytes, behind the header row that it may borrow. */
static int read_part(struct worker *w, const struct rowformat *format,
		     struct error *err)
{
	const struct source_part *part = w->part;
	struct source *source = w->crew->scan->source;
	struct rowparse *parse = NULL;
	struct stream *stream = NULL;
	char *header = NULL;
	int rc;

	w->rejected = 0;
	rc = rowparse_new(format, on_row, w, &parse, err);
	if (rc == 0 && part->header != NULL) {
		/* A copy: the parser writes to what it is fed. */
		header = malloc(part->header_len);
		if (header == NULL) {
			rc = error_nomem(err);
		} else {
			memcpy(header, part->header, part->header_len);
			rc = rowparse_feed(parse, header, part->header_len,
					   err);
		}
	}
	if (rc == 0) {
		rc = source->ops->open(source, part, &stream, err);
		w->cut = rc != 0;
	}
	if (rc == 0)
		rc = pump(w, stream, parse, err);
	if (rc == 0 && wanted(w)) {
		uint64_t before = w->rows;

		rc = rowparse_end(parse, part->at_end, err);
		add_progress(w, w->rows - before, 0);
		if (rc == 0)
			rc = stream_check_rows(stream, parse->rows, err);
		w->part_rows = parse->rows;
	}
	if (stream != NULL)
		stream->ops->close(stream);
	rowparse_free(parse);
	free(header);
	return rc;
}

/*
 * Whether a part that was cut off is read once more; err holds why, and does
 * so afterwards unless it is a stop.  What it gave is taken back.  One of which
 * rows were passed over is not: they stand in a list by now.
 */
static int read_again(struct worker *w, unsigned attempt, uint64_t rows,
		      struct error *err)
{
	struct source *source = w->crew->scan->source;
	struct error why = *err;
	int rc;

	if (!w->cut || w->rejected > 0 || source->ops->again == NULL ||
	    !wanted(w) || stop_asked())
		return 0;
	rc = source->ops->again(source, w->part, attempt, &why, err);
	if (rc <= 0)
		return rc;
	err->code = ERROR_NONE;
	atomic_fetch_sub_explicit(&w->crew->rows, w->rows - rows,
				  memory_order_relaxed);
	w->rows = rows;
	if (w->sink->ops->again == NULL)
		return 1;
	if (w->sink->ops->again(w->sink, err) == 0)
		return 1;
	w->elsewhere = true;
	return -1;
}

/* A part from its beginning to its end, for the sink. */
static int take_part(struct worker *w, const struct rowformat *format,
		     struct error *err)
{
	const struct sink_ops *sink = w->sink->ops;
	uint64_t rows = w->rows;
	int again = 1;
	int rc = 0;

	if (sink->begin != NULL && sink->begin(w->sink, w->part, err) != 0) {
		w->elsewhere = true;
		return -1;
	}
	for (unsigned attempt = 1; again > 0; attempt++) {
		rc = read_part(w, format, err);
		again = rc != 0 ? read_again(w, attempt, rows, err) : 0;
	}
	if (rc != 0 || sink->done == NULL || !wanted(w))
		return rc;
	rc = sink->done(w->sink, w->part_rows, err);
	w->elsewhere = rc != 0;
	return rc;
}

/*
 * Row numbers of a part count from the part's start.  Rather than carry the
 * numbers of all parts before it through the fast path, a part that failed
 * is read once more with its first row's true number.
 */
static void renumber(struct worker *w, const struct rowformat *format)
{
	struct source *source = w->crew->scan->source;
	struct rowformat numbered = *format;
	struct sink *sink = w->sink;
	struct error again = ERROR_INIT;

	if (w->part->start == 0 || w->elsewhere ||
	    source->ops->rows_before == NULL ||
	    (w->err.code != ERROR_ROWS && w->err.code != ERROR_DATA))
		return;
	numbered.rows_before =
		source->ops->rows_before(source, w->part, format);
	w->sink = NULL;
	w->again = true;
	if (read_part(w, &numbered, &again) != 0 && again.code == w->err.code)
		memcpy(w->err.text, again.text, sizeof(again.text));
	w->again = false;
	w->sink = sink;
}

/*
 * Whether an error says by itself what it is about: a stop, a file that named
 * itself, or damage that the sink met in a filter.
 */
static bool names_its_file(const struct worker *w)
{
	size_t len = strlen(w->part->name);

	return stop_asked() || w->elsewhere ||
	       (strncmp(w->err.text, w->part->name, len) == 0 &&
		w->err.text[len] == ':');
}

void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;
	const struct rowformat *format = crew->scan->format;

	input_set_wanted(still_wanted, w);
	while (w->err.code == ERROR_NONE) {
		w->index = atomic_fetch_add(&crew->next, 1);
		if (w->index >= crew->count || !wanted(w))
			break;
		w->part = &crew->parts[w->index];
		if (take_part(w, format, &w->err) == 0)
			continue;
		/* Another error was first, and perhaps the cause of this. */
		if (!wanted(w)) {
			w->err.code = ERROR_NONE;
			break;
		}
		crew_lower_limit(crew, w->index + 1);
		renumber(w, format);
		if (!names_its_file(w))
			(void)error_prefix(&w->err, "%s", w->part->name);
	}
	if (w->err.code == ERROR_NONE && crew->last &&
	    w->sink->ops->end != NULL &&
	    atomic_load(&crew->limit) == SIZE_MAX &&
	    w->sink->ops->end(w->sink, &w->err) != 0)
		crew_lower_limit(crew, 0);
	input_set_wanted(NULL, NULL);
	/* The pipe has room for a byte from each; a lost one is a bug that
	 * shows as a scan that does not end. */
	while (write(crew->done[1], "", 1) < 0 && errno == EINTR)
		;
	return NULL;
}

int worker_init(struct worker *w, struct crew *crew, struct sink *sink,
		struct error *err)
{
	w->crew = crew;
	w->sink = sink;
	w->chunk = malloc(CHUNK);
	w->key = malloc(BLOOMKEY_MAX);
	return w->chunk != NULL && w->key != NULL ? 0 : error_nomem(err);
}

void worker_release(struct worker *w)
{
	free(w->chunk);
	free(w->key);
}
