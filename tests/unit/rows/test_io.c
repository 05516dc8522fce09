/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reads of a file that fail, are interrupted or come up short, one after the
 * other: each is told and names the file, and none makes other rows.
 */
#include <errno.h>

#include "tests/unit/rows/files.h"

static struct {
	unsigned long made; /* calls since the last arm() */
	unsigned long hit;  /* the one that fails; 0: none */
	int errnum;         /* its error; 0: the end of the file */
} reads, stats;

/* Each file that is looked at lies on a device of its own. */
static bool devices_differ;

static bool hits(void *what)
{
	unsigned long *made = what;

	/* made and hit stand side by side. */
	return ++made[0] == made[1];
}

ssize_t __real_pread(int fd, void *buf, size_t len, off_t offset)
	__attribute__((weak));
int __real_fstat(int fd, struct stat *st) __attribute__((weak));
ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset);
int __wrap_fstat(int fd, struct stat *st);

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t offset)
{
	if (!hits(&reads))
		return __real_pread(fd, buf, len, offset);
	errno = reads.errnum;
	return reads.errnum != 0 ? -1 : 0;
}

int __wrap_fstat(int fd, struct stat *st)
{
	if (!hits(&stats)) {
		int rc = __real_fstat(fd, st);

		if (devices_differ)
			st->st_dev += stats.made;
		return rc;
	}
	errno = stats.errnum;
	return -1;
}

static int read_parts(struct source *source, const struct rowformat *format,
		      struct telling *t, struct error *err)
{
	struct source_part *parts = NULL;
	size_t count = 0;
	int rc;

	((struct file_source *)source)->part_min = 3;
	rc = source->ops->split(source, 4, format, &parts, &count, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = read_part(source, &parts[i], format, 5, t, err);
	source_parts_free(parts, count);
	return rc;
}

/* A file that is cut otherwise has the same rows with other numbers. */
static void strip_numbers(char *rows)
{
	char *to = rows;

	for (const char *from = rows; *from != '\0';) {
		from += strspn(from, "0123456789");
		do {
			*to++ = *from;
		} while (*from++ != '\n');
	}
	*to = '\0';
}

/* Opens file x, cuts it and reads it; the rows are the caller's to free. */
static int read_file(const struct rowformat *format, char **out,
		     struct error *err)
{
	static const char *const word = "file:x";
	struct telling t = {.wanted = 1};
	struct source *source = NULL;
	int fd = next_fd();
	int rc;

	memset(err, 0, sizeof(*err));
	buf_init(&t.out, 1u << 20);
	rc = source_open(&word, 1, &plain_source, &source, err);
	if (rc == 0)
		rc = read_parts(source, format, &t, err);
	if (source != NULL)
		source->ops->free(source);
	*out = buf_string(&t.out);
	strip_numbers(*out);
	CHECK_U64(next_fd(), fd);
	CHECK((rc != 0) == (err->code != ERROR_NONE));
	return rc;
}

/* Cut before a row that begins with a BOM, and behind backslashes. */
static bool put_file(void)
{
	return put("x", BYTES("a\n1\\\\\n\xef\xbb\xbf"
			      "2\n3\\\n4\n\xef\xbb\xbf"
			      "5\n6\n7\n8\n9\n"));
}

static void check_told(const char *const *texts, const struct error *err)
{
	for (; *texts != NULL; texts++) {
		if (strcmp(*texts, err->text) == 0)
			return;
	}
	CHECK_STR(err->text, "one that is expected");
}

/* Each read fails with errnum; EINTR does no harm. */
static void fail_reads(int errnum, const char *const *texts)
{
	struct rowformat formats[] = {text_a, text_a};
	unsigned long total;

	REQUIRE(__real_pread != NULL && put_file());
	formats[1].header = true;
	for (size_t i = 0; i < 2; i++) {
		struct error err;
		char *all, *some;

		memset(&reads, 0, sizeof(reads));
		REQUIRE(read_file(&formats[i], &all, &err) == 0);
		total = reads.made;
		CHECK(total > 12);
		for (unsigned long n = 1; n <= total; n++) {
			reads.made = 0;
			reads.hit = n;
			reads.errnum = errnum;
			if (read_file(&formats[i], &some, &err) == 0) {
				CHECK_STR(some, all);
			} else {
				check_told(texts, &err);
				CHECK(strncmp(some, all, strlen(some)) == 0);
			}
			/* An end of file may be met where it does no harm.
			 */
			if (errnum != 0)
				CHECK((errnum == EIO) ==
				      (err.code != ERROR_NONE));
			free(some);
		}
		free(all);
	}
	reads.hit = 0;
}

static void failing_reads(void)
{
	static const char *const texts[] = {
		"file 'x': cannot read it: Input/output error", NULL};

	if (__real_pread == NULL)
		SKIP("not linked with --wrap");
	REQUIRE(enter_folder());
	fail_reads(EIO, texts);
	leave_folder();
}

static void interrupted_reads(void)
{
	static const char *const texts[] = {NULL};

	if (__real_pread == NULL)
		SKIP("not linked with --wrap");
	REQUIRE(enter_folder());
	fail_reads(EINTR, texts);
	leave_folder();
}

static void short_reads(void)
{
	static const char *const texts[] = {
		"file 'x': it became shorter while it was read", NULL};

	if (__real_pread == NULL)
		SKIP("not linked with --wrap");
	REQUIRE(enter_folder());
	fail_reads(0, texts);
	leave_folder();
}

static void failing_stats(void)
{
	struct error err;
	unsigned long total;
	char *rows;

	if (__real_fstat == NULL)
		SKIP("not linked with --wrap");
	REQUIRE(enter_folder() && put_file());
	memset(&stats, 0, sizeof(stats));
	stats.errnum = EIO;
	CHECK(read_file(&text_a, &rows, &err) == 0);
	free(rows);
	total = stats.made;
	CHECK(total > 6);
	for (unsigned long n = 1; n <= total; n++) {
		stats.made = 0;
		stats.hit = n;
		CHECK(read_file(&text_a, &rows, &err) == -1);
		CHECK_U64(err.code, n == 1 ? ERROR_SOURCE : ERROR_DATA);
		CHECK_STR(err.text,
			  "file 'x': cannot look at it: Input/output error");
		free(rows);
	}
	stats.hit = 0;
	leave_folder();
}

static void same_inode(void)
{
	static const char *const words[] = {"file:x", "file:y", "file:z"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	if (__real_fstat == NULL)
		SKIP("not linked with --wrap");
	REQUIRE(enter_folder() && put_file());
	REQUIRE(link("x", "y") == 0 && link("x", "z") == 0);
	CHECK(source_open(words, 3, &plain_source, &source, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	devices_differ = true;
	CHECK(source_open(words, 3, &plain_source, &source, &err) == 0);
	devices_differ = false;
	if (source != NULL)
		source->ops->free(source);
	leave_folder();
}

int main(void)
{
	UNIT(failing_reads, "file: each read that fails is told");
	UNIT(interrupted_reads, "file: each interrupted read is made again");
	UNIT(short_reads, "file: each short read is told or does no harm");
	UNIT(failing_stats, "file: each failing look at a file is told");
	UNIT(same_inode, "file: one inode on two devices is two files");
	return unit_end();
}
