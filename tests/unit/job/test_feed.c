/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Rows from a pipe into a fake store, by a feeder that waits for each answer.
 */
#include "lib/job/feed.h"

#include "lib/base/log.h"
#include "lib/job/catchup.h"
#include "tests/unit/job/job.h"

extern char **environ;

/* The fake store with passes into its live generation. */
struct fed {
	struct fake f; /* first */
	struct store_ops ops;
	struct fake_generation *live;
	unsigned passes, drops, marks, ends;
	bool under_way;
	uint64_t sent;    /* that the last pass was told of */
	unsigned change;  /* the pass that others disturb; 0: none */
	bool change_all;  /* they disturb each */
	unsigned fail;    /* the pass with a full filter; 0: none */
	bool marked_late; /* a pass began before the mark was set */
};

static int pass_begin(struct store *s, const struct manifest *m, bool live,
		      unsigned workers, struct horizon *oldest,
		      struct error *err)
{
	struct fed *d = (struct fed *)s;

	(void)err;
	CHECK(live);
	CHECK_U64(workers, 1);
	CHECK_STR(m->generation, d->live->m.generation);
	CHECK(!d->under_way);
	d->marked_late = d->marked_late || d->marks == 0;
	d->passes++;
	d->under_way = true;
	d->f.reserved = d->live;
	memset(oldest, 0, sizeof(*oldest));
	return 0;
}

static int pass_end(struct store *s, const struct horizon *to,
		    const uint64_t *keys, struct pass_report *out,
		    struct error *err)
{
	struct fed *d = (struct fed *)s;

	CHECK(to == NULL);
	CHECK(d->under_way);
	CHECK(d->f.open == 0);
	d->under_way = false;
	d->ends++;
	memset(out, 0, sizeof(*out));
	d->sent = 0;
	for (unsigned b = 0; b < FAKE_BUCKETS; b++)
		d->sent += keys[b];
	out->acknowledged = d->sent;
	out->changed = d->change_all || d->passes == d->change;
	if (d->passes == d->fail) {
		out->failed = 1;
		(void)error_set(&out->why, ERROR_FULL, "filter 's:1': full");
	}
	(void)err;
	return 0;
}

static void pass_drop(struct store *s)
{
	struct fed *d = (struct fed *)s;

	CHECK(d->under_way);
	d->under_way = false;
	d->drops++;
}

static int set_fed(struct store *s, int64_t at, struct error *err)
{
	(void)err;
	CHECK(at > 0);
	((struct fed *)s)->marks++;
	return 0;
}

struct course {
	struct bloomkey_spec *spec;
	struct fed d;
	struct rejects rejects;
	struct feed_report report;
	struct error err;
	int pipe[2];
	const char *next[8]; /* written one by one, as each is told */
	unsigned wrote;
	unsigned told;
	uint64_t last;
	bool fail_told;
	bool stop; /* asked for when the first is told */
	const char *command;
};

static void begin(struct course *c)
{
	memset(c, 0, sizeof(*c));
	c->spec = job_spec(JOB_KEYSPEC);
	fake_init(&c->d.f, c->spec);
	c->d.ops = fake_ops;
	c->d.ops.pass_begin = pass_begin;
	c->d.ops.pass_end = pass_end;
	c->d.ops.pass_drop = pass_drop;
	c->d.ops.set_fed = set_fed;
	c->d.f.base.ops = &c->d.ops;
	c->d.live = fake_there(&c->d.f, ID_1, MANIFEST_LIVE, few_keys);
	CHECK(pipe(c->pipe) == 0);
	log_init(LOG_QUIET, "test");
}

/* The feeder's next words; behind the last the pipe ends. */
static void feed_next(struct course *c)
{
	const char *text = c->next[c->wrote++];

	if (text != NULL)
		CHECK(write(c->pipe[1], text, strlen(text)) ==
		      (ssize_t)strlen(text));
	else if (c->pipe[1] >= 0) {
		(void)close(c->pipe[1]);
		c->pipe[1] = -1;
	}
}

static int told(void *ctx, uint64_t rows, const struct feed_report *report,
		struct error *err)
{
	struct course *c = ctx;

	(void)report;
	CHECK(!c->d.under_way);
	c->told++;
	c->last = rows;
	if (c->fail_told)
		return error_set(err, ERROR_DATA, "told: fails");
	if (c->stop)
		(void)raise(SIGTERM);
	feed_next(c);
	return 0;
}

