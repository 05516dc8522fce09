/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/filter/image.h"
#include "lib/store/dir.h"

/*
 * Filters mapped at a time, by all probes together.  Linux allows a process
 * 65,530 mappings, and others need some too.
 */
#define MAPS_MAX 16384

int dirprobe_wanted(const struct dir *dir, const struct manifest *m,
		    const struct layout_ops **layout, struct bucketfile *out,
		    struct error *err)
{
	const struct engine *engine;

	memset(out, 0, sizeof(*out));
	if (store_params(m, &engine, &out->params, err) != 0)
		return -1;
	*layout = engine->layout;
	out->layout = engine->layout->id;
	out->buckets = bloomkey_buckets(dir->spec);
	memcpy(out->fingerprint, bloomkey_fingerprint(dir->spec),
	       sizeof(out->fingerprint));
	memcpy(out->generation, m->generation, sizeof(out->generation));
	return 0;
}

int dirprobe_info(struct store *s, const struct manifest *m, uint32_t bucket,
		  bool whole, struct bucket_info *out, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct bucketfile want;
	struct bucketfile f;
	char name[NAMES_BUCKET_MAX];
	int folder;
	int rc = -1;
	int fd;

	memset(out, 0, sizeof(*out));
	out->ttl_ms = -1;
	out->slot = -1;
	if (dirprobe_wanted(dir, m, &out->layout, &want, err) != 0)
		return -1;
	if (bucket >= want.buckets)
		return error_set(err, ERROR_INTERNAL, "bucket %" PRIu32,
				 bucket);
	want.bucket = bucket;
	names_bucket(bucket, want.buckets, name);
	folder = dir_generation(dir, m->generation, err);
	if (folder < 0)
		return -1;
	fd = bucketfile_open(folder, name, &want, &f, &out->memory, err);
	out->missing = fd < 0 && faccessat(folder, name, F_OK, 0) != 0 &&
		       errno == ENOENT;
	out->bits_set = UINT64_MAX;
	if (fd >= 0) {
		rc = whole ? bucketfile_check(fd, &f, &out->bits_set, err) : 0;
		(void)close(fd);
	}
	(void)close(folder);
	if (rc != 0)
		return dir_prefix_file(dir, m->generation, bucket, err);
	out->params = want.params;
	out->items = f.items;
	out->keys = f.keys;
	out->horizon = f.horizon;
	return 0;
}

/* What a pass of this run into it has left. */
static int check_horizon(const struct dir *dir, const struct bucketfile *f,
			 struct error *err)
{
	char is[HORIZON_TEXT_MAX];
	char shall[HORIZON_TEXT_MAX];

	if (dir->horizons == NULL || strcmp(dir->passed, f->generation) != 0 ||
	    strcmp(horizon_text(&f->horizon, is),
		   horizon_text(&dir->horizons[f->bucket], shall)) == 0)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"its horizon is not the one that this run gave it");
	return error_hint(err, "find what else writes to this folder, and run "
			       "it again");
}

int dirprobe_headers(struct dir *dir, const struct manifest *m,
		     struct error *err)
{
	const struct layout_ops *layout;
	struct bucketfile want;
	struct bucketfile f;
	char name[NAMES_BUCKET_MAX];
	uint64_t size;
	int rc = 0;
	int folder;
	int fd;

	if (dirprobe_wanted(dir, m, &layout, &want, err) != 0)
		return -1;
	folder = dir_generation(dir, m->generation, err);
	if (folder < 0)
		return -1;
	for (uint32_t i = 0; rc == 0 && i < want.buckets; i++) {
		want.bucket = i;
		names_bucket(i, want.buckets, name);
		fd = bucketfile_open(folder, name, &want, &f, &size, err);
		if (fd >= 0)
			(void)close(fd);
		if (fd < 0 || check_horizon(dir, &f, err) != 0)
			rc = dir_prefix_file(dir, m->generation, i, err);
	}
	(void)close(folder);
	return rc;
}

