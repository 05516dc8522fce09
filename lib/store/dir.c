/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/store/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/show.h"
#include "lib/store/manifest_text.h"

static int facts(struct store *s, struct store_facts *out, struct error *err)
{
	(void)err;
	out->place = ((struct dir *)s)->place;
	out->server = false;
	return 0;
}

/* Bits are set here, whosever they are. */
static int any_engine(struct store *s, const struct engine **out,
		      struct error *err)
{
	(void)s;
	(void)err;
	*out = NULL;
	return 0;
}

static int no_nodes(struct store *s, struct store_node **out, size_t *count,
		    struct error *err)
{
	(void)s;
	(void)err;
	*out = NULL;
	*count = 0;
	return 0;
}

/* Whoever wants to know can look at the process: it is on this machine. */
static void no_phase(struct store *s, const char *phase, uint64_t done,
		     uint64_t total)
{
	(void)s, (void)phase, (void)done, (void)total;
}

/* Whoever changes something looks himself: dir_need_lock(). */
static int always_held(struct store *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

static void dir_close(struct store *s)
{
	struct dir *dir = (struct dir *)s;

	dirpass_drop(s);
	dirsync_unlock(s);
	dirlock_unlock(s);
	dirbuild_free(dir->build);
	if (dir->folder >= 0)
		(void)close(dir->folder);
	if (dir->root >= 0)
		(void)close(dir->root);
	free(dir->place);
	free(dir);
}

static const struct store_ops dir_ops = {
	.facts = facts,
	.engine = any_engine,
	.nodes = no_nodes,
	.list = dirlist_list,
	.lock = dirlock_lock,
	.unlock = dirlock_unlock,
	.phase = no_phase,
	.held = always_held,
	.locked_by = dirlock_locked_by,
	.fits = dirbuild_fits,
	.reserve = dirbuild_reserve,
	.writer = dirbuild_writer,
	.seal = dirseal_seal,
	.pass_begin = dirpass_begin,
	.pass_end = dirpass_end,
	.pass_drop = dirpass_drop,
	.sync_lock = dirsync_lock,
	.sync_unlock = dirsync_unlock,
	.fed = dirsync_fed,
	.set_fed = dirsync_set_fed,
	.exposure = direxposure_read,
	.set_exposure = direxposure_write,
	.put = dir_put,
	.info = dirprobe_info,
	.probe = dirprobe_probe,
	.promote = dirswap_promote,
	.drop = dirdrop_drop,
	.retire = dirdrop_retire,
	.close = dir_close,
};

int dir_sync_set(const struct dir *dir, struct error *err)
{
	char what[NAMES_SET_MAX + 8];

	(void)snprintf(what, sizeof(what), "set '%s'", dir->set);
	return file_sync_dir(dir->folder, what, err);
}

int dir_prefix_file(const struct dir *dir, const char *id, uint32_t bucket,
		    struct error *err)
{
	char name[NAMES_BUCKET_MAX];

	names_bucket(bucket, bloomkey_buckets(dir->spec), name);
	return error_prefix(err, "filter file '%s/%s/%s/%s'", dir->shown,
			    dir->set, id, name);
}

int dir_set(struct dir *dir, bool make, struct error *err)
{
	if (dir->folder >= 0)
		return 0;
	if (make && mkdirat(dir->root, dir->set, 0755) != 0 && errno != EEXIST)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "set '%s' in '%s'", dir->set, dir->place);
	dir->folder = file_openat(dir->root, dir->set,
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir->folder < 0 && errno == ENOENT && !make)
		return 0;
	if (dir->folder < 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "set '%s' in '%s'", dir->set, dir->place);
	return make ? file_sync_dir(dir->root, dir->place, err) : 0;
}

int dir_generation(struct dir *dir, const char *id, struct error *err)
{
	int fd;

	if (!names_id_valid(id))
		return error_set(err, ERROR_GENERATION,
				 "set '%s': no generation has such an id",
				 dir->set);
	if (dir_set(dir, false, err) != 0)
		return -1;
	if (dir->folder < 0)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': not in '%s'", id,
				 dir->place);
	fd = file_openat(dir->folder, id,
			 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': not in '%s'", id,
				 dir->place);
	if (errno == ENOTDIR || errno == ELOOP)
		return error_set(err, ERROR_DATA,
				 "generation '%s': not a folder", id);
	return error_errno(err, error_code_of_errno(errno), errno,
			   "generation '%s'", id);
}

int dir_live(struct dir *dir, char out[NAMES_ID_MAX], struct error *err)
{
	char target[NAMES_ID_MAX];
	ssize_t n;

	out[0] = '\0';
	n = readlinkat(dir->folder, DIR_LIVE, target, sizeof(target));
	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0 && errno == EINVAL)
		return error_set(err, ERROR_DATA,
				 "'%s/%s/" DIR_LIVE "': not a symbolic link",
				 dir->shown, dir->set);
	if (n < 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "'%s/%s/" DIR_LIVE "'", dir->shown,
				   dir->set);
	if (n == (ssize_t)sizeof(target))
		n--; /* too long for an id, and cut off it is none either */
	target[n] = '\0';
	if (strlen(target) != (size_t)n || !names_id_valid(target))
		return error_set(err, ERROR_DATA,
				 "'%s/%s/" DIR_LIVE
				 "': points at no generation of this set",
				 dir->shown, dir->set);
	memcpy(out, target, (size_t)n + 1);
	return 0;
}

