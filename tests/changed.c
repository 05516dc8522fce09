/* SPDX-License-Identifier: BSD-2-Clause
 *
 * changed: the rows of a database that changed since a horizon, as COPY text,
 * and the next horizon on standard error: what a pass reads, without filters.
 *
 *	changed [-t TABLE | -q QUERY] [-w WRITER] [-c COLUMN] [-S] [-b]
 *		[-o OVERLAP-MS] [-m WAIT-MS] [-a MAX-AGE-MS] [-l LIMIT] [-j
 *JOBS] DATABASE [HORIZON]
 *
 * -S: by the column, and not by ids; -b: what did not change.  Errors are one
 * line, and their code is the status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/horizon.h"
#include "lib/rows/source.h"

struct asked {
	struct source_query query;
	struct horizon from;
	bool before;
	unsigned jobs;
	const char *word;
};

static int64_t number(const char *text)
{
	return strtoll(text, NULL, 10);
}

static void take(struct asked *a, int option, const char *value)
{
	struct source_query *q = &a->query;

	switch (option) {
	case 't':
		q->table = value;
		break;
	case 'q':
		q->query = value;
		break;
	case 'w':
		q->writer = value;
		break;
	case 'c':
		q->changed = value;
		break;
	case 'S':
		q->stamped = true;
		break;
	case 'b':
		a->before = true;
		break;
	case 'o':
		q->overlap_ms = number(value);
		break;
	case 'm':
		q->wait_ms = number(value);
		break;
	case 'a':
		q->max_age_ms = number(value);
		break;
	case 'l':
		q->limit = (uint64_t)number(value);
		break;
	case 'j':
		a->jobs = (unsigned)number(value);
		break;
	default:
		exit(2);
	}
}

static void read_arguments(struct asked *a, int argc, char **argv)
{
	struct source_query *q = &a->query;
	int option;

	while ((option = getopt(argc, argv, "t:q:w:c:Sbo:m:a:l:j:")) != -1)
		take(a, option, optarg);
	if (optind == argc)
		exit(2);
	a->word = argv[optind];
	if (optind + 1 == argc)
		return;
	if (horizon_parse(argv[optind + 1], &a->from) != 0)
		exit(2);
	*(a->before ? &q->before : &q->since) = &a->from;
}

static int copy_part(struct source *source, const struct source_part *part,
		     struct error *err)
{
	struct stream *stream;
	char buf[1u << 16];
	size_t got = 1;
	int rc;

	if (source->ops->open(source, part, &stream, err) != 0)
		return -1;
	do {
		rc = stream->ops->read(stream, buf, sizeof(buf), &got, err);
		if (rc == 0)
			(void)fwrite(buf, 1, got, stdout);
	} while (rc == 0 && got > 0);
	if (rc == 0)
		rc = stream->ops->finish(stream, err);
	stream->ops->close(stream);
	return rc;
}

static int copy_all(struct source *source, unsigned jobs, struct error *err)
{
	const struct rowformat format = {.kind = ROWFORMAT_TEXT};
	struct source_part *parts;
	size_t count;
	int rc;

	rc = source->ops->split(source, jobs, &format, &parts, &count, err);
	if (rc != 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = copy_part(source, &parts[i], err);
	source_parts_free(parts, count);
	return rc;
}

int main(int argc, char **argv)
{
	struct asked a = {.query = {.overlap_ms = -1, .wait_ms = 60000},
			  .jobs = 1};
	const struct source_options options = {.query = &a.query};
	struct error err = ERROR_INIT;
	char text[HORIZON_TEXT_MAX];
	struct source *source;
	struct horizon to = {0};
	int rc;

	read_arguments(&a, argc, argv);
	rc = source_open(&a.word, 1, &options, &source, &err);
	if (rc == 0) {
		rc = copy_all(source, a.jobs, &err);
		if (rc == 0)
			rc = source_horizon(source, &to, &err);
		source->ops->free(source);
	}
	if (rc != 0) {
		(void)fprintf(stderr, "%s\n", err.text);
		return err.code;
	}
	(void)fprintf(stderr, "%s\n", horizon_text(&to, text));
	return fflush(stdout) == 0 ? 0 : 1;
}
