/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is of no kind of source; words that are no source: test_file.c.
 */
#include "lib/rows/source.h"

#include "tests/unit/rows/files.h"

static void check_label(const char *text, const char *label)
{
	struct error err = ERROR_INIT;
	char *out = NULL;

	CHECK(source_label(text, &out, &err) == 0);
	CHECK_STR(out, label);
	free(out);
}

static void labels(void)
{
	check_label("file:/a b/*.csv", "file:/a b/*.csv");
	check_label("-", "-");
	check_label("exec:psql -c 'secret'", "exec:psql ...");
	check_label("exec:PGPASSWORD=secret psql", "exec:...");
	check_label("exec:", "exec:...");
	check_label("exec", "exec");
	check_label("executive:x", "executive:x");
	check_label("", "");
}

static bool survive_label(const char *text, unsigned long n)
{
	struct error err = ERROR_INIT;
	char *out = (char *)"none";
	bool met;
	int rc;

	alloc_fail(n, false);
	rc = source_label(text, &out, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	CHECK((out == NULL) == met);
	if (met)
		CHECK_STR(err.text, "out of memory");
	free(out);
	return met;
}

static void labels_without_memory(void)
{
	ALLOC_NEEDED();
	CHECK(survive_label("file:x", 1) && !survive_label("file:x", 2));
	CHECK(survive_label("exec:x", 1) && !survive_label("exec:x", 2));
}

static void mixed(void)
{
	static const char *const words[] = {"exec:true", "-", "file:x"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	CHECK(source_open(words, 2, &plain_source, &source, &err) == -1);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK_STR(err.text, "sources of different kinds, 'exec' and '-'");
	CHECK(source_open(words + 1, 2, &plain_source, &source, &err) == -1);
	CHECK_STR(err.text, "sources of different kinds, '-' and 'file'");
	CHECK(source == NULL);
}

static void parts(void)
{
	struct source_part *list = NULL;
	struct error err = ERROR_INIT;
	size_t count = 0;

	source_parts_free(NULL, 3);
	for (size_t i = 0; i < 100; i++) {
		char name[32];
		struct source_part *part;

		snprintf(name, sizeof(name), "part %zu", i);
		part = source_part_add(&list, &count, name, &err);
		REQUIRE(part == &list[i]);
		CHECK_U64(count, i + 1);
		CHECK_STR(part->name, name);
		CHECK(part->at_end && part->header == NULL);
		CHECK(part->index == 0 && part->start == 0 && part->end == 0 &&
		      part->header_len == 0);
	}
	CHECK_STR(list[0].name, "part 0");
	source_parts_free(list, count);
}

static void parts_without_memory(void)
{
	struct source_part *list = NULL;
	size_t count = 0;

	ALLOC_NEEDED();
	for (unsigned long n = 1; n <= 6; n++) {
		struct error err = ERROR_INIT;
		struct source_part *part;
		size_t before = count;

		/* The name and the list, in turn. */
		alloc_fail(n % 3, false);
		part = source_part_add(&list, &count, "x", &err);
		CHECK(alloc_pass() == (part == NULL));
		CHECK((part == NULL) == (n % 3 != 0));
		CHECK_U64(count, before + (part != NULL));
		CHECK_STR(err.text, part == NULL ? "out of memory" : "");
	}
	CHECK_U64(count, 2);
	source_parts_free(list, count);
}

static void counts(void)
{
	struct stream s = {.counted = false, .rows = 3};
	struct error err = ERROR_INIT;

	CHECK(stream_check_rows(&s, 0, &err) == 0);
	s.counted = true;
	CHECK(stream_check_rows(&s, 3, &err) == 0);
	CHECK_U64(err.code, ERROR_NONE);
	CHECK(stream_check_rows(&s, 2, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "its trailer says 3 rows, and 2 were read");
	CHECK_STR(err.hint, "read it with the row format and the header with "
			    "which it was exported");
	CHECK(stream_check_rows(&s, 4, &err) == -1);
	s.rows = 0;
	CHECK(stream_check_rows(&s, 0, &err) == 0);
	CHECK(stream_check_rows(&s, 1, &err) == -1);
}

int main(void)
{
	UNIT(labels, "source: a label shows no argument of a command");
	UNIT(labels_without_memory, "source: a label may find no memory");
	UNIT(mixed, "source: kinds are not mixed");
	UNIT(parts, "source: parts are added one by one");
	UNIT(parts_without_memory, "source: a part may find no memory");
	UNIT(counts, "source: rows are held to the number that is told");
	return unit_end();
}
