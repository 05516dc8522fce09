/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/input.h"
#include "lib/base/sum.h"
#include "lib/store/bucketfile.h"

#define CHUNK (256u << 10)
/* A header is replaced at most so often while it is read once. */
#define LOOKS 100
/* A disk has written, or read, so many bytes within a second or two. */
#define PIECE ((size_t)64 << 20)

static int write_at(int fd, const void *data, size_t len, off_t at,
		    struct error *err)
{
	const char *p = data;

	while (len > 0) {
		size_t part = len > PIECE ? PIECE : len;
		ssize_t n = pwrite(fd, p, part, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(err, error_code_of_errno(errno),
					   errno, "write");
		p += n;
		at += n;
		len -= (size_t)n;
		if (len > 0 && input_check(err) != 0)
			return -1;
	}
	return 0;
}

/* Exactly len bytes, or an error. */
static int read_at(int fd, void *data, size_t len, off_t at, struct error *err)
{
	ssize_t n = file_pread(fd, data, len, at);

	if (n < 0)
		return error_errno(err, ERROR_DATA, errno, "read");
	if ((size_t)n < len)
		return error_set(err, ERROR_DATA,
				 "cut off at %jd bytes while it was read",
				 (intmax_t)(at + n));
	return 0;
}

int bucketfile_write(int dirfd, const char *name, const struct bucketfile *f,
		     const void *bits, struct error *err)
{
	unsigned char page[BUCKETFILE_HEADER];
	struct bucketfile whole = *f;
	size_t bytes = (size_t)f->params.bytes;
	int rc;
	int fd = file_openat(
		dirfd, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return error_errno(err, error_code_of_errno(errno), errno,
				   "create");
	whole.bits_sum = sum_xxh64(bits, bytes);
	bucketfile_encode(&whole, page);
	rc = write_at(fd, bits, bytes, BUCKETFILE_HEADER, err);
	if (rc == 0)
		rc = write_at(fd, page, sizeof(page), 0, err);
	if (file_close(fd) != 0 && rc == 0)
		rc = error_errno(err, error_code_of_errno(errno), errno,
				 "close");
	return rc;
}

int bucketfile_set(int fd, const struct bucketfile *f, struct error *err)
{
	unsigned char page[BUCKETFILE_HEADER];

	bucketfile_encode(f, page);
	return write_at(fd, page, BUCKETFILE_HEADER_USED, 0, err);
}

/*
 * A read may see half of a header that is replaced just then: what is not
 * whole is read again, until it is the same twice.
 */
static int read_header(int fd, struct bucketfile *out, struct error *err)
{
	unsigned char page[2][BUCKETFILE_HEADER];
	int at = 0;

	if (read_at(fd, page[at], sizeof(page[at]), 0, err) != 0)
		return -1;
	for (int i = 0; bucketfile_decode(page[at], out, err) != 0; i++) {
		at = !at;
		if (i == LOOKS ||
		    read_at(fd, page[at], sizeof(page[at]), 0, err) != 0 ||
		    memcmp(page[0], page[1], sizeof(page[0])) == 0)
			return -1;
	}
	return 0;
}

/* The size on disk is known before a byte of it is believed. */
static int check_size(const struct stat *st, const struct bucketfile *want,
		      struct error *err)
{
	uint64_t has = (uint64_t)st->st_size;
	uint64_t wants = BUCKETFILE_HEADER + want->params.bytes;

	if (has == wants)
		return 0;
	return error_set(err, ERROR_DATA,
			 "%s: %" PRIu64 " of %" PRIu64 " bytes",
			 has < wants ? "cut off" : "too long", has, wants);
}

static int check_open(int fd, const struct bucketfile *want,
		      struct bucketfile *out, uint64_t *size, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_errno(err, ERROR_DATA, errno, "stat");
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_DATA, "not a regular file");
	if (st.st_size < BUCKETFILE_HEADER)
		return check_size(&st, want, err);
	/* A foreign file is called foreign, and not too short or long. */
	if (read_header(fd, out, err) != 0 ||
	    bucketfile_match(out, want, err) != 0 ||
	    check_size(&st, want, err) != 0)
		return -1;
	*size = (uint64_t)st.st_size;
	return 0;
}

int bucketfile_open(int dirfd, const char *name, const struct bucketfile *want,
		    struct bucketfile *out, uint64_t *size, struct error *err)
{
	/* O_NONBLOCK: a FIFO must not hang before it is refused. */
	int fd = file_openat(
		dirfd, name,
		O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);

