/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/rows/files.h"

/* A small generator, so that a failure can be seen again. */
static uint32_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)(random_state >> 8) * below) >> 24);
}

/* Valid COPY text of one column, hard to cut. */
static void make_text(struct buf *b, bool crlf)
{
	static const char *const pieces[] = {
		"a",    "bc",       "\\\\", "\\\\\\\\\\\\", "\\\n",
		"\\n",  "\\\\\\\n", "\\N",  "\\\\\\\\",     "\\x41",
		"\\\t", "\xc3\xa4", "\\\r", "\xef\xbb\xbf"};
	uint32_t rows = draw(40);
	uint32_t kinds = sizeof(pieces) / sizeof(pieces[0]);

	b->len = 0;
	for (uint32_t i = 0; i < rows; i++) {
		/* A BOM at the very beginning is refused. */
		if (i == 0)
			buf_adds(b, "a");
		for (uint32_t n = draw(6); n > 0; n--)
			buf_adds(b, pieces[draw(kinds)]);
		buf_adds(b, crlf ? "\r\n" : "\n");
	}
	if (draw(4) == 0)
		buf_adds(b, crlf ? "\\.\r\n" : "\\.\n");
}

/* The rows of all parts, numbered through, must be those of the whole. */
static size_t check_cuts(const struct rowformat *format, const struct buf *data)
{
	struct source *source = open_one("file:x");
	struct file_source *files = (struct file_source *)source;
	struct telling t = {.wanted = 1};
	struct error err = ERROR_INIT;
	struct source_part *parts = NULL;
	size_t count = 0;
	uint64_t end = 0;
	char *whole, *told;

	if (source == NULL)
		return 0;
	buf_init(&t.out, 1u << 20);
	files->part_min = 1 + draw(40);
	CHECK(source->ops->split(source, 2 + draw(5), format, &parts, &count,
				 &err) == 0);
	for (size_t i = 0; i < count; i++) {
		struct telling part = {.wanted = 1};
		uint64_t before =
			source->ops->rows_before(source, &parts[i], format);
		char *line, *save = NULL;

		CHECK(parts[i].start == end && parts[i].end > end);
		end = parts[i].end;
		CHECK(parts[i].at_end == (i + 1 == count));
		CHECK((parts[i].header != NULL) ==
		      (i > 0 && (format->header || format->names == NULL)));
		buf_init(&part.out, 1u << 20);
		if (read_part(source, &parts[i], format, 1 + draw(64), &part,
			      &err) != 0)
			CHECK_STR(err.text, "");
		for (line = strtok_r(buf_string(&part.out), "\n", &save);
		     line != NULL; line = strtok_r(NULL, "\n", &save)) {
			uint64_t number = strtoull(line, &line, 10);

			buf_addf(&t.out, "%" PRIu64 "%s\n", number + before,
				 line);
		}
		buf_release(&part.out);
	}
	CHECK_U64(end, data->len);
	whole = tell(format, data->data, data->len, SIZE_MAX);
	told = buf_string(&t.out);
	CHECK(strchr(whole, '!') == NULL);
	CHECK_STR(told, whole);
	free(whole);
	buf_release(&t.out);
	source_parts_free(parts, count);
	source->ops->free(source);
	return count;
}

static void cuts(void)
{
	struct buf data, headed;
	size_t parts = 0;

	buf_init(&data, 1u << 20);
	buf_init(&headed, 1u << 20);
	REQUIRE(enter_folder());
	for (random_state = 1; random_state < 1500; random_state++) {
		uint32_t seed = random_state;
		bool crlf = draw(2) == 0, header = draw(2) == 0;
		bool bom = draw(4) == 0;
		struct rowformat format = text_a;
		const struct buf *file = &data;

		make_text(&data, crlf);
		headed.len = 0;
		if (header) {
			format.header = draw(2) == 0;
			if (!format.header)
				format.names = NULL;
			buf_addf(&headed, "%sa%s", bom ? "\xef\xbb\xbf" : "",
				 crlf ? "\r\n" : "\n");
			buf_add(&headed, data.data, data.len);
			file = &headed;
		}
		if (file->len == 0) {
			random_state = seed;
			continue;
		}
		REQUIRE(put("x", file->data, file->len));
		parts += check_cuts(&format, file);
		if (unit_bad) {
			printf("# seed %" PRIu32 "\n", seed);
			break;
		}
		random_state = seed;
	}
	/* Else nothing was shown. */
	CHECK(parts > 5000);
	leave_folder();
	buf_release(&data);
	buf_release(&headed);
}

