/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files that are more than their rows, pipes among files, and calls that
 * fail; the words and patterns are tested in test_file.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/unit/rows/files.h"
#include "tests/unit/rows/packed.h"

/* The n-th call from now on fails, or is interrupted; 0: none. */
static unsigned fail_pread, fail_fstat, fail_open, interrupt;
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
	return fails(&fail_pread) ? -1 : __real_pread(fd, buf, len, offset);
}

int __wrap_fstat(int fd, struct stat *st)
{
	errno = EIO;
	return fail_fstat > 0 && --fail_fstat == 0 ? -1 : __real_fstat(fd, st);
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

#define TOLD "1 <1>\n2 <2>\n3 <3>\n"

/*
 * Opens file 'x', cuts it as small as may be, and reads all parts; *count is
 * their number.
 */
static int read_file(bool no_trailer, struct telling *t, size_t *count,
		     struct error *err)
{
	const struct source_options options = {.no_trailer = no_trailer};
	const char *word = "file:x";
	struct source *source = NULL;
	struct source_part *parts = NULL;
	int rc;

	memset(t, 0, sizeof(*t));
	t->wanted = 1;
	buf_init(&t->out, 4096);
	*count = 0;
	rc = source_open(&word, 1, &options, &source, err);
	if (rc != 0) {
		CHECK(source == NULL);
		return rc;
	}
	((struct file_source *)source)->part_min = 2;
	rc = source->ops->split(source, 3, &text_a, &parts, count, err);
	CHECK((parts != NULL) == (rc == 0));
	for (size_t i = 0; rc == 0 && i < *count; i++)
		rc = read_part(source, &parts[i], &text_a, 4096, t, err);
	source_parts_free(parts, *count);
	source->ops->free(source);
	return rc;
}

static void check_file(const void *data, size_t len, const char *told,
		       size_t parts, const char *text)
{
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;

	REQUIRE(put("x", data, len));
	CHECK((read_file(false, &t, &count, &err) == 0) == (text[0] == '\0'));
	CHECK_STR(err.text, text);
	CHECK_STR(buf_string(&t.out), told);
	CHECK_U64(count, parts);
	buf_release(&t.out);
}

static void whole_files(void)
{
	REQUIRE(enter_folder());
	/* For comparison: this one is cut. */
	check_file(BYTES(PACKED_ROWS), "1 <1>\n1 <2>\n1 <3>\n", 3, "");
	check_file(packed_gzip, sizeof(packed_gzip), TOLD, 1, "");
	check_file(packed_zstd, sizeof(packed_zstd), TOLD, 1, "");
	check_file(packed_trailer, sizeof(packed_trailer), TOLD, 1, "");
	check_file(packed_empty, sizeof(packed_empty), "", 1, "");
	check_file(BYTES(PACKED_ROWS PACKED_TRAILER), TOLD, 1, "");
	check_file(BYTES("1\n2\n4\n" PACKED_TRAILER), "", 1,
		   "the trailer's checksum is not that of the bytes before it");
	check_file(packed_twice, sizeof(packed_twice), "", 0,
		   "file 'x': it is packed twice");
	check_file(packed_dump, sizeof(packed_dump), "", 0,
		   "file 'x': it is pg_dump's custom format by its first "
		   "bytes, not rows");
	leave_folder();
}

/* The bytes that will be read are known unless something is to be unpacked. */
static void check_bytes(const void *data, size_t len, uint64_t bytes)
{
	struct source *source;

	REQUIRE(put("x", data, len));
	source = open_one("file:x");
	REQUIRE(source != NULL);
	CHECK_U64(source->ops->bytes(source), bytes);
	CHECK(!source->once);
	source->ops->free(source);
}

static void bytes(void)
{
	static const char rows[] = PACKED_ROWS PACKED_TRAILER;

	REQUIRE(enter_folder());
	check_bytes(BYTES(PACKED_ROWS), sizeof(PACKED_ROWS) - 1);
	check_bytes(BYTES(rows), sizeof(rows) - 1);
	check_bytes(packed_gzip, sizeof(packed_gzip), 0);
	leave_folder();
}

/* Writes to FIFO 'x' from another process. */
static void check_fifo(const void *data, size_t len, bool no_trailer,
		       const char *told, const char *text)
{
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = __real_open("x", O_WRONLY);

		_exit(write(fd, data, len) == (ssize_t)len ? 0 : 1);
	}
	REQUIRE(pid > 0);
	CHECK((read_file(no_trailer, &t, &count, &err) == 0) ==
	      (text[0] == '\0'));
	CHECK_STR(err.text, text);
	CHECK_STR(buf_string(&t.out), told);
	CHECK_U64(count, 1);
	buf_release(&t.out);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void fifos(void)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	static const char *const words[] = {"file:x", "file:y"};

	REQUIRE(enter_folder());
	REQUIRE(mkfifo("x", 0600) == 0 && link("x", "y") == 0);
	check_fifo(BYTES(PACKED_ROWS PACKED_TRAILER), false, TOLD, "");
	check_fifo(packed_trailer, sizeof(packed_trailer), false, TOLD, "");
	check_fifo(packed_gzip, sizeof(packed_gzip), true, TOLD, "");
	check_fifo(BYTES(PACKED_ROWS), true, TOLD, "");
	check_fifo(BYTES(PACKED_ROWS), false, "",
		   "it ends without a trailer, so nobody says that it is "
		   "whole");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	CHECK(source->once);
	CHECK_U64(source->ops->bytes(source), 0);
	source->ops->free(source);
	CHECK(source_open(words, 2, &plain_source, &source, &err) == -1);
	CHECK_STR(err.text, "file 'x' and file 'y' are the same");
	leave_folder();
}

static void sockets(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "x"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;

	REQUIRE(enter_folder());
	REQUIRE(fd >= 0 &&
		bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
	CHECK(read_file(false, &t, &count, &err) == -1);
	CHECK_U64(err.code, ERROR_SOURCE);
	CHECK_STR(err.text, "file 'x': neither a regular file nor a pipe");
	(void)close(fd);
	leave_folder();
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
	UNIT(whole_files, "file: packed ones and those with trailers stay one");
	UNIT(bytes, "file: how many bytes there are is known or 0");
	UNIT(fifos, "file: a pipe among files needs its trailer");
	UNIT(sockets, "file: a socket is no file");
	UNIT(globs, "file: a pattern that cannot be matched is told");
	UNIT(calls_fail, "file: each call that fails is told, the file once");
	UNIT(calls_are_repeated, "file: interrupted calls are repeated");
	UNIT(without_memory, "file: each failing allocation is survived");
	return unit_end();
}
