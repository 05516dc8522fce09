/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/file.h"
#include "lib/store/dir.h"
#include "lib/store/manifest_text.h"

/*
 * What is not there, or is something else, is damage (ERROR_DATA); what could
 * not be read may be whole (ERROR_RIGHTS); no descriptor or no memory to be
 * had says nothing of the file at all (ERROR_INTERNAL).
 */
static int open_failed(int errnum, struct error *err)
{
	enum error_code code = ERROR_RIGHTS;

	if (errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP ||
	    errnum == ENXIO)
		code = ERROR_DATA;
	else if (error_code_of_errno(errnum) == ERROR_INTERNAL)
		code = ERROR_INTERNAL;
	return error_errno(err, code, errnum, "open");
}

/* A file in an open folder, no symbolic link; texts name no file. */
static int read_file(int dirfd, const char *name, struct buf *out,
		     struct error *err)
{
	struct stat st;
	ssize_t n = -1;
	int rc = 0;
	int fd = file_openat(
		dirfd, name,
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERROR_DATA, "a symbolic link");
	/* No descriptor or no memory to be had says nothing of the file. */
	if (fd < 0)
		return open_failed(errno, err);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		rc = error_set(err, ERROR_DATA, "not a regular file");
	while (rc == 0 && n != 0) {
		if (buf_full(out, 1))
			rc = error_set(err, ERROR_DATA, "longer than %zu bytes",
				       out->max - 1);
		else if (buf_reserve(out, buf_full(out, 65536)
						  ? out->max - out->len
						  : 65536) != 0)
			rc = error_nomem(err);
		if (rc != 0)
			break;
		n = read(fd, out->data + out->len, out->cap - out->len);
		if (n < 0 && errno != EINTR)
			rc = error_errno(err, ERROR_RIGHTS, errno, "read");
		out->len += n > 0 ? (size_t)n : 0;
	}
	(void)close(fd);
	return rc;
}

/* Of what decode found right, also in a folder. */
static int check_seed(const struct manifest *m, struct error *err)
{
	const struct engine *engine = engine_by_name(m->engine);

	if (engine == NULL || !engine->layout->seeded ||
	    !layout_seed_none(m->seed))
		return 0;
	return error_set(err, ERROR_DATA,
			 "manifest: \"seed\" is empty, and filters of %s in a "
			 "folder have one",
			 engine->name);
}

int dir_manifest(struct dir *dir, const char *id, struct manifest *out,
		 struct error *err)
{
	struct buf text;
	int rc;
	int fd = dir_generation(dir, id, err);

	memset(out, 0, sizeof(*out));
	if (fd < 0) {
		if (err->code == ERROR_GENERATION)
			err->code = ERROR_DATA;
		else if (err->code != ERROR_INTERNAL)
			err->code = ERROR_RIGHTS;
		return -1;
	}
	buf_init(&text, MANIFEST_TEXT_MAX + 1);
	rc = read_file(fd, DIR_MANIFEST, &text, err);
	(void)close(fd);
	if (rc == 0)
		rc = manifest_decode(text.data != NULL ? text.data : "",
				     text.len, out, err);
	buf_release(&text);
	if (rc == 0 &&
	    (check_seed(out, err) != 0 ||
	     manifest_check_place(out, dir->set, dir->spec, id, err) != 0)) {
		manifest_release(out);
		memset(out, 0, sizeof(*out));
		rc = -1;
	}
	return rc;
}

struct reading {
	char live[NAMES_ID_MAX];
	bool moving;    /* its promotion is not known to be finished */
	bool held;      /* the lock, by anybody */
	uint64_t fence; /* under which; 0: not known */
};

/*
 * 1; 0 if there is nothing to report, because it was removed just now; or -1
 * if the reading failed for want of memory or descriptors: what is whole must
 * not be called broken for that.
 */
static int read_one(struct dir *dir, const struct reading *r, const char *id,
		    struct manifest *out, struct error *err)
{
	char path[NAMES_ID_MAX + sizeof(DIR_MANIFEST)];
	struct error why = ERROR_INIT;
	struct stat st;
	bool live = strcmp(id, r->live) == 0;

