/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/dirbuild.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/num.h"

/* What a file takes beyond its bits, at most: header, inode, its last block. */
#define FILE_EXTRA (BUCKETFILE_HEADER + 512 + 4095)

void dirbuild_free(struct dirbuild *build)
{
	if (build == NULL)
		return;
	image_release(&build->image);
	free(build->added);
	(void)pthread_mutex_destroy(&build->merge);
	free(build);
}

int dirbuild_full(const struct dir *dir, uint32_t bucket, uint64_t items,
		  struct error *err)
{
	char name[BLOOMKEY_FILTER_MAX + 1];
	uint64_t capacity = dir->build->image.params.capacity;

	if (bloomkey_filter(dir->spec, bucket, name, sizeof(name)) < 0)
		name[0] = '\0';
	if (items == 0)
		(void)error_set(err, ERROR_FULL,
				"bucket %" PRIu32 " (filter '%.300s'): full: "
				"capacity %" PRIu64 " reached",
				bucket, name, capacity);
	else
		(void)error_set(err, ERROR_FULL,
				"bucket %" PRIu32 " (filter '%.300s'): full: "
				"%" PRIu64 " members for a capacity of "
				"%" PRIu64,
				bucket, name, items, capacity);
	return error_hint(err,
			  dir->build->image.shared
				  ? "give a larger --capacity, or "
				    "--capacity auto; --jobs 1 counts equal "
				    "keys of several files once"
				  : "give a larger --capacity or --keys, or "
				    "--capacity auto");
}

struct dir_writer {
	struct writer base;
	struct dir *dir;
	struct image_ring *ring;
	uint64_t *added; /* by this writer, per bucket */
	uint64_t limit;  /* members that a bucket takes beside the sentinel */
	uint64_t sent;
	uint64_t flushed; /* of sent */
	uint32_t buckets;
};

static int writer_add(struct writer *base, uint32_t bucket, const void *key,
		      size_t len, struct error *err)
{
	struct dir_writer *w = (struct dir_writer *)base;

	if (bucket >= w->buckets)
		return error_set(err, ERROR_INTERNAL,
				 "bucket %" PRIu32 " of %" PRIu32, bucket,
				 w->buckets);
	image_ring_add(w->ring, bucket, key, len);
	w->sent++;
	/* Of the members before; the line will be needed for this one. */
	if (w->added[bucket] > w->limit)
		return dirbuild_full(w->dir, bucket, 0, err);
	return 0;
}

static int writer_flush(struct writer *base, struct error *err)
{
	struct dir_writer *w = (struct dir_writer *)base;

	image_ring_flush(w->ring);
	w->flushed = w->sent;
	for (uint32_t i = 0; i < w->buckets; i++)
		if (w->added[i] > w->limit)
			return dirbuild_full(w->dir, i, 0, err);
	return 0;
}

static void writer_close(struct writer *base)
{
	struct dir_writer *w = (struct dir_writer *)base;
	struct dirbuild *build = w->dir->build;

	(void)pthread_mutex_lock(&build->merge);
	for (uint32_t i = 0; i < w->buckets; i++)
		build->added[i] += w->added[i];
	build->sent += w->sent;
	build->lost = build->lost || w->flushed != w->sent;
	build->writers--;
	(void)pthread_mutex_unlock(&build->merge);
	image_ring_free(w->ring);
	free(w->added);
	free(w);
}

static const struct writer_ops dir_writer_ops = {
	.add = writer_add,
	.flush = writer_flush,
	.close = writer_close,
};

int dirbuild_writer(struct store *s, struct writer **out, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct dirbuild *build = dir->build;
	struct dir_writer *w;

	if (dir->pass != NULL)
		return dirpass_writer(dir, out, err);
	if (build == NULL)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': nothing is reserved", dir->set);
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return error_nomem(err);
	w->base.ops = &dir_writer_ops;
	w->dir = dir;
	w->buckets = build->image.buckets;
	w->limit = build->image.params.capacity - build->planted;
	w->added = calloc(w->buckets, sizeof(*w->added));
	w->ring = w->added != NULL ? image_ring_new(&build->image, w->added)
				   : NULL;
	if (w->ring == NULL) {
		free(w->added);
		free(w);
		return error_nomem(err);
	}
	(void)pthread_mutex_lock(&build->merge);
	build->writers++;
	(void)pthread_mutex_unlock(&build->merge);
	*out = &w->base;
	return 0;
}

static int no_space(const struct dir *dir, uint64_t needed, uint64_t available,
		    const char *of, struct error *err)
{
	char a[NUM_TEXT_MAX];
	char b[NUM_TEXT_MAX];

	(void)error_set(err, ERROR_SPACE,
			"target '%s': a generation needs %s of %s, %s are "
			"available",
			dir->place, num_bytes_text(needed, a), of,
			num_bytes_text(available, b));
	return error_hint(err,
			  "make room, or plan for fewer keys or a higher "
			  "error rate; bloomctl size shows what they take");
}