/* Backslashes further back than one block, and rows longer than one. */
static void long_runs(void)
{
	struct buf data;
	size_t parts = 0;

	buf_init(&data, 4u << 20);
	REQUIRE(enter_folder());
	random_state = 7;
	for (size_t run = 131070; run < 131076; run++) {
		data.len = 0;
		for (size_t i = 0; i < 3; i++) {
			for (size_t n = 0; n < run + i; n++)
				buf_adds(&data, "\\");
			buf_adds(&data, "\na\n");
		}
		REQUIRE(put("x", data.data, data.len));
		for (int i = 0; i < 8; i++)
			parts += check_cuts(&text_a, &data);
	}
	CHECK(parts > 100);
	leave_folder();
	buf_release(&data);
}

static void uncut(void)
{
	struct rowformat csv = {
		.kind = ROWFORMAT_CSV, .wanted = names_a, .wanted_count = 1};
	struct error err = ERROR_INIT;
	struct source_part *parts = NULL;
	struct source *source;
	size_t count = 0;

	REQUIRE(enter_folder());
	PUT("x", "a\n1\n2\n3\n4\n5\n6\n");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	((struct file_source *)source)->part_min = 1;
	CHECK(source->ops->split(source, 9, &csv, &parts, &count, &err) == 0);
	CHECK_U64(count, 1);
	source_parts_free(parts, count);
	CHECK(source->ops->split(source, 1, &text_a, &parts, &count, &err) ==
	      0);
	CHECK_U64(count, 1);
	source_parts_free(parts, count);
	CHECK(source->ops->split(source, 9, &text_a, &parts, &count, &err) ==
	      0);
	CHECK(count > 3);
	source_parts_free(parts, count);
	source->ops->free(source);
	leave_folder();
}

static void end_mark_before_a_cut(void)
{
	struct error err = ERROR_INIT;
	struct telling t = {.wanted = 1};
	struct source_part *parts = NULL;
	struct source *source;
	size_t count = 0;
	int failed = 0;

	REQUIRE(enter_folder());
	PUT("x", "1\n2\n\\.\n3\n4\n5\n");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	((struct file_source *)source)->part_min = 2;
	CHECK(source->ops->split(source, 9, &text_a, &parts, &count, &err) ==
	      0);
	CHECK(count > 2);
	buf_init(&t.out, 4096);
	for (size_t i = 0; i < count; i++)
		failed += read_part(source, &parts[i], &text_a, 8, &t, &err);
	CHECK(failed < 0);
	CHECK_U64(err.code, ERROR_DATA);
	buf_release(&t.out);
	source_parts_free(parts, count);
	source->ops->free(source);
	leave_folder();
}

/* When memory is out, too: a message would show a wrong number. */
static void row_numbers(void)
{
	char *data = malloc(200000);
	uint64_t rows;
	int fd;

	REQUIRE(data != NULL && enter_folder());
	for (size_t i = 0; i < 200000; i++)
		data[i] = i % 10 == 9 ? '\n' : '\\';
	/* Nine backslashes, an odd run: every second newline is escaped. */
	for (size_t i = 0; i < 200000; i += 20)
		data[i] = 'x';
	CHECK(put("x", data, 200000));
	free(data);
	fd = file_entry_open("x");
	REQUIRE(fd >= 0);
	alloc_fail(1, true);
	rows = file_rows_count(fd, 200000);
	alloc_pass();
	CHECK_U64(rows, 10000);
	CHECK_U64(file_rows_count(fd, 100000), 5000);
	/* A file that is shorter than it was: those that can be read. */
	rows = file_rows_count(fd, 300000);
	CHECK(rows > 9000 && rows <= 10000);
	(void)close(fd);
	leave_folder();
}

