/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/stop.h"

/* What is read at once; a row that crosses its end is copied. */
#define CHUNK        (256u << 10)
#define TICK_MS      100
#define WORKER_STACK (256u << 10)

/* What the workers share. */
struct crew {
	const struct scan *scan;
	struct source_part *parts;
	size_t count;
	atomic_size_t next;
	atomic_size_t limit; /* parts below it are to be read: all, until one
				fails; then none behind that */
	atomic_uint_fast64_t rows;
	atomic_uint_fast64_t bytes;
	int done[2]; /* a pipe: one byte for each worker that has ended */
};

struct worker {
	struct crew *crew;
	struct sink *sink; /* NULL: keys are derived and dropped */
	const struct source_part *part;
	pthread_t thread;
	char *chunk;
	unsigned char *key; /* BLOOMKEY_MAX bytes */
	uint64_t rows;
	size_t index;     /* of the part */
	bool sink_failed; /* err is of damage that the sink met */
	bool again;       /* the part is read once more, for its message */
	struct error err; /* code ERROR_NONE while all is well */
};

int scan_reject(const struct bloomkey_spec *spec, int code, size_t field,
		struct error *err)
{
	const char *reason = bloomkey_reason(code);

	if (reason == NULL)
		return error_set(err, ERROR_INTERNAL, "key function: result %d",
				 code);
	if (field < bloomkey_fields(spec))
		(void)error_set(err, ERROR_ROWS, "field '%s': no key: %s",
				bloomkey_field_name(spec, field), reason);
	else
		(void)error_set(err, ERROR_ROWS, "whole key: no key: %s",
				reason);
	return error_hint(err, "mend or leave out the row, or let the keyspec "
			       "allow it; see REJECTS in bloomctl(1)");
}

static int on_row(void *ctx, const struct row *row, struct error *err)
{
	struct worker *w = ctx;
	const struct bloomkey_spec *spec = w->crew->scan->spec;
	struct bloomkey_result result;
	int code = bloomkey_derive(spec, row->values, row->lens, w->key,
				   BLOOMKEY_MAX, &result);

	if (code != 0) {
		(void)scan_reject(spec, code, result.field, err);
		return error_prefix(err, "row %" PRIu64, row->number);
	}
	w->rows++;
	if (w->sink == NULL)
		return 0;
	if (w->sink->ops->key(w->sink, result.bucket, w->key, result.len,
			      err) == 0)
		return 0;
	w->sink_failed = err->code == ERROR_DATA;
	return -1;
}

/* Whether the worker's part still matters: nothing before it has failed. */
static bool wanted(const struct worker *w)
{
	return w->again ||
	       w->index < atomic_load_explicit(&w->crew->limit,
					       memory_order_relaxed);
}

/* Counts for whoever looks on; what is read again is not counted again. */
static void add_progress(struct worker *w, uint64_t rows, uint64_t bytes)
{
	if (w->again)
		return;
	atomic_fetch_add_explicit(&w->crew->rows, rows, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->crew->bytes, bytes, memory_order_relaxed);
}

/* Ends the scan for all parts from `limit` on. */
static void lower_limit(struct crew *crew, size_t limit)
{
	size_t now = atomic_load(&crew->limit);

	while (limit < now &&
	       !atomic_compare_exchange_weak(&crew->limit, &now, limit))
		;
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
		if (stream->ops->read(stream, w->chunk, CHUNK, &got, err) != 0)
			return -1;
		if (got == 0)
			return stream->ops->finish(stream, err);
		rows = w->rows;
		if (rowparse_feed(parse, w->chunk, got, err) != 0)
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
	if (rc == 0)
		rc = source->ops->open(source, part, &stream, err);
	if (rc == 0)
		rc = pump(w, stream, parse, err);
	if (rc == 0 && wanted(w)) {
		uint64_t before = w->rows;

		rc = rowparse_end(parse, part->at_end, err);
		add_progress(w, w->rows - before, 0);
	}
	if (stream != NULL)
		stream->ops->close(stream);
	rowparse_free(parse);
	free(header);
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

	if (w->part->start == 0 ||
	    (w->err.code != ERROR_ROWS && w->err.code != ERROR_DATA))
		return;
	numbered.rows_before =
		source->ops->rows_before(source, w->part, format);
	w->sink = NULL;
	w->again = true;
	if (read_part(w, &numbered, &again) != 0 && again.code == w->err.code)
		w->err = again;
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

	return stop_asked() || w->sink_failed ||
	       (strncmp(w->err.text, w->part->name, len) == 0 &&
		w->err.text[len] == ':');
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;
	const struct rowformat *format = crew->scan->format;

	while (w->err.code == ERROR_NONE) {
		w->index = atomic_fetch_add(&crew->next, 1);
		if (w->index >= crew->count || !wanted(w))
			break;
		w->part = &crew->parts[w->index];
		if (read_part(w, format, &w->err) == 0)
			continue;
		lower_limit(crew, w->index + 1);
		renumber(w, format);
		if (!names_its_file(w))
			(void)error_prefix(&w->err, "%s", w->part->name);
	}
	if (w->err.code == ERROR_NONE && w->sink->ops->end != NULL &&
	    atomic_load(&crew->limit) == SIZE_MAX &&
	    w->sink->ops->end(w->sink, &w->err) != 0)
		lower_limit(crew, 0);
	/* The pipe has room for a byte from each; a lost one is a bug that
	 * shows as a scan that does not end. */
	while (write(crew->done[1], "", 1) < 0 && errno == EINTR)
		;
	return NULL;
}

