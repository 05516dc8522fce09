/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/export.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/job/rejects.h"
#include "lib/rows/origin.h"

/*
 * A pipe cannot say where one of several parts ends and the next begins, and a
 * list has an end: better told now than when all the others are written.
 */
static int check_parts(const struct export *e, struct error *err)
{
	struct source *source = e->scan->source;
	struct source_part *parts;
	size_t count;

	if (source->ops->split(source, e->scan->jobs, e->scan->format, &parts,
			       &count, err) != 0)
		return -1;
	source_parts_free(parts, count);
	if (e->path != NULL && count > EXPORTLIST_PARTS_MAX) {
		(void)error_set(err, ERROR_USAGE,
				"%zu parts, and an export has %u at most",
				count, EXPORTLIST_PARTS_MAX);
		return error_hint(err, "give fewer --jobs, or fewer files");
	}
	if (e->path != NULL || count == 1)
		return 0;
	(void)error_set(err, ERROR_USAGE,
			"%zu sources: one is exported to a pipe at a time",
			count);
	return error_hint(err, "export them to files, with -t file:PATH; each "
			       "has a header and an end of its own");
}

/* What is known of the run when all rows are read. */
static int tell_list(struct export *e, struct error *err)
{
	const struct rejects *rejects = e->scan->rejects;

	/* Those of an export that is exported again are still missing. */
	e->list.rejects = (rejects != NULL ? rejects->count.total : 0) +
			  e->scan->source->lacking;
	if (source_horizon(e->scan->source, &e->list.horizon, err) != 0)
		return -1;
	return origin_text(e->scan->source, &e->list.origin, err);
}

static int run_files(struct export *e, struct exportfile *file,
		     struct sink *const *table, struct export_report *report,
		     struct error *err)
{
	int rc = scan_run(e->scan, table, &report->read, err);

	if (rc == 0)
		rc = tell_list(e, err);
	return rc == 0 ? exportfile_finish(file, err) : -1;
}

static int run_pipe(const struct export *e, struct exportsink *sink,
		    struct export_report *report, struct error *err)
{
	struct sink *table[1] = {&sink->base};

	if (scan_run(e->scan, table, &report->read, err) != 0)
		return -1;
	return exportsink_trailer(sink, err);
}

static void sum_up(const struct export *e, const struct exportsink *sinks,
		   unsigned jobs, struct export_report *report)
{
	for (unsigned i = 0; i < jobs; i++)
		report->bytes += sinks[i].unpacked;
	report->parts = e->list.count;
	for (size_t i = 0; i < e->list.count; i++)
		report->packed += e->list.parts[i].bytes;
	report->rows = e->path != NULL ? e->list.rows : sinks[0].part.rows;
}

static int run(struct export *e, struct exportfile *file,
	       struct exportsink *sinks, struct sink **table,
	       struct export_report *report, struct error *err)
{
	bool keys = e->scan->spec != NULL;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < e->scan->jobs; i++) {
		table[i] = &sinks[i].base;
		rc = exportsink_init(&sinks[i], file,
				     e->path == NULL ? &e->pipe : NULL,
				     e->list.packed, keys, err);
	}
	if (rc == 0)
		rc = e->path != NULL ? run_files(e, file, table, report, err)
				     : run_pipe(e, &sinks[0], report, err);
	sum_up(e, sinks, e->scan->jobs, report);
	for (unsigned i = 0; i < e->scan->jobs; i++)
		exportsink_release(&sinks[i]);
	return rc;
}

int export_run(struct export *e, struct export_report *report,
	       struct error *err)
{
	struct exportsink *sinks = calloc(e->scan->jobs, sizeof(*sinks));
	struct sink **table = calloc(e->scan->jobs, sizeof(struct sink *));
	struct exportfile *file = NULL;
	int rc = sinks == NULL || table == NULL ? error_nomem(err) : 0;

	memset(report, 0, sizeof(*report));
	e->list.started = clock_wall_ms();
	if (rc == 0)
		rc = check_parts(e, err);
	if (rc == 0 && e->path != NULL)
		rc = exportfile_open(e->path, &e->list, &file, err);
	if (rc == 0)
		rc = run(e, file, sinks, table, report, err);
	exportfile_close(file);
	free(sinks);
	free(table);
	return rc;
}
