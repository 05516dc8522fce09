/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fails the n-th allocation of a parse or of a source, n rising until it
 * passes: once alone, once with all after it.  What comes out until then is
 * the start of what comes out without a failure, and all of it where the
 * failure did no harm.
 */
#include <glob.h>

#include "tests/unit/rows/files.h"

/* Rows as bytes, in memory that cannot fail. */
struct tape {
	size_t len;
	size_t wanted;
	char data[1u << 20];
};

static struct tape full, part;

static void tape_add(struct tape *tape, const void *data, size_t len)
{
	if (len > sizeof(tape->data) - tape->len)
		abort();
	if (len > 0)
		memcpy(tape->data + tape->len, data, len);
	tape->len += len;
}

static int tape_row(void *ctx, const struct row *row, struct error *err)
{
	struct tape *tape = ctx;

	(void)err;
	tape_add(tape, &row->number, sizeof(row->number));
	for (size_t i = 0; i < tape->wanted; i++) {
		size_t len = row->values[i] != NULL ? row->lens[i] : SIZE_MAX;

		tape_add(tape, &len, sizeof(len));
		if (row->values[i] != NULL)
			tape_add(tape, row->values[i], len);
	}
	return 0;
}

static bool tape_begins(const struct tape *with, const struct tape *tape)
{
	return with->len <= tape->len &&
	       memcmp(with->data, tape->data, with->len) == 0;
}

/* Feeds from one piece of memory, which is written to. */
static int feed(struct rowparse *parse, char *data, size_t len, size_t chunk,
		struct error *err)
{
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < len; at += chunk) {
		size_t n = len - at < chunk ? len - at : chunk;

		rc = rowparse_feed(parse, data + at, n, err);
	}
	return rc;
}

/* The error is returned by all calls that come later. */
static void check_kept(struct rowparse *parse, const struct error *err)
{
	struct error again = ERROR_INIT;
	char more[] = "x\n";

	CHECK_U64(err->code, ERROR_INTERNAL);
	CHECK_STR(err->text, "out of memory");
	CHECK_STR(err->hint, "");
	if (parse == NULL)
		return;
	CHECK(rowparse_feed(parse, more, 2, &again) == -1);
	CHECK_STR(again.text, err->text);
	CHECK(rowparse_end(parse, true, &again) == -1);
	CHECK_U64(again.code, err->code);
	CHECK_STR(again.text, err->text);
}

/* Whether it came to the n-th allocation; n is 0 for the full tape. */
static bool run(const struct rowformat *format, const char *data, size_t len,
		size_t chunk, unsigned long n, bool on)
{
	struct tape *tape = n == 0 ? &full : &part;
	struct error err = ERROR_INIT;
	struct rowparse *parse = NULL;
	char *copy = malloc(len);
	bool met;
	int rc;

	if (copy == NULL)
		abort();
	memcpy(copy, data, len);
	tape->len = 0;
	tape->wanted = format->wanted_count;
	alloc_fail(n, on);
	rc = rowparse_new(format, tape_row, tape, &parse, &err);
	if (rc == 0)
		rc = feed(parse, copy, len, chunk, &err);
	if (rc == 0)
		rc = rowparse_end(parse, true, &err);
	met = alloc_pass();
	CHECK(rc == 0 || met);
	CHECK(rc != 0 || !met || !on);
	CHECK(tape_begins(tape, &full));
	if (rc != 0)
		check_kept(parse, &err);
	else
		CHECK_U64(tape->len, full.len);
	rowparse_free(parse);
	free(copy);
	return met;
}

/* How many allocations there are. */
static unsigned long fail_each(const struct rowformat *format, const char *data,
			       size_t len, size_t chunk)
{
	unsigned long n = 1;

	CHECK(!run(format, data, len, chunk, 0, false));
	CHECK(full.len > 0);
	while (n < 1000 && !unit_bad &&
	       run(format, data, len, chunk, n, true)) {
		run(format, data, len, chunk, n, false);
		n++;
	}
	CHECK(n < 1000);
	return n - 1;
}

static const char *const names[] = {"a", "b", "c"};
static const char *const wanted[] = {"c", "a"};

static const struct rowformat headed = {
	.wanted = wanted, .wanted_count = 2, .header = true};
static const struct rowformat named = {
	.wanted = wanted, .wanted_count = 2, .names = names, .name_count = 3};

