/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The source of files where calls of the system and allocations fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>

#include "tests/unit/rows/files.h"
#include "tests/unit/rows/gzipped.h"
#include "tests/unit/rows/readfile.h"

/* The n-th call from now on fails, or is interrupted; 0: none. */
static unsigned fail_pread, fail_fstat, fail_open, interrupt;
static unsigned short_pread;
static dev_t devices; /* each file is on one of its own */
static int glob_result;

ssize_t __real_pread(int fd, void *buf, size_t len, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_glob(const char *pattern, int flags,
		int (*failed)(const char *path, int errnum), glob_t *found);
int __wrap_glob(const char *pattern, int flags,
		int (*failed)(const char *path, int errnum), glob_t *found);

static bool fails(unsigned *n)
{
	if (interrupt > 0 && --interrupt == 0) {
		errno = EINTR;
		return true;
	}
	errno = EIO;
	return *n > 0 && --*n == 0;
}

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset)
{
	if (short_pread > 0 && --short_pread == 0)
		return 0;
	return fails(&fail_pread) ? -1 : __real_pread(fd, buf, len, offset);
}

int __wrap_fstat(int fd, struct stat *st)
{
	errno = EIO;
	if ((fail_fstat > 0 && --fail_fstat == 0) || __real_fstat(fd, st) != 0)
		return -1;
	if (devices > 0)
		st->st_dev = devices++;
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	return fails(&fail_open) ? -1 : __real_open(path, flags, 0600);
}

int __wrap_glob(const char *pattern, int flags,
		int (*failed)(const char *path, int errnum), glob_t *found)
{
	if (glob_result == 0)
		return __real_glob(pattern, flags, failed, found);
	errno = 0;
	return glob_result;
}

