/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/exportfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/job/exportfile_private.h"

void exportfile_part(const struct exportfile *e, size_t number, char *out,
		     size_t size)
{
	char name[NAME_MAX + 1] = "";
	struct error ignored = ERROR_INIT;

	(void)exportfile_name(e, number, false, name, &ignored);
	(void)snprintf(out, size, "file '%.*s%s'", (int)(e->base - e->path),
		       e->path, name);
}

int exportfile_fail(const struct exportfile *e, const char *name,
		    const char *what, struct error *err)
{
	return error_errno(err, error_code_of_errno(errno), errno,
			   "file '%.*s%s': %s", (int)(e->base - e->path),
			   e->path, name, what);
}

int exportfile_name(const struct exportfile *e, size_t number, bool aside,
		    char out[NAME_MAX + 1], struct error *err)
{
	size_t room = NAME_MAX + 1 - strlen(EXPORTLIST_ASIDE);

	if (exportlist_part_name(e->list, e->base, number, out, room, err) != 0)
		return -1;
	if (aside)
		memcpy(out + strlen(out), EXPORTLIST_ASIDE,
		       sizeof(EXPORTLIST_ASIDE));
	return 0;
}

bool exportfile_has(const struct exportlist *list, const char *name)
{
	size_t len = exportlist_base_len(name);
	size_t number = len > 0 ? strtoul(name + len + 1, NULL, 10) : 0;

	return number > 0 && number <= list->count &&
	       strcmp(list->parts[number - 1].name, name) == 0;
}

bool exportfile_is_of(const struct exportfile *e, const char *name, size_t len)
{
	return len == strlen(e->base) && memcmp(name, e->base, len) == 0;
}

int exportfile_open(const char *path, struct exportlist *list,
		    struct exportfile **out, struct error *err)
{
	struct exportfile *e = calloc(1, sizeof(*e));
	int rc = 0;

	*out = NULL;
	if (e == NULL)
		return error_nomem(err);
	(void)pthread_mutex_init(&e->mutex, NULL);
	e->list = list;
	e->dir = -1;
	e->mark = -1;
	e->path = strdup(path);
	rc = e->path != NULL ? exportlock_take(e, err) : error_nomem(err);
	if (rc != 0) {
		exportfile_close(e);
		return -1;
	}
	*out = e;
	return 0;
}

int exportfile_begin(struct exportfile *e, size_t number, struct error *err)
{
	char name[NAME_MAX + 1];
	int fd;

	if (number > EXPORTLIST_PARTS_MAX)
		return error_set(err, ERROR_USAGE,
				 "target 'file:%s': more than %u parts",
				 e->path, EXPORTLIST_PARTS_MAX);
	if (exportfile_name(e, number, true, name, err) != 0)
		return -1;
	/* All that were there are gone: another is not ours. */
	fd = file_openat(e->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			 EXPORTFILE_MODE);
	return fd >= 0 ? fd : exportfile_fail(e, name, "cannot make it", err);
}

int exportfile_again(struct exportfile *e, size_t number, int fd,
		     struct error *err)
{
	char name[NAME_MAX + 1];

	if (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return 0;
	(void)exportfile_name(e, number, true, name, err);
	return exportfile_fail(e, name, "cannot begin it again", err);
}

/* Keeps what is known of a part.  0 or -1. */
static int note(struct exportfile *e, size_t number,
		const struct exportpart *part, const char *name,
		struct error *err)
{
	char *copy = strdup(name);
	size_t cap;
	int rc = 0;

