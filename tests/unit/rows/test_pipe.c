/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/rows/pipe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "lib/base/stop.h"
#include "tests/unit/child.h"
#include "tests/unit/rows/files.h"
#include "tests/unit/rows/gzipped.h"

/* Standard input holds these bytes, until it is given back. */
static int saved = -1;

static bool give_input(const void *data, size_t len)
{
	int ends[2];

	saved = dup(STDIN_FILENO);
	return saved >= 0 && pipe(ends) == 0 &&
	       write(ends[1], data, len) == (ssize_t)len &&
	       close(ends[1]) == 0 &&
	       dup2(ends[0], STDIN_FILENO) == STDIN_FILENO &&
	       close(ends[0]) == 0;
}

static void take_input(void)
{
	CHECK(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
	CHECK(close(saved) == 0);
}

/* Reads standard input, as a source, to its end; the telling is t's. */
static int read_input(bool no_trailer, struct telling *t, struct error *err)
{
	const struct source_options options = {.no_trailer = no_trailer};
	const char *word = "-";
	struct source *source = NULL;
	struct source_part *parts = NULL;
	size_t count = 0;
	int rc;

	memset(t, 0, sizeof(*t));
	t->wanted = 1;
	buf_init(&t->out, 4096);
	rc = source_open(&word, 1, &options, &source, err);
	if (rc != 0)
		return rc;
	CHECK(source->once);
	CHECK(source->ops->rows_before == NULL && source->ops->bytes == NULL);
	/* However many would like to. */
	CHECK(source->ops->split(source, 8, &text_a, &parts, &count, err) == 0);
	CHECK_U64(count, 1);
	CHECK_STR(parts[0].name, "standard input");
	CHECK(parts[0].at_end && parts[0].start == 0);
	rc = read_part(source, parts, &text_a, 4096, t, err);
	source_parts_free(parts, count);
	source->ops->free(source);
	return rc;
}

#define TOLD "1 <1>\n2 <2>\n3 <3>\n"

static void check_input(const void *data, size_t len, bool no_trailer,
			const char *told, enum error_code code,
			const char *text)
{
	struct error err = ERROR_INIT;
	struct telling t;

	REQUIRE(give_input(data, len));
	CHECK((read_input(no_trailer, &t, &err) == 0) == (code == ERROR_NONE));
	CHECK_U64(err.code, code);
	CHECK_STR(err.text, text);
	CHECK_STR(buf_string(&t.out), told);
	buf_release(&t.out);
	take_input();
}

static void is_read(void)
{
	static const char lost[] = "it ends without a trailer, so nobody says "
				   "that it is whole";

	check_input(BYTES(PACKED_ROWS PACKED_TRAILER), false, TOLD, ERROR_NONE,
		    "");
	check_input(packed_trailer, sizeof(packed_trailer), false, TOLD,
		    ERROR_NONE, "");
	check_input(BYTES(PACKED_ROWS), true, TOLD, ERROR_NONE, "");
	check_input(BYTES(PACKED_ROWS PACKED_TRAILER), true, TOLD, ERROR_NONE,
		    "");
	check_input("", 0, true, "", ERROR_NONE, "");
	check_input(BYTES(PACKED_ROWS), false, "", ERROR_DATA, lost);
	check_input(BYTES("PGDMP"), true, "", ERROR_SOURCE,
		    "it is pg_dump's custom format by its first bytes, not "
		    "rows");
}

static void twice(void)
{
	static const char *const words[] = {"-", "-"};
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	CHECK(source_open(words, 2, &plain_source, &source, &err) == -1);
	CHECK(source == NULL);
	CHECK_U64(err.code, ERROR_USAGE);
	CHECK_STR(err.text,
		  "source '-' is given twice: standard input is read once");
}

static void terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
	struct error err = ERROR_INIT;
	struct telling t;

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0) {
		(void)close(master);
		SKIP("no pseudo-terminal is to be had");
	}
	saved = dup(STDIN_FILENO);
	CHECK(dup2(slave, STDIN_FILENO) == STDIN_FILENO);
	CHECK(read_input(false, &t, &err) == -1);
	CHECK_U64(err.code, ERROR_SOURCE);
	CHECK_STR(err.text, "standard input: a terminal, not rows");
	CHECK_STR(err.hint,
		  "pipe rows into it, for example from bloomctl export -t -");
	buf_release(&t.out);
	take_input();
	(void)close(slave);
	(void)close(master);
}

static void read_fails(void)
{
	struct error err = ERROR_INIT;
	struct telling t;
	int folder_fd = open("/", O_RDONLY | O_DIRECTORY);

	saved = dup(STDIN_FILENO);
	REQUIRE(folder_fd >= 0);
	CHECK(dup2(folder_fd, STDIN_FILENO) == STDIN_FILENO);
	(void)close(folder_fd);
	CHECK(read_input(true, &t, &err) == -1);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK_STR(err.text, "cannot read it: Is a directory");
	buf_release(&t.out);
	take_input();
}

/* A pipe that nobody writes to, and nobody closes. */
static void stopped(void)
{
	struct error err = ERROR_INIT;
	struct stream *stream;
	char buf[8];
	size_t got = 9;
	int ends[2];

	REQUIRE(stop_init(&err) == 0 && pipe(ends) == 0);
	REQUIRE(pipe_stream_open(ends[0], &stream, &err) == 0);
	CHECK(write(ends[1], "ab", 2) == 2);
	CHECK(stream->ops->read(stream, buf, 8, &got, &err) == 0 && got == 2);
	CHECK(raise(SIGTERM) == 0);
	CHECK(stream->ops->read(stream, buf, 8, &got, &err) == -1);
	CHECK_U64(err.code, ERROR_TERMINATED);
	stream->ops->close(stream);
	/* It was borrowed. */
	CHECK(fcntl(ends[0], F_GETFD) >= 0);
}

static void stopped_test(void)
{
	in_child(stopped);
}

static bool survive(unsigned long n)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	struct source_part *parts = NULL;
	struct stream *stream = NULL;
	const char *word = "-";
	size_t count = 0;
	bool met;
	int rc;

	if (!give_input(BYTES(PACKED_ROWS PACKED_TRAILER)))
		return false;
	alloc_fail(n, false);
	rc = source_open(&word, 1, &plain_source, &source, &err);
	if (rc == 0)
		rc = source->ops->split(source, 1, &text_a, &parts, &count,
					&err);
	if (rc == 0)
		rc = source->ops->open(source, parts, &stream, &err);
	met = alloc_pass();
	CHECK((rc != 0) == met);
	if (rc != 0) {
		CHECK_STR(err.text, "out of memory");
		CHECK(stream == NULL);
	} else {
		stream->ops->close(stream);
	}
	source_parts_free(parts, count);
	if (source != NULL)
		source->ops->free(source);
	take_input();
	return met;
}

static void without_memory(void)
{
	unsigned long n = 1;

	ALLOC_NEEDED();
	while (n < 20 && survive(n))
		n++;
	/* Words, source, name, part; stream, look, trailer, sum. */
	CHECK_U64(n, 9);
}

int main(void)
{
	UNIT(is_read, "pipe: standard input is rows with a trailer");
	UNIT(twice, "pipe: standard input is one source");
	UNIT(terminal, "pipe: a terminal is refused");
	UNIT(read_fails, "pipe: a read that fails is told");
	UNIT(stopped_test, "pipe: a stop ends a wait");
	UNIT(without_memory, "pipe: each failing allocation is survived");
	return unit_end();
}
