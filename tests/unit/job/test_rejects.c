/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/job/rejects.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/job/rejects.h"

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
	CHECK(dprintf(fd, "source\trow\tfield\treason\tid\nsecret\n") > 0);
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

int main(void)
{
	UNIT(reasons, "rejects: reasons are named as keys name them");
	UNIT(words, "rejects: a reject is told by field and reason");
	UNIT(the_first_ends, "rejects: the first ends a scan, unless allowed");
	UNIT(counts, "rejects: so many are counted by reason and passed over");
	UNIT(lists, "rejects: the list is COPY text for its owner");
	UNIT(threads, "rejects: threads count and list side by side");
	return unit_end();
}
