/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Files that are more than their rows, and pipes among files; words and
 * patterns are tested in test_file.c, calls that fail in test_filefaults.c.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/unit/rows/files.h"
#include "tests/unit/rows/gzipped.h"
#include "tests/unit/rows/readfile.h"

static void check_file(const void *data, size_t len, const char *told,
		       size_t parts, const char *text)
{
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;

	REQUIRE(put("x", data, len));
	CHECK((read_file(false, &t, &count, &err) == 0) == (text[0] == '\0'));
	CHECK_STR(err.text, text);
	CHECK_STR(buf_string(&t.out), told);
	CHECK_U64(count, parts);
	buf_release(&t.out);
}

static void whole_files(void)
{
	REQUIRE(enter_folder());
	/* For comparison: this one is cut. */
	check_file(BYTES(PACKED_ROWS), "1 <1>\n1 <2>\n1 <3>\n", 3, "");
	check_file(packed_gzip, sizeof(packed_gzip), TOLD, 1, "");
	check_file(packed_zstd, sizeof(packed_zstd), TOLD, 1, "");
	check_file(packed_trailer, sizeof(packed_trailer), TOLD, 1, "");
	check_file(packed_empty, sizeof(packed_empty), "", 1, "");
	check_file(BYTES(PACKED_ROWS PACKED_TRAILER), TOLD, 1, "");
	check_file(BYTES("1\n2\n4\n" PACKED_TRAILER), "", 1,
		   "the trailer's checksum is not that of the bytes before it");
	check_file(packed_twice, sizeof(packed_twice), "", 0,
		   "file 'x': it is packed twice");
	check_file(packed_dump, sizeof(packed_dump), "", 0,
		   "file 'x': it is pg_dump's custom format by its first "
		   "bytes, not rows");
	leave_folder();
}

/* The bytes that will be read are known unless something is to be unpacked. */
static void check_bytes(const void *data, size_t len, uint64_t bytes)
{
	struct source *source;

	REQUIRE(put("x", data, len));
	source = open_one("file:x");
	REQUIRE(source != NULL);
	CHECK_U64(source->ops->bytes(source), bytes);
	CHECK(!source->once);
	source->ops->free(source);
}

static void bytes(void)
{
	static const char rows[] = PACKED_ROWS PACKED_TRAILER;

	REQUIRE(enter_folder());
	check_bytes(BYTES(PACKED_ROWS), sizeof(PACKED_ROWS) - 1);
	check_bytes(BYTES(rows), sizeof(rows) - 1);
	check_bytes(packed_gzip, sizeof(packed_gzip), 0);
	leave_folder();
}

/* Writes to FIFO 'x' from another process. */
static void check_fifo(const void *data, size_t len, bool no_trailer,
		       const char *told, const char *text)
{
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = open("x", O_WRONLY);

		_exit(write(fd, data, len) == (ssize_t)len ? 0 : 1);
	}
	REQUIRE(pid > 0);
	CHECK((read_file(no_trailer, &t, &count, &err) == 0) ==
	      (text[0] == '\0'));
	CHECK_STR(err.text, text);
	CHECK_STR(buf_string(&t.out), told);
	CHECK_U64(count, 1);
	buf_release(&t.out);
	CHECK(waitpid(pid, NULL, 0) == pid);
}

static void fifos(void)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;
	static const char *const words[] = {"file:x", "file:y"};

	REQUIRE(enter_folder());
	REQUIRE(mkfifo("x", 0600) == 0 && link("x", "y") == 0);
	check_fifo(BYTES(PACKED_ROWS PACKED_TRAILER), false, TOLD, "");
	check_fifo(packed_trailer, sizeof(packed_trailer), false, TOLD, "");
	check_fifo(packed_gzip, sizeof(packed_gzip), true, TOLD, "");
	check_fifo(BYTES(PACKED_ROWS), true, TOLD, "");
	check_fifo(BYTES(PACKED_ROWS), false, "",
		   "it ends without a trailer, so nobody says that it is "
		   "whole");
	source = open_one("file:x");
	REQUIRE(source != NULL);
	CHECK(source->once);
	CHECK_U64(source->ops->bytes(source), 0);
	source->ops->free(source);
	CHECK(source_open(words, 2, &plain_source, &source, &err) == -1);
	CHECK_STR(err.text, "file 'x' and file 'y' are the same");
	leave_folder();
}

/* Without an end of the header row there is nothing to cut behind. */
static void endless_header(void)
{
	struct rowformat format = text_a;
	struct error err = ERROR_INIT;
	struct source *source;
	struct source_part *parts = NULL, part = {.start = 4};
	size_t count = 0;

	REQUIRE(enter_folder());
	PUT("x", "a header that does not end");
	format.header = true;
	source = open_one("file:x");
	REQUIRE(source != NULL);
	((struct file_source *)source)->part_min = 2;
	CHECK(source->ops->split(source, 3, &format, &parts, &count, &err) ==
	      0);
	CHECK_U64(count, 1);
	source_parts_free(parts, count);
	/* Numbers of rows are for messages: what cannot be read has none. */
	CHECK(truncate("x", 2) == 0);
	CHECK_U64(source->ops->rows_before(source, &part, &format), 0);
	CHECK(unlink("x") == 0);
	CHECK_U64(source->ops->rows_before(source, &part, &format), 0);
	source->ops->free(source);
	leave_folder();
}

static void sockets(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "x"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct error err = ERROR_INIT;
	struct telling t;
	size_t count;

	REQUIRE(enter_folder());
	REQUIRE(fd >= 0 &&
		bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
	CHECK(read_file(false, &t, &count, &err) == -1);
	CHECK_U64(err.code, ERROR_SOURCE);
	CHECK_STR(err.text, "file 'x': neither a regular file nor a pipe");
	(void)close(fd);
	leave_folder();
}

int main(void)
{
	UNIT(whole_files, "file: packed ones and those with trailers stay one");
	UNIT(bytes, "file: how many bytes there are is known or 0");
	UNIT(fifos, "file: a pipe among files needs its trailer");
	UNIT(sockets, "file: a socket is no file");
	UNIT(endless_header, "file: a header that does not end is not cut");
	return unit_end();
}
