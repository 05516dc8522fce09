/* SPDX-License-Identifier: BSD-2-Clause
 *
 * job: what the tests of the jobs share: a keyspec, a source in memory, and
 * sets of the fake store to begin with.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_JOB_H
#define BLOOMCTL_TESTS_UNIT_JOB_JOB_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/stop.h"
#include "lib/job/scan.h"
#include "tests/unit/job/fake.h"
#include "tests/unit/unit.h"

/* Ids, oldest first. */
#define ID_1 "20260101T000000Z-0001"
#define ID_2 "20260102T000000Z-0002"
#define ID_3 "20260103T000000Z-0003"
#define ID_4 "20260104T000000Z-0004"
#define ID_5 "20260105T000000Z-0005"
#define ID_6 "20260106T000000Z-0006"
#define ID_7 "20260107T000000Z-0007"

#define JOB_KEYSPEC                                                     \
	"[keyspec]\nversion = 1\nname = s\nbuckets = 4\nkey = k:{id}\n" \
	"filter = s:{bucket}\n"
#define JOB_PLAIN_KEYSPEC JOB_KEYSPEC "sentinel = none\n"

static inline struct bloomkey_spec *job_spec(const char *text)
{
	struct bloomkey_spec *spec;
	struct bloomkey_error err;

	if (bloomkey_parse(text, strlen(text), NULL, NULL, &spec, &err) !=
	    BLOOMKEY_OK) {
		printf("Bail out! line %u: %s\n", err.line, err.text);
		exit(99);
	}
	return spec;
}

/* One part of a source in memory. */
struct feed_part {
	const char *name; /* of the file */
	const char *text;
	uint64_t start;
	uint64_t rows_before;
	bool goes_on;       /* the part does not end where the file does */
	const char *header; /* to be parsed before the text, or NULL */
	bool fail_open, fail_finish;
	unsigned fail_read; /* the n-th read fails, from 1; 0: none */
};

struct feed {
	struct source base;
	const struct feed_part *parts;
	size_t count;
	size_t chunk; /* bytes of one read */
	bool fail_split;
	/* Called before each read of a part; part counts from 0, read from 1 */
	void (*hook)(void *ctx, size_t part, unsigned read);
	/* Called when the rows before a part are asked for. */
	void (*rows_hook)(void *ctx, size_t part);
	void *ctx;
	atomic_int open;
	atomic_uint finished;
};

struct feed_stream {
	struct stream base;
	struct feed *feed;
	size_t part;
	size_t at;
	unsigned reads;
};

static inline int feed_read(struct stream *s, void *buf, size_t cap,
			    size_t *got, struct error *err)
{
	struct feed_stream *fs = (struct feed_stream *)s;
	const struct feed_part *p = &fs->feed->parts[fs->part];
	size_t left = strlen(p->text) - fs->at;

	fs->reads++;
	if (fs->feed->hook != NULL)
		fs->feed->hook(fs->feed->ctx, fs->part, fs->reads);
	if (fs->reads == p->fail_read)
		return error_set(err, ERROR_DATA, "feed: read fails");
	*got = fs->feed->chunk < left ? fs->feed->chunk : left;
	*got = *got < cap ? *got : cap;
	memcpy(buf, p->text + fs->at, *got);
	fs->at += *got;
	return 0;
}

static inline int feed_finish(struct stream *s, struct error *err)
{
	struct feed_stream *fs = (struct feed_stream *)s;

	atomic_fetch_add(&fs->feed->finished, 1);
	if (fs->feed->parts[fs->part].fail_finish)
		return error_set(err, ERROR_DATA, "feed: cut off");
	return 0;
}

static inline void feed_close(struct stream *s)
{
	atomic_fetch_sub(&((struct feed_stream *)s)->feed->open, 1);
	free(s);
}

static inline int feed_open(struct source *source,
			    const struct source_part *part, struct stream **out,
			    struct error *err)
{
	static const struct stream_ops ops = {feed_read, feed_finish,
					      feed_close};
	struct feed *feed = (struct feed *)source;
	struct feed_stream *s;

	if (feed->parts[part->index].fail_open)
		return error_set(err, ERROR_SOURCE, "feed: open fails");
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		abort();
	s->base.ops = &ops;
	s->feed = feed;
	s->part = part->index;
	atomic_fetch_add(&feed->open, 1);
	*out = &s->base;
	return 0;
}

static inline int feed_split(struct source *source, unsigned jobs,
			     const struct rowformat *format,
			     struct source_part **parts, size_t *count,
			     struct error *err)
{
	struct feed *feed = (struct feed *)source;

	(void)jobs;
	(void)format;
	*parts = NULL;
	*count = 0;
	if (feed->fail_split)
		return error_set(err, ERROR_SOURCE, "feed: split fails");
	*parts = calloc(feed->count + 1, sizeof(**parts));
	if (*parts == NULL)
		abort();
	*count = feed->count;
	for (size_t i = 0; i < feed->count; i++) {
		const struct feed_part *p = &feed->parts[i];

		(*parts)[i].name = strdup(p->name);
		(*parts)[i].index = i;
		(*parts)[i].start = p->start;
		(*parts)[i].end = p->start + strlen(p->text);
		(*parts)[i].at_end = !p->goes_on;
		if (p->header == NULL)
			continue;
		(*parts)[i].header = strdup(p->header);
		(*parts)[i].header_len = strlen(p->header);
	}
	return 0;
}

