/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/input.h"
#include "lib/store/dirpass.h"

/* Files that are open at a time: a process has 1,024 descriptors, as a rule. */
#define FDS_MAX    256
#define COPY_CHUNK (256u << 10)
/* Room for "65535.bloom.tmp" and a NUL. */
#define COPY_MAX (NAMES_BUCKET_MAX + 4)

/* --- files ---------------------------------------------------------------- */

void dirpass_close_files(struct dirpass *p)
{
	for (uint32_t i = 0; p->fds > 0 && i < p->want.buckets; i++) {
		if (p->buckets[i].fd < 0)
			continue;
		(void)close(p->buckets[i].fd);
		p->buckets[i].fd = -1;
		p->fds--;
	}
}

int dirpass_file(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	char name[NAMES_BUCKET_MAX];
	struct stat st;
	int fd;

	if (b->changed)
		return 1;
	if (b->fd >= 0)
		return 0;
	if (p->fds >= FDS_MAX)
		dirpass_close_files(p);
	names_bucket(bucket, p->want.buckets, name);
	for (;;) {
		fd = file_openat(p->folder, name,
				 O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
					 O_NONBLOCK,
				 0);
		if (fd >= 0 || (errno != EMFILE && errno != ENFILE) ||
		    p->fds == 0)
			break;
		dirpass_close_files(p);
	}
	if (fd < 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "open");
	if (fstat(fd, &st) != 0) {
		(void)error_errno(err, ERROR_DATA, errno, "stat");
		(void)close(fd);
		return -1;
	}
	if (st.st_ino != b->inode) {
		(void)close(fd);
		b->changed = true;
		return 1;
	}
	b->fd = fd;
	p->fds++;
	return 0;
}

void dirpass_dirty(struct dirpass *p, uint32_t bucket)
{
	if (p->buckets[bucket].dirty)
		return;
	p->buckets[bucket].dirty = true;
	p->dirty++;
}

static int sync_one(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	int rc = dirpass_file(p, bucket, err);

	if (rc == 0 && file_fsync(b->fd) != 0)
		rc = error_errno(err, error_code_of_errno(errno), errno,
				 "sync");
	b->dirty = false;
	p->dirty--;
	return rc < 0 ? dirpass_own_error(p, bucket, err) : 0;
}

/* Of what was written since, nothing is known to be on the disk. */
static int fail_dirty(struct dirpass *p, const struct error *err)
{
	for (uint32_t i = 0; i < p->want.buckets; i++)
		if (p->buckets[i].dirty)
			dirpass_failed(p, i, err);
	return -1;
}

int dirpass_sync(struct dirpass *p, struct error *err)
{
	if (p->dirty > DIR_SYNC_SINGLY) {
		if (dirseal_syncfs(p->folder) != 0) {
			(void)error_errno(err, error_code_of_errno(errno),
					  errno, "generation '%s': sync",
					  p->generation);
			return fail_dirty(p, err);
		}
		for (uint32_t i = 0; i < p->want.buckets; i++)
			p->buckets[i].dirty = false;
		p->dirty = 0;
	}
	for (uint32_t i = 0; p->dirty > 0 && i < p->want.buckets; i++)
		if (p->buckets[i].dirty && sync_one(p, i, err) != 0)
			return -1;
	return 0;
}

int dirpass_look(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	char was[HORIZON_TEXT_MAX];
	char is[HORIZON_TEXT_MAX];
	char name[NAMES_BUCKET_MAX];
	struct bucketfile f;
	struct stat st;
	uint64_t size;
	int fd;

	p->want.bucket = bucket;
	names_bucket(bucket, p->want.buckets, name);
	fd = bucketfile_open(p->folder, name, &p->want, &f, &size, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) != 0) {
		(void)error_errno(err, ERROR_DATA, errno, "stat");
		(void)close(fd);
		return -1;
	}
	(void)close(fd);
	if (st.st_ino != b->inode || f.fence != b->fence ||
	    (f.state == BUCKETFILE_OPEN) != b->open ||
	    strcmp(horizon_text(&f.horizon, is),
		   horizon_text(&b->horizon, was)) != 0)
		b->changed = true;
	return 0;
}

/* --- what one filter has met ---------------------------------------------- */

void dirpass_failed(struct dirpass *p, uint32_t bucket, const struct error *err)
{
	if (!p->buckets[bucket].failed && p->failed++ == 0)
		p->why = *err;
	p->buckets[bucket].failed = true;
}

