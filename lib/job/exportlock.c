/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/show.h"
#include "lib/job/exportfile_private.h"

/*
 * Removes what runs that died have left: parts that have not taken their names
 * and, where there is no list, those that have or had theirs.
 */
static int look_at(struct exportfile *e, const char *name, struct error *err)
{
	/* What no run has ended is the lock's owner's to remove. */
	if (exportfile_is_of(e, name, exportlist_aside_len(name)) ||
	    exportfile_has(&e->died[0], name) ||
	    exportfile_has(&e->died[1], name)) {
		if (unlinkat(e->dir, name, 0) != 0 && errno != ENOENT)
			return exportfile_fail(e, name, "cannot remove it",
					       err);
		return 0;
	}
	if (!exportfile_is_of(e, name, exportlist_base_len(name)) ||
	    exportfile_has(&e->before, name))
		return 0;
	(void)error_set(err, ERROR_DATA,
			"file '%.*s%s': it is there, and no list says that an "
			"export wrote it",
			(int)(e->base - e->path), e->path, name);
	return error_hint(err, "it was left as it is; remove it, or export to "
			       "another path");
}

int exportlock_walk(struct exportfile *e,
		    int (*look)(struct exportfile *e, const char *name,
				struct error *err),
		    struct error *err)
{
	int fd =
		file_openat(e->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	int rc = 0;

	if (dir == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return exportfile_fail(e, "", "cannot list its folder", err);
	}
	while (rc == 0) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (entry == NULL) {
			if (errno != 0)
				rc = exportfile_fail(
					e, "", "cannot list its folder", err);
			break;
		}
		rc = look(e, entry->d_name, err);
	}
	(void)closedir(dir);
	return rc;
}

/*
 * A mark that was there is written to: it must not be a file that others read,
 * or one that has another name, too.
 */
static int check_mark(const struct exportfile *e, const struct stat *mark,
		      struct error *err)
{
	if (S_ISREG(mark->st_mode) && mark->st_uid == geteuid() &&
	    mark->st_nlink == 1)
		return 0;
	(void)error_set(err, ERROR_DATA,
			"file '%.*s%s': it is no regular file of this user "
			"with one name",
			(int)(e->base - e->path), e->path, e->mark_name);
	return error_hint(err, "remove it, unless an export of somebody else "
			       "is to be run again; or export to another path");
}

/* *again: the lock was that of a file that is not there any more. */
static int lock_mark(struct exportfile *e, bool *again, struct error *err)
{
	struct stat mine, there;
	int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;

	*again = false;
	e->mark = file_openat(e->dir, e->mark_name, flags | O_EXCL,
			      EXPORTFILE_MODE);
	/* Where nobody left one nothing is half done. */
	e->clean = e->mark >= 0;
	if (e->mark < 0 && errno == EEXIST)
		e->mark = file_openat(e->dir, e->mark_name, flags,
				      EXPORTFILE_MODE);
	if (e->mark < 0)
		return exportfile_fail(e, e->mark_name, "cannot make it", err);
	if (flock(e->mark, LOCK_EX | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK)
			return exportfile_fail(e, e->mark_name,
					       "cannot lock it", err);
		(void)error_set(err, ERROR_LOCKED,
				"target 'file:%s': another export is writing "
				"there",
				e->path);
		return error_hint(err, "wait until it has ended, or export to "
				       "another path");
	}
	*again = fstat(e->mark, &mine) != 0 ||
		 fstatat(e->dir, e->mark_name, &there, AT_SYMLINK_NOFOLLOW) !=
			 0 ||
		 mine.st_ino != there.st_ino || mine.st_dev != there.st_dev;
	return *again ? 0 : check_mark(e, &mine, err);
}

static int lock(struct exportfile *e, struct error *err)
{
	bool again = true;

	while (again) {
		if (e->mark >= 0)
			(void)close(e->mark);
		if (lock_mark(e, &again, err) != 0)
			return -1;
	}
	return 0;
}

/* Reads a list of the folder, if there is one. */
static int read_list(const struct exportfile *e, const char *name,
		     struct exportlist *out, struct error *err)
{
	struct buf text;
	char *path;
	size_t size = strlen(e->path) + NAME_MAX + 1;
	int rc = 0;

