/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers that go past rows without a key, over files that are cut.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/sum.h"
#include "lib/job/worker.h"
#include "lib/rows/file.h"
#include "lib/rows/trailer.h"
#include "tests/unit/job/scan.h"

/* The n-th write of a list from now on fails; 0: none. */
static unsigned fail_write;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	/* A worker's last word is one byte. */
	if (len == 1 || fail_write == 0 || --fail_write > 0)
		return __real_write(fd, data, len);
	errno = ENOSPC;
	return -1;
}

static void scan(struct run *r, struct source *source, unsigned jobs,
		 struct rejects *rejects)
{
	struct scan s = {.spec = r->spec,
			 .source = source,
			 .format = &job_format,
			 .rejects = rejects,
			 .jobs = jobs,
			 .phase = "testing"};

	r->rows = 99;
	r->rc = scan_run(&s, r->table, &r->rows, &r->err);
}

static uint64_t keys(const struct run *r)
{
	return r->keep[0].count + r->keep[1].count + r->keep[2].count;
}

static char folder[256];

static bool enter(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/bloomctl-worker-XXXXXX",
		 parent != NULL ? parent : "/tmp");
	return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static void leave(void)
{
	(void)unlink("x");
	(void)unlink("r");
	CHECK(chdir("/") == 0);
	CHECK(rmdir(folder) == 0);
}

#define ROWS 600u
#define EACH 7u

/*
 * Rows from 1 on; each EACH-th is without a key.  Behind them a trailer that
 * tells of so many; -1: none.
 */
static bool put_rows(int64_t told)
{
	char line[TRAILER_MAX + 1];
	struct trailer t = {.rows = (uint64_t)told};
	struct buf text;
	FILE *f = fopen("x", "wb");
	bool fine;

	buf_init(&text, 1u << 20);
	for (unsigned i = 1; i <= ROWS; i++) {
		if (i % EACH == 0)
			buf_adds(&text, "\\N\n");
		else
			buf_addf(&text, "%u\n", i);
	}
	t.bytes = text.len;
	t.xxh64 = sum_xxh64(text.data, text.len);
	if (told >= 0)
		buf_add(&text, line, trailer_format(&t, line));
	fine = f != NULL && fwrite(text.data, 1, text.len, f) == text.len;
	buf_release(&text);
	return fine && fclose(f) == 0;
}

static struct source *open_file(void)
{
	static const struct source_options options;
	const char *word = "file:x";
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	if (source_open(&word, 1, &options, &source, &err) != 0)
		CHECK_STR(err.text, "");
	else
		((struct file_source *)source)->part_min = 50;
	return source;
}

static void cut_file(void)
{
	static const char prefix[] = "file 'x': row ";

	REQUIRE(enter());
	REQUIRE(put_rows(-1));
	for (unsigned jobs = 1; jobs <= JOBS; jobs++) {
		struct source *source = open_file();
		struct rejects rejects = {.max = ROWS / EACH};
		struct run r;

		REQUIRE(source != NULL);
		run_begin(&r);
		scan(&r, source, jobs, &rejects);
		CHECK(r.rc == 0);
		CHECK_STR(r.err.text, "");
		CHECK_U64(r.rows, ROWS);
		CHECK_U64(keys(&r), ROWS - ROWS / EACH);
		CHECK_U64(rejects.count.total, ROWS / EACH);
		run_end(&r);
		/* One less than there are: which row it is depends on who
		 * comes last, but it is one without a key. */
		for (uint64_t max = 0; max < ROWS / EACH; max += 17) {
			unsigned long number;
			char text[64];

			rejects.max = max;
			run_begin(&r);
			scan(&r, source, jobs, &rejects);
			CHECK(r.rc == -1);
			CHECK_U64(r.err.code, ERROR_ROWS);
			CHECK(strncmp(r.err.text, prefix, strlen(prefix)) == 0);
			number = strtoul(r.err.text + strlen(prefix), NULL, 10);
			CHECK(number > 0 && number <= ROWS);
			CHECK_U64(number % EACH, 0);
			if (jobs == 1)
				CHECK_U64(number, (max + 1) * EACH);
			snprintf(text, sizeof(text),
				 "file 'x': row %lu: field 'id': no key: null",
				 number);
			CHECK_STR(r.err.text, text);
			CHECK_U64(rejects.count.total, max);
			run_end(&r);
		}
		source->ops->free(source);
	}
	leave();
}

/* A list names rows by the file's numbers, whatever the jobs. */
static void listed(void)
{
	struct rejects rejects = {.max = ROWS, .path = "r"};
	struct source *source;
	char line[128];
	unsigned n = 0;
	struct run r;
	FILE *f;

	REQUIRE(enter());
	REQUIRE(put_rows(-1));
	source = open_file();
	REQUIRE(source != NULL);
	run_begin(&r);
	scan(&r, source, JOBS, &rejects);
	CHECK(r.rc == 0);
	run_end(&r);
	f = fopen("r", "r");
	REQUIRE(f != NULL);
	CHECK(fgets(line, sizeof(line), f) != NULL);
	CHECK_STR(line, "source\trow\tfield\treason\n");
	while (fgets(line, sizeof(line), f) != NULL) {
		char expected[128];

		snprintf(expected, sizeof(expected), "file 'x'\t%u\tid\tnull\n",
			 ++n * EACH);
		CHECK_STR(line, expected);
	}
	CHECK_U64(n, ROWS / EACH);
	(void)fclose(f);
	/* Its end is the scan's. */
	run_begin(&r);
	fail_write = 2;
	scan(&r, source, JOBS, &rejects);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_SPACE);
	CHECK_STR(r.err.text, "rejects file 'r': cannot write it: No space "
			      "left on device");
	CHECK_U64(fail_write, 0);
	CHECK_U64(r.rows, ROWS);
	run_end(&r);
	/* A list that cannot be begun ends the scan before it reads. */
	CHECK(unlink("r") == 0 && mkdir("r", 0700) == 0);
	run_begin(&r);
	scan(&r, source, JOBS, &rejects);
	CHECK(r.rc == -1);
	CHECK_STR(r.err.text, "rejects file 'r': cannot open it: Is a "
			      "directory");
	CHECK_U64(r.rows, 0);
	run_end(&r);
	CHECK(rmdir("r") == 0);
	source->ops->free(source);
	leave();
}

static void trailers(void)
{
	struct source *source;
	struct rejects rejects = {.max = ROWS};
	struct run r;

	REQUIRE(enter());
	for (int64_t told = (int64_t)ROWS - 1; told <= (int64_t)ROWS + 1;
	     told++) {
		char text[96];

		REQUIRE(put_rows(told));
		source = open_file();
		REQUIRE(source != NULL);
		run_begin(&r);
		scan(&r, source, JOBS, &rejects);
		snprintf(text, sizeof(text),
			 "file 'x': its trailer says %" PRId64
			 " rows, and %u were read",
			 told, ROWS);
		CHECK((r.rc == 0) == (told == (int64_t)ROWS));
		CHECK_STR(r.err.text, r.rc == 0 ? "" : text);
		/* Rows without a key are rows. */
		CHECK_U64(rejects.count.total, ROWS / EACH);
		run_end(&r);
		source->ops->free(source);
	}
	leave();
}

int main(void)
{
	UNIT(cut_file, "worker: rejects of a cut file are counted and told");
	UNIT(listed, "worker: a list has the file's row numbers");
	UNIT(trailers, "worker: rows are held to the trailer");
	return unit_end();
}
