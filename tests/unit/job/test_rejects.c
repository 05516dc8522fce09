/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/rejects.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/alloc.h"
#include "tests/unit/job/job.h"

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

static char folder[256];
static struct bloomkey_spec *spec;

static bool enter(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/bloomctl-rejects-XXXXXX",
		 parent != NULL ? parent : "/tmp");
	spec = job_spec("[keyspec]\nversion = 1\nname = s\nbuckets = 1\n"
			"key = {a}:{b}\nfilter = s\n"
			"[field b]\ncolumn = the column\n");
	return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static void leave(void)
{
	(void)unlink("r");
	CHECK(chdir("/") == 0);
	CHECK(rmdir(folder) == 0);
	bloomkey_free(spec);
}

/* The contents of file 'r', to be freed. */
static char *list(void)
{
	char *text = calloc(1, 1u << 20);
	int fd = open("r", O_RDONLY);

	if (text == NULL || fd < 0 || read(fd, text, (1u << 20) - 1) < 0)
		CHECK_STR("no list", "");
	(void)__real_close(fd);
	return text;
}

static void check_list(const char *expected)
{
	char *text = list();

	CHECK_STR(text, expected);
	free(text);
}

/* A row of two values; NULL is NULL. */
static int add(struct rejects *r, const char *a, const char *b, uint64_t number,
	       int code, size_t field, struct error *err)
{
	const void *values[] = {a, b};
	size_t lens[] = {a != NULL ? strlen(a) : 0, b != NULL ? strlen(b) : 0};
	struct row row = {.values = values, .lens = lens, .number = number};

	return rejects_add(r, "file 'x\ty'", &row, code, field, err);
}

static void reasons(void)
{
	static const int codes[] = {
#define BLOOMKEY_REJECT_ROW(name, code, text) code,
#include "lib/bloomkey/reject.def"
#undef BLOOMKEY_REJECT_ROW
	};

	CHECK_U64(sizeof(codes) / sizeof(codes[0]), REJECTS_REASONS);
	for (unsigned i = 0; i < REJECTS_REASONS; i++)
		CHECK_STR(rejects_reason_name((enum rejects_reason)i),
			  bloomkey_reason(codes[i]));
}

static void words(void)
{
	struct error err = ERROR_INIT;

	REQUIRE(enter());
	CHECK(rejects_error(spec, -10, 1, &err) == -1);
	CHECK_U64(err.code, ERROR_ROWS);
	CHECK_STR(err.text, "field 'b': no key: null");
	CHECK(strstr(err.hint, "see REJECTS in bloomctl(1)") != NULL);
	CHECK(rejects_error(spec, -11, 2, &err) == -1);
	CHECK_STR(err.text, "whole key: no key: too-long");
	CHECK(rejects_error(spec, 5, 0, &err) == -1);
	CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK_STR(err.text, "key function: result 5");
	leave();
}

static void the_first_ends(void)
{
	struct rejects r = {.max = 0};
	struct error err = ERROR_INIT;

	REQUIRE(enter());
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	CHECK(add(&r, NULL, "b", 7, -10, 0, &err) == -1);
	CHECK_U64(err.code, ERROR_ROWS);
	CHECK_STR(err.text, "row 7: field 'a': no key: null");
	CHECK(strstr(err.hint, "see REJECTS") != NULL);
	CHECK_U64(r.count.total, 0);
	CHECK(rejects_end(&r, &err) == 0);
	leave();
}

static void counts(void)
{
	struct rejects r = {.max = 3};
	struct error err = ERROR_INIT;

	REQUIRE(enter());
	for (int again = 0; again < 2; again++) {
		memset(&err, 0, sizeof(err));
		REQUIRE(rejects_begin(&r, spec, &err) == 0);
		CHECK_U64(r.count.total, 0);
		CHECK_U64(r.count.reasons[REJECTS_NULL], 0);
		CHECK(add(&r, NULL, "b", 1, -10, 0, &err) == 0);
		CHECK(add(&r, "a", "", 2, -13, 1, &err) == 0);
		CHECK(add(&r, "a", NULL, 5, -10, 1, &err) == 0);
		/* What is no reason is not counted. */
		CHECK(add(&r, "a", "b", 6, 1, 0, &err) == -1);
		CHECK_U64(err.code, ERROR_INTERNAL);
		for (int i = 0; i < 2; i++) {
			CHECK(add(&r, "a", "b", 9, -11, 2, &err) == -1);
			CHECK_U64(err.code, ERROR_ROWS);
			CHECK_STR(err.text,
				  "row 9: whole key: no key: too-long");
			CHECK_STR(err.hint,
				  "3 rows without a key were passed over "
				  "before it, which is all that --max-rejects "
				  "allows");
		}
		CHECK_U64(r.count.total, 3);
		CHECK_U64(r.count.reasons[REJECTS_NULL], 2);
		CHECK_U64(r.count.reasons[REJECTS_EMPTY], 1);
		CHECK_U64(r.count.reasons[REJECTS_TOO_LONG], 0);
		CHECK(rejects_end(&r, &err) == 0);
		/* They are there behind the end. */
		CHECK_U64(r.count.total, 3);
	}
	leave();
}

