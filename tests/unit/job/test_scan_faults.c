/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <semaphore.h>

#include "tests/unit/job/scan.h"

struct fault {
	const char *claim;
	struct feed_part part;
	unsigned sink_fails_at;
	bool end_fails;
	enum error_code code;
	const char *text; /* all of it */
	uint64_t rows_max;
};

static void each_fault_ends_the_scan(void)
{
	static const struct fault faults[] = {
		{"open",
		 {.name = "f", .text = "1\n", .fail_open = true},
		 0,
		 false,
		 ERROR_SOURCE,
		 "f: feed: open fails",
		 0},
		{"read",
		 {.name = "f", .text = "1\n2\n3\n", .fail_read = 2},
		 0,
		 false,
		 ERROR_DATA,
		 "f: feed: read fails",
		 2},
		{"finish",
		 {.name = "f", .text = "1\n2\n", .fail_finish = true},
		 0,
		 false,
		 ERROR_DATA,
		 "f: feed: cut off",
		 2},
		{"columns",
		 {.name = "f", .text = "1\n2\t3\n"},
		 0,
		 false,
		 ERROR_ROWS,
		 "f: row 2: 2 columns where 1 are named",
		 1},
		{"cut off",
		 {.name = "f", .text = "1\n2"},
		 0,
		 false,
		 ERROR_DATA,
		 NULL,
		 1},
		{"sink",
		 {.name = "f", .text = "1\n2\n3\n"},
		 2,
		 false,
		 ERROR_FULL,
		 NULL,
		 3},
		{"end",
		 {.name = "f", .text = "1\n"},
		 0,
		 true,
		 ERROR_SPACE,
		 "sink: no end",
		 1},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const struct fault *f = &faults[i];
		struct feed feed = feed_of(&f->part, 1, 4);
		struct run r;

		run_begin(&r);
		r.keep[0].fail_at = f->sink_fails_at;
		r.keep[0].fail_end = f->end_fails;
		run_scan(&r, &feed, 1, NULL);
		printf("# %s: %s\n", f->claim, r.err.text);
		CHECK(r.rc == -1);
		CHECK_U64(r.err.code, f->code);
		if (f->text != NULL)
			CHECK_STR(r.err.text, f->text);
		CHECK_U64(r.keep[0].ends, f->end_fails ? 1 : 0);
		CHECK(r.rows <= f->rows_max);
		CHECK(strncmp(r.keep[0].keys, "k:1 ", 4) == 0 ||
		      r.keep[0].count == 0);
		run_end(&r);
	}
}

static void rejects_are_told(void)
{
	static const struct feed_part parts[] = {
		{.name = "f", .text = "1\n\\N\n3\n"}};
	struct feed feed = FEED(parts, 100);
	struct run r;

	run_begin(&r);
	run_scan(&r, &feed, 1, NULL);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_ROWS);
	CHECK_STR(r.err.text, "f: row 2: field 'id': no key: null");
	CHECK_STR(r.keep[0].keys, "k:1 ");
	run_end(&r);
}

static void split_fails(void)
{
	static const struct feed_part parts[] = {{.name = "a", .text = "1\n"}};
	struct feed feed = FEED(parts, 3);
	struct run r;

	run_begin(&r);
	feed.fail_split = true;
	run_scan(&r, &feed, 2, NULL);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_SOURCE);
	CHECK_U64(r.rows, 0);
	CHECK_U64(ends(&r), 0);
	run_end(&r);
}

static void the_value_is_not_told(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "secret\\xff\n"}};
	struct feed feed = FEED(parts, 100);
	struct run r;

	run_begin(&r);
	run_scan(&r, &feed, 1, NULL);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_ROWS);
	CHECK(strstr(r.err.text, "field 'id'") != NULL);
	CHECK(strstr(r.err.text, "secret") == NULL);
	CHECK(r.err.hint[0] != '\0');
	run_end(&r);
}

static void a_sinks_error_is_kept(void)
{
	static const struct feed_part parts[] = {
		{.name = "f", .text = "1\n2\n", .goes_on = true},
		{.name = "f", .text = "3\n4\n", .start = 4, .rows_before = 2},
	};
	struct feed feed = FEED(parts, 100);
	struct run r;

	run_begin(&r);
	r.keep[0].fail_at = 3;
	run_scan(&r, &feed, 1, NULL);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, ERROR_FULL);
	CHECK(strstr(r.err.text, "sink: full") != NULL);
	CHECK_U64(r.keep[0].count, 3);
	run_end(&r);
}

/*
 * Two workers with a part each: the one of the earlier part waits, before a
 * read or before it counts the rows before it, until the thread of the later
 * one has ended.
 */
struct meeting {
	pthread_key_t key;
	sem_t later_began, later_ended, renumbering;
	unsigned wait_at_read; /* of the earlier part; 0: when renumbering */
};