static void check_glob(int result, enum error_code code, const char *text)
{
	static const char *const words[] = {"file:*"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	glob_result = result;
	CHECK(source_open(words, 1, &plain_source, &source, &err) == -1);
	glob_result = 0;
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
}

static void globs(void)
{
	REQUIRE(enter_folder());
	check_glob(GLOB_NOSPACE, ERROR_INTERNAL, "out of memory");
	check_glob(GLOB_ABORTED, ERROR_SOURCE,
		   "pattern '*': a folder cannot be read");
	check_glob(GLOB_NOMATCH, ERROR_SOURCE, "no file matches '*'");
	leave_folder();
}

/* A number of an inode is that of another file in another file system. */
static void file_systems(void)
{
	static const char *const words[] = {"file:x", "file:y", "file:z"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	REQUIRE(enter_folder());
	PUT("x", "1\n");
	REQUIRE(link("x", "y") == 0 && link("x", "z") == 0);
	devices = 1;
	CHECK(source_open(words, 3, &plain_source, &source, &err) == 0);
	devices = 0;
	CHECK_STR(err.text, "");
	if (source != NULL)
		source->ops->free(source);
	CHECK(source_open(words, 3, &plain_source, &source, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	leave_folder();
}

/* A file that ends too soon while it is cut or read, at any read. */
static void shorter(void)
{
	unsigned told = 0, n = 1;
	bool met = true;

	REQUIRE(enter_folder());
	PUT("x", PACKED_ROWS PACKED_ROWS "777777");
	for (; met && n < 100; n++) {
		struct error err = ERROR_INIT;
		struct telling t;
		size_t count;

		short_pread = n;
		CHECK(read_file(false, &t, &count, &err) == -1);
		met = short_pread == 0;
		short_pread = 0;
		buf_release(&t.out);
		if (strcmp(err.text, "file 'x': it became shorter while it was "
				     "read") == 0)
			told++;
		else
			CHECK_STR(err.text, "the last row has no newline: it "
					    "is cut off");
	}
	CHECK(told > 4 && n < 100);
	leave_folder();
}

/* Each call of a kind fails in turn; the file is named once. */
static void fail_each(unsigned *kind, unsigned least)
{
	unsigned n = 1;

	for (; n < 100; n++) {
		struct error err = ERROR_INIT;
		struct telling t;
		size_t count;
		bool met;
		int rc;

		*kind = n;
		rc = read_file(false, &t, &count, &err);
		buf_release(&t.out);
		met = *kind == 0;
		*kind = 0;
		CHECK((rc != 0) == met);
		if (!met)
			break;
		CHECK(err.code == ERROR_SOURCE || err.code == ERROR_DATA);
		CHECK(strncmp(err.text, "file 'x': cannot ", 17) == 0);
		CHECK(strstr(err.text, ": Input/output error") != NULL);
		if (unit_bad) {
			printf("# call %u: %s\n", n, err.text);
			return;
		}
	}
	CHECK(n > least && n < 100);
}

static void calls_fail(void)
{
	static const struct {
		const void *data;
		size_t len;
	} files[] = {
		{BYTES(PACKED_ROWS)},
		{BYTES(PACKED_ROWS PACKED_TRAILER)},
		{packed_gzip, sizeof(packed_gzip)},
		{packed_zstd, sizeof(packed_zstd)},
	};

	REQUIRE(enter_folder());
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		REQUIRE(put("x", files[i].data, files[i].len));
		fail_each(&fail_pread, 3);
		fail_each(&fail_fstat, 3);
		fail_each(&fail_open, 2);
	}
	leave_folder();
}

static void calls_are_repeated(void)
{
	unsigned n = 1;

	REQUIRE(enter_folder());
	PUT("x", PACKED_ROWS);
	for (; n < 100; n++) {
		struct error err = ERROR_INIT;
		struct telling t;
		size_t count;
		bool met;

		interrupt = n;
		CHECK(read_file(false, &t, &count, &err) == 0);
		met = interrupt == 0;
		interrupt = 0;
		CHECK_STR(err.text, "");
		buf_release(&t.out);
		if (!met)
			break;
	}
	CHECK(n > 5 && n < 100);
	leave_folder();
}

/* All kinds of files, while the n-th allocation fails. */
static bool survive(const char *word, bool on, unsigned long n)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct source_part *parts = NULL;
	struct stream *stream = NULL;
	size_t count = 0;
	bool met;
	int rc;

	alloc_fail(n, on);
	rc = source_open(&word, 1, &plain_source, &source, &err);
	if (rc == 0)
		rc = source->ops->split(source, 1, &text_a, &parts, &count,
					&err);
	if (rc == 0)
		rc = source->ops->open(source, parts, &stream, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	CHECK((stream == NULL) == met);
	if (rc != 0) {
		const char *text = strstr(err.text, "out of memory");

		CHECK_U64(err.code, ERROR_INTERNAL);
		CHECK(text == err.text || strncmp(err.text, word, 4) == 0);
	}
	if (stream != NULL)
		stream->ops->close(stream);
	source_parts_free(parts, count);
	if (source != NULL)
		source->ops->free(source);
	return met;
}

static void without_memory(void)
{
	static const char *const words[] = {"file:t", "file:g", "file:z"};

	ALLOC_NEEDED();
	REQUIRE(enter_folder());
	PUT("t", PACKED_ROWS PACKED_TRAILER);
	REQUIRE(put("g", packed_gzip, sizeof(packed_gzip)));
	REQUIRE(put("z", packed_zstd, sizeof(packed_zstd)));
	for (size_t i = 0; i < 3; i++) {
		unsigned long n = 1;

		while (n < 100 && survive(words[i], true, n)) {
			survive(words[i], false, n);
			n++;
		}
		CHECK(n > 8 && n < 100);
	}
	/* A pipe that has all that it needs before it is read. */
	REQUIRE(mkfifo("f", 0600) == 0);
	for (unsigned long n = 1; n < 100; n++) {
		int fd = __real_open("f", O_RDWR);
		bool met;

		REQUIRE(fd >= 0 &&
			write(fd, PACKED_ROWS PACKED_ROWS PACKED_ROWS, 18) ==
				18);
		met = survive("file:f", false, n);
		(void)close(fd);
		if (!met)
			break;
		CHECK(n < 99);
	}
	leave_folder();
}

int main(void)
{
	UNIT(globs, "file: a pattern that cannot be matched is told");
	UNIT(file_systems, "file: an inode is one of its file system");
	UNIT(shorter, "file: a file that ends too soon is told");
	UNIT(calls_fail, "file: each call that fails is told, the file once");
	UNIT(calls_are_repeated, "file: interrupted calls are repeated");
	UNIT(without_memory, "file: each failing allocation is survived");
	return unit_end();
}
