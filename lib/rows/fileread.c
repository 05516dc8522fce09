/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/rows/file.h"
#include "lib/rows/quote.h"

struct file_stream {
	struct stream base;
	const struct file_entry *file; /* borrowed from the source */
	int fd;
	uint64_t at;
	uint64_t end;
};

int file_entry_open(const char *path)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer. */
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd;

	do {
		fd = open(path, flags);
	} while (fd < 0 && errno == EINTR);
	return fd;
}

int64_t file_entry_read(int fd, void *buf, size_t len, uint64_t offset)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

int file_entry_prefix(const struct file_entry *file, struct error *err)
{
	char shown[QUOTE_SIZE(QUOTE_PATH_MAX)];
	char name[sizeof(shown) + 8];
	int len;

	quote_bytes(shown, file->path, strlen(file->path), QUOTE_PATH_MAX);
	len = snprintf(name, sizeof(name), "file '%.300s'", shown);
	/* A stream that was read at once has named it already. */
	if (strncmp(err->text, name, (size_t)len) == 0 && err->text[len] == ':')
		return -1;
	return error_prefix(err, "%s", name);
}

int file_entry_unchanged(const struct file_entry *file, int fd,
			 struct error *err)
{
	const struct stat *was = &file->stat;
	struct stat now;

	if (fstat(fd, &now) != 0)
		error_errno(err, ERROR_DATA, errno, "cannot look at it");
	else if (now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
		 now.st_size == was->st_size &&
		 now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
		 now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
		return 0;
	else
		error_set(err, ERROR_DATA, "it changed while it was read");
	return file_entry_prefix(file, err);
}

int file_entry_reopen(const struct file_entry *file, struct error *err)
{
	int fd = file_entry_open(file->path);

	if (fd < 0) {
		error_errno(err, ERROR_DATA, errno, "cannot open it again");
		return file_entry_prefix(file, err);
	}
	if (file_entry_unchanged(file, fd, err) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int stream_read(struct stream *stream, void *buf, size_t cap,
		       size_t *got, struct error *err)
{
	struct file_stream *s = (struct file_stream *)stream;
	size_t want = cap;
	int64_t n;

	*got = 0;
	if (want > s->end - s->at)
		want = (size_t)(s->end - s->at);
	if (want == 0)
		return 0;
	n = file_entry_read(s->fd, buf, want, s->at);
	if (n < 0) {
		error_errno(err, ERROR_DATA, errno, "cannot read it");
		return file_entry_prefix(s->file, err);
	}
	if ((size_t)n < want) {
		error_set(err, ERROR_DATA,
			  "it became shorter while it was read");
		return file_entry_prefix(s->file, err);
	}
	s->at += want;
	*got = want;
	return 0;
}

static int stream_finish(struct stream *stream, struct error *err)
{
	struct file_stream *s = (struct file_stream *)stream;

	if (s->at != s->end) {
		error_set(err, ERROR_INTERNAL, "not read to its end");
		return file_entry_prefix(s->file, err);
	}
	return file_entry_unchanged(s->file, s->fd, err);
}

static void stream_close(struct stream *stream)
{
	struct file_stream *s = (struct file_stream *)stream;

	(void)close(s->fd);
	free(s);
}

int file_entry_stream(const struct file_entry *file,
		      const struct source_part *part, struct stream **out,
		      struct error *err)
{
	static const struct stream_ops ops = {stream_read, stream_finish,
					      stream_close};
	struct file_stream *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (s == NULL)
		return error_nomem(err);
	s->base.ops = &ops;
	s->file = file;
	s->at = part->start;
	s->end = part->end;
	s->fd = file_entry_reopen(file, err);
	if (s->fd < 0) {
		free(s);
		return -1;
	}
	/* Advice only: a file system may know nothing of it. */
	(void)posix_fadvise(s->fd, (off_t)part->start,
			    (off_t)(part->end - part->start),
			    POSIX_FADV_SEQUENTIAL);
	*out = &s->base;
	return 0;
}