	if (dir_manifest(dir, id, out, &why) == 0) {
		out->recorded = out->state;
		/* What readers get is decided by the link. */
		manifest_set_effective(out, r->live, r->held, r->fence);
		out->linked = live;
		/* All may be written, and the last sync have failed. */
		if (live && r->moving && out->recorded == MANIFEST_LIVE)
			out->recorded = strcmp(out->previous, id) > 0
						? MANIFEST_OLD
						: MANIFEST_COMPLETE;
		return 1;
	}
	if (why.code == ERROR_INTERNAL) {
		*err = why;
		return error_prefix(err, "generation '%s': manifest", id);
	}
	if (!live && fstatat(dir->folder, id, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
	    errno == ENOENT)
		return 0;
	(void)error_prefix(&why, "%smanifest", live ? "readers get it; " : "");
	manifest_break(out, dir->set, id, why.text);
	out->linked = live;
	out->unread = why.code == ERROR_RIGHTS;
	/* Somebody's own, under such a name: it stays, whatever it is. */
	if (fstatat(dir->folder, id, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISDIR(st.st_mode)) {
		out->unread = true;
		return 1;
	}
	/* A run that was killed before it wrote one, or has yet to. */
	(void)snprintf(path, sizeof(path), "%s/" DIR_MANIFEST, id);
	if (!live &&
	    fstatat(dir->folder, path, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
	    errno == ENOENT)
		out->state = r->held && dir->lock < 0 ? MANIFEST_BUILDING
						      : MANIFEST_ABORTED;
	return 1;
}

struct ids {
	char (*id)[NAMES_ID_MAX];
	size_t count;
	size_t room;
};

static int add_id(struct ids *ids, const char *id)
{
	if (ids->count == ids->room) {
		size_t room = ids->room == 0 ? 16 : ids->room * 2;
		void *more = realloc(ids->id, room * sizeof(*ids->id));

		if (more == NULL)
			return -1;
		ids->id = more;
		ids->room = room;
	}
	memcpy(ids->id[ids->count++], id, strlen(id) + 1);
	return 0;
}

static int by_newest(const void *a, const void *b)
{
	return strcmp(b, a);
}

/* The names of the set's folder that are ids, and the target of `live`. */
static int collect(const struct dir *dir, const char *live, struct ids *ids,
		   struct error *err)
{
	bool have = live[0] == '\0';
	struct dirent *entry;
	int rc = 0;
	/* Opened anew: a duplicate would share its position. */
	int fd = file_openat(dir->folder, ".",
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (d == NULL) {
		(void)error_errno(err, error_code_of_errno(errno), errno,
				  "set '%s'", dir->set);
		if (fd >= 0)
			(void)close(fd);
		return -1;
	}
	for (errno = 0; rc == 0 && (entry = readdir(d)) != NULL; errno = 0) {
		if (!names_id_valid(entry->d_name))
			continue;
		have = have || strcmp(entry->d_name, live) == 0;
		rc = add_id(ids, entry->d_name);
	}
	if (rc == 0 && errno != 0)
		rc = error_errno(err, ERROR_DATA, errno, "set '%s'", dir->set);
	else if (rc != 0 || (!have && (rc = add_id(ids, live)) != 0))
		(void)error_nomem(err);
	(void)closedir(d);
	return rc;
}

static int read_all(struct dir *dir, struct reading *r, struct manifest **out,
		    size_t *count, struct error *err)
{
	struct ids ids = {NULL, 0, 0};
	int rc = -1;

	if (dir_live(dir, r->live, err) != 0 ||
	    dirlock_holder(dir, DIR_LOCK, &r->held, &r->fence, NULL, err) !=
		    0 ||
	    collect(dir, r->live, &ids, err) != 0)
		goto out;
	r->moving = dir_moving(dir, r->live);
	if (ids.count > 0) {
		qsort(ids.id, ids.count, sizeof(*ids.id), by_newest);
		*out = calloc(ids.count, sizeof(**out));
		if (*out == NULL) {
			(void)error_nomem(err);
			goto out;
		}
	}
	rc = 0;
	for (size_t i = 0; rc >= 0 && i < ids.count; i++) {
		rc = read_one(dir, r, ids.id[i], &(*out)[*count], err);
		*count += rc > 0 ? 1 : 0;
	}
	rc = rc < 0 ? -1 : 0;
out:
	free(ids.id);
	return rc;
}

int dirlist_list(struct store *s, struct manifest **out, size_t *count,
		 struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct reading r;
	char live[NAMES_ID_MAX];

	*out = NULL;
	*count = 0;
	if (dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return 0;
	/* A swap in between, and a picture of two moments: look again. */
	for (int i = 0;; i++) {
		if (read_all(dir, &r, out, count, err) != 0 ||
		    dir_live(dir, live, err) != 0) {
			store_list_free(*out, *count);
			*out = NULL;
			*count = 0;
			return -1;
		}
		if (strcmp(live, r.live) == 0 || i == 4)
			return 0;
		store_list_free(*out, *count);
		*out = NULL;
		*count = 0;
	}
}