static void lists(void)
{
	struct rejects r = {.max = 2, .path = "r"};
	struct error err = ERROR_INIT;
	struct stat st;
	int fd;

	REQUIRE(enter());
	/* One that was there, longer, and for others to read. */
	fd = open("r", O_CREAT | O_WRONLY, 0644);
	CHECK(fchmod(fd, 0644) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(write(fd, "secret\n", 7) == 7);
	(void)close(fd);
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	check_list("source\trow\tfield\treason\n");
	CHECK(stat("r", &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK(add(&r, NULL, "b", 1, -10, 0, &err) == 0);
	CHECK(add(&r, "a", "b", UINT64_MAX, -11, 2, &err) == 0);
	/* The one too many is listed. */
	CHECK(add(&r, "a", "\xff", 3, -12, 1, &err) == -1);
	CHECK_U64(err.code, ERROR_ROWS);
	CHECK(rejects_end(&r, &err) == 0);
	CHECK(r.fd == -1);
	check_list("source\trow\tfield\treason\n"
		   "file 'x\\ty'\t1\ta\tnull\n"
		   "file 'x\\ty'\t18446744073709551615\t\\N\ttoo-long\n"
		   "file 'x\\ty'\t3\tb\tencoding\n");
	/* Begun anew, with values. */
	r.raw = true;
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	CHECK(add(&r, NULL, "b\n\\\xff", 1, -10, 0, &err) == 0);
	CHECK(add(&r, "", "\\N", 2, -13, 0, &err) == 0);
	CHECK(rejects_end(&r, &err) == 0);
	check_list("source\trow\tfield\treason\ta\tthe column\n"
		   "file 'x\\ty'\t1\ta\tnull\t\\N\tb\\n\\\\\\xff\n"
		   "file 'x\\ty'\t2\ta\tempty\t\t\\\\N\n");
	leave();
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
	check_begin("r", ERROR_DATA,
		    "rejects file 'r': cannot open it: No such device or "
		    "address");
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

#define THREADS 4
#define EACH    3000u

struct adding {
	struct rejects *r;
	unsigned refused;
};

static void *add_many(void *arg)
{
	struct adding *a = arg;

	for (unsigned i = 0; i < EACH; i++) {
		struct error err = ERROR_INIT;

		if (add(a->r, NULL, "b", i + 1, -10, 0, &err) != 0)
			a->refused++;
	}
	return NULL;
}

static void threads(void)
{
	struct rejects r = {.max = THREADS * EACH - 10, .path = "r"};
	struct adding all[THREADS];
	struct error err = ERROR_INIT;
	pthread_t thread[THREADS];
	unsigned refused = 0, lines = 0;
	char *text;

	REQUIRE(enter());
	REQUIRE(rejects_begin(&r, spec, &err) == 0);
	for (unsigned i = 0; i < THREADS; i++) {
		all[i] = (struct adding){&r, 0};
		REQUIRE(pthread_create(&thread[i], NULL, add_many, &all[i]) ==
			0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK(pthread_join(thread[i], NULL) == 0);
		refused += all[i].refused;
	}
	CHECK(rejects_end(&r, &err) == 0);
	CHECK_U64(refused, 10);
	CHECK_U64(r.count.total, r.max);
	CHECK_U64(r.count.reasons[REJECTS_NULL], r.max);
	text = list();
	for (char *line = strchr(text, '\n'); line != NULL && line[1] != '\0';
	     line = strchr(line + 1, '\n')) {
		CHECK(strncmp(line + 1, "file 'x\\ty'\t", 12) == 0);
		lines++;
	}
	CHECK_U64(lines, THREADS * EACH);
	free(text);
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
	UNIT(reasons, "rejects: reasons are named as keys name them");
	UNIT(words, "rejects: a reject is told by field and reason");
	UNIT(the_first_ends, "rejects: the first ends a scan, unless allowed");
	UNIT(counts, "rejects: so many are counted by reason and passed over");
	UNIT(lists, "rejects: the list is COPY text for its owner");
	UNIT(not_begun, "rejects: a list that cannot be begun is told");
	UNIT(not_written, "rejects: a list that cannot be written is told");
	UNIT(threads, "rejects: threads count and list side by side");
	UNIT(without_memory, "rejects: each failing allocation is survived");
	return unit_end();
}