static inline uint64_t feed_rows_before(struct source *source,
					const struct source_part *part,
					const struct rowformat *format)
{
	struct feed *feed = (struct feed *)source;

	(void)format;
	if (feed->rows_hook != NULL)
		feed->rows_hook(feed->ctx, part->index);
	return feed->parts[part->index].rows_before;
}

static inline uint64_t feed_bytes(const struct source *source)
{
	const struct feed *feed = (const struct feed *)source;
	uint64_t sum = 0;

	for (size_t i = 0; i < feed->count; i++)
		sum += strlen(feed->parts[i].text);
	return sum;
}

static const struct source_ops feed_ops = {.split = feed_split,
					   .open = feed_open,
					   .rows_before = feed_rows_before,
					   .bytes = feed_bytes};

static inline struct feed feed_of(const struct feed_part *parts, size_t count,
				  size_t chunk)
{
	struct feed feed = {
		.base.ops = &feed_ops,
		.parts = parts,
		.count = count,
		.chunk = chunk,
	};

	return feed;
}

#define FEED(parts, chunk) \
	feed_of(parts, sizeof(parts) / sizeof((parts)[0]), chunk)

/* COPY text of one column, id. */
static const char *const job_columns[] = {"id"};
static const struct rowformat job_format = {
	.kind = ROWFORMAT_TEXT,
	.names = job_columns,
	.name_count = 1,
	.wanted = job_columns,
	.wanted_count = 1,
};

static inline struct scan job_scan(const struct bloomkey_spec *spec,
				   struct feed *feed, unsigned jobs)
{
	struct scan scan = {.spec = spec,
			    .source = &feed->base,
			    .format = &job_format,
			    .jobs = jobs,
			    .phase = "testing"};

	return scan;
}

/* Rows "0\n1\n2\n"... from..to-1, to be freed. */
static inline char *job_rows(unsigned from, unsigned to)
{
	char *text = malloc((size_t)(to - from) * 11 + 1);
	size_t at = 0;

	if (text == NULL)
		abort();
	text[0] = '\0';
	for (; from < to; from++)
		at += (size_t)sprintf(text + at, "%u\n", from);
	return text;
}

static inline void fake_init(struct fake *f, const struct bloomkey_spec *spec)
{
	memset(f, 0, sizeof(*f));
	f->base.ops = &fake_ops;
	f->spec = spec;
	f->fail_code = ERROR_RIGHTS;
	f->room = UINT64_MAX;
}

/* Ends a test's set: nothing is open, and nothing was done that must not. */
static inline void fake_done(struct fake *f)
{
	CHECK(f->open == 0);
	CHECK(!f->locked);
	CHECK_U64(f->faults, 0);
	for (size_t i = 0; i < FAKE_GENERATIONS; i++)
		fake_forget(&f->all[i]);
}

/* A generation that is there already, with so many keys in each bucket. */
static inline struct fake_generation *
fake_there(struct fake *f, const char *id, enum manifest_state state,
	   const uint64_t keys[FAKE_BUCKETS])
{
	struct fake_generation *g = f->all;
	struct error err = ERROR_INIT;
	struct filter_params params;

	while (g->m.generation[0] != '\0')
		g++;
	names_set(f->spec, g->m.set);
	memcpy(g->m.fingerprint, bloomkey_fingerprint(f->spec),
	       sizeof(g->m.fingerprint));
	(void)strcpy(g->m.generation, id);
	(void)strcpy(g->m.engine, "redisbloom");
	g->m.state = g->recorded = state;
	g->m.buckets = FAKE_BUCKETS;
	g->m.capacity = 100;
	g->m.error = 0.01;
	g->m.bucket_keys = calloc(FAKE_BUCKETS, sizeof(uint64_t));
	if (g->m.bucket_keys == NULL ||
	    engine_size(&engines[ENGINE_REDISBLOOM], 100, 0.01, &params,
			&err) != 0 ||
	    image_init(&g->image, &layout_redisbloom, &params, FAKE_BUCKETS,
		       false, &err) != 0)
		abort();
	g->m.bytes = params.bytes;
	for (uint32_t b = 0; b < FAKE_BUCKETS; b++) {
		g->keys[b] = g->added[b] = g->m.bucket_keys[b] = keys[b];
		g->m.keys += keys[b];
		g->m.rows += keys[b];
	}
	g->sealed = true;
	return g;
}

static const uint64_t few_keys[FAKE_BUCKETS] = {10, 10, 10, 10};

/* Runs a test in a process of its own, for what cannot be taken back. */
static inline void job_fork(void (*test)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		test();
		exit(unit_bad ? 1 : 0);
	}
	REQUIRE(pid > 0);
	REQUIRE(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