static void later_has_ended(void *sem)
{
	sem_post(sem);
}

/* A part may be read twice: what has come about stays so. */
static void wait_for(sem_t *sem)
{
	sem_wait(sem);
	sem_post(sem);
}

static void meet(void *ctx, size_t part, unsigned read)
{
	struct meeting *m = ctx;

	if (part == 1 && read == 1) {
		pthread_setspecific(m->key, &m->later_ended);
		sem_post(&m->later_began);
		if (m->wait_at_read == 0)
			wait_for(&m->renumbering);
	}
	if (part == 0 && read == 1)
		wait_for(&m->later_began);
	if (part == 0 && read == m->wait_at_read)
		wait_for(&m->later_ended);
}

static void meet_renumbering(void *ctx, size_t part)
{
	struct meeting *m = ctx;

	if (part == 0 && m->wait_at_read == 0) {
		sem_post(&m->renumbering);
		wait_for(&m->later_ended);
	}
}

static void meeting_run(const struct feed_part *parts, unsigned wait_at_read,
			const char *text)
{
	struct meeting m = {.wait_at_read = wait_at_read};
	struct feed feed = feed_of(parts, 2, 2);
	struct run r;

	REQUIRE(pthread_key_create(&m.key, later_has_ended) == 0);
	sem_init(&m.later_began, 0, 0);
	sem_init(&m.later_ended, 0, 0);
	sem_init(&m.renumbering, 0, 0);
	run_begin(&r);
	feed.hook = meet;
	feed.rows_hook = meet_renumbering;
	feed.ctx = &m;
	run_scan(&r, &feed, 2, NULL);
	CHECK(r.rc == -1);
	CHECK_STR(r.err.text, text);
	CHECK_U64(ends(&r), 0);
	run_end(&r);
	sem_destroy(&m.later_began);
	sem_destroy(&m.later_ended);
	sem_destroy(&m.renumbering);
	pthread_key_delete(m.key);
}

static void the_earliest_part_is_told(void)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n2\n3\t\n"},
		{.name = "b", .text = "\t\n"},
	};

	/* It has failed when the earlier part has still to read its fault. */
	meeting_run(parts, 2, "a: row 3: 2 columns where 1 are named");
}

static void the_number_is_true_with_two_faults(void)
{
	static const struct feed_part parts[] = {
		{.name = "a",
		 .text = "1\n2\t\n",
		 .start = 20,
		 .rows_before = 10},
		{.name = "b", .text = "\t\n"},
	};

	meeting_run(parts, 0, "a: row 12: 2 columns where 1 are named");
}

static void stop_by(void *ctx, size_t part, unsigned read)
{
	if (part == 1 && read == 2)
		raise(*(int *)ctx);
}

static void stopped(int signal_number, enum error_code code)
{
	static const struct feed_part parts[] = {
		{.name = "a", .text = "1\n"},
		{.name = "b", .text = "2\n3\n4\n"},
		{.name = "c", .text = "5\n"},
	};
	struct feed feed = FEED(parts, 2);
	struct error err = ERROR_INIT;
	struct run r;

	REQUIRE(stop_init(&err) == 0);
	run_begin(&r);
	feed.hook = stop_by;
	feed.ctx = &signal_number;
	run_scan(&r, &feed, 1, NULL);
	CHECK(r.rc == -1);
	CHECK_U64(r.err.code, code);
	CHECK(strncmp(r.err.text, "stopped by SIG", 14) == 0);
	CHECK_STR(r.keep[0].keys, "k:1 k:2 k:3 ");
	CHECK_U64(ends(&r), 0);
	run_end(&r);
}

static void stopped_by_int(void)
{
	stopped(SIGINT, ERROR_INTERRUPTED);
}

static void stopped_by_term(void)
{
	stopped(SIGTERM, ERROR_TERMINATED);
}

static void a_stop_ends_it(void)
{
	job_fork(stopped_by_int);
	job_fork(stopped_by_term);
}

int main(void)
{
	UNIT(each_fault_ends_the_scan,
	     "scan: each fault ends it, sinks unended");
	UNIT(rejects_are_told, "scan: a reject is told with its row's number");
	UNIT(split_fails, "scan: a source that cannot be split is told");
	UNIT(the_value_is_not_told, "scan: a reject is told without its value");
	UNIT(a_sinks_error_is_kept, "scan: a sink's error is not renumbered");
	UNIT(the_earliest_part_is_told,
	     "scan: the earliest part's error is told, whoever met his first");
	UNIT(the_number_is_true_with_two_faults,
	     "scan: row numbers are true when two workers fail");
	UNIT(a_stop_ends_it, "scan: a stop ends it with 130 or 143");
	return unit_end();
}