int dirpass_own_error(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct error why;

	(void)dir_prefix_file(p->dir, p->generation, bucket, err);
	why = *err;
	dirpass_failed(p, bucket, &why);
	/* A full disk, lost rights or a stop are everybody's. */
	if (err->code != ERROR_DATA)
		return -1;
	*err = (struct error)ERROR_INIT;
	return 0;
}

/* --- before the first bit ------------------------------------------------- */

static int copy_bytes(int from, int to, uint64_t size, struct error *err)
{
	char *chunk = malloc(COPY_CHUNK);
	uint64_t done = 0;
	int rc = chunk == NULL ? error_nomem(err) : 0;

	while (rc == 0 && done < size) {
		ssize_t n = file_pread(from, chunk, COPY_CHUNK, (off_t)done);

		if (n <= 0)
			rc = error_errno(err, ERROR_DATA, n < 0 ? errno : EIO,
					 "read");
		else
			rc = file_write_all(to, chunk, (size_t)n, "copy", err);
		done += n > 0 ? (uint64_t)n : 0;
		if (rc == 0)
			rc = input_check(err);
	}
	free(chunk);
	return rc;
}

/* The file becomes one of its own, as it is: others have it by a hard link. */
static int break_link(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	char name[NAMES_BUCKET_MAX];
	char tmp[COPY_MAX];
	struct stat st;
	int rc;
	int fd;

	names_bucket(bucket, p->want.buckets, name);
	(void)snprintf(tmp, sizeof(tmp), "%s.tmp", name);
	(void)unlinkat(p->folder, tmp, 0); /* of a run that died */
	fd = file_openat(p->folder, tmp,
			 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 0644);
	if (fd < 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "copy");
	rc = copy_bytes(b->fd, fd, BUCKETFILE_HEADER + p->want.params.bytes,
			err);
	if (rc == 0 && (file_fsync(fd) != 0 || fstat(fd, &st) != 0 ||
			renameat(p->folder, tmp, p->folder, name) != 0))
		rc = error_errno(err, error_code_of_errno(errno), errno,
				 "copy");
	if (rc != 0) {
		(void)unlinkat(p->folder, tmp, 0);
		(void)close(fd);
		return -1;
	}
	(void)close(b->fd);
	b->fd = fd;
	b->inode = st.st_ino;
	return file_sync_dir(p->folder, "folder", err);
}

void dirpass_header(const struct dirpass *p, uint32_t bucket,
		    struct bucketfile *out)
{
	const struct passbucket *b = &p->buckets[bucket];

	*out = p->want;
	out->state = b->open ? BUCKETFILE_OPEN : BUCKETFILE_SEALED;
	out->bucket = bucket;
	out->items = b->items;
	out->keys = b->keys + b->keys_here;
	out->fence = b->fence;
	out->horizon = b->horizon;
	out->bits_sum = b->bits_sum;
}

/* Writes that a filter is open; 0, 1 or -1 as dirpass_file(). */
static int open_header(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	struct bucketfile f;
	struct stat st;
	int rc = dirpass_file(p, bucket, err);

	if (rc == 0)
		rc = dirpass_look(p, bucket, err);
	if (rc != 0 || b->changed)
		return rc != 0 ? rc : 1;
	if (fstat(b->fd, &st) != 0)
		return error_errno(err, ERROR_DATA, errno, "stat");
	if (st.st_nlink > 1 && break_link(p, bucket, err) != 0)
		return -1;
	dirpass_header(p, bucket, &f);
	f.state = BUCKETFILE_OPEN;
	if (bucketfile_set(b->fd, &f, err) != 0)
		return -1;
	b->open = true;
	dirpass_dirty(p, bucket);
	p->opened++;
	return 0;
}

/* Where many are opened, waiting for the disk once is enough. */
static int open_rest(struct dirpass *p, struct error *err)
{
	for (uint32_t i = 0; i < p->want.buckets; i++) {
		struct passbucket *b = &p->buckets[i];

		if (b->open || b->failed || b->changed)
			continue;
		if (open_header(p, i, err) < 0 &&
		    dirpass_own_error(p, i, err) != 0)
			return fail_dirty(p, err);
		if (i % 1024 == 1023 && input_check(err) != 0)
			return fail_dirty(p, err);
	}
	return dirpass_sync(p, err);
}

int dirpass_open(struct dirpass *p, uint32_t bucket, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	int rc;

	if (p->opened < DIR_SYNC_SINGLY) {
		rc = open_header(p, bucket, err);
		if (rc == 0 && file_fsync(b->fd) != 0)
			rc = error_errno(err, error_code_of_errno(errno), errno,
					 "sync");
		return rc;
	}
	if (open_rest(p, err) != 0)
		return DIRPASS_ALL;
	return b->failed ? 1 : dirpass_file(p, bucket, err);
}
