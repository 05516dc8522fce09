/* SPDX-License-Identifier: BSD-2-Clause
 *
 * scratch: a folder for one test program, and a set in it.
 */
#ifndef BLOOMCTL_TESTS_STORE_SCRATCH_H
#define BLOOMCTL_TESTS_STORE_SCRATCH_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/store/bucketfile.h"
#include "lib/store/store.h"
#include "tests/unit/unit.h"

/* Short, so that paths below it fit into small arrays. */
static char scratch[64];
static char scratch_target[80];
static struct error scratch_err;

/* What store_open() is told: a folder may be made, or must be there. */
static const struct store_options making = {.create = true};
static const struct store_options taking;

static inline int scratch_unlink(const char *path, const struct stat *st,
				 int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void scratch_remove(const char *path)
{
	(void)nftw(path, scratch_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void scratch_begin(void)
{
	const char *tmp = getenv("TMPDIR");

	if (tmp == NULL || strlen(tmp) > 40)
		tmp = "/tmp";
	(void)snprintf(scratch, sizeof(scratch), "%s/store.XXXXXX", tmp);
	if (mkdtemp(scratch) == NULL)
		abort();
	(void)snprintf(scratch_target, sizeof(scratch_target), "dir:%s/t",
		       scratch);
}

static inline void scratch_end(void)
{
	scratch_remove(scratch);
}

/* A clean start for one test. */
static inline void scratch_reset(void)
{
	char path[80];

	(void)snprintf(path, sizeof(path), "%s/t", scratch);
	scratch_remove(path);
}

/* A path in the set's folder t/NAME-FP8; borrowed until the next call. */
static inline const char *scratch_path(const struct bloomkey_spec *spec,
				       const char *below)
{
	static char path[PATH_MAX];
	char set[NAMES_SET_MAX];

	names_set(spec, set);
	(void)snprintf(path, sizeof(path), "%s/t/%s/%s", scratch, set, below);
	return path;
}

static inline void scratch_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static inline struct bloomkey_spec *scratch_spec(unsigned buckets,
						 const char *more)
{
	struct bloomkey_spec *spec;
	struct bloomkey_error err;
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "[keyspec]\nversion = 1\nname = t\nkey = k:{id}\n"
			 "buckets = %u\nfilter = {name}:{bucket}\n%s",
			 buckets, more);

	if (bloomkey_parse(text, (size_t)n, NULL, NULL, &spec, &err) != 0)
		abort();
	return spec;
}

/* A manifest of a generation of spec that is to be built. */
static inline void scratch_manifest(const struct bloomkey_spec *spec,
				    const char *id, uint64_t capacity,
				    uint64_t fence, struct manifest *m,
				    struct filter_params *params)
{
	memset(m, 0, sizeof(*m));
	names_set(spec, m->set);
	memcpy(m->fingerprint, bloomkey_fingerprint(spec),
	       sizeof(m->fingerprint));
	memcpy(m->generation, id, strlen(id) + 1);
	memcpy(m->engine, "redisbloom", sizeof("redisbloom"));
	m->buckets = bloomkey_buckets(spec);
	m->capacity = capacity;
	m->error = 0.01;
	if (engine_size(&engines[ENGINE_REDISBLOOM], capacity, m->error, params,
			&scratch_err) != 0)
		abort();
	m->bytes = params->bytes;
	m->fence = fence;
	m->started = clock_wall_ms();
}

/* The n-th member of a test, and its bucket. */
static inline uint32_t scratch_key(const struct bloomkey_spec *spec, unsigned n,
				   char key[16])
{
	(void)snprintf(key, 16, "k:%u", n);
	return bloomkey_bucket(spec, key, strlen(key), NULL);
}

/*
 * Builds a complete generation of members from..to - 1 under the store's
 * lock; *m is the caller's to release.  0 or -1 with scratch_err.
 */
static inline int scratch_build(struct store *s,
				const struct bloomkey_spec *spec,
				const char *id, uint64_t capacity,
				uint64_t fence, unsigned from, unsigned to,
				struct manifest *m)
{
	struct filter_params params;
	struct writer *w;
	char key[16];
	int rc = 0;

	scratch_manifest(spec, id, capacity, fence, m, &params);
	m->bucket_keys = calloc(m->buckets, sizeof(*m->bucket_keys));
	if (m->bucket_keys == NULL)
		abort();
	scratch_err.code = ERROR_NONE;
	if (s->ops->reserve(s, m, &layout_redisbloom, &params, 1,
			    &scratch_err) != 0 ||
	    s->ops->writer(s, &w, &scratch_err) != 0)
		return -1;
	for (unsigned i = from; i < to && rc == 0; i++) {
		uint32_t bucket = scratch_key(spec, i, key);

		m->bucket_keys[bucket]++;
		rc = w->ops->add(w, bucket, key, strlen(key), &scratch_err);
	}
	if (rc == 0)
		rc = w->ops->flush(w, &scratch_err);
	w->ops->close(w);
	if (rc != 0 || s->ops->seal(s, m, &scratch_err) != 0)
		return -1;
	m->rows = m->keys = to - from;
	m->state = MANIFEST_COMPLETE;
	m->ended = clock_wall_ms();
	return s->ops->put(s, m, &scratch_err);
}

/* The state that list() reports of a generation; -1 if it has none. */
static inline int scratch_state(struct store *s, const char *id)
{
	struct manifest *list;
	size_t count;
	int state = -1;

	if (s->ops->list(s, &list, &count, &scratch_err) != 0)
		return -2;
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i].generation, id) == 0)
			state = (int)list[i].state;
	store_list_free(list, count);
	return state;
}

#endif
