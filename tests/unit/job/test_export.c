/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/export.h"

#include "lib/base/sum.h"
#include "lib/rows/trailer.h"
#include "tests/unit/job/job.h"

/* Takes what is exported. */
struct taken {
	struct buf out;
	unsigned writes;
	unsigned fail_at; /* the n-th write, from 1; 0: none */
	struct scan_progress last;
	unsigned told;
};

static int take(void *ctx, const void *data, size_t len, struct error *err)
{
	struct taken *t = ctx;

	if (++t->writes == t->fail_at)
		return error_set(err, ERROR_SPACE, "taken: full");
	return buf_add(&t->out, data, len) == 0 ? 0 : error_nomem(err);
}

static void look(void *ctx, const struct scan_progress *p)
{
	struct taken *t = ctx;

	t->last = *p;
	t->told++;
}

/* As an export wants them: no column. */
static const struct rowformat format = {
	.kind = ROWFORMAT_TEXT, .names = job_columns, .name_count = 1};
static const struct rowformat headed = {.kind = ROWFORMAT_CSV, .header = true};

static int run(struct feed *feed, const struct rowformat *rows, struct taken *t,
	       struct export_report *done, struct error *err)
{
	const struct scan scan = {.source = &feed->base,
				  .format = rows,
				  .jobs = 1,
				  .phase = "exporting",
				  .progress = {.fn = look, .ctx = t}};
	struct export e = {.scan = &scan, .pipe = {.write = take, .ctx = t}};
	int rc;

	buf_init(&t->out, 1u << 20);
	memset(done, 0x55, sizeof(*done));
	rc = export_run(&e, done, err);
	CHECK_U64(feed->open, 0);
	exportlist_release(&e.list);
	return rc;
}

/* What comes out is what went in, and its trailer. */
static void check_rows(const char *text, const struct rowformat *rows,
		       uint64_t count)
{
	const struct feed_part part = {.name = "f", .text = text};

	for (size_t chunk = 1; chunk < 20; chunk += 6) {
		struct feed feed = feed_of(&part, 1, chunk);
		struct taken t = {.writes = 0};
		struct error err = ERROR_INIT;
		struct export_report done;
		struct trailer found;
		size_t len;

		CHECK(run(&feed, rows, &t, &done, &err) == 0);
		CHECK_STR(err.text, "");
		CHECK_U64(feed.finished, 1);
		CHECK_U64(done.read, count);
		CHECK_U64(done.rows, count);
		CHECK_U64(done.bytes, strlen(text));
		len = trailer_find(t.out.data, t.out.len, &found);
		CHECK(len > 0);
		CHECK_U64(found.rows, count);
		CHECK_U64(found.bytes, strlen(text));
		CHECK_U64(found.xxh64, sum_xxh64(text, strlen(text)));
		CHECK_U64(t.out.len - len, strlen(text));
		CHECK(memcmp(t.out.data, text, t.out.len - len) == 0);
		CHECK(t.told > 0 || text[0] == '\0');
		if (t.told > 0) {
			CHECK_STR(t.last.phase, "exporting");
			CHECK_U64(t.last.rows, count);
			CHECK_U64(t.last.bytes, strlen(text));
			CHECK_U64(t.last.bytes_total, strlen(text));
			CHECK(t.last.elapsed_ns >= 0);
		}
		buf_release(&t.out);
	}
}

static void rows_pass(void)
{
	check_rows("", &format, 0);
	check_rows("1\n", &format, 1);
	/* Unescaping is not for what is passed on. */
	check_rows("a\\tb\n\\\\\n\\N\n\\\n\n", &format, 4);
	check_rows("id,b\n1,\"a\"\"\nb\"\n2,\n", &headed, 2);
	check_rows("id\r\n\"1\"\r\n", &headed, 1);
}

static void check_fails(const struct feed_part *part, unsigned fail_at,
			enum error_code code, const char *text)
{
	struct feed feed = feed_of(part, 1, 4);
	struct taken t = {.fail_at = fail_at};
	struct error err = ERROR_INIT;
	struct export_report done;
	struct trailer found;

	CHECK(run(&feed, &format, &t, &done, &err) == -1);
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK(trailer_find(t.out.data, t.out.len, &found) == 0);
	CHECK(done.read <= 3 && done.rows <= 3);
	buf_release(&t.out);
}

#define FAILS(fail_at, code, message, ...)                               \
	check_fails(&(const struct feed_part){.name = "f", __VA_ARGS__}, \
		    (fail_at), (code), (message))

static void faults(void)
{
	FAILS(0, ERROR_SOURCE, "f: feed: open fails", .text = "1\n",
	      .fail_open = true);
	FAILS(0, ERROR_DATA, "f: feed: read fails", .text = "1\n2\n3\n",
	      .fail_read = 2);
	FAILS(0, ERROR_DATA, "f: feed: cut off", .text = "1\n2\n3\n",
	      .fail_finish = true);
	FAILS(0, ERROR_ROWS, "f: row 2: 2 columns where 1 are named",
	      .text = "1\n2\t\n3\n");
	FAILS(0, ERROR_DATA, "f: the last row has no newline: it is cut off",
	      .text = "1\n2\n3");
	/* A write, the last one, and that of the trailer. */
	FAILS(1, ERROR_SPACE, "taken: full", .text = "1\n2\n3\n");
	FAILS(2, ERROR_SPACE, "taken: full", .text = "1\n2\n3\n");
	FAILS(3, ERROR_SPACE, "taken: full", .text = "1\n2\n3\n");
}

