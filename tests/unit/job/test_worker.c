/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Workers that go past rows without a key, and calls that fail them.
 */
#include "lib/job/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

#include "tests/unit/job/calm.h"
#include "tests/unit/job/scan.h"

/* The n-th call from now on fails; 0: none. */
static unsigned fail_thread, fail_pipe;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg);
int __real_pipe2(int fds[2], int flags);
int __wrap_pipe2(int fds[2], int flags);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*run)(void *), void *arg)
{
	if (fail_thread > 0 && --fail_thread == 0)
		return EAGAIN;
	return __real_pthread_create(thread, attr, run, arg);
}

int __wrap_pipe2(int fds[2], int flags)
{
	errno = EMFILE;
	return fail_pipe > 0 && --fail_pipe == 0 ? -1
						 : __real_pipe2(fds, flags);
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

static const struct feed_part three[] = {
	{.name = "a", .text = "1\n\\N\n", .goes_on = true},
	{.name = "a",
	 .text = "\\N\n2\n\\N\n3\n\\N\n",
	 .start = 50,
	 .rows_before = 10},
	{.name = "b", .text = "4\n\\N\n"},
};

static void are_passed_over(void)
{
	for (unsigned jobs = 1; jobs <= JOBS; jobs++) {
		struct rejects rejects = {.max = 5};
		struct feed feed = FEED(three, 3);
		struct run r;

		run_begin(&r);
		scan(&r, &feed.base, jobs, &rejects);
		CHECK(r.rc == 0);
		CHECK_STR(r.err.text, "");
		CHECK_U64(r.rows, 9);
		CHECK_U64(keys(&r), 4);
		CHECK_U64(rejects.count.total, 5);
		CHECK_U64(rejects.count.reasons[REJECTS_NULL], 5);
		run_end(&r);
	}
}

/* By one worker, which reads the parts in order. */
static void check_last(uint64_t max, const char *text)
{
	struct rejects rejects = {.max = max};
	struct feed feed = FEED(three, 3);
	struct run r;

	run_begin(&r);
	scan(&r, &feed.base, 1, &rejects);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_ROWS);
	CHECK_STR(r.err.text, text);
	/* The hint stays that of the first reading. */
	CHECK((strstr(r.err.hint, "passed over before it") != NULL) ==
	      (max > 0));
	/* What was read again was not counted or listed again. */
	CHECK_U64(rejects.count.total, max);
	CHECK_U64(rejects.count.reasons[REJECTS_NULL], max);
	CHECK_U64(ends(&r), 0);
	CHECK_U64(feed.open, 0);
	run_end(&r);
}

static void one_too_many(void)
{
	check_last(0, "a: row 2: field 'id': no key: null");
	check_last(1, "a: row 11: field 'id': no key: null");
	check_last(2, "a: row 13: field 'id': no key: null");
	check_last(3, "a: row 15: field 'id': no key: null");
	check_last(4, "b: row 2: field 'id': no key: null");
}

/* Without struct rejects the first ends the scan, under its true number. */
static void without_rejects(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n", .goes_on = true},
		{.name = "a",
		 .text = "2\n\\N\n",
		 .start = 50,
		 .rows_before = 10}};
	struct feed feed = FEED(parts, 3);
	struct run r;

	run_begin(&r);
	scan(&r, &feed.base, 1, NULL);
	CHECK(r.rc == -1);
	CHECK_STR(r.err.text, "a: row 12: field 'id': no key: null");
	CHECK_STR(r.keep[0].keys, "k:1 k:2 ");
	run_end(&r);
}

/* An error behind rejects that were passed over. */
static void behind_rejects(void)
{
	static const struct feed_part parts[] = {{.name = "a",
						  .text = "\\N\n2\n\\N\n3\t3\n",
						  .start = 50,
						  .rows_before = 10}};
	struct rejects rejects = {.max = 9};
	struct feed feed = FEED(parts, 3);
	struct run r;

	run_begin(&r);
	scan(&r, &feed.base, 1, &rejects);
	CHECK(r.rc == -1);
	CHECK_STR(r.err.text, "a: row 14: 2 columns where 1 are named");
	CHECK_U64(rejects.count.total, 2);
	CHECK_STR(r.keep[0].keys, "k:2 ");
	run_end(&r);
}

static void calls_fail(void)
{
	struct run r;

	for (unsigned n = 1; n <= JOBS; n++) {
		struct feed feed = FEED(three, 3);
		struct rejects rejects = {.max = 5};

		run_begin(&r);
		fail_thread = n;
		scan(&r, &feed.base, JOBS, &rejects);
		CHECK(r.rc == -1);
		CHECK_U64(r.err.code, ERROR_INTERNAL);
		CHECK_STR(r.err.text,
			  "thread: Resource temporarily unavailable");
		CHECK_U64(feed.open, 0);
		run_end(&r);
	}
	{
		struct feed feed = FEED(three, 3);

		run_begin(&r);
		fail_pipe = 1;
		scan(&r, &feed.base, JOBS, NULL);
		CHECK(r.rc == -1);
		CHECK_U64(r.err.code, ERROR_INTERNAL);
		CHECK_STR(r.err.text, "no pipe: Too many open files");
		run_end(&r);
	}
}