static void fail_formats(enum rowformat_kind kind, const char *null,
			 const char *data, size_t len, unsigned long least)
{
	static const size_t chunks[] = {1, 5, 4096, SIZE_MAX / 2};
	struct rowformat formats[] = {headed, named, named};

	/* With both, the header is passed over. */
	formats[2].header = true;
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		formats[f].kind = kind;
		formats[f].null = null;
		for (size_t c = 0; c < 4; c++)
			CHECK(fail_each(&formats[f], data, len, chunks[c]) >=
			      least);
	}
}

/* Three columns of width bytes each in rows, behind a header; to be freed. */
static char *wide(size_t rows, size_t width, const char *quote, char tab,
		  size_t *len)
{
	size_t room = 16 + rows * 3 * (width + 8);
	char *data = malloc(room);
	size_t at;

	if (data == NULL)
		abort();
	at = (size_t)snprintf(data, room, "a%cb%cc\n", tab, tab);
	for (size_t i = 0; i < rows * 3; i++) {
		size_t quoted = strlen(quote);

		memcpy(data + at, quote, quoted);
		at += quoted;
		memset(data + at, (char)('d' + i % 20), width);
		at += width;
		memcpy(data + at, quote, quoted);
		at += quoted;
		data[at++] = i % 3 == 2 ? '\n' : tab;
	}
	*len = at;
	return data;
}

static void csv(void)
{
	static const char small[] = "a,b,c\n1,2,3\n\"4\n\"\"\",5,\n,,\n"
				    "\"\",N,N\n\"N\",\"N\",x\n";

	ALLOC_NEEDED();
	fail_formats(ROWFORMAT_CSV, NULL, BYTES(small), 8);
	fail_formats(ROWFORMAT_CSV, "N", BYTES(small), 8);
}

static void copy_text(void)
{
	static const char small[] = "a\tb\tc\n1\t2\t3\n4\\n\\\n\t5\t\\N\n"
				    "\t\t\nN\tN\tN\n\\.\n";

	ALLOC_NEEDED();
	fail_formats(ROWFORMAT_TEXT, NULL, BYTES(small), 5);
	fail_formats(ROWFORMAT_TEXT, "N", BYTES(small), 5);
}

/* Libcsv's buffer and the row's are made larger within a row. */
static void wide_csv(void)
{
	struct rowformat format = headed;
	size_t len;

	ALLOC_NEEDED();
	for (size_t i = 0; i < 4; i++) {
		char *data = wide(2, 100000, i & 1 ? "\"" : "", ',', &len);

		format.null = i & 2 ? "N" : NULL;
		CHECK(fail_each(&format, data, len, 30000) >= 10);
		free(data);
	}
}

/* A row that is carried over many chunks. */
static void wide_copy_text(void)
{
	struct rowformat format = headed;
	size_t len;
	char *data = wide(2, 100000, "", '\t', &len);

	format.kind = ROWFORMAT_TEXT;
	if (__real_malloc != NULL)
		CHECK(fail_each(&format, data, len, 30000) >= 8);
	free(data);
	ALLOC_NEEDED();
}

/* A row of no byte is copied, too. */
static void empty_header(void)
{
	static const char *const unnamed[] = {""};
	struct rowformat format = {
		.kind = ROWFORMAT_TEXT, .wanted = unnamed, .wanted_count = 1};

	ALLOC_NEEDED();
	CHECK(fail_each(&format, BYTES("\n1\n\n"), 1) >= 6);
	CHECK(fail_each(&format, BYTES("\n1\n\n"), 4) >= 6);
}

/* glob(3) allocates in the C library; what it did is told by its result. */
int __real_glob(const char *pattern, int flags, int (*fn)(const char *, int),
		glob_t *out) __attribute__((weak));
int __wrap_glob(const char *pattern, int flags, int (*fn)(const char *, int),
		glob_t *out);

int __wrap_glob(const char *pattern, int flags, int (*fn)(const char *, int),
		glob_t *out)
{
	return alloc_fails() ? GLOB_NOSPACE
			     : __real_glob(pattern, flags, fn, out);
}

/* Reads a part of the source to its end, after its header. */
static int read_rows(struct source *source, const struct source_part *p,
		     const struct rowformat *format, struct tape *tape,
		     struct error *err)
{
	struct stream *stream = NULL;
	struct rowparse *parse = NULL;
	char buf[7];
	size_t got = 1;
	int rc;