/* A source's error that begins with its name is not given it again. */
static int named_finish(struct stream *s, struct error *err)
{
	(void)s;
	return error_set(err, ERROR_DATA, "f: it is its own word");
}

static int counted_finish(struct stream *s, struct error *err)
{
	(void)err;
	s->counted = true;
	s->rows = 2;
	return 0;
}

static int (*finish)(struct stream *s, struct error *err);

static int other_open(struct source *source, const struct source_part *part,
		      struct stream **out, struct error *err)
{
	static struct stream_ops ops;
	int rc = feed_open(source, part, out, err);

	ops = *(*out)->ops;
	ops.finish = finish;
	(*out)->ops = &ops;
	return rc;
}

static const struct source_ops other_ops = {.split = feed_split,
					    .open = other_open};

static void check_other(const char *text, const char *message)
{
	const struct feed_part part = {.name = "f", .text = text};
	struct feed feed = feed_of(&part, 1, 100);
	struct taken t = {.writes = 0};
	struct error err = ERROR_INIT;
	struct export_report done;
	int rc;

	feed.base.ops = &other_ops;
	rc = run(&feed, &format, &t, &done, &err);
	CHECK_STR(err.text, message);
	CHECK((rc == 0) == (message[0] == '\0'));
	/* How much there is to come is not known. */
	CHECK_U64(t.last.bytes_total, 0);
	buf_release(&t.out);
}

static void words_of_the_source(void)
{
	finish = named_finish;
	check_other("1\n", "f: it is its own word");
	finish = counted_finish;
	check_other("1\n", "f: its trailer says 2 rows, and 1 were read");
	check_other("1\n2\n", "");
}

static void several(void)
{
	static const struct feed_part parts[] = {{.name = "a", .text = "1\n"},
						 {.name = "b", .text = "2\n"}};
	struct feed feed = FEED(parts, 100);
	struct taken t = {.writes = 0};
	struct error err = ERROR_INIT;
	struct export_report done;

	CHECK(run(&feed, &format, &t, &done, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK_STR(err.text, "2 sources: one is exported to a pipe at a time");
	CHECK_STR(err.hint,
		  "export them to files, with -t file:PATH; each has a "
		  "header and an end of its own");
	CHECK_U64(t.writes, 0);
	CHECK_U64(done.read, 0);
	feed.fail_split = true;
	CHECK(run(&feed, &format, &t, &done, &err) == -1);
	CHECK_STR(err.text, "feed: split fails");
	feed.fail_split = false;
	feed.count = 0;
	CHECK(run(&feed, &format, &t, &done, &err) == -1);
	CHECK_STR(err.text, "0 sources: one is exported to a pipe at a time");
}

/* Told before a file is made, or a row is read. */
static void too_many(void)
{
	enum { COUNT = EXPORTLIST_PARTS_MAX + 1 };
	struct feed_part *parts = calloc(COUNT, sizeof(*parts));
	struct feed feed;
	struct scan scan = {.source = &feed.base, .format = &format, .jobs = 1};
	struct export e = {.scan = &scan, .path = "/nowhere/x"};
	struct export_report done;
	struct error err = ERROR_INIT;

	REQUIRE(parts != NULL);
	for (size_t i = 0; i < COUNT; i++)
		parts[i] = (struct feed_part){.name = "f", .text = "1\n"};
	feed = feed_of(parts, COUNT, 100);
	CHECK(export_run(&e, &done, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK_STR(err.text, "100000 parts, and an export has 99999 at most");
	CHECK_U64(done.read, 0);
	feed.count = COUNT - 1;
	CHECK(export_run(&e, &done, &err) == -1);
	CHECK_U64(err.code, ERROR_SOURCE);
	free(parts);
}

static void stop_at_second(void *ctx, size_t part, unsigned reads)
{
	(void)ctx;
	(void)part;
	if (reads == 2)
		(void)raise(SIGTERM);
}

static void stopped(void)
{
	static const struct feed_part part = {.name = "f",
					      .text = "1\n2\n3\n4\n5\n"};
	struct feed feed = feed_of(&part, 1, 4);
	struct taken t = {.writes = 0};
	struct error err = ERROR_INIT;
	struct export_report done;

	REQUIRE(stop_init(&err) == 0);
	feed.hook = stop_at_second;
	CHECK(run(&feed, &format, &t, &done, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	CHECK_STR(err.text, "stopped by SIGTERM");
	CHECK_U64(t.out.len, 8);
	CHECK_U64(done.read, 4);
	buf_release(&t.out);
}

static void stopped_test(void)
{
	job_fork(stopped);
}

int main(void)
{
	UNIT(rows_pass, "export: bytes pass as they are, with their trailer");
	UNIT(faults, "export: without a true end there is no trailer");
	UNIT(words_of_the_source, "export: the source has the last word");
	UNIT(several, "export: sources are exported one at a time");
	UNIT(too_many, "export: more parts than a list has are told at once");
	UNIT(stopped_test, "export: a stop ends it");
	return unit_end();
}
