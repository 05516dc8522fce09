/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/show.h"
#include "lib/store/dir.h"

/*
 * The size of the lock file: one write of one size, so that whoever reads it
 * without the lock sees one owner and not parts of two.
 */
#define TEXT_SIZE 1024

struct owner {
	char text[DIR_OWNER_MAX]; /* empty: not known */
	uint64_t fence;           /* 0: not known */
};

/* "COMMAND, pid N on HOST, since TIME", if it fits. */
static void name_owner(struct owner *out, const char *command, uint64_t pid,
		       const char *host, const char *since)
{
	struct buf b;

	buf_init(&b, sizeof(out->text));
	if (show_copy(&b, command, strlen(command)) == 0 &&
	    buf_addf(&b, ", pid %" PRIu64 " on ", pid) == 0 &&
	    show_copy(&b, host, strlen(host)) == 0 &&
	    buf_addf(&b, ", since %s", since) == 0 && buf_string(&b) != NULL)
		memcpy(out->text, b.data, b.len + 1);
	buf_release(&b);
}

/*
 * Who is written in the file, whole or not at all; -1 with errno if it cannot
 * be read.
 */
static int read_owner(int fd, struct owner *out)
{
	char text[TEXT_SIZE];
	struct error ignored = ERROR_INIT;
	const char *command;
	const char *host;
	const char *since;
	uint64_t pid;
	int64_t ms;
	json_t *json;
	ssize_t n = file_pread(fd, text, sizeof(text), 0);

	out->text[0] = '\0';
	out->fence = 0;
	json = n > 0 ? json_parse(text, (size_t)n, &ignored) : NULL;
	if (json == NULL)
		return n < 0 ? -1 : 0;
	if (json_get_text(json, "command", &command, &ignored) == 0 &&
	    json_get_text(json, "host", &host, &ignored) == 0 &&
	    json_get_text(json, "since", &since, &ignored) == 0 &&
	    json_get_u64(json, "pid", &pid, &ignored) == 0 &&
	    json_get_u64(json, "fence", &out->fence, &ignored) == 0 &&
	    clock_parse(since, &ms) == 0)
		name_owner(out, command, pid, host, since);
	json_decref(json);
	return 0;
}

/* The text of the file, blanks behind it; -1 if memory is out. */
static int owner_block(const char *command, uint64_t fence,
		       char block[TEXT_SIZE], struct error *err)
{
	char host[65] = "";
	char since[CLOCK_TEXT_MAX];
	size_t len = 0;
	char *text;
	json_t *json;

	(void)gethostname(host, sizeof(host) - 1);
	for (char *p = host; *p != '\0'; p++) /* a record is UTF-8 */
		*p = (unsigned char)*p < 0x80 ? *p : '?';
	json = json_pack("{s:s, s:s, s:I, s:s, s:I}", "command", command,
			 "host", host, "pid", (json_int_t)getpid(), "since",
			 clock_text(clock_wall_ms(), since), "fence",
			 (json_int_t)fence);
	text = json != NULL ? json_text(json, 0, &len, err) : NULL;
	json_decref(json);
	if (text == NULL || len > TEXT_SIZE) {
		free(text);
		return error_set(err, ERROR_INTERNAL, "lock: no legal owner");
	}
	memset(block, ' ', TEXT_SIZE);
	memcpy(block, text, len - 1);
	block[TEXT_SIZE - 1] = '\n';
	free(text);
	return 0;
}

int dirlock_write(const struct dir *dir, int fd, const char *name,
		  const char *command, uint64_t fence, struct error *err)
{
	char block[TEXT_SIZE];
	ssize_t n;
	int rc = -1;

	if (owner_block(command, fence, block, err) != 0)
		return -1;
	do {
		n = pwrite(fd, block, sizeof(block), 0);
		if (n == TEXT_SIZE)
			rc = ftruncate(fd, TEXT_SIZE);
		else if (n >= 0)
			errno = ENOSPC;
	} while (rc != 0 && errno == EINTR);
	/* The fence must outlive a power cut. */
	if (rc != 0 || (fence != 0 && file_fsync(fd) != 0))
		return error_errno(err, error_code_of_errno(errno), errno,
				   "set '%s': %s", dir->set, name);
	return 0;
}