	if (faccessat(e->dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT
			       ? 0
			       : exportfile_fail(e, name, "cannot look at it",
						 err);
	path = malloc(size);
	if (path == NULL)
		return error_nomem(err);
	(void)snprintf(path, size, "%.*s%s", (int)(e->base - e->path), e->path,
		       name);
	buf_init(&text, EXPORTLIST_MAX);
	rc = file_read(path, &text, ERROR_DATA, err);
	if (rc == 0 &&
	    (exportlist_decode(text.data, text.len, out, err) != 0 ||
	     exportlist_check_base(out, e->base, strlen(e->base), err) != 0))
		rc = error_prefix(err, "file '%s'", path);
	if (rc != 0)
		exportlist_release(out);
	buf_release(&text);
	free(path);
	return rc;
}

static int read_lists(struct exportfile *e, struct error *err)
{
	struct error ignored = ERROR_INIT;

	if (read_list(e, e->list_name, &e->before, err) != 0) {
		if (err->code == ERROR_DATA)
			(void)error_hint(err, "an export replaces one that is "
					      "whole; remove the list, or "
					      "export to another path");
		return -1;
	}
	/* Where no run died, what lies there is somebody's own. */
	if (e->before.count > 0 || e->clean)
		return 0;
	/* Before their texts were whole no file had taken another name. */
	(void)read_list(e, e->mark_name, &e->died[0], &ignored);
	(void)read_list(e, e->old_name, &e->died[1], &ignored);
	return 0;
}

/* A message and a list name it. */
static int check_base(const struct exportfile *e, struct error *err)
{
	size_t suffix = strlen(EXPORTLIST_SUFFIX);
	size_t len = strlen(e->base);
	char *shown = strdup(e->base);
	bool same;

	if (shown == NULL)
		return error_nomem(err);
	show_clean(shown);
	same = strcmp(shown, e->base) == 0;
	free(shown);
	if (e->base[0] == '\0' || strcmp(e->base, ".") == 0 ||
	    strcmp(e->base, "..") == 0)
		return error_set(err, ERROR_USAGE,
				 "it names a folder and no files");
	if (!same)
		return error_set(err, ERROR_USAGE,
				 "its name has control characters, or is no "
				 "text of UTF-8");
	if (len < suffix ||
	    strcmp(e->base + len - suffix, EXPORTLIST_SUFFIX) != 0)
		return 0;
	(void)error_set(err, ERROR_USAGE, "it names a list and no path of one");
	return error_hint(err, "leave out the '%s' at the end",
			  EXPORTLIST_SUFFIX);
}

static int name_files(struct exportfile *e, struct error *err)
{
	const char *const suffixes[] = {EXPORTLIST_MARK, EXPORTLIST_SUFFIX,
					EXPORTLIST_OLD};
	char *const names[] = {e->mark_name, e->list_name, e->old_name};
	char name[NAME_MAX + 1];

	if (check_base(e, err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (snprintf(names[i], NAME_MAX + 1, "%s%s", e->base,
			     suffixes[i]) > NAME_MAX)
			return error_set(err, ERROR_USAGE,
					 "its name is too long");
	return exportfile_name(e, EXPORTLIST_PARTS_MAX, true, name, err);
}

static int open_folder(struct exportfile *e, struct error *err)
{
	char *folder =
		e->base == e->path
			? strdup(".")
			: strndup(e->path,
				  e->base - e->path > 1
					  ? (size_t)(e->base - e->path - 1)
					  : 1);

	if (folder == NULL)
		return error_nomem(err);
	e->dir = file_openat(AT_FDCWD, folder,
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (e->dir < 0) {
		enum error_code code =
			errno == EACCES ? ERROR_RIGHTS : ERROR_SOURCE;

		(void)error_errno(err, code, errno, "folder '%s'", folder);
		if (code == ERROR_SOURCE)
			(void)error_hint(err, "make the folder first");
	}
	free(folder);
	return e->dir >= 0 ? 0 : -1;
}

int exportlock_take(struct exportfile *e, struct error *err)
{
	const char *slash = strrchr(e->path, '/');

	e->base = slash != NULL ? slash + 1 : e->path;
	if (name_files(e, err) != 0 || open_folder(e, err) != 0)
		return error_prefix(err, "target 'file:%s'", e->path);
	if (lock(e, err) != 0)
		return -1;
	e->locked = true;
	if (read_lists(e, err) != 0)
		return -1;
	if (exportlock_walk(e, look_at, err) != 0)
		return -1;
	/* Nothing is half done any more. */
	if (unlinkat(e->dir, e->old_name, 0) != 0 && errno != ENOENT)
		return exportfile_fail(e, e->old_name, "cannot remove it", err);
	e->clean = true;
	return 0;
}