bool dir_moving(const struct dir *dir, const char *live)
{
	char to[NAMES_ID_MAX];
	ssize_t n = readlinkat(dir->folder, DIR_MOVING, to, sizeof(to) - 1);

	if (n <= 0)
		return false;
	to[n] = '\0';
	return strcmp(to, live) == 0;
}

/* Files of a generation that will not be: the disk may be full of them. */
static void remove_files(const struct manifest *m, int fd)
{
	char name[NAMES_BUCKET_MAX];

	for (uint32_t i = 0; i < m->buckets; i++) {
		names_bucket(i, m->buckets, name);
		(void)unlinkat(fd, name, 0);
	}
}

int dir_put(struct store *s, const struct manifest *m, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char what[NAMES_ID_MAX + 32];
	size_t len;
	char *text;
	int fd;
	int rc;

	if (dir_need_lock(dir, err) != 0)
		return -1;
	if (strcmp(m->set, dir->set) != 0)
		return error_set(err, ERROR_INTERNAL,
				 "manifest of set '%s' put into set '%s'",
				 m->set, dir->set);
	text = manifest_encode(m, &len, err);
	if (text == NULL)
		return -1;
	(void)snprintf(what, sizeof(what), "manifest of generation '%s'",
		       m->generation);
	fd = dir_generation(dir, m->generation, err);
	if (fd >= 0 && m->state == MANIFEST_ABORTED)
		remove_files(m, fd);
	rc = fd < 0 ? -1
		    : file_replace(fd, DIR_MANIFEST, text, len, 0644, what,
				   err);
	if (fd >= 0)
		(void)close(fd);
	free(text);
	return rc;
}

int dir_creatable(const char *path, struct error *err)
{
	struct stat st;
	size_t len = strlen(path);
	char *parent;
	int errnum = 0;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (lstat(path, &st) == 0)
		return -1; /* what store_open() said of it stands */
	while (len > 0 && path[len - 1] != '/')
		len--;
	parent = len > 0 ? strndup(path, len) : strdup(".");
	if (parent == NULL)
		return error_nomem(err);
	if (access(parent, W_OK | X_OK) != 0)
		errnum = errno;
	free(parent);
	if (errnum == 0)
		return 0;
	return error_errno(err,
			   errnum == ENOENT || errnum == ENOTDIR
				   ? ERROR_SOURCE
				   : error_code_of_errno(errnum),
			   errnum, "target 'dir:%s'", path);
}

/*
 * PATH, opened; made first if it may be.  Its parent is not made: a folder
 * missing there is more often a disk not mounted than one not yet made.
 */
static int open_root(struct dir *dir, const char *path, struct error *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	bool made = false;
	int parent;
	int rc;

	dir->root = file_openat(AT_FDCWD, path, flags, 0);
	if (dir->root >= 0)
		return 0;
	if (errno == ENOENT && dir->create) {
		/* Another run may make it at the same moment. */
		made = mkdir(path, 0755) == 0 || errno == EEXIST;
		if (made)
			dir->root = file_openat(AT_FDCWD, path, flags, 0);
	}
	if (dir->root < 0) {
		int errnum = errno;

		if (made && errnum == ENOENT) /* and yet nothing to open */
			return error_set(err, ERROR_SOURCE,
					 "target '%s': a symbolic link that "
					 "points nowhere",
					 dir->place);
		(void)error_errno(err,
				  errnum == ENOENT || errnum == ENOTDIR ||
						  errnum == ELOOP
					  ? ERROR_SOURCE
					  : error_code_of_errno(errnum),
				  errnum, "target '%s'", dir->place);
		if (errnum == ENOENT && !dir->create)
			(void)error_hint(err, "bloomctl build makes it");
		return -1;
	}
	parent = file_openat(dir->root, "..", flags, 0);
	if (parent < 0)
		return 0; /* no rights to read it, so none to sync it */
	rc = file_sync_dir(parent, dir->place, err);
	(void)close(parent);
	return rc;
}

static int name_place(struct dir *dir, const char *path, struct error *err)
{
	size_t len = strlen(path);
	struct buf place;

	while (len > 1 && path[len - 1] == '/')
		len--;
	buf_init(&place, 4 * len + sizeof("dir:"));
	if (buf_adds(&place, "dir:") != 0 ||
	    show_copy(&place, path, len) != 0 || buf_string(&place) == NULL) {
		buf_release(&place);
		return error_nomem(err);
	}
	dir->place = place.data;
	dir->shown = place.data + strlen("dir:");
	return 0;
}

int dir_open(const char *path, const struct bloomkey_spec *spec,
	     const struct store_options *options, struct store **out,
	     struct error *err)
{
	struct dir *dir;

	if (path[0] == '\0') {
		(void)error_set(err, ERROR_USAGE, "target 'dir:': no path");
		return error_hint(err, "use dir:PATH");
	}
	dir = calloc(1, sizeof(*dir));
	if (dir == NULL)
		return error_nomem(err);
	dir->base.ops = &dir_ops;
	dir->spec = spec;
	dir->create = options->create;
	dir->root = -1;
	dir->folder = -1;
	dir->lock = -1;
	dir->sync = -1;
	atomic_init(&dir->maps, 0);
	names_set(spec, dir->set);
	if (name_place(dir, path, err) != 0 || open_root(dir, path, err) != 0 ||
	    dir_set(dir, false, err) != 0) {
		dir_close(&dir->base);
		return -1;
	}
	*out = &dir->base;
	return 0;
}