static int write_owner(const struct dir *dir, const char *command,
		       struct error *err)
{
	return dirlock_write(dir, dir->lock, DIR_LOCK, command, dir->fence,
			     err);
}

static int open_failed(const struct dir *dir, const char *name, int errnum,
		       struct error *err)
{
	if (errnum == ELOOP)
		return error_set(err, ERROR_DATA,
				 "set '%s': %s: a symbolic link", dir->set,
				 name);
	return error_errno(err, error_code_of_errno(errnum), errnum,
			   "set '%s': %s", dir->set, name);
}

int dir_is_lock(const struct dir *dir, int folder, const char *name, int fd,
		bool *is, struct error *err)
{
	struct stat held;
	struct stat there;
	int rc = fstat(fd, &held);

	*is = false;
	if (rc == 0)
		rc = fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW);
	if (rc != 0 && errno != ENOENT)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "set '%s': %s", dir->set, name);
	*is = rc == 0 && held.st_ino == there.st_ino &&
	      held.st_dev == there.st_dev;
	return 0;
}

int dir_need_lock(const struct dir *dir, struct error *err)
{
	bool is;

	if (dir->lock < 0)
		return error_set(err, ERROR_INTERNAL,
				 "set '%s': changed without its lock",
				 dir->set);
	if (dir_is_lock(dir, dir->folder, DIR_LOCK, dir->lock, &is, err) != 0)
		return -1;
	if (is)
		return 0;
	(void)error_set(err, ERROR_LOCKED,
			"set '%s': lost its lock: the lock file was removed or "
			"replaced during this run",
			dir->set);
	return error_hint(err, "see what bloomctl inspect shows, and run it "
			       "again; never remove the lock file");
}

int dirlock_holder(struct dir *dir, const char *name, bool *held,
		   uint64_t *fence, char owner[DIR_OWNER_MAX],
		   struct error *err)
{
	struct owner o = {"", 0};
	int fd;
	int rc;

	*held = false;
	*fence = 0;
	if (owner != NULL)
		owner[0] = '\0';
	if (dir->folder < 0)
		return 0;
	fd = file_openat(dir->folder, name,
			 O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0 && errno == ENOENT)
		return 0;
	/* An unreadable lock is no permission. */
	if (fd < 0)
		return open_failed(dir, name, errno, err);
	do {
		rc = flock(fd, LOCK_SH | LOCK_NB);
	} while (rc != 0 && errno == EINTR);
	if (rc != 0) {
		if (errno != EWOULDBLOCK) {
			(void)error_errno(err, ERROR_DATA, errno,
					  "set '%s': %s", dir->set, name);
			(void)close(fd);
			return -1;
		}
		(void)read_owner(fd, &o);
		*held = true;
		*fence = o.fence;
		if (owner != NULL)
			memcpy(owner,
			       o.text[0] != '\0' ? o.text : "another run",
			       o.text[0] != '\0' ? strlen(o.text) + 1
						 : sizeof("another run"));
	}
	(void)close(fd);
	return 0;
}

