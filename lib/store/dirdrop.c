/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/stop.h"
#include "lib/store/dir.h"
#include "lib/store/dirbuild.h"

/* Whether a name is one that we give to a file in a generation's folder. */
static bool is_ours(const char *name)
{
	size_t digits = strspn(name, "0123456789");

	if (digits >= 1 && digits <= 5 &&
	    (strcmp(name + digits, ".bloom") == 0 ||
	     strcmp(name + digits, ".bloom.tmp") == 0))
		return true;
	return strcmp(name, DIR_PASS) == 0 || strcmp(name, DIR_MANIFEST) == 0 ||
	       strcmp(name, DIR_MANIFEST ".tmp") == 0;
}

/* Whether a name is that of a generation on its way out. */
static bool is_gone(const char *name)
{
	char id[NAMES_ID_MAX];
	size_t end = strlen(DIR_GONE);
	size_t len = strlen(name);

	if (len < end || len - end >= sizeof(id) ||
	    strcmp(name + len - end, DIR_GONE) != 0)
		return false;
	memcpy(id, name, len - end);
	id[len - end] = '\0';
	return names_id_valid(id);
}

static DIR *open_folder(int dirfd, const char *name)
{
	DIR *d;
	int fd =
		file_openat(dirfd, name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return NULL;
	d = fdopendir(fd);
	if (d == NULL)
		(void)close(fd);
	return d;
}

/* A regular file under a name of ours, and nothing else. */
static int unlink_one(int dirfd, const char *folder, const char *name,
		      struct error *err)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode) || unlinkat(dirfd, name, 0) == 0)
		return 0;
	return error_errno(err, error_code_of_errno(errno), errno,
			   "file '%s/%s'", folder, name);
}

static int unlink_ours(DIR *d, uint32_t buckets, const char *folder,
		       struct error *err)
{
	char name[NAMES_BUCKET_MAX];
	struct dirent *entry;

	/*
	 * First in the order in which they were made.  That of the folder is
	 * at random, and 65,536 files took up to ten times as long in it.
	 */
	for (uint32_t i = 0; i < buckets; i++) {
		/* What is left goes with the next run that has the lock. */
		if (i % 1024 == 1023 && stop_check(err) != 0)
			return -1;
		names_bucket(i, buckets, name);
		if (unlink_one(dirfd(d), folder, name, err) != 0)
			return -1;
	}
	while ((entry = readdir(d)) != NULL)
		if (is_ours(entry->d_name) &&
		    unlink_one(dirfd(d), folder, entry->d_name, err) != 0)
			return -1;
	return 0;
}

/* Removes the folder ID.gone. */
static int remove_gone(struct dir *dir, const char *gone, struct error *err)
{
	DIR *d = open_folder(dir->folder, gone);
	int rc;

	if (d == NULL)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "folder '%s/%s/%s'", dir->shown, dir->set,
				   gone);
	rc = unlink_ours(d, bloomkey_buckets(dir->spec), gone, err);
	(void)closedir(d);
	if (rc != 0)
		return rc;
	if (unlinkat(dir->folder, gone, AT_REMOVEDIR) == 0)
		return 0;
	if (errno == ENOTEMPTY || errno == EEXIST)
		return error_set(err, ERROR_DATA,
				 "folder '%s/%s/%s': holds something that is "
				 "not bloomctl's, and stays",
				 dir->shown, dir->set, gone);
	return error_errno(err, error_code_of_errno(errno), errno,
			   "folder '%s/%s/%s'", dir->shown, dir->set, gone);
}

int dirdrop_folder(struct dir *dir, const char *id, struct error *err)
{
	char gone[DIR_GONE_MAX];
	struct stat st;

	(void)snprintf(gone, sizeof(gone), "%s" DIR_GONE, id);
	/* An earlier attempt that could not end would be in the way. */
	if (fstatat(dir->folder, gone, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    remove_gone(dir, gone, err) != 0)
		return -1;
	if (fstatat(dir->folder, id, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': not in '%s'", id,
				 dir->place);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERROR_DATA, "'%s/%s/%s': not a folder",
				 dir->shown, dir->set, id);
	if (renameat(dir->folder, id, dir->folder, gone) != 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "generation '%s'", id);
	/* Half removed it must not come back under its name. */
	if (dir_sync_set(dir, err) != 0)
		return -1;
	return remove_gone(dir, gone, err);
}

int dirdrop_drop(struct store *s, const char *generation, struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char live[NAMES_ID_MAX];

	if (dir_need_lock(dir, err) != 0)
		return -1;
	if (!names_id_valid(generation))
		return error_set(err, ERROR_GENERATION,
				 "set '%s': no generation has such an id",
				 dir->set);
	if (dir_live(dir, live, err) != 0)
		return -1;
	if (strcmp(live, generation) == 0)
		return error_set(err, ERROR_GENERATION,
				 "generation '%s': is live", generation);
	if (dir->build != NULL && dir->build->writers == 0 &&
	    strcmp(dir->build->generation, generation) == 0) {
		dirbuild_free(dir->build);
		dir->build = NULL;
	}
	return dirdrop_folder(dir, generation, err);
}

int dirdrop_retire(struct store *s, struct error *err)
{
	static const char *const names[] = {DIR_LIVE, DIR_MOVING, DIR_FED,
					    DIR_EXPOSURE};
	struct dir *dir = (struct dir *)s;

	if (dir_need_lock(dir, err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (unlinkat(dir->folder, names[i], 0) != 0 && errno != ENOENT)
			return error_errno(err, error_code_of_errno(errno),
					   errno, "'%s/%s/%s'", dir->shown,
					   dir->set, names[i]);
	return dir_sync_set(dir, err);
}

static void drop_file(int dirfd, const char *folder, const char *name)
{
	struct error err = ERROR_INIT;

	if (unlinkat(dirfd, name, 0) == 0) {
		log_note("removed '%s/%s', left by a run that died", folder,
			 name);
	} else if (errno != ENOENT) {
		(void)error_errno(&err, ERROR_DATA, errno,
				  "'%s/%s', left by a run that died", folder,
				  name);
		log_warn("%s", err.text);
	}
}

/*
 * live.moving that points where `live` does is of a promotion that is yet to
 * be finished; any other is of one that never came to its rename.
 */
static void drop_moving(struct dir *dir)
{
	struct error ignored = ERROR_INIT;
	char live[NAMES_ID_MAX];

	if (dir_live(dir, live, &ignored) == 0 && !dir_moving(dir, live))
		drop_file(dir->folder, dir->set, DIR_MOVING);
}

/* What lies in a generation's folder. */
static void drop_inner(struct dir *dir, const char *id)
{
	int fd =
		file_openat(dir->folder, id,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	if (fd < 0)
		return;
	drop_file(fd, id, DIR_MANIFEST ".tmp");
	(void)close(fd);
}

void dirdrop_leftovers(struct dir *dir)
{
	struct error err = ERROR_INIT;
	struct dirent *entry;
	DIR *d = open_folder(dir->folder, ".");

	if (d == NULL)
		return;
	drop_file(dir->folder, dir->set, DIR_LIVE_TMP);
	drop_moving(dir);
	while ((entry = readdir(d)) != NULL) {
		if (names_id_valid(entry->d_name))
			drop_inner(dir, entry->d_name);
		else if (is_gone(entry->d_name) &&
			 remove_gone(dir, entry->d_name, &err) == 0)
			log_note("removed '%s/%s', left by a run that died",
				 dir->set, entry->d_name);
		else if (is_gone(entry->d_name) && !stop_asked())
			log_warn("%s", err.text);
	}
	(void)closedir(d);
}
