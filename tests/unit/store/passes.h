/* SPDX-License-Identifier: BSD-2-Clause
 *
 * passes: a live generation of members 0 to 49 with a horizon, for the tests
 * of what is added to filters of a folder.
 */
#ifndef BLOOMCTL_TESTS_STORE_PASSES_H
#define BLOOMCTL_TESTS_STORE_PASSES_H

#include "tests/unit/store/scratch.h"

#define ID1 "20261130T195654Z-1a2b"
#define ID2 "20261130T195655Z-0a2b"

static struct bloomkey_spec *spec;
static struct store *s;
static uint64_t fence;
static struct manifest live;
static struct pass_report done;
static struct horizon oldest;

static const struct horizon early = {.read_at = 1000, .xid = 10, .system = 7};
static const struct horizon late = {.read_at = 2000, .xid = 20, .system = 7};

/* A complete generation of members 0 to 49, with a horizon. */
static inline void build(const char *id, uint64_t capacity,
			 const struct horizon *horizon, struct manifest *m)
{
	struct filter_params params;
	struct writer *w;
	char key[16];
	uint32_t bucket;

	scratch_manifest(spec, id, capacity, fence, m, &params);
	m->horizon = *horizon;
	m->bucket_keys = calloc(m->buckets, sizeof(*m->bucket_keys));
	if (m->bucket_keys == NULL ||
	    s->ops->reserve(s, m, &layout_redisbloom, &params, 1,
			    &scratch_err) != 0 ||
	    s->ops->writer(s, &w, &scratch_err) != 0)
		abort();
	for (unsigned i = 0; i < 50; i++) {
		bucket = scratch_key(spec, i, key);
		m->bucket_keys[bucket]++;
		if (w->ops->add(w, bucket, key, strlen(key), &scratch_err) != 0)
			abort();
	}
	if (w->ops->flush(w, &scratch_err) != 0)
		abort();
	w->ops->close(w);
	m->rows = m->keys = 50;
	m->state = MANIFEST_COMPLETE;
	m->ended = clock_wall_ms();
	if (s->ops->seal(s, m, &scratch_err) != 0 ||
	    s->ops->put(s, m, &scratch_err) != 0)
		abort();
}

static inline void build_live(uint64_t capacity)
{
	build(ID1, capacity, &early, &live);
	if (s->ops->promote(s, &live, NULL, &scratch_err) != 0)
		abort();
}

static inline int begin(bool is_live)
{
	scratch_err.code = ERROR_NONE;
	return s->ops->pass_begin(s, &live, is_live, 1, &oldest, &scratch_err);
}

static inline int end(const struct horizon *to)
{
	return s->ops->pass_end(s, to, NULL, &done, &scratch_err);
}

/* Members from..to - 1 into the pass that is under way. */
static inline int add(unsigned from, unsigned to)
{
	struct writer *w;
	char key[16];
	int rc = s->ops->writer(s, &w, &scratch_err);

	if (rc != 0)
		return -1;
	for (unsigned i = from; i < to && rc == 0; i++) {
		uint32_t bucket = scratch_key(spec, i, key);

		rc = w->ops->add(w, bucket, key, strlen(key), &scratch_err);
	}
	if (rc == 0)
		rc = w->ops->flush(w, &scratch_err);
	w->ops->close(w);
	return rc;
}

static inline void count_answer(void *ctx, uint32_t bucket, const void *key,
				size_t len, bool found)
{
	(void)bucket;
	(void)key;
	(void)len;
	*(unsigned *)ctx += found;
}

/* How many of members from..to - 1 a reader finds in a generation. */
static inline unsigned found(const struct manifest *m, unsigned from,
			     unsigned to)
{
	struct probe *p;
	unsigned n = 0;
	char key[16];

	if (s->ops->probe(s, m, count_answer, &n, &p, &scratch_err) != 0)
		return 0;
	for (unsigned i = from; i < to; i++) {
		uint32_t bucket = scratch_key(spec, i, key);

		if (p->ops->ask(p, bucket, key, strlen(key), &scratch_err) !=
		    0) {
			printf("# %s\n", scratch_err.text);
			break;
		}
	}
	p->ops->close(p);
	return n;
}

static inline struct bucket_info info(const struct manifest *m, uint32_t bucket)
{
	struct bucket_info i;

	if (s->ops->info(s, m, bucket, true, &i, &scratch_err) != 0) {
		printf("# %s\n", scratch_err.text);
		memset(&i, 0, sizeof(i));
	}
	return i;
}

/* The state in a filter's header. */
static inline int state(const char *file)
{
	unsigned char page[BUCKETFILE_HEADER];
	struct bucketfile f;
	FILE *in = fopen(scratch_path(spec, file), "r");
	int rc;

	if (in == NULL)
		return -1;
	rc = fread(page, sizeof(page), 1, in) == 1 &&
			     bucketfile_decode(page, &f, &scratch_err) == 0
		     ? (int)f.state
		     : -1;
	(void)fclose(in);
	return rc;
}

static inline void rewrite(const char *name, const struct horizon *horizon)
{
	unsigned char page[BUCKETFILE_HEADER];
	struct bucketfile f;
	FILE *file = fopen(scratch_path(spec, name), "r+");

	if (file == NULL || fread(page, sizeof(page), 1, file) != 1 ||
	    bucketfile_decode(page, &f, &scratch_err) != 0)
		abort();
	f.horizon = *horizon;
	bucketfile_encode(&f, page);
	rewind(file);
	if (fwrite(page, sizeof(page), 1, file) != 1 || fclose(file) != 0)
		abort();
}

static inline void with(void (*test)(void), const char *claim)
{
	scratch_reset();
	if (store_open(scratch_target, spec, &making, &s, &scratch_err) != 0 ||
	    s->ops->lock(s, "build", &fence, &scratch_err) != 0)
		abort();
	memset(&live, 0, sizeof(live));
	UNIT(test, claim);
	manifest_release(&live);
	s->ops->close(s);
}

#endif