/* Opens a lock file and takes it, or -1. */
static int take_file(const struct dir *dir, int folder, const char *name,
		     const char *held, struct error *err)
{
	/* A look at the lock takes it for microseconds; wait that out. */
	const struct timespec pause = {0, 5000000};
	struct owner o;
	struct stat st;
	int fd = file_openat(
		folder, name,
		O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0644);

	if (fd < 0)
		return open_failed(dir, name, errno, err);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return error_set(err, ERROR_DATA,
				 "set '%s': %s: not a regular file", dir->set,
				 name);
	}
	for (int i = 0; i < 20; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK && errno != EINTR)
			break;
		(void)nanosleep(&pause, NULL);
	}
	if (errno != EWOULDBLOCK && errno != EINTR) {
		(void)error_errno(err, ERROR_DATA, errno, "set '%s': %s",
				  dir->set, name);
	} else {
		(void)read_owner(fd, &o);
		(void)error_set(err, ERROR_LOCKED, "set '%s': %s by %s",
				dir->set, held,
				o.text[0] != '\0' ? o.text : "another run");
	}
	(void)close(fd);
	return -1;
}

int dirlock_take(const struct dir *dir, int folder, const char *name,
		 const char *held, struct error *err)
{
	bool is;
	int fd;
	int rc;

	do {
		fd = take_file(dir, folder, name, held, err);
		if (fd < 0)
			return -1;
		rc = dir_is_lock(dir, folder, name, fd, &is, err);
		if (rc == 0 && is)
			return fd;
		(void)close(fd);
	} while (rc == 0);
	return -1;
}

/* Lifts the fence above every generation's: a lock file may be a new one. */
static int lift_fence(struct dir *dir, struct error *err)
{
	struct manifest *list;
	size_t count;

	if (dirlist_list(&dir->base, &list, &count, err) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (list[i].fence >= dir->fence)
			dir->fence = list[i].fence + 1;
	store_list_free(list, count);
	return 0;
}

int dirlock_lock(struct store *s, const char *command, uint64_t *fence,
		 struct error *err)
{
	struct dir *dir = (struct dir *)s;
	struct owner last;
	uint64_t now = (uint64_t)clock_wall_ms();
	uint64_t written;

	if (dir->lock >= 0)
		return error_set(err, ERROR_INTERNAL, "set '%s': locked twice",
				 dir->set);
	if (dir_set(dir, dir->create, err) != 0)
		return -1;
	if (dir->folder < 0)
		return error_set(err, ERROR_SOURCE, "set '%s': not in '%s'",
				 dir->set, dir->place);
	dir->lock = dirlock_take(dir, dir->folder, DIR_LOCK, "locked", err);
	if (dir->lock < 0)
		return -1;
	/* What it held unread, the fence could fall behind. */
	if (read_owner(dir->lock, &last) != 0) {
		(void)error_errno(err, error_code_of_errno(errno), errno,
				  "set '%s': lock", dir->set);
		goto fail;
	}
	/* At once, or others are told of an owner that is long gone. */
	dir->fence = last.fence >= now ? last.fence + 1 : now;
	written = dir->fence;
	if (write_owner(dir, command, err) != 0 || lift_fence(dir, err) != 0)
		goto fail;
	if (dir->fence != written && write_owner(dir, command, err) != 0)
		goto fail;
	if (dir_sync_set(dir, err) != 0)
		goto fail;
	dirdrop_leftovers(dir);
	*fence = dir->fence;
	return 0;
fail:
	dirlock_unlock(s);
	return -1;
}

void dirlock_unlock(struct store *s)
{
	struct dir *dir = (struct dir *)s;

	/* What it says stays: the next fence is counted from there. */
	if (dir->lock >= 0)
		(void)close(dir->lock);
	dir->lock = -1;
	dirpass_forget(dir);
}

int dirlock_locked_by(struct store *s, bool sync, char *out, size_t size,
		      struct error *err)
{
	struct dir *dir = (struct dir *)s;
	char owner[DIR_OWNER_MAX];
	uint64_t fence;
	bool held;

	out[0] = '\0';
	if (dir_set(dir, false, err) != 0 ||
	    dirlock_holder(dir, sync ? DIR_SYNC : DIR_LOCK, &held, &fence,
			   owner, err) != 0)
		return -1;
	if (held)
		(void)snprintf(out, size, "%s", owner);
	return 0;
}
