/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/dirpass.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/input.h"

/* How long another pass into the same filters is waited for. */
#define WAIT_MS  60000
#define PAUSE_MS 100
/* How often the live generation is looked for while it changes. */
#define LOOKS 5

void dirpass_free(struct dirpass *p)
{
	if (p == NULL)
		return;
	if (p->buckets != NULL)
		dirpass_close_files(p);
	if (p->folder >= 0)
		(void)close(p->folder);
	if (p->lock >= 0)
		(void)close(p->lock);
	(void)pthread_mutex_destroy(&p->mutex);
	free(p->buckets);
	free(p);
}

static struct dirpass *pass_new(struct dir *dir, bool live, struct error *err)
{
	uint32_t buckets = bloomkey_buckets(dir->spec);
	struct dirpass *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		(void)error_nomem(err);
		return NULL;
	}
	p->dir = dir;
	p->live = live;
	p->folder = -1;
	p->lock = -1;
	p->want.buckets = buckets;
	(void)pthread_mutex_init(&p->mutex, NULL);
	p->buckets = calloc(buckets, sizeof(*p->buckets));
	if (p->buckets == NULL) {
		(void)error_nomem(err);
		dirpass_free(p);
		return NULL;
	}
	for (uint32_t i = 0; i < buckets; i++)
		p->buckets[i].fd = -1;
	return p;
}

/* --- the beginning -------------------------------------------------------- */

/* Takes the lock of those that add to a generation's filters. */
static int take_lock(struct dirpass *p, struct error *err)
{
	int64_t end = clock_ns() + (int64_t)WAIT_MS * 1000000;

	for (;;) {
		p->lock = dirlock_take(p->dir, p->folder, DIR_PASS,
				       "filters are being added to", err);
		if (p->lock >= 0)
			break;
		if (err->code != ERROR_LOCKED)
			return -1;
		if (clock_ns() >= end) {
			err->code = ERROR_TEMPORARY;
			return error_hint(err, "run it again when that has "
					       "ended");
		}
		*err = (struct error)ERROR_INIT;
		if (input_wait_for(-1, 0, PAUSE_MS, err) < 0)
			return -1;
	}
	return dirlock_write(p->dir, p->lock, DIR_PASS,
			     p->live ? "a pass into what is live"
				     : "a pass before a swap",
			     0, err);
}

static int open_generation(struct dirpass *p, const char *id, struct error *err)
{
	memcpy(p->generation, id, strlen(id) + 1);
	p->folder = dir_generation(p->dir, id, err);
	return p->folder >= 0 ? take_lock(p, err) : -1;
}

static void leave_generation(struct dirpass *p)
{
	if (p->lock >= 0)
		(void)close(p->lock);
	if (p->folder >= 0)
		(void)close(p->folder);
	p->lock = -1;
	p->folder = -1;
}

static int none_live(const struct dir *dir, struct error *err)
{
	(void)error_set(err, ERROR_GENERATION, "set '%s': nothing is live",
			dir->set);
	return error_hint(err, "build a generation and swap it");
}

/* What readers get, which may be another one when its lock is had. */
static int open_live(struct dirpass *p, struct error *err)
{
	char link[NAMES_ID_MAX];
	char now[NAMES_ID_MAX];

	for (int i = 0; i < LOOKS; i++) {
		struct error gone = ERROR_INIT;

		if (dir_live(p->dir, link, err) != 0)
			return -1;
		if (link[0] == '\0')
			return none_live(p->dir, err);
		if (open_generation(p, link, &gone) == 0 &&
		    dir_live(p->dir, now, err) == 0 && strcmp(link, now) == 0)
			return 0;
		leave_generation(p);
		if (gone.code != ERROR_NONE && gone.code != ERROR_GENERATION) {
			*err = gone;
			return -1;
		}
		if (err->code != ERROR_NONE)
			return -1;
	}
	return error_set(err, ERROR_TEMPORARY,
			 "set '%s': what is live changed again and again",
			 p->dir->set);
}

/* What its files must be; m is of another one where a swap came in between. */
static int want_files(struct dirpass *p, const struct manifest *m,
		      struct error *err)
{
	struct manifest other;
	int rc;