struct dir_probe {
	struct probe base;
	struct dir *dir;
	probe_fn *fn;
	void *ctx;
	const struct layout_ops *layout;
	struct bucketfile want;
	int folder;                 /* the generation's */
	const unsigned char **bits; /* per bucket: mapped, or NULL */
	bool *checked;              /* per bucket: its bits, once */
	unsigned maps;              /* of its own */
};

static void drop_maps(struct dir_probe *p)
{
	for (uint32_t i = 0; p->maps > 0 && i < p->want.buckets; i++) {
		if (p->bits[i] == NULL)
			continue;
		bucketfile_unmap(p->bits[i], p->want.params.bytes);
		p->bits[i] = NULL;
		p->maps--;
		atomic_fetch_sub(&p->dir->maps, 1);
	}
}

static const unsigned char *map_fd(struct dir_probe *p, int fd,
				   const struct bucketfile *f,
				   struct error *err)
{
	const unsigned char *bits;
	int nomem;

	if (atomic_load(&p->dir->maps) >= MAPS_MAX)
		drop_maps(p);
	bits = bucketfile_map(fd, f, &nomem, err);
	if (bits == NULL && nomem && p->maps > 0) {
		drop_maps(p);
		bits = bucketfile_map(fd, f, &nomem, err);
	}
	return bits;
}

/* At the first question about a bucket, or after its map was dropped. */
static int open_bucket(struct dir_probe *p, uint32_t bucket, struct error *err)
{
	char name[NAMES_BUCKET_MAX];
	struct bucketfile f;
	uint64_t size;
	const unsigned char *bits = NULL;
	int fd;

	p->want.bucket = bucket;
	names_bucket(bucket, p->want.buckets, name);
	fd = bucketfile_open(p->folder, name, &p->want, &f, &size, err);
	if (fd >= 0 &&
	    (p->checked[bucket] || bucketfile_check(fd, &f, NULL, err) == 0))
		bits = map_fd(p, fd, &f, err);
	if (fd >= 0)
		(void)close(fd);
	if (bits == NULL)
		return dir_prefix_file(p->dir, p->want.generation, bucket, err);
	p->checked[bucket] = true;
	p->bits[bucket] = bits;
	p->maps++;
	atomic_fetch_add(&p->dir->maps, 1);
	return 0;
}

static int probe_ask(struct probe *base, uint32_t bucket, const void *key,
		     size_t len, struct error *err)
{
	struct dir_probe *p = (struct dir_probe *)base;

	if (bucket >= p->want.buckets)
		return error_set(err, ERROR_INTERNAL, "bucket %" PRIu32,
				 bucket);
	if (p->bits[bucket] == NULL && open_bucket(p, bucket, err) != 0)
		return -1;
	p->fn(p->ctx, bucket, key, len,
	      layout_test(p->layout, &p->want.params, p->bits[bucket], key,
			  len));
	return 0;
}

static int probe_flush(struct probe *base, struct error *err)
{
	(void)base;
	(void)err;
	return 0;
}

static void probe_close(struct probe *base)
{
	struct dir_probe *p = (struct dir_probe *)base;

	if (p->bits != NULL)
		drop_maps(p);
	if (p->folder >= 0)
		(void)close(p->folder);
	free(p->bits);
	free(p->checked);
	free(p);
}

static const struct probe_ops dir_probe_ops = {
	.ask = probe_ask,
	.flush = probe_flush,
	.close = probe_close,
};

int dirprobe_probe(struct store *s, const struct manifest *m, probe_fn *fn,
		   void *ctx, struct probe **out, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct dir_probe *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return error_nomem(err);
	p->base.ops = &dir_probe_ops;
	p->dir = dir;
	p->fn = fn;
	p->ctx = ctx;
	p->folder = -1;
	if (dirprobe_wanted(dir, m, &p->layout, &p->want, err) != 0)
		goto fail;
	p->bits = calloc(p->want.buckets, sizeof(*p->bits));
	p->checked = calloc(p->want.buckets, sizeof(*p->checked));
	if (p->bits == NULL || p->checked == NULL) {
		(void)error_nomem(err);
		goto fail;
	}
	p->folder = dir_generation(dir, m->generation, err);
	if (p->folder < 0)
		goto fail;
	*out = &p->base;
	return 0;
fail:
	probe_close(&p->base);
	return -1;
}
