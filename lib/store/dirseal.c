/* SPDX-License-Identifier: BSD-2-Clause */

/* syncfs() */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/stop.h"
#include "lib/store/dirbuild.h"

/* ERROR_INTERNAL if members may be missing from the image. */
static int check_writers(const struct dirbuild *build, const struct manifest *m,
			 struct error *err)
{
	uint64_t keys = 0;

	if (build->writers != 0 || build->lost)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': a writer is not flushed and "
				 "closed",
				 m->generation);
	if (m->bucket_keys == NULL)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': no counts", m->generation);
	for (uint32_t i = 0; i < build->image.buckets; i++)
		keys += manifest_sent(m, i);
	if (keys != build->sent)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': %" PRIu64 " keys counted, "
				 "%" PRIu64 " sent",
				 m->generation, keys, build->sent);
	return 0;
}

static int check_full(const struct dir *dir, struct error *err)
{
	const struct dirbuild *build = dir->build;
	uint32_t fullest = 0;

	for (uint32_t i = 1; i < build->image.buckets; i++)
		if (build->added[i] > build->added[fullest])
			fullest = i;
	if (build->added[fullest] <= build->image.params.capacity)
		return 0;
	return dirbuild_full(dir, fullest, build->added[fullest], err);
}

static int write_files(const struct dir *dir, const struct manifest *m, int fd,
		       struct error *err)
{
	const struct image *image = &dir->build->image;
	struct bucketfile f;
	char name[NAMES_BUCKET_MAX];

	memset(&f, 0, sizeof(f));
	f.state = BUCKETFILE_SEALED;
	f.layout = image->layout->id;
	f.buckets = image->buckets;
	f.params = image->params;
	f.fence = m->fence;
	f.horizon = m->horizon;
	memcpy(f.fingerprint, m->fingerprint, sizeof(f.fingerprint));
	memcpy(f.generation, m->generation, sizeof(f.generation));
	for (uint32_t i = 0; i < image->buckets; i++) {
		if (stop_check(err) != 0)
			return -1;
		f.bucket = i;
		f.items = dir->build->added[i];
		f.keys = m->bucket_keys[i];
		names_bucket(i, image->buckets, name);
		if (bucketfile_write(fd, name, &f, image_bucket(image, i),
				     err) != 0)
			return dir_prefix_file(dir, m->generation, i, err);
	}
	return 0;
}

static int sync_file(int dirfd, const char *name, struct error *err)
{
	int rc = 0;
	int fd = file_openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0 || file_fsync(fd) != 0)
		rc = error_errno(err, error_code_of_errno(errno), errno,
				 "sync");
	if (fd >= 0)
		(void)close(fd);
	return rc;
}

int dirseal_syncfs(int fd)
{
	int rc;

	do {
		rc = syncfs(fd);
	} while (rc != 0 && errno == EINTR);
	return rc;
}

static int sync_files(const struct dir *dir, const struct manifest *m, int fd,
		      struct error *err)
{
	char name[NAMES_BUCKET_MAX];

	/* Errors since fd was opened are reported, from Linux 5.8 on. */
	if (m->buckets > DIR_SYNC_SINGLY) {
		if (dirseal_syncfs(fd) == 0)
			return 0;
		return error_errno(err, error_code_of_errno(errno), errno,
				   "generation '%s': sync", m->generation);
	}
	for (uint32_t i = 0; i < m->buckets; i++) {
		if (stop_check(err) != 0)
			return -1;
		names_bucket(i, m->buckets, name);
		if (sync_file(fd, name, err) != 0)
			return dir_prefix_file(dir, m->generation, i, err);
	}
	return 0;
}

int dirseal_seal(struct store *s, struct manifest *m, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct dirbuild *build = dir->build;
	char what[NAMES_ID_MAX + 16];
	uint64_t added = 0;
	int rc = -1;
	int fd = -1;

	if (dir_need_lock(dir, err) != 0)
		return -1;
	if (build == NULL || strcmp(build->generation, m->generation) != 0)
		return error_set(err, ERROR_INTERNAL,
				 "generation '%s': is not reserved",
				 m->generation);
	if (check_writers(build, m, err) != 0 || check_full(dir, err) != 0)
		goto out;
	(void)snprintf(what, sizeof(what), "generation '%s'", m->generation);
	fd = dir_generation(dir, m->generation, err);
	if (fd < 0 || write_files(dir, m, fd, err) != 0 ||
	    sync_files(dir, m, fd, err) != 0 ||
	    file_sync_dir(fd, what, err) != 0 || dir_sync_set(dir, err) != 0)
		goto out;
	for (uint32_t i = 0; i < build->image.buckets; i++)
		added += build->added[i] - build->planted;
	m->added = added;
	rc = 0;
out:
	if (fd >= 0)
		(void)close(fd);
	/* With a writer still open it would be used after it is freed. */
	if (build->writers == 0) {
		dirbuild_free(build);
		dir->build = NULL;
	}
	return rc;
}