static int run_format(struct course *c, const struct rowformat *format)
{
	const struct feed_options options = {.spec = c->spec,
					     .format = format,
					     .rejects = &c->rejects,
					     .command = c->command,
					     .environment = environ,
					     .fd = c->pipe[0],
					     .told = told,
					     .ctx = c};

	feed_next(c);
	return feed_run(&c->d.f.base, &options, &c->report, &c->err);
}

static int run(struct course *c)
{
	return run_format(c, &job_format);
}

static void end(struct course *c)
{
	CHECK(!c->d.under_way);
	feed_report_release(&c->report);
	fake_done(&c->d.f);
	(void)close(c->pipe[0]);
	if (c->pipe[1] >= 0)
		(void)close(c->pipe[1]);
	bloomkey_free(c->spec);
}

static void waits_for_nobody(void)
{
	struct course c;

	begin(&c);
	/* Each is written only when the one before it was told. */
	c.next[0] = "1\n";
	c.next[1] = "2\n3\n";
	c.next[2] = "4\n";
	CHECK(run(&c) == 0);
	CHECK_U64(c.told, 3);
	CHECK_U64(c.report.rows, 4);
	CHECK_U64(c.report.keys, 4);
	CHECK_U64(c.report.acknowledged, 4);
	CHECK_U64(c.d.passes, 3);
	CHECK(!c.d.marked_late);
	CHECK_U64(c.d.marks, 1);
	end(&c);
}

static void empty_pipe(void)
{
	struct course c;

	begin(&c);
	CHECK(run(&c) == 0);
	CHECK_U64(c.told, 0);
	CHECK_U64(c.d.passes, 0);
	CHECK_U64(c.d.marks, 0);
	end(&c);
}

static void sends_again(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n2\n";
	c.d.change = 1;
	CHECK(run(&c) == 0);
	CHECK_U64(c.d.passes, 2);
	CHECK_U64(c.d.sent, 2);
	CHECK_U64(c.told, 1);
	CHECK_U64(c.report.rows, 2);
	end(&c);
}

static void gives_up(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n";
	c.d.change_all = true;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_TEMPORARY);
	CHECK_U64(c.d.passes, CATCHUP_ROUNDS);
	CHECK_U64(c.told, 0);
	end(&c);
}

static void full_filter(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n";
	c.next[1] = "2\n3\n";
	c.d.fail = 2;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_FULL);
	CHECK_STR(c.err.text, "filter 's:1': full");
	/* Nothing is told of rows that were not taken. */
	CHECK_U64(c.told, 1);
	CHECK_U64(c.report.rows, 1);
	CHECK_U64(c.d.passes, 2);
	end(&c);
}

static void lost_writer(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n";
	c.d.f.fail_at[FAKE_FLUSH] = 1;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_RIGHTS);
	CHECK_U64(c.d.drops, 1);
	CHECK_U64(c.d.ends, 0);
	CHECK_U64(c.told, 0);
	end(&c);
}

static void deaf_feeder(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n";
	c.fail_told = true;
	CHECK(run(&c) == -1);
	CHECK_STR(c.err.text, "told: fails");
	CHECK_U64(c.d.passes, 1);
	end(&c);
}

static void cut_off(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "1\n2\n3";
	/* The feeder is gone. */
	CHECK(write(c.pipe[1], c.next[0], 5) == 5);
	(void)close(c.pipe[1]);
	c.pipe[1] = -1;
	c.next[0] = NULL;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_DATA);
	CHECK(strstr(c.err.text, "standard input: row 3: cut off") != NULL);
	CHECK_U64(c.report.rows, 2);
	CHECK_U64(c.told, 1);
	end(&c);
}

static void without_key(void)
{
	struct course c;

	begin(&c);
	/* Empty values are rejected. */
	c.next[0] = "1\n\n2\n";
	c.next[1] = "3\n\n4\n";
	c.rejects.max = 1;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_ROWS);
	CHECK(strstr(c.err.text, "standard input: row 5") != NULL);
	/* One was passed over and counts as done; the second is not done. */
	CHECK_U64(c.report.rows, 4);
	CHECK_U64(c.report.keys, 3);
	end(&c);
}

static void only_rejects(void)
{
	struct course c;

	begin(&c);
	c.next[0] = "\n\n";
	c.rejects.max = 2;
	CHECK(run(&c) == 0);
	CHECK_U64(c.report.rows, 2);
	CHECK_U64(c.report.keys, 0);
	CHECK_U64(c.d.passes, 0);
	CHECK_U64(c.told, 1);
	end(&c);
}