	rc = rowparse_new(format, tape_row, tape, &parse, err);
	if (rc == 0)
		rc = source->ops->open(source, p, &stream, err);
	if (rc == 0 && p->header != NULL)
		rc = rowparse_feed(parse, p->header, p->header_len, err);
	while (rc == 0 && got > 0) {
		rc = stream->ops->read(stream, buf, sizeof(buf), &got, err);
		if (rc == 0 && got > 0)
			rc = rowparse_feed(parse, buf, got, err);
	}
	if (rc == 0)
		rc = stream->ops->finish(stream, err);
	if (rc == 0)
		rc = rowparse_end(parse, p->at_end, err);
	if (stream != NULL)
		stream->ops->close(stream);
	rowparse_free(parse);
	return rc;
}

static bool run_source(const struct rowformat *format, unsigned long n, bool on)
{
	static const char *const words[] = {"file:[x]", "file:y", "file:z*"};
	struct tape *tape = n == 0 ? &full : &part;
	struct error err = ERROR_INIT;
	struct source_part *parts = NULL;
	struct source *source = NULL;
	size_t count = 0;
	int fd = next_fd();
	bool met;
	int rc;

	tape->len = 0;
	tape->wanted = format->wanted_count;
	alloc_fail(n, on);
	rc = source_open(words, 3, &plain_source, &source, &err);
	CHECK((rc == 0) == (source != NULL));
	if (rc == 0) {
		((struct file_source *)source)->part_min = 12;
		rc = source->ops->split(source, 3, format, &parts, &count,
					&err);
		CHECK((rc == 0) == (parts != NULL) && (rc == 0 || count == 0));
		for (size_t i = 0; i < count; i++)
			CHECK(parts[i].name != NULL);
	}
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = read_rows(source, &parts[i], format, tape, &err);
	met = alloc_pass();
	CHECK(rc == 0 || met);
	CHECK(rc != 0 || !met || !on);
	CHECK(tape_begins(tape, &full));
	if (rc == 0)
		CHECK_U64(tape->len, full.len);
	else
		CHECK_U64(err.code, ERROR_INTERNAL);
	CHECK(rc == 0 || strstr(err.text, "out of memory") != NULL);
	source_parts_free(parts, count);
	if (source != NULL)
		source->ops->free(source);
	CHECK_U64(next_fd(), fd);
	return met;
}

static void files(void)
{
	struct rowformat formats[] = {headed, headed};

	ALLOC_NEEDED();
	REQUIRE(enter_folder());
	PUT("x",
	    "a\tb\tc\n1\t2\t3\n4\t5\t6\n7\t8\t9\n10\t11\t12\n\\N\t\t\\N\n");
	PUT("y", "a\tb\tc\n");
	PUT("z1", "a\tc\tb\n1\t2\t3\n");
	PUT("z2", "a\tb\tc\n1\t2\\n\t3\\n\n4\t5\t6\n7\t8\t9\n1\t1\t1\n");
	formats[0].kind = ROWFORMAT_TEXT;
	for (size_t i = 0; i < 2; i++) {
		unsigned long n = 1;

		full.len = 0;
		if (i == 1) {
			PUT("x", "a,b,c\n1,2,3\n4,5,6\n");
			PUT("y", "a,b,c\n");
			PUT("z1", "a,c,b\n1,2,3\n");
			PUT("z2", "a,b,c\n1,\"2\",\"3\n\"\n4,5,6\n");
		}
		CHECK(!run_source(&formats[i], 0, false));
		CHECK(full.len > 100);
		while (n < 1000 && !unit_bad &&
		       run_source(&formats[i], n, true)) {
			run_source(&formats[i], n, false);
			n++;
		}
		CHECK(n > 40 && n < 1000);
	}
	leave_folder();
}

int main(void)
{
	UNIT(csv, "alloc: CSV survives each failing allocation");
	UNIT(copy_text, "alloc: COPY text survives each");
	UNIT(wide_csv, "alloc: so does CSV with fields of many slices");
	UNIT(wide_copy_text, "alloc: so does a row of many chunks");
	UNIT(empty_header, "alloc: so does a header of one name that is empty");
	UNIT(files, "alloc: so do files, opened, cut and read");
	return unit_end();
}
