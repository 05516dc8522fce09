/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/store/dir.h"

/*
 * The order, and what list() makes of a crash behind each step:
 *
 *	1. next's manifest, with `previous`   nothing is changed
 *	2. live.moving, live.tmp -> next      nothing is changed
 *	3. live.tmp renamed to live           next is live, whatever follows
 *	4. next's manifest: live              live's still says live: it is old
 *	5. live's manifest: old               all is as it should be
 *	6. live.moving removed                and that is known
 *
 * While live.moving points where live does, the promotion is not finished.
 * The same promotion again goes on at 4, and finds in next's manifest what
 * was live before.
 */

/* After the rename readers have the new one, so this is no plain failure. */
static int incomplete(const char *id, struct error *err)
{
	char why[sizeof(err->text)];

	memcpy(why, err->text, sizeof(why));
	(void)error_set(err, ERROR_SWAP, "generation '%s' is live, but %.400s",
			id, why);
	return error_hint(err, "run the same swap again to finish");
}

/* A new symbolic link to a generation, in place of one that was left. */
static int make_link(struct dir *dir, const char *id, const char *name)
{
	if (unlinkat(dir->folder, name, 0) != 0 && errno != ENOENT)
		return -1;
	return symlinkat(id, dir->folder, name);
}

/* Step 3 and before: readers follow this one name. */
static int move_link(struct dir *dir, const char *id, struct error *err)
{
	const char *name = DIR_MOVING;
	int errnum;

	if (make_link(dir, id, name) != 0)
		goto fail;
	name = DIR_LIVE_TMP;
	if (make_link(dir, id, name) != 0)
		goto fail;
	if (renameat(dir->folder, name, dir->folder, DIR_LIVE) == 0)
		return 0;
	name = DIR_LIVE;
fail:
	errnum = errno;
	(void)unlinkat(dir->folder, DIR_LIVE_TMP, 0);
	(void)unlinkat(dir->folder, DIR_MOVING, 0);
	return error_errno(err, error_code_of_errno(errnum), errnum,
			   "'%s/%s/%s'", dir->shown, dir->set, name);
}

/* The manifest on disk of what is to be live, and whether it may be. */
static int read_next(struct dir *dir, const char *id, struct manifest *out,
		     struct error *err)
{
	if (dir_manifest(dir, id, out, err) != 0) {
		if (err->code != ERROR_INTERNAL)
			err->code = ERROR_GENERATION;
		return error_prefix(err, "generation '%s': manifest", id);
	}
	if (out->state == MANIFEST_COMPLETE || out->state == MANIFEST_OLD ||
	    out->state == MANIFEST_LIVE)
		return 0;
	(void)error_set(err, ERROR_GENERATION,
			"generation '%s': cannot be made live, it is %s", id,
			manifest_state_name(out->state));
	manifest_release(out);
	return -1;
}

/*
 * Step 5, on what the disk says.  *retired is when; unchanged if there is
 * nothing on disk that could be retired.
 */
static int retire(struct dir *dir, const char *id, int64_t now,
		  int64_t *retired, struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct manifest old;
	int rc = 0;

	if (id[0] == '\0' || dir_manifest(dir, id, &old, &ignored) != 0)
		return 0;
	if (old.state != MANIFEST_OLD) {
		old.state = MANIFEST_OLD;
		old.retired = now;
		rc = dir_put(&dir->base, &old, err);
	}
	*retired = old.retired;
	manifest_release(&old);
	return rc;
}

/* Step 6. */
static int drop_moving(struct dir *dir, struct error *err)
{
	if (unlinkat(dir->folder, DIR_MOVING, 0) == 0 || errno == ENOENT)
		return 0;
	return error_errno(err, error_code_of_errno(errno), errno,
			   "'%s/%s/" DIR_MOVING "'", dir->shown, dir->set);
}

/* What follows step 3, whoever took it: next->previous is right by now. */
static int finish(struct dir *dir, struct manifest *next, struct manifest *live,
		  int64_t promoted, struct error *err)
{
	int64_t now = clock_wall_ms();
	int64_t retired = now;

	next->state = MANIFEST_LIVE;
	next->promoted = promoted;
	if (dir_sync_set(dir, err) != 0 ||
	    dir_put(&dir->base, next, err) != 0 ||
	    retire(dir, next->previous, now, &retired, err) != 0 ||
	    drop_moving(dir, err) != 0)
		return incomplete(next->generation, err);
	if (live != NULL && strcmp(live->generation, next->previous) == 0) {
		live->state = MANIFEST_OLD;
		live->retired = retired;
	}
	return 0;
}

/* The link is at next already: a run died behind step 3. */
static int resume(struct dir *dir, struct manifest *next, struct manifest *live,
		  const struct manifest *disk, struct error *err)
{
	memcpy(next->previous, disk->previous, sizeof(next->previous));
	return finish(dir, next, live,
		      disk->state == MANIFEST_LIVE ? disk->promoted
						   : clock_wall_ms(),
		      err);
}

/* Whether `live` points where the caller saw it. */
static int check_live(struct dir *dir, const char *link,
		      const struct manifest *live, struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct manifest m;
	const char *seen = live != NULL ? live->generation : "";

	if (strcmp(link, seen) == 0)
		return 0;
	/* A link to nothing that is whole counts for no live generation. */
	if (live == NULL && dir_manifest(dir, link, &m, &ignored) != 0)
		return 0;
	if (live == NULL)
		manifest_release(&m);
	return error_set(err, ERROR_GENERATION,
			 "set '%s': changed meanwhile: '%s' is live and not "
			 "'%s'",
			 dir->set, link, seen);
}

/* Steps 1 to 3. */
static int move(struct dir *dir, struct manifest *next,
		const struct manifest *live, struct manifest *disk,
		struct error *err)
{
	memset(disk->previous, 0, sizeof(disk->previous));
	if (live != NULL && live->state != MANIFEST_BROKEN)
		memcpy(disk->previous, live->generation,
		       sizeof(disk->previous));
	if (dirprobe_headers(dir, disk, err) != 0 ||
	    dir_put(&dir->base, disk, err) != 0 ||
	    dir_need_lock(dir, err) != 0 ||
	    move_link(dir, next->generation, err) != 0)
		return -1;
	memcpy(next->previous, disk->previous, sizeof(next->previous));
	return 0;
}

int dirswap_promote(struct store *s, struct manifest *next,
		    struct manifest *live, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char link[NAMES_ID_MAX];
	struct manifest disk;
	int rc;

	if (dir_need_lock(dir, err) != 0 || dir_live(dir, link, err) != 0 ||
	    read_next(dir, next->generation, &disk, err) != 0)
		return -1;
	if (strcmp(link, next->generation) == 0)
		rc = resume(dir, next, live, &disk, err);
	else if (check_live(dir, link, live, err) != 0 ||
		 move(dir, next, live, &disk, err) != 0)
		rc = -1;
	else
		rc = finish(dir, next, live, clock_wall_ms(), err);
	manifest_release(&disk);
	return rc;
}