	if (fd < 0 && errno == ELOOP)
		return error_set(err, ERROR_DATA, "a symbolic link");
	if (fd < 0)
		return error_errno(err,
				   errno == ENOENT ? ERROR_DATA
						   : error_code_of_errno(errno),
				   errno, "open");
	if (check_open(fd, want, out, size, err) != 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static uint64_t count_bits(const unsigned char *data, size_t len)
{
	uint64_t set = 0;
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= len; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		set += (uint64_t)__builtin_popcountll(word);
	}
	for (; i < len; i++)
		set += (uint64_t)__builtin_popcount(data[i]);
	return set;
}

static int read_bits(int fd, const struct bucketfile *f, unsigned char *chunk,
		     struct sum_stream *sum, uint64_t *set, struct error *err)
{
	uint64_t done = 0;

	while (done < f->params.bytes) {
		uint64_t left = f->params.bytes - done;
		size_t part = left < CHUNK ? (size_t)left : CHUNK;

		if (read_at(fd, chunk, part, (off_t)(BUCKETFILE_HEADER + done),
			    err) != 0)
			return -1;
		sum_stream_add(sum, chunk, part);
		if (set != NULL)
			*set += count_bits(chunk, part);
		done += part;
		if (done % PIECE == 0 && input_check(err) != 0)
			return -1;
	}
	return 0;
}

/*
 * Read and not mapped: a bad sector or a file that is being cut off is then
 * an error and not a SIGBUS.
 */
static int sum_bits(int fd, const struct bucketfile *f, uint64_t *sum,
		    uint64_t *bits_set, struct error *err)
{
	struct sum_stream *stream = sum_stream_new();
	unsigned char *chunk = malloc(CHUNK);
	int rc;

	if (bits_set != NULL)
		*bits_set = 0;
	if (stream == NULL || chunk == NULL)
		rc = error_nomem(err);
	else
		rc = read_bits(fd, f, chunk, stream, bits_set, err);
	if (rc == 0)
		*sum = sum_stream_value(stream);
	free(chunk);
	sum_stream_free(stream);
	return rc;
}

int bucketfile_sum(int fd, struct bucketfile *f, struct error *err)
{
	return sum_bits(fd, f, &f->bits_sum, NULL, err);
}

int bucketfile_check(int fd, struct bucketfile *f, uint64_t *bits_set,
		     struct error *err)
{
	struct bucketfile now;
	uint64_t sum;

	for (;;) {
		if (sum_bits(fd, f, &sum, bits_set, err) != 0)
			return -1;
		if (f->state != BUCKETFILE_SEALED || sum == f->bits_sum)
			return 0;
		/* Bits may have come since its header was read. */
		if (read_header(fd, &now, err) != 0 ||
		    bucketfile_match(&now, f, err) != 0)
			return -1;
		if (now.state == BUCKETFILE_SEALED &&
		    now.bits_sum == f->bits_sum)
			return error_set(err, ERROR_DATA,
					 "damaged: the checksum of its bits "
					 "does not match");
		now.params = f->params; /* with what no header says */
		*f = now;
		if (input_check(err) != 0)
			return -1;
	}
}

const unsigned char *bucketfile_map(int fd, const struct bucketfile *f,
				    int *nomem, struct error *err)
{
	size_t size = BUCKETFILE_HEADER + (size_t)f->params.bytes;
	struct stat st;
	void *map;

	*nomem = 0;
	if (fstat(fd, &st) != 0) {
		(void)error_errno(err, ERROR_DATA, errno, "stat");
		return NULL;
	}
	if (check_size(&st, f, err) != 0)
		return NULL;
	/* From 0 on: the header is no whole page where pages are larger. */
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		*nomem = errno == ENOMEM;
		(void)error_errno(err, ERROR_DATA, errno, "map");
		return NULL;
	}
	/* Only advice: reading ahead of random bits would be wasted. */
	(void)posix_madvise(map, size, POSIX_MADV_RANDOM);
	return (const unsigned char *)map + BUCKETFILE_HEADER;
}

void bucketfile_unmap(const unsigned char *bits, uint64_t bytes)
{
	if (bits != NULL) {
		/* munmap() takes a pointer to what may change. */
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		(void)munmap((void *)(uintptr_t)(bits - BUCKETFILE_HEADER),
			     BUCKETFILE_HEADER + (size_t)bytes);
	}
}
