/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>

#include "tests/unit/job/scan.h"

static void every_row_is_a_key(void)
{
	static const struct feed_part parts[] = {
		{.name = "file 'a'", .text = "1\n22\n333\n"},
		{.name = "file 'b'", .text = ""},
		{.name = "file 'c'", .text = "4\n5\n"},
	};

	for (size_t chunk = 1; chunk < 9; chunk++) {
		struct feed feed = FEED(parts, chunk);
		struct run r;

		run_begin(&r);
		run_scan(&r, &feed, 1, NULL);
		CHECK(r.rc == 0);
		CHECK_U64(r.rows, 5);
		CHECK_STR(r.keep[0].keys, "k:1 k:22 k:333 k:4 k:5 ");
		CHECK_U64(r.keep[0].ends, 1);
		CHECK_U64(feed.finished, 3);
		run_end(&r);
	}
}

static void workers_share_the_parts(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n2\n"},
		{.name = "b", .text = "3\n"},
		{.name = "c", .text = "4\n5\n6\n"},
		{.name = "d", .text = "7\n"},
		{.name = "e", .text = "8\n9\n"},
	};
	struct feed feed = FEED(parts, 3);
	struct run r;

	run_begin(&r);
	run_scan(&r, &feed, JOBS, NULL);
	CHECK(r.rc == 0);
	CHECK_U64(r.rows, 9);
	CHECK_U64(r.keep[0].count + r.keep[1].count + r.keep[2].count, 9);
	CHECK_U64(ends(&r), JOBS);
	CHECK_U64(feed.finished, 5);
	run_end(&r);
}

static void no_parts(void)
{
	static const struct feed_part parts[] = {{.name = "a", .text = ""}};
	struct feed feed = FEED(parts, 3);
	struct run r;

	run_begin(&r);
	feed.count = 0;
	run_scan(&r, &feed, JOBS, NULL);
	CHECK(r.rc == 0);
	CHECK_U64(r.rows, 0);
	CHECK_U64(ends(&r), JOBS);
	run_end(&r);
}

/* Parts of one file, the later ones with a copy of its header row. */
static const struct rowformat headed = {
	.kind = ROWFORMAT_TEXT,
	.header = true,
	.wanted = job_columns,
	.wanted_count = 1,
};

static void headers_come_before_a_range(void)
{
	static const struct feed_part parts[] = {
		{.name = "f", .text = "x\tid\na\t1\nb\t2\n", .goes_on = true},
		{.name = "f",
		 .text = "c\t3\nd\t4\n",
		 .start = 13,
		 .rows_before = 2,
		 .header = "x\tid\n"},
	};

	for (size_t chunk = 1; chunk < 12; chunk++) {
		struct feed feed = FEED(parts, chunk);
		struct run r;

		run_begin(&r);
		run_scan(&r, &feed, 1, &headed);
		CHECK(r.rc == 0);
		CHECK_U64(r.rows, 4);
		CHECK_STR(r.keep[0].keys, "k:1 k:2 k:3 k:4 ");
		run_end(&r);
	}
}

static void rows_are_numbered_by_the_file(void)
{
	static const struct feed_part parts[] = {
		{.name = "f", .text = "x\tid\na\t1\nb\t2\n", .goes_on = true},
		{.name = "f",
		 .text = "c\t3\nd\n",
		 .start = 13,
		 .rows_before = 2,
		 .header = "x\tid\n"},
	};

	for (size_t chunk = 1; chunk < 12; chunk++) {
		struct feed feed = FEED(parts, chunk);
		struct run r;

		run_begin(&r);
		run_scan(&r, &feed, 1, &headed);
		CHECK(r.rc == -1);
		CHECK_STR(r.err.text,
			  "f: row 4: 1 column where 2 are in the header");
		/* The part that failed is read again; its keys are not. */
		CHECK_STR(r.keep[0].keys, "k:1 k:2 k:3 ");
		CHECK(r.rows <= 4);
		run_end(&r);
	}
}

static void look(void *ctx, const struct scan_progress *p)
{
	*(struct scan_progress *)ctx = *p;
}

static void progress_is_told(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n2\n"}, {.name = "b", .text = "3\n"}};
	struct feed feed = FEED(parts, 3);
	struct scan_progress last = {0};
	struct run r;
	struct scan scan;

	run_begin(&r);
	scan = job_scan(r.spec, &feed, 2);
	scan.progress.fn = look;
	scan.progress.ctx = &last;
	CHECK(scan_run(&scan, r.table, &r.rows, &r.err) == 0);
	CHECK_STR(last.phase, "testing");
	CHECK_U64(last.rows, 3);
	CHECK_U64(last.bytes, 6);
	CHECK_U64(last.bytes_total, 6);
	CHECK(last.elapsed_ns >= 0);
	run_end(&r);
}

static void columns_of_the_fields(void)
{
	struct bloomkey_spec *spec =
		job_spec("[keyspec]\nversion = 1\nname = s\nbuckets = 1\n"
			 "key = {a}:{b}\nfilter = s\n[field b]\ncolumn = c\n");
	struct rowformat format = {.kind = ROWFORMAT_CSV};
	struct error err = ERROR_INIT;
	const char **wanted;

	REQUIRE(scan_columns(spec, &format, &wanted, &err) == 0);
	CHECK_U64(format.wanted_count, 2);
	CHECK(format.wanted == wanted);
	CHECK_STR(wanted[0], "a");
	CHECK_STR(wanted[1], "c");
	free(wanted);
	bloomkey_free(spec);
}

/* A command that is a source has no descriptor of the scan's. */
static void no_descriptor(void)
{
	static const struct source_options options;
	const char *word = "exec:for fd in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; "
			   "do if [ -e /proc/$$/fd/$fd ]; then echo $fd; fi; "
			   "done";
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct feed none = {.count = 0};
	struct scan scan;
	struct run r;

	for (int fd = 3; fd < 256; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	REQUIRE(source_open(&word, 1, &options, &source, &err) == 0);
	run_begin(&r);
	scan = job_scan(r.spec, &none, 1);
	scan.source = source;
	CHECK(scan_run(&scan, r.table, &r.rows, &r.err) == 0);
	CHECK_STR(r.err.text, "");
	CHECK_STR(r.keep[0].keys, "k:0 k:1 k:2 ");
	run_end(&r);
	source->ops->free(source);
}

int main(void)
{
	UNIT(every_row_is_a_key, "scan: every row is a key, in order");
	UNIT(workers_share_the_parts, "scan: workers share the parts");
	UNIT(no_parts, "scan: a source without parts has no rows");
	UNIT(headers_come_before_a_range, "scan: a range follows its header");
	UNIT(rows_are_numbered_by_the_file,
	     "scan: row numbers of a range are the file's");
	UNIT(progress_is_told, "scan: the last progress is the whole");
	UNIT(columns_of_the_fields, "scan: columns are those of the fields");
	UNIT(no_descriptor, "scan: a command gets no descriptor of a scan");
	return unit_end();
}
