/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lists of rejects where calls of the system and allocations fail.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/job/rejects.h"

/* Calls of the system that fail: with an errno value; 0: they work. */
static struct {
	int write, close, fstat, fchmod, ftruncate;
} fault;

ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len);
int __real_close(int fd);
int __wrap_close(int fd);
int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __real_ftruncate(int fd, off_t len);
int __wrap_ftruncate(int fd, off_t len);

static bool fails(int errnum)
{
	errno = errnum;
	return errnum != 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	return fails(fault.write) ? -1 : __real_write(fd, data, len);
}

int __wrap_close(int fd)
{
	int rc = __real_close(fd);

	return fails(fault.close) ? -1 : rc;
}

int __wrap_fstat(int fd, struct stat *st)
{
	return fails(fault.fstat) ? -1 : __real_fstat(fd, st);
}

int __wrap_fchmod(int fd, mode_t mode)
{
	return fails(fault.fchmod) ? -1 : __real_fchmod(fd, mode);
}

int __wrap_ftruncate(int fd, off_t len)
{
	return fails(fault.ftruncate) ? -1 : __real_ftruncate(fd, len);
}

static void check_begin(const char *path, enum error_code code,
			const char *text)
{
	struct rejects r = {.path = path};
	struct error err = ERROR_INIT, end = ERROR_INIT;

	CHECK(rejects_begin(&r, spec, &err) == -1);
	memset(&fault, 0, sizeof(fault));
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK(rejects_end(&r, &end) == 0);
}

static void not_begun(void)
{
	REQUIRE(enter());
	check_begin("no/r", ERROR_DATA,
		    "rejects file 'no/r': cannot open it: No such file or "
		    "directory");
	check_begin("/", ERROR_DATA,
		    "rejects file '/': cannot open it: Is a directory");
	check_begin("/dev/null", ERROR_DATA,
		    "rejects file '/dev/null': not a regular file");
	REQUIRE(mkfifo("r", 0600) == 0);
	check_begin("r", ERROR_DATA, "rejects file 'r': not a regular file");
	REQUIRE(unlink("r") == 0);
	fault.fstat = EIO;
	check_begin("r", ERROR_DATA,
		    "rejects file 'r': cannot look at it: Input/output error");
	fault.fchmod = EPERM;
	check_begin("r", ERROR_RIGHTS,
		    "rejects file 'r': cannot begin it: Operation not "
		    "permitted");
	fault.ftruncate = EIO;
	check_begin("r", ERROR_DATA,
		    "rejects file 'r': cannot begin it: Input/output error");
	fault.write = ENOSPC;
	check_begin("r", ERROR_SPACE,
		    "rejects file 'r': cannot write it: No space left on "
		    "device");
	leave();
}

static void not_written(void)
{
	struct rejects r = {.max = 1u << 20, .path = "r"};
	static char value[20000];
	struct error err = ERROR_INIT;
	uint64_t n = 0;

	REQUIRE(enter());
	memset(value, 'v', sizeof(value) - 1);
	r.raw = true;
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	fault.write = ENOSPC;
	while (add(&r, value, NULL, n + 1, -10, 1, &err) == 0 && n < 100)
		n++;
	/* When 64 KiB are there. */
	CHECK_U64(n, 3);
	CHECK_U64(r.count.total, 3);
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK_STR(err.text, "rejects file 'r': cannot write it: No space left "
			    "on device");
	CHECK(add(&r, NULL, "b", 9, -10, 0, &err) == 0);
	memset(&err, 0, sizeof(err));
	CHECK(rejects_end(&r, &err) == -1);
	CHECK_U64(err.code, ERROR_SPACE);
	fault.write = 0;
	memset(&err, 0, sizeof(err));
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	fault.close = EDQUOT;
	CHECK(rejects_end(&r, &err) == -1);
	fault.close = 0;
	CHECK_U64(err.code, ERROR_SPACE);
	CHECK_STR(err.text, "rejects file 'r': cannot write it: Disk quota "
			    "exceeded");
	leave();
}

static bool survive(unsigned long n, bool on)
{
	struct rejects r = {.max = 99, .path = "r", .raw = true};
	static char value[1000];
	struct error err = ERROR_INIT, end = ERROR_INIT;
	unsigned rows = 0;
	bool met;
	int rc;

	memset(value, 'v', sizeof(value) - 1);
	alloc_fail(n, on);
	rc = rejects_begin(&r, spec, &err);
	while (rc == 0 && rows < 20) {
		rc = add(&r, value, "b", rows + 1, -10, 1, &err);
		rows += rc == 0;
	}
	met = alloc_pass();
	CHECK((rc != 0) == met);
	CHECK_STR(err.text, met ? "out of memory" : "");
	CHECK_U64(r.count.total, rows);
	CHECK(rejects_end(&r, &end) == 0);
	if (rc != 0) {
		/* Whole lines only. */
		char *text = list();
		size_t len = strlen(text);

		CHECK(len == 0 || (strncmp(text, "source\t", 7) == 0 &&
				   text[len - 1] == '\n'));
		free(text);
	}
	return met;
}

static void without_memory(void)
{
	unsigned long n = 1;

	ALLOC_NEEDED();
	REQUIRE(enter());
	while (n < 50 && survive(n, false)) {
		survive(n, true);
		n++;
	}
	CHECK(n > 3 && n < 50);
	leave();
}

int main(void)
{
	UNIT(not_begun, "rejects: a list that cannot be begun is told");
	UNIT(not_written, "rejects: a list that cannot be written is told");
	UNIT(without_memory, "rejects: each failing allocation is survived");
	return unit_end();
}