/* Rows that are there at once, in place of the pipe's. */
static void put_rows(struct course *c, const char *text, size_t len)
{
	char path[] = "/tmp/bloomctl-feed-XXXXXX";
	int fd = mkstemp(path);

	REQUIRE(fd >= 0);
	(void)unlink(path);
	CHECK(write(fd, text, len) == (ssize_t)len);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	(void)close(c->pipe[0]);
	c->pipe[0] = fd;
}

static void many_rows(void)
{
	struct course c;
	char *text = job_rows(0, FEED_ROWS + 5);

	begin(&c);
	put_rows(&c, text, strlen(text));
	CHECK(run(&c) == 0);
	CHECK_U64(c.told, 2);
	CHECK_U64(c.last, 5);
	CHECK_U64(c.report.rows, FEED_ROWS + 5);
	free(text);
	end(&c);
}

static void long_keys(void)
{
	enum { LONG = 60000, COUNT = 100, ALL = (LONG + 1) * COUNT };
	struct course c;
	char *text = malloc(ALL);

	REQUIRE(text != NULL);
	memset(text, 'x', ALL);
	for (int i = 1; i <= COUNT; i++)
		text[i * (LONG + 1) - 1] = '\n';
	begin(&c);
	put_rows(&c, text, ALL);
	CHECK(run(&c) == 0);
	CHECK_U64(c.report.rows, COUNT);
	/* More than may wait at once. */
	CHECK_U64(c.told, 2);
	free(text);
	end(&c);
}

static void other_bytes(void)
{
	static const char gzip[] = "\x1f\x8b\x08\x00 and so on\n";
	struct course c;

	begin(&c);
	CHECK(write(c.pipe[1], gzip, sizeof(gzip) - 1) > 0);
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_SOURCE);
	end(&c);
	begin(&c);
	c.next[0] = "PAR1 and what else is in it\n";
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_SOURCE);
	CHECK_U64(c.d.passes, 0);
	end(&c);
}

static void commands(void)
{
	struct course c;

	begin(&c);
	c.command = "echo 1; echo 2";
	CHECK(run(&c) == 0);
	CHECK_U64(c.report.rows, 2);
	end(&c);
	begin(&c);
	c.command = "echo 1; exit 3";
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_DATA);
	CHECK(strstr(c.err.text, "command 'echo") != NULL);
	CHECK(strstr(c.err.text, "status 3") != NULL);
	/* What came before it is there. */
	CHECK_U64(c.report.rows, 1);
	end(&c);
}

static void no_live(void)
{
	struct course c;

	begin(&c);
	c.d.live->m.state = c.d.live->recorded = MANIFEST_COMPLETE;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_GENERATION);
	CHECK_U64(c.d.passes, 0);
	end(&c);
}

static void stopped(void)
{
	struct course c;

	begin(&c);
	CHECK(stop_init(&c.err) == 0);
	c.next[0] = "1\n";
	c.next[1] = "2\n";
	c.stop = true;
	CHECK(run(&c) == -1);
	CHECK(c.err.code == ERROR_TERMINATED);
	CHECK_U64(c.report.rows, 1);
	end(&c);
}

static void stops(void)
{
	job_fork(stopped);
}

int main(void)
{
	UNIT(waits_for_nobody,
	     "feed: rows are told while the pipe is silent, and marked before");
	UNIT(empty_pipe, "feed: a pipe without rows changes nothing");
	UNIT(sends_again, "feed: rows of a pass beside a swap are sent again "
			  "before they are told");
	UNIT(gives_up, "feed: filters that never stay are temporary");
	UNIT(full_filter, "feed: nothing is told of rows that were not taken");
	UNIT(lost_writer, "feed: a pass that fails is dropped");
	UNIT(deaf_feeder, "feed: who cannot be told ends it");
	UNIT(cut_off, "feed: a row that is cut off ends it behind the others");
	UNIT(without_key, "feed: rows without a key are done, up to so many");
	UNIT(only_rejects, "feed: rows without a key need no pass");
	UNIT(many_rows, "feed: no more rows than that wait");
	UNIT(long_keys, "feed: no more bytes than that wait");
	UNIT(other_bytes, "feed: what is no rows is named");
	UNIT(commands, "feed: a command's end says whether it was whole");
	UNIT(no_live, "feed: without a live generation nothing is read");
	UNIT(stops, "feed: a stop leaves what was whole told");
	return unit_end();
}