/* Cuts file x, of len bytes and a header, for four jobs; how many parts. */
static size_t count_parts(const void *data, size_t len, size_t *header_len)
{
	struct rowformat format = text_a;
	struct error err = ERROR_INIT;
	struct source_part *parts = NULL;
	struct source *source;
	size_t count = 0;

	*header_len = 0;
	format.header = true;
	CHECK(put("x", data, len));
	source = open_one("file:x");
	if (source == NULL)
		return 0;
	((struct file_source *)source)->part_min = 2;
	CHECK(source->ops->split(source, 4, &format, &parts, &count, &err) ==
	      0);
	for (size_t i = 0; i < count; i++) {
		CHECK(parts[i].start == (i > 0 ? parts[i - 1].end : 0));
		if (i == 1)
			*header_len = parts[i].header_len;
	}
	if (count > 0)
		CHECK_U64(parts[count - 1].end, len);
	source_parts_free(parts, count);
	source->ops->free(source);
	return count;
}

/* A header is copied for each part, so it has to be whole and not too long. */
static void first_rows(void)
{
	size_t size = ROWPARSE_ROW_MAX + 200000;
	char *data = malloc(size);
	size_t header;

	REQUIRE(data != NULL && enter_folder());
	CHECK_U64(count_parts("a1234567890", 11, &header), 1);
	CHECK_U64(count_parts("a1234567\\\n90", 11, &header), 1);
	/* The last row is not whole: a part of its own, or of the one before.
	 */
	CHECK(count_parts("a\n1\n2\n3\n4\n56789012", 18, &header) > 2);
	CHECK_U64(header, 2);
	memset(data, 'x', size);
	data[150000] = '\n';
	data[165000] = '\n';
	CHECK_U64(count_parts(data, 180000, &header), 3);
	CHECK_U64(header, 150001);
	data[150000] = 'x';
	data[165000] = 'x';
	data[size - 100000] = '\n';
	CHECK_U64(count_parts(data, size, &header), 1);
	free(data);
	leave_folder();
}

static void gone(void)
{
	struct error err = ERROR_INIT;
	struct source_part *parts = NULL;
	struct source_part part = {.start = 4, .end = 8, .at_end = true};
	struct source *source;
	size_t count = 1;

	REQUIRE(enter_folder());
	PUT("x", "1\n2\n3\n4\n");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	((struct file_source *)source)->part_min = 1;
	CHECK_U64(source->ops->rows_before(source, &part, &text_a), 2);
	REQUIRE(unlink("x") == 0);
	CHECK(source->ops->split(source, 4, &text_a, &parts, &count, &err) ==
	      -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "file 'x': cannot open it again: No such file or "
			    "directory");
	CHECK(parts == NULL && count == 0);
	CHECK_U64(source->ops->rows_before(source, &part, &text_a), 0);
	source->ops->free(source);
	leave_folder();
}

int main(void)
{
	UNIT(uncut, "file: only COPY text is cut, and only for several jobs");
	UNIT(cuts, "file: the parts' rows are the file's rows");
	UNIT(long_runs, "file: a run of backslashes is followed to its start");
	UNIT(end_mark_before_a_cut,
	     "file: an end mark before a cut is refused");
	UNIT(first_rows, "file: without a whole header nothing is cut");
	UNIT(gone, "file: one that is gone when it is cut is told");
	UNIT(row_numbers, "file: rows are counted without memory");
	return unit_end();
}