	if (strcmp(m->generation, p->generation) == 0)
		return dirprobe_wanted(p->dir, m, &p->layout, &p->want, err);
	if (dir_manifest(p->dir, p->generation, &other, err) != 0)
		return error_prefix(err, "generation '%s': manifest",
				    p->generation);
	rc = dirprobe_wanted(p->dir, &other, &p->layout, &p->want, err);
	manifest_release(&other);
	return rc;
}

/*
 * How many members set so many bits: of a filter whose pass died, which its
 * header knows nothing of.
 */
static uint64_t estimate(const struct filter_params *p, uint64_t set)
{
	double bits = (double)p->bits;

	if (set >= p->bits)
		return p->capacity;
	return (uint64_t)ceil(-bits / p->hashes * log1p(-(double)set / bits));
}

static int note_file(struct dirpass *p, uint32_t bucket, int fd,
		     struct bucketfile *f, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	uint64_t set;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_errno(err, ERROR_DATA, errno, "stat");
	b->inode = st.st_ino;
	b->horizon = f->horizon;
	b->fence = f->fence;
	b->keys = f->keys;
	b->bits_sum = f->bits_sum;
	b->items = f->items;
	if (f->state == BUCKETFILE_OPEN) {
		if (bucketfile_check(fd, f, &set, err) != 0)
			return -1;
		if (estimate(&p->want.params, set) > b->items)
			b->items = estimate(&p->want.params, set);
		b->open = true;
		b->bits = true;
		dirpass_dirty(p, bucket);
	}
	b->first = b->items;
	return 0;
}

static int read_headers(struct dirpass *p, struct horizon *oldest,
			struct error *err)
{
	bool any = false;

	memset(oldest, 0, sizeof(*oldest));
	for (uint32_t i = 0; i < p->want.buckets; i++) {
		struct bucketfile f;
		char name[NAMES_BUCKET_MAX];
		uint64_t size;
		int fd;
		int rc = -1;

		if (i % 1024 == 1023 && input_check(err) != 0)
			return -1;
		p->want.bucket = i;
		names_bucket(i, p->want.buckets, name);
		fd = bucketfile_open(p->folder, name, &p->want, &f, &size, err);
		if (fd >= 0) {
			rc = note_file(p, i, fd, &f, err);
			(void)close(fd);
		}
		if (rc != 0 && dirpass_own_error(p, i, err) != 0)
			return -1;
		if (rc != 0)
			continue;
		if (any)
			horizon_oldest(oldest, &f.horizon);
		else
			*oldest = f.horizon;
		any = true;
	}
	return 0;
}

/* From a horizon of another generation there is no catching up. */
static int check_other(const struct dirpass *p, const struct manifest *m,
		       const struct horizon *oldest, struct error *err)
{
	if (strcmp(m->generation, p->generation) == 0 ||
	    !horizon_none(oldest) || horizon_none(&m->horizon))
		return 0;
	(void)error_set(err, ERROR_TEMPORARY,
			"set '%s': changed meanwhile: '%s' is live and not "
			"'%s'",
			p->dir->set, p->generation, m->generation);
	return error_hint(err, "run it again");
}

int dirpass_begin(struct store *s, const struct manifest *m, bool live,
		  unsigned workers, struct horizon *oldest, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct dirpass *p;

	(void)workers;
	if (dir->pass != NULL)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': a pass is under way", dir->set);
	if ((!live && dir_need_lock(dir, err) != 0) ||
	    dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return error_set(err, ERROR_SOURCE, "set '%s': not in '%s'",
				 dir->set, dir->place);
	p = pass_new(dir, live, err);
	if (p == NULL)
		return -1;
	if ((live ? open_live(p, err)
		  : open_generation(p, m->generation, err)) != 0 ||
	    want_files(p, m, err) != 0 || read_headers(p, oldest, err) != 0 ||
	    check_other(p, m, oldest, err) != 0) {
		dirpass_free(p);
		return -1;
	}
	dir->pass = p;
	return 0;
}