/*
 * Two workers with a part each: the later one, before its second read, waits
 * until the thread of the earlier one has failed and ended.
 */
struct meeting {
	pthread_key_t key;
	sem_t later_began, earlier_ended;
};

static void has_ended(void *sem)
{
	(void)sem_post(sem);
}

static void meet(void *ctx, size_t part, unsigned reads)
{
	struct meeting *m = ctx;

	if (part == 1 && reads == 1)
		(void)sem_post(&m->later_began);
	if (part == 1 && reads == 2)
		(void)sem_wait(&m->earlier_ended);
	if (part == 0 && reads == 1) {
		(void)pthread_setspecific(m->key, &m->earlier_ended);
		(void)sem_wait(&m->later_began);
	}
}

static void unwanted(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "\\N\n"},
		{.name = "b", .text = "1\n2\n3\n4\n"}};
	struct feed feed = FEED(parts, 2);
	struct meeting m;
	struct run r;

	REQUIRE(pthread_key_create(&m.key, has_ended) == 0);
	(void)sem_init(&m.later_began, 0, 0);
	(void)sem_init(&m.earlier_ended, 0, 0);
	run_begin(&r);
	feed.hook = meet;
	feed.ctx = &m;
	scan(&r, &feed.base, 2, NULL);
	CHECK(r.rc == -1);
	CHECK_STR(r.err.text, "a: row 1: field 'id': no key: null");
	/* Perhaps it saw that before. */
	CHECK(keys(&r) <= 2);
	CHECK_U64(feed.finished, 0);
	CHECK_U64(feed.open, 0);
	CHECK_U64(ends(&r), 0);
	run_end(&r);
	(void)sem_destroy(&m.later_began);
	(void)sem_destroy(&m.earlier_ended);
	(void)pthread_key_delete(m.key);
}

static void jobs(void)
{
	struct feed feed = FEED(three, 3);
	struct error err = ERROR_INIT;
	struct run r;
	struct scan s;
	unsigned n = 0;

	run_begin(&r);
	s = job_scan(r.spec, &feed, 2);
	CHECK(scan_jobs(&s, &n, &err) == 0);
	CHECK_U64(n, 2);
	s.jobs = 9;
	CHECK(scan_jobs(&s, &n, &err) == 0);
	CHECK_U64(n, 3);
	feed.count = 0;
	CHECK(scan_jobs(&s, &n, &err) == 0);
	CHECK_U64(n, 9);
	feed.fail_split = true;
	CHECK(scan_jobs(&s, &n, &err) == -1);
	CHECK_STR(err.text, "feed: split fails");
	run_end(&r);
}

/* One worker: what it shares with us it has at other times. */
static bool survive(unsigned long n)
{
	static const struct feed_part parts[] = {
		{.name = "f", .text = "1\n", .header = "0\n", .start = 3}};
	struct feed feed = FEED(parts, 3);
	struct rejects rejects = {.max = 5};
	static const struct source_ops ops = {.split = calm_split,
					      .open = calm_open,
					      .rows_before = feed_rows_before};
	bool met;
	struct run r;

	feed.base.ops = &ops;
	run_begin(&r);
	alloc_fail(n, false);
	scan(&r, &feed.base, 1, &rejects);
	met = alloc_pass();
	CHECK((r.rc != 0) == met);
	if (met) {
		CHECK_U64(r.err.code, ERROR_INTERNAL);
		CHECK(strstr(r.err.text, "out of memory") != NULL);
	}
	CHECK_U64(feed.open, 0);
	run_end(&r);
	return met;
}

static void without_memory(void)
{
	unsigned long n = 1;

	ALLOC_NEEDED();
	while (n < 60 && survive(n))
		n++;
	CHECK(n > 4 && n < 60);
}

static void no_columns(void)
{
	struct rowformat format = {.kind = ROWFORMAT_CSV};
	struct error err = ERROR_INIT;
	const char **wanted = NULL;
	struct run r;

	ALLOC_NEEDED();
	run_begin(&r);
	alloc_fail(1, true);
	CHECK(scan_columns(r.spec, &format, &wanted, &err) == -1);
	CHECK(alloc_pass());
	CHECK_STR(err.text, "out of memory");
	CHECK(format.wanted == NULL);
	run_end(&r);
}

int main(void)
{
	UNIT(are_passed_over, "worker: rejects of all parts are counted");
	UNIT(one_too_many, "worker: one too many is told by its true number");
	UNIT(without_rejects, "worker: the first is told by its true number");
	UNIT(behind_rejects, "worker: errors behind rejects keep their number");
	UNIT(unwanted, "worker: a part behind one that failed is left");
	UNIT(jobs, "worker: there are no more jobs than parts");
	UNIT(calls_fail, "worker: a thread or a pipe that fails is told");
	UNIT(without_memory, "worker: each failing allocation is survived");
	UNIT(no_columns, "worker: columns may find no memory");
	return unit_end();
}
