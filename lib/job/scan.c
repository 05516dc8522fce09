/* SPDX-License-Identifier: BSD-2-Clause */

/* pipe2() */
#define _GNU_SOURCE

#include "lib/job/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/job/rejects.h"
#include "lib/job/worker.h"

#define TICK_MS      100
#define WORKER_STACK (256u << 10)

static void tell(const struct crew *crew, int64_t started)
{
	const struct scan *scan = crew->scan;
	struct scan_progress p = {
		.phase = scan->phase,
		.rows = atomic_load_explicit(&crew->rows, memory_order_relaxed),
		.bytes = atomic_load_explicit(&crew->bytes,
					      memory_order_relaxed),
		.bytes_total = scan->source->ops->bytes != NULL
				       ? scan->source->ops->bytes(scan->source)
				       : 0,
		.elapsed_ns = clock_ns() - started,
	};

	if (scan->progress.fn != NULL)
		scan->progress.fn(scan->progress.ctx, &p);
}

/* Whoever waits for rows looks about once a second whether they are wanted. */
static int check(struct crew *crew, struct error *err)
{
	const struct scan_check *c = &crew->scan->check;

	if (c->fn == NULL || c->fn(c->ctx, err) == 0)
		return 0;
	crew_lower_limit(crew, 0);
	return -1;
}

/* Waits for the workers, telling how far they are. */
static int wait_for(struct crew *crew, unsigned started, struct error *err)
{
	int rc = 0;
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
		if (rc == 0)
			rc = check(crew, err);
	}
	return rc;
}

static int workers_run(struct worker *workers, struct crew *crew,
		       struct error *err)
{
	pthread_attr_t attr;
	unsigned started = 0;
	int checked;
	int rc = 0;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, WORKER_STACK);
	while (rc == 0 && started < crew->scan->jobs) {
		rc = pthread_create(&workers[started].thread, &attr, worker_run,
				    &workers[started]);
		if (rc == 0)
			started++;
	}
	(void)pthread_attr_destroy(&attr);
	if (rc != 0)
		crew_lower_limit(crew, 0);
	checked = wait_for(crew, started, err);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(workers[i].thread, NULL);
	if (rc != 0)
		return error_errno(err, ERROR_INTERNAL, rc, "thread");
	return checked;
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

/* The jobs that a source is cut for: rows of a cut file have no numbers. */
static unsigned split_jobs(const struct scan *scan)
{
	return scan->rejects != NULL && scan->rejects->path != NULL
		       ? 1
		       : scan->jobs;
}

/* Has workers read the crew's parts; what they read before is kept. */
static int run_crew(struct crew *crew, struct sink *const *sinks,
		    struct error *err)
{
	unsigned jobs = crew->scan->jobs;
	struct worker *workers = calloc(jobs, sizeof(*workers));
	int rc = workers == NULL ? error_nomem(err) : 0;

	for (unsigned i = 0; rc == 0 && i < jobs; i++)
		rc = worker_init(&workers[i], crew, sinks[i], err);
	if (rc == 0)
		rc = workers_run(workers, crew, err);
	if (rc == 0)
		rc = first_error(workers, jobs, err);
	for (unsigned i = 0; workers != NULL && i < jobs; i++)
		worker_release(&workers[i]);
	free(workers);
	return rc;
}

/* Numbers the parts behind those that were read before. */
static void number_parts(struct crew *crew, size_t before)
{
	for (size_t i = 0; i < crew->count; i++)
		crew->parts[i].number = before + i + 1;
}

/* The parts that the source wants read in addition, in place of the others. */
static int take_more(struct crew *crew, struct error *err)
{
	struct source *source = crew->scan->source;
	size_t before = crew->count;

	source_parts_free(crew->parts, crew->count);
	crew->parts = NULL;
	crew->count = 0;
	atomic_store(&crew->next, 0);
	if (source->ops->more(source, &crew->parts, &crew->count, err) != 0)
		return -1;
	number_parts(crew, before);
	return 0;
}

static int run(const struct scan *scan, struct sink *const *sinks,
	       uint64_t *rows, struct error *err)
{
	struct crew crew = {.scan = scan, .limit = SIZE_MAX, .done = {-1, -1}};
	int rc;

	crew.last = scan->source->ops->more == NULL;
	rc = scan->source->ops->split(scan->source, split_jobs(scan),
				      scan->format, &crew.parts, &crew.count,
				      err);
	number_parts(&crew, 0);
	/* A command that is a source must not inherit it. */
	if (rc == 0 && pipe2(crew.done, O_CLOEXEC) != 0)
		rc = error_errno(err, ERROR_INTERNAL, errno, "no pipe");
	if (rc == 0)
		rc = run_crew(&crew, sinks, err);
	if (rc == 0 && !crew.last) {
		crew.last = true;
		rc = take_more(&crew, err);
		if (rc == 0)
			rc = run_crew(&crew, sinks, err);
	}
	*rows = atomic_load(&crew.rows);
	for (int i = 0; i < 2; i++)
		if (crew.done[i] >= 0)
			(void)close(crew.done[i]);
	source_parts_free(crew.parts, crew.count);
	return rc;
}

int scan_run(const struct scan *scan, struct sink *const *sinks, uint64_t *rows,
	     struct error *err)
{
	struct error wrong = ERROR_INIT;
	int rc;

	*rows = 0;
	if (scan->rejects == NULL)
		return run(scan, sinks, rows, err);
	scan->rejects->keys = scan->keys;
	rc = rejects_begin(scan->rejects, scan->spec, err);
	if (rc == 0)
		rc = run(scan, sinks, rows, err);
	if (rejects_end(scan->rejects, &wrong) != 0 && rc == 0) {
		*err = wrong;
		rc = -1;
	}
	return rc;
}

int scan_jobs(const struct scan *scan, unsigned *jobs, struct error *err)
{
	struct source_part *parts = NULL;
	size_t count = 0;

	if (scan->source->ops->split(scan->source, split_jobs(scan),
				     scan->format, &parts, &count, err) != 0)
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