static void tell(const struct crew *crew, int64_t started)
{
	const struct scan *scan = crew->scan;
	struct scan_progress p = {
		.phase = scan->phase,
		.rows = atomic_load_explicit(&crew->rows, memory_order_relaxed),
		.bytes = atomic_load_explicit(&crew->bytes,
					      memory_order_relaxed),
		.bytes_total = scan->source->ops->bytes(scan->source),
		.elapsed_ns = clock_ns() - started,
	};

	if (scan->progress.fn != NULL)
		scan->progress.fn(scan->progress.ctx, &p);
}

/* Waits for the workers, telling how far they are. */
static void wait_for(struct crew *crew, unsigned started)
{
	int64_t since = clock_ns();
	char ended[SCAN_JOBS_MAX];
	unsigned done = 0;

	while (done < started) {
		struct pollfd fd = {.fd = crew->done[0], .events = POLLIN};
		ssize_t n;

		/* Workers look at the stop flag themselves, chunk by chunk. */
		if (poll(&fd, 1, TICK_MS) > 0) {
			n = read(crew->done[0], ended, sizeof(ended));
			if (n > 0)
				done += (unsigned)n;
		}
		tell(crew, since);
	}
}

static int workers_init(struct worker *workers, struct crew *crew,
			struct sink *const *sinks, struct error *err)
{
	for (unsigned i = 0; i < crew->scan->jobs; i++) {
		workers[i].crew = crew;
		workers[i].sink = sinks[i];
		workers[i].chunk = malloc(CHUNK);
		workers[i].key = malloc(BLOOMKEY_MAX);
		if (workers[i].chunk == NULL || workers[i].key == NULL)
			return error_nomem(err);
	}
	return 0;
}

static int workers_run(struct worker *workers, struct crew *crew,
		       struct error *err)
{
	pthread_attr_t attr;
	unsigned started = 0;
	int rc = 0;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, WORKER_STACK);
	while (rc == 0 && started < crew->scan->jobs) {
		rc = pthread_create(&workers[started].thread, &attr, work,
				    &workers[started]);
		if (rc == 0)
			started++;
	}
	(void)pthread_attr_destroy(&attr);
	if (rc != 0)
		lower_limit(crew, 0);
	wait_for(crew, started);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(workers[i].thread, NULL);
	if (rc != 0)
		return error_errno(err, ERROR_INTERNAL, rc, "thread");
	return 0;
}

/* The error of the earliest part, so that it does not depend on timing. */
static int first_error(const struct worker *workers, unsigned jobs,
		       struct error *err)
{
	const struct worker *first = NULL;

	for (unsigned i = 0; i < jobs; i++) {
		if (workers[i].err.code == ERROR_NONE)
			continue;
		if (first == NULL || workers[i].index < first->index)
			first = &workers[i];
	}
	if (first == NULL)
		return 0;
	*err = first->err;
	return -1;
}

int scan_run(const struct scan *scan, struct sink *const *sinks, uint64_t *rows,
	     struct error *err)
{
	struct crew crew = {.scan = scan, .limit = SIZE_MAX, .done = {-1, -1}};
	struct worker *workers = NULL;
	int rc;

	rc = scan->source->ops->split(scan->source, scan->jobs, scan->format,
				      &crew.parts, &crew.count, err);
	if (rc == 0 && pipe(crew.done) != 0)
		rc = error_set(err, ERROR_INTERNAL, "no pipe");
	if (rc == 0) {
		workers = calloc(scan->jobs, sizeof(*workers));
		rc = workers == NULL ? error_nomem(err)
				     : workers_init(workers, &crew, sinks, err);
	}
	if (rc == 0)
		rc = workers_run(workers, &crew, err);
	if (rc == 0)
		rc = first_error(workers, scan->jobs, err);
	*rows = atomic_load(&crew.rows);
	for (unsigned i = 0; workers != NULL && i < scan->jobs; i++) {
		free(workers[i].chunk);
		free(workers[i].key);
	}
	free(workers);
	for (int i = 0; i < 2; i++)
		if (crew.done[i] >= 0)
			(void)close(crew.done[i]);
	source_parts_free(crew.parts, crew.count);
	return rc;
}

int scan_jobs(const struct scan *scan, unsigned *jobs, struct error *err)
{
	struct source_part *parts = NULL;
	size_t count = 0;

	if (scan->source->ops->split(scan->source, scan->jobs, scan->format,
				     &parts, &count, err) != 0)
		return -1;
	source_parts_free(parts, count);
	*jobs = count > 0 && count < scan->jobs ? (unsigned)count : scan->jobs;
	return 0;
}

int scan_columns(const struct bloomkey_spec *spec, struct rowformat *format,
		 const char ***wanted, struct error *err)
{
	size_t n = bloomkey_fields(spec);
	const char **names = calloc(n, sizeof(*names));

	if (names == NULL)
		return error_nomem(err);
	for (size_t i = 0; i < n; i++)
		names[i] = bloomkey_field_column(spec, i);
	format->wanted = names;
	format->wanted_count = n;
	*wanted = names;
	return 0;
}
