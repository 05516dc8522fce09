/* SPDX-License-Identifier: BSD-2-Clause
 *
 * rejects: what the tests of lists of rejects share: a folder, and rows of two
 * fields.
 */
#ifndef BLOOMCTL_TESTS_UNIT_JOB_REJECTS_H
#define BLOOMCTL_TESTS_UNIT_JOB_REJECTS_H

#include <fcntl.h>
#include <unistd.h>

#include "lib/job/rejects.h"
#include "tests/unit/alloc.h"
#include "tests/unit/job/job.h"

static char folder[256];
static struct bloomkey_spec *spec;

static inline bool enter(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/bloomctl-rejects-XXXXXX",
		 parent != NULL ? parent : "/tmp");
	spec = job_spec("[keyspec]\nversion = 1\nname = s\nbuckets = 1\n"
			"key = {a}:{b}\nfilter = s\n"
			"[field b]\ncolumn = the column\n");
	return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static inline void leave(void)
{
	(void)unlink("r");
	CHECK(chdir("/") == 0);
	CHECK(rmdir(folder) == 0);
	bloomkey_free(spec);
}

/* The contents of file 'r', to be freed. */
static inline char *list(void)
{
	char *text = calloc(1, 1u << 20);
	int fd = open("r", O_RDONLY);

	if (text == NULL || fd < 0 || read(fd, text, (1u << 20) - 1) < 0)
		CHECK_STR("no list", "");
	(void)close(fd);
	return text;
}

static inline void check_list(const char *expected)
{
	char *text = list();

	CHECK_STR(text, expected);
	free(text);
}

/* A row of two values; NULL is NULL. */
static inline int add(struct rejects *r, const char *a, const char *b,
		      uint64_t number, int code, size_t field,
		      struct error *err)
{
	const void *values[] = {a, b};
	size_t lens[] = {a != NULL ? strlen(a) : 0, b != NULL ? strlen(b) : 0};
	struct row row = {.values = values, .lens = lens, .number = number};

	return rejects_add(r, "file 'x\ty'", &row, code, field, err);
}

#endif