static int check_room(const struct dir *dir, const struct filter_params *params,
		      uint32_t buckets, unsigned workers, struct error *err)
{
	uint64_t memory = image_size(params, buckets);
	uint64_t available = mem_available();
	uint64_t disk;
	struct statvfs fs;
	int rc;

	if (memory == 0 ||
	    __builtin_add_overflow(
		    memory, 8 * (uint64_t)buckets * (workers + 1ull), &memory))
		memory = UINT64_MAX;
	if (memory > available || memory == UINT64_MAX)
		return no_space(dir, memory, available, "memory", err);
	if (__builtin_add_overflow(params->bytes, (uint64_t)FILE_EXTRA,
				   &disk) ||
	    __builtin_mul_overflow(disk, (uint64_t)buckets, &disk))
		disk = UINT64_MAX;
	do {
		rc = fstatvfs(dir->root, &fs);
	} while (rc != 0 && errno == EINTR);
	if (rc != 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "target '%s'", dir->place);
	/* Some file systems know no sizes, or have no limit of files. */
	if (fs.f_blocks != 0) {
		available = (uint64_t)fs.f_bavail * fs.f_frsize;
		if (disk > available)
			return no_space(dir, disk, available, "disk", err);
	}
	if (fs.f_files != 0 && (uint64_t)buckets + 2 > fs.f_favail)
		return error_set(err, ERROR_SPACE,
				 "target '%s': a generation needs %" PRIu64
				 " files, %ju are available",
				 dir->place, (uint64_t)buckets + 2,
				 (uintmax_t)fs.f_favail);
	return 0;
}

int dirbuild_fits(struct store *s, const struct filter_params *params,
		  unsigned workers, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	int folder;

	if (dir_set(dir, false, err) != 0)
		return -1;
	folder = dir->folder >= 0 ? dir->folder : dir->root;
	/* Real or effective user, these differ only in what is not built. */
	if (faccessat(folder, ".", W_OK | X_OK, 0) != 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "target '%s'", dir->place);
	return check_room(dir, params, bloomkey_buckets(dir->spec), workers,
			  err);
}

/* Also an empty bucket gets one: it tells a filter from one that is gone. */
static int plant(struct dirbuild *build, const struct bloomkey_spec *spec,
		 struct error *err)
{
	const void *sentinel;
	size_t len = bloomkey_sentinel(spec, &sentinel);
	struct image_ring *ring;

	if (len == 0)
		return 0;
	ring = image_ring_new(&build->image, build->added);
	if (ring == NULL)
		return error_nomem(err);
	for (uint32_t i = 0; i < build->image.buckets; i++)
		image_ring_add(ring, i, sentinel, len);
	image_ring_flush(ring);
	image_ring_free(ring);
	build->planted = 1;
	return 0;
}

static struct dirbuild *build_new(const struct dir *dir,
				  const struct manifest *m,
				  const struct layout_ops *layout,
				  const struct filter_params *params,
				  unsigned workers, struct error *err)
{
	uint32_t buckets = bloomkey_buckets(dir->spec);
	struct dirbuild *build = calloc(1, sizeof(*build));

	if (build == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	(void)pthread_mutex_init(&build->merge, NULL);
	memcpy(build->generation, m->generation, sizeof(build->generation));
	build->added = calloc(buckets, sizeof(*build->added));
	if (build->added == NULL) {
		(void)error_nomem(err);
	} else if (image_init(&build->image, layout, params, buckets,
			      workers > 1, err) == 0 &&
		   plant(build, dir->spec, err) == 0) {
		return build;
	}
	dirbuild_free(build);
	return NULL;
}

static int make_folder(struct dir *dir, const char *id, struct error *err)
{
	if (!names_id_valid(id))
		return error_set(err, ERROR_INTERNAL, "set '%s': no legal id",
				 dir->set);
	if (mkdirat(dir->folder, id, 0755) == 0)
		return dir_sync_set(dir, err);
	if (errno == EEXIST)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': is there already", id);
	return error_errno(err, error_code_of_errno(errno), errno,
			   "generation '%s'", id);
}

int dirbuild_reserve(struct store *s, const struct manifest *m,
		     const struct layout_ops *layout,
		     const struct filter_params *params, unsigned workers,
		     struct error *err)
{
	struct dir *dir = (struct dir *)s;
	uint32_t buckets = bloomkey_buckets(dir->spec);
	const struct engine *engine = engine_by_name(m->engine);
	struct manifest building = *m;
	struct error ignored = ERROR_INIT;

	if (dir_need_lock(dir, err) != 0)
		return -1;
	if (engine == NULL || engine->layout != layout ||
	    m->buckets != buckets || m->capacity != params->capacity ||
	    m->bytes != params->bytes ||
	    memcmp(m->seed, params->seed, sizeof(m->seed)) != 0 ||
	    strcmp(m->fingerprint, bloomkey_fingerprint(dir->spec)) != 0)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': its manifest is not of what "
				 "is reserved",
				 m->generation);
	dirbuild_free(dir->build);
	dir->build = NULL;
	if (check_room(dir, params, buckets, workers, err) != 0 ||
	    make_folder(dir, m->generation, err) != 0)
		return -1;
	building.state = MANIFEST_BUILDING;
	building.bucket_keys = NULL;
	if (dir_put(s, &building, err) == 0)
		dir->build = build_new(dir, m, layout, params, workers, err);
	if (dir->build != NULL)
		return 0;
	/* Nothing but an empty folder: better gone than found later. */
	(void)dirdrop_folder(dir, m->generation, &ignored);
	return -1;
}