	(void)pthread_mutex_lock(&e->mutex);
	cap = e->cap;
	while (cap < number)
		cap = cap > 0 ? 2 * cap : 16;
	if (copy != NULL && cap > e->cap) {
		struct exportpart *parts =
			realloc(e->parts, cap * sizeof(*parts));

		if (parts != NULL) {
			memset(parts + e->cap, 0,
			       (cap - e->cap) * sizeof(*parts));
			e->parts = parts;
			e->cap = cap;
		}
	}
	if (copy == NULL || cap > e->cap) {
		free(copy);
		rc = error_nomem(err);
	} else {
		e->parts[number - 1] = *part;
		e->parts[number - 1].name = copy;
	}
	(void)pthread_mutex_unlock(&e->mutex);
	return rc;
}

int exportfile_done(struct exportfile *e, size_t number, int fd,
		    const struct exportpart *part, struct error *err)
{
	char name[NAME_MAX + 1];
	int rc;

	(void)exportfile_name(e, number, false, name, err);
	rc = file_fsync(fd);
	if (rc != 0)
		rc = exportfile_fail(e, name, "sync", err);
	if (file_close(fd) != 0 && rc == 0)
		rc = exportfile_fail(e, name, "cannot write it", err);
	if (rc == 0)
		rc = note(e, number, part, name, err);
	if (rc != 0)
		exportfile_drop(e, number, -1);
	return rc;
}

void exportfile_drop(struct exportfile *e, size_t number, int fd)
{
	char name[NAME_MAX + 1];
	struct error ignored = ERROR_INIT;

	if (fd >= 0)
		(void)close(fd);
	if (exportfile_name(e, number, true, name, &ignored) == 0)
		(void)unlinkat(e->dir, name, 0);
}

/* --- names for all -------------------------------------------------------- */

/* Moves what was noted into the list.  A gap is our own mistake. */
static int fill_list(struct exportfile *e, struct error *err)
{
	struct exportlist *list = e->list;
	size_t count = 0;

	while (count < e->cap && e->parts[count].name != NULL)
		count++;
	for (size_t i = count; i < e->cap; i++)
		if (e->parts[i].name != NULL)
			return error_set(
				err, ERROR_INTERNAL,
				"target 'file:%s': part %zu is missing",
				e->path, count + 1);
	list->parts = e->parts;
	list->count = count;
	list->rows = 0;
	e->parts = NULL;
	e->cap = 0;
	for (size_t i = 0; i < count; i++)
		list->rows += list->parts[i].rows;
	list->ended = clock_wall_ms();
	return 0;
}

static int write_mark(struct exportfile *e, struct error *err)
{
	char what[PATH_MAX + NAME_MAX];
	size_t len = 0;
	char *text = exportlist_encode(e->list, &len, err);
	int rc = -1;

	if (text == NULL)
		return -1;
	(void)snprintf(what, sizeof(what), "file '%.*s%s'",
		       (int)(e->base - e->path), e->path, e->mark_name);
	if (ftruncate(e->mark, 0) != 0 || lseek(e->mark, 0, SEEK_SET) != 0)
		(void)exportfile_fail(e, e->mark_name, "cannot write it", err);
	else
		rc = file_write_all(e->mark, text, len, what, err);
	if (rc == 0 && file_fsync(e->mark) != 0)
		rc = exportfile_fail(e, e->mark_name, "sync", err);
	free(text);
	return rc;
}

static int sync_folder(struct exportfile *e, struct error *err)
{
	return file_sync_dir(e->dir, e->list_name, err);
}

/* Removes a part that only an earlier export had. */
static int remove_stale(struct exportfile *e, const char *name,
			struct error *err)
{
	if (!exportfile_is_of(e, name, exportlist_base_len(name)) ||
	    exportfile_has(e->list, name))
		return 0;
	/* What appeared since the export began is not ours. */
	if (!exportfile_has(&e->before, name))
		return 0;
	return unlinkat(e->dir, name, 0) == 0 || errno == ENOENT
		       ? 0
		       : exportfile_fail(e, name, "cannot remove it", err);
}

static int rename_one(struct exportfile *e, const char *from, const char *to,
		      struct error *err)
{
	return renameat(e->dir, from, e->dir, to) == 0
		       ? 0
		       : exportfile_fail(e, to, "rename", err);
}

static int rename_all(struct exportfile *e, struct error *err)
{
	char aside[NAME_MAX + 1];

	if (renameat(e->dir, e->list_name, e->dir, e->old_name) != 0 &&
	    errno != ENOENT)
		return exportfile_fail(e, e->list_name, "rename", err);
	e->renaming = true;
	if (sync_folder(e, err) != 0)
		return -1;
	for (size_t i = 0; i < e->list->count; i++)
		if (exportfile_name(e, i + 1, true, aside, err) != 0 ||
		    rename_one(e, aside, e->list->parts[i].name, err) != 0)
			return -1;
	if (exportlock_walk(e, remove_stale, err) != 0)
		return -1;
	/* Its parts are gone, and with the mark the lock goes: afterwards it
	 * might be another's.  One that stays is removed by the next export. */
	(void)unlinkat(e->dir, e->old_name, 0);
	if (sync_folder(e, err) != 0)
		return -1;
	return rename_one(e, e->mark_name, e->list_name, err);
}

int exportfile_finish(struct exportfile *e, struct error *err)
{
	if (fill_list(e, err) != 0 || write_mark(e, err) != 0)
		return -1;
	if (rename_all(e, err) != 0)
		return e->renaming
			       ? error_hint(err, "the export is not whole and "
						 "nothing takes it for that; "
						 "run it again")
			       : -1;
	e->finished = true;
	return sync_folder(e, err);
}

/* Removes parts that are written and have not taken their names. */
static void clear(struct exportfile *e)
{
	const struct exportlist *list = e->list;

	for (size_t i = 0; i < e->cap; i++)
		if (e->parts[i].name != NULL)
			exportfile_drop(e, i + 1, -1);
	for (size_t i = 0; list != NULL && i < list->count; i++)
		exportfile_drop(e, i + 1, -1);
	/* It stays where files have changed their names without a list in the
	 * end, now or in a run that died. */
	if (e->clean && !e->renaming)
		(void)unlinkat(e->dir, e->mark_name, 0);
}

void exportfile_close(struct exportfile *e)
{
	if (e == NULL)
		return;
	if (e->locked && !e->finished)
		clear(e);
	if (e->mark >= 0)
		(void)close(e->mark);
	if (e->dir >= 0)
		(void)close(e->dir);
	for (size_t i = 0; i < e->cap; i++)
		free(e->parts[i].name);
	free(e->parts);
	exportlist_release(&e->before);
	exportlist_release(&e->died[0]);
	exportlist_release(&e->died[1]);
	(void)pthread_mutex_destroy(&e->mutex);
	free(e->path);
	free(e);
}
