/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/input.h"
#include "lib/store/dirpass.h"

void dirpass_forget(struct dir *dir)
{
	free(dir->horizons);
	dir->horizons = NULL;
	dir->passed[0] = '\0';
}

/* Writes the header that follows, sealed; -1: err names no file. */
static int seal(struct dirpass *p, uint32_t bucket,
		const struct horizon *horizon, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	struct bucketfile f;
	int rc = dirpass_file(p, bucket, err);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	dirpass_header(p, bucket, &f);
	f.state = BUCKETFILE_SEALED;
	f.horizon = *horizon;
	if ((b->bits && bucketfile_sum(b->fd, &f, err) != 0) ||
	    bucketfile_set(b->fd, &f, err) != 0)
		return -1;
	b->open = false;
	b->bits = false;
	b->bits_sum = f.bits_sum;
	b->horizon = f.horizon;
	dirpass_dirty(p, bucket);
	return 0;
}

/* One filter, whose bits are on the disk. */
static int end_filter(struct dirpass *p, uint32_t bucket,
		      const struct horizon *to, struct error *err)
{
	struct passbucket *b = &p->buckets[bucket];
	char was[HORIZON_TEXT_MAX];
	char is[HORIZON_TEXT_MAX];
	struct horizon next = b->horizon;

	if (b->changed || (b->failed && !b->open))
		return 0;
	if (dirpass_look(p, bucket, err) != 0)
		return -1;
	if (to != NULL && !b->failed)
		horizon_move(&b->horizon, to, &next);
	if (b->changed || (!b->open && strcmp(horizon_text(&b->horizon, was),
					      horizon_text(&next, is)) == 0))
		return 0;
	return seal(p, bucket, &next, err);
}

static int end_filters(struct dirpass *p, const struct horizon *to,
		       const uint64_t *keys, struct error *err)
{
	if (dirpass_sync(p, err) != 0)
		return -1;
	for (uint32_t i = 0; i < p->want.buckets; i++) {
		/* Those that are sent again are not counted again. */
		if (keys != NULL && p->buckets[i].keys_here > keys[i])
			p->buckets[i].keys_here = keys[i];
		if (end_filter(p, i, to, err) != 0 &&
		    dirpass_own_error(p, i, err) != 0)
			return -1;
		if (i % 1024 == 1023 && input_check(err) != 0)
			return -1;
	}
	return dirpass_sync(p, err);
}

static void report(const struct dirpass *p, bool moves, struct pass_report *out)
{
	double capacity = (double)p->want.params.capacity;

	memset(out, 0, sizeof(*out));
	out->acknowledged = p->acknowledged;
	out->added = p->added;
	out->failed = p->failed;
	out->why = p->why;
	for (uint32_t i = 0; i < p->want.buckets; i++) {
		const struct passbucket *b = &p->buckets[i];
		double fill = (double)b->items / capacity;

		if (b->changed)
			out->changed++;
		else if (moves && !b->failed)
			out->moved++;
		if (fill > out->fill) {
			out->fill = fill;
			out->fullest = i;
		}
	}
}

/* What a swap meanwhile has made old is as good as its horizons say. */
static int check_live(const struct dirpass *p, struct pass_report *out,
		      struct error *err)
{
	char now[NAMES_ID_MAX];

	if (!p->live)
		return 0;
	if (dir_live(p->dir, now, err) != 0)
		return -1;
	if (strcmp(now, p->generation) == 0)
		return 0;
	out->changed = p->want.buckets;
	out->moved = 0;
	out->failed = 0;
	out->why = (struct error)ERROR_INIT;
	return 0;
}

/* Keeps what promote() will want to find. */
static int keep_horizons(const struct dirpass *p, struct error *err)
{
	struct dir *dir = p->dir;

	if (p->live)
		return 0;
	dir->horizons = calloc(p->want.buckets, sizeof(*dir->horizons));
	if (dir->horizons == NULL)
		return error_nomem(err);
	for (uint32_t i = 0; i < p->want.buckets; i++)
		dir->horizons[i] = p->buckets[i].horizon;
	memcpy(dir->passed, p->generation, sizeof(dir->passed));
	return 0;
}

int dirpass_end(struct store *s, const struct horizon *to, const uint64_t *keys,
		struct pass_report *out, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct dirpass *p = dir->pass;
	int rc = -1;

	if (p == NULL || p->writers != 0)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': no pass whose writers are closed",
				 dir->set);
	if (!p->live)
		dirpass_forget(dir);
	if ((p->live || dir_need_lock(dir, err) == 0) &&
	    end_filters(p, to, keys, err) == 0) {
		report(p, to != NULL, out);
		rc = check_live(p, out, err);
	}
	if (rc == 0)
		rc = keep_horizons(p, err);
	dir->pass = NULL;
	dirpass_free(p);
	return rc;
}

void dirpass_drop(struct store *s)
{
	struct dir *dir = (struct dir *)s;
	struct error ignored = ERROR_INIT;
	struct dirpass *p = dir->pass;

	if (p == NULL || p->writers != 0)
		return;
	/* What was added stays; as far as it goes, it is sealed. */
	(void)end_filters(p, NULL, NULL, &ignored);
	dir->pass = NULL;
	dirpass_free(p);
}
