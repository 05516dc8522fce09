/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/time.h>

#include "tests/unit/rows/files.h"

/* What is done to file 'x' between open and read, or read and finish. */
static void check_change(void (*change)(void), bool midway, const char *text)
{
	struct error err = ERROR_INIT;
	struct source *source;
	struct source_part *parts = NULL;
	struct stream *stream = NULL;
	char buf[2];
	size_t count = 0, got = 1;
	int rc = 0;

	CHECK(put("x", BYTES("1\n2\n3\n")));
	source = open_one("file:x");
	REQUIRE(source != NULL);
	CHECK(source->ops->split(source, 1, &text_a, &parts, &count, &err) ==
	      0);
	CHECK_U64(source->ops->bytes(source), 6);
	if (!midway)
		change();
	rc = source->ops->open(source, parts, &stream, &err);
	while (rc == 0 && got > 0) {
		rc = stream->ops->read(stream, buf, sizeof(buf), &got, &err);
		if (midway) {
			change();
			midway = false;
		}
	}
	if (rc == 0)
		rc = stream->ops->finish(stream, &err);
	CHECK_U64(err.code, ERROR_DATA);
	CHECK(rc == -1);
	CHECK_STR(err.text, text);
	if (stream != NULL)
		stream->ops->close(stream);
	source_parts_free(parts, count);
	source->ops->free(source);
}

static void shorten(void)
{
	CHECK(truncate("x", 4) == 0);
}

static void lengthen(void)
{
	CHECK(truncate("x", 8) == 0);
}

static void touch(void)
{
	static const struct timeval times[2] = {{1, 0}, {1, 0}};

	CHECK(utimes("x", times) == 0);
}

static void replace(void)
{
	CHECK(put("y", BYTES("1\n2\n3\n")));
	CHECK(rename("y", "x") == 0);
}

static void vanish(void)
{
	CHECK(unlink("x") == 0);
}

static void changes(void)
{
	static const char changed[] = "file 'x': it changed while it was read";

	REQUIRE(enter_folder());
	check_change(shorten, false, changed);
	check_change(lengthen, false, changed);
	check_change(touch, false, changed);
	check_change(replace, false, changed);
	check_change(vanish, false,
		     "file 'x': cannot open it again: No such file or "
		     "directory");
	check_change(shorten, true,
		     "file 'x': it became shorter while it was read");
	check_change(lengthen, true, changed);
	check_change(touch, true, changed);
	leave_folder();
}

static void finish_early(void)
{
	struct error err = ERROR_INIT;
	struct source_part part = {.end = 4, .at_end = true};
	struct stream *stream = NULL;
	struct source *source;
	char buf[2];
	size_t got;

	REQUIRE(enter_folder());
	PUT("x", "1\n2\n");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	REQUIRE(source->ops->open(source, &part, &stream, &err) == 0);
	CHECK(stream->ops->read(stream, buf, 2, &got, &err) == 0);
	CHECK(stream->ops->finish(stream, &err) == -1);
	CHECK_STR(err.text, "file 'x': not read to its end");
	stream->ops->close(stream);
	source->ops->free(source);
	leave_folder();
}

int main(void)
{
	UNIT(changes, "file: a file that changes while it is read is refused");
	UNIT(finish_early, "file: a part is not whole before its end");
	return unit_end();
}
