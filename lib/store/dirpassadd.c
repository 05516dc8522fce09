/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/store/dirpass.h"

/* --- members -------------------------------------------------------------- */

static int read_byte(int fd, uint64_t position, unsigned char *byte,
		     struct error *err)
{
	ssize_t n = file_pread(fd, byte, 1,
			       (off_t)(BUCKETFILE_HEADER + (position >> 3)));

	if (n < 0)
		return error_errno(err, ERROR_DATA, errno, "read");
	return n == 1 ? 0 : error_set(err, ERROR_DATA, "cut off");
}

static int write_byte(int fd, uint64_t position, unsigned char byte,
		      struct error *err)
{
	ssize_t n;

	do {
		n = pwrite(fd, &byte, 1,
			   (off_t)(BUCKETFILE_HEADER + (position >> 3)));
	} while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	return error_errno(err, error_code_of_errno(n < 0 ? errno : ENOSPC),
			   n < 0 ? errno : ENOSPC, "write");
}

/* Whether all bits of a member are set: 1, 0 or -1. */
static int is_set(int fd, const uint64_t *positions, uint32_t count,
		  struct error *err)
{
	unsigned char byte;

	for (uint32_t i = 0; i < count; i++) {
		if (read_byte(fd, positions[i], &byte, err) != 0)
			return -1;
		if (((byte >> (positions[i] & 7)) & 1) == 0)
			return 0;
	}
	return 1;
}

/* A byte may hold several of a member's bits: each is read anew. */
static int set_bits(int fd, const uint64_t *positions, uint32_t count,
		    struct error *err)
{
	unsigned char byte;

	for (uint32_t i = 0; i < count; i++) {
		unsigned char bit = (unsigned char)(1u << (positions[i] & 7));

		if (read_byte(fd, positions[i], &byte, err) != 0)
			return -1;
		if ((byte & bit) == 0 &&
		    write_byte(fd, positions[i], byte | bit, err) != 0)
			return -1;
	}
	return 0;
}

static void note_full(struct dirpass *p, uint32_t bucket)
{
	struct error err = ERROR_INIT;
	char name[BLOOMKEY_FILTER_MAX + 1];

	if (bloomkey_filter(p->dir->spec, bucket, name, sizeof(name)) < 0)
		name[0] = '\0';
	(void)error_set(&err, ERROR_FULL,
			"bucket %" PRIu32 " (filter '%.300s'): full: capacity "
			"%" PRIu64 " reached",
			bucket, name, p->want.params.capacity);
	(void)error_hint(&err, "build a new generation with a larger "
			       "--capacity or --keys");
	dirpass_failed(p, bucket, &err);
}

/* 0: it is in; else as dirpass_open(). */
static int add_member(struct dirpass *p, uint32_t bucket,
		      const uint64_t *positions, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	uint32_t count = p->want.params.hashes;
	int rc = dirpass_file(p, bucket, err);

	if (rc != 0)
		return rc;
	rc = is_set(b->fd, positions, count, err);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	/* As a filter that does not scale: what it has it may have again. */
	if (b->items >= p->want.params.capacity) {
		note_full(p, bucket);
		return 1;
	}
	rc = b->open ? 0 : dirpass_open(p, bucket, err);
	if (rc != 0)
		return rc;
	b->bits = true;
	dirpass_dirty(p, bucket);
	if (set_bits(b->fd, positions, count, err) != 0)
		return -1;
	b->items++;
	p->added++;
	return 0;
}

/* --- writers -------------------------------------------------------------- */

struct pass_writer {
	struct writer base;
	struct dirpass *pass;
};

static int writer_add(struct writer *base, uint32_t bucket, const void *key,
		      size_t len, struct error *err)
{
	struct dirpass *p = ((struct pass_writer *)base)->pass;
	uint64_t positions[LAYOUT_HASHES_MAX];
	struct passbucket *b;
	int rc = 1;

	if (bucket >= p->want.buckets)
		return error_set(err, ERROR_INTERNAL,
				 "bucket %" PRIu32 " of %" PRIu32, bucket,
				 p->want.buckets);
	p->layout->positions(&p->want.params, key, len, positions);
	(void)pthread_mutex_lock(&p->mutex);
	b = &p->buckets[bucket];
	if (!b->failed && !b->changed)
		rc = add_member(p, bucket, positions, err);
	if (rc == 0) {
		b->keys_here++;
		p->acknowledged++;
	} else if (rc == DIRPASS_ALL) {
		dirpass_failed(p, bucket, err);
		rc = -1;
	} else if (rc < 0) {
		rc = dirpass_own_error(p, bucket, err);
	} else {
		rc = 0;
	}
	(void)pthread_mutex_unlock(&p->mutex);
	return rc;
}

static int writer_flush(struct writer *base, struct error *err)
{
	struct dirpass *p = ((struct pass_writer *)base)->pass;
	int rc;

	(void)pthread_mutex_lock(&p->mutex);
	rc = dirpass_sync(p, err);
	(void)pthread_mutex_unlock(&p->mutex);
	return rc;
}

static void writer_close(struct writer *base)
{
	struct dirpass *p = ((struct pass_writer *)base)->pass;

	(void)pthread_mutex_lock(&p->mutex);
	p->writers--;
	(void)pthread_mutex_unlock(&p->mutex);
	free(base);
}

static const struct writer_ops pass_writer_ops = {
	.add = writer_add,
	.flush = writer_flush,
	.close = writer_close,
};

int dirpass_writer(struct dir *dir, struct writer **out, struct error *err)
{
	struct pass_writer *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return error_nomem(err);
	w->base.ops = &pass_writer_ops;
	w->pass = dir->pass;
	(void)pthread_mutex_lock(&w->pass->mutex);
	w->pass->writers++;
	(void)pthread_mutex_unlock(&w->pass->mutex);
	*out = &w->base;
	return 0;
}
