/* SPDX-License-Identifier: BSD-2-Clause
 *
 * files: what the tests of the file source share: a folder, files in it, and
 * parts that are read as a worker reads them.
 */
#ifndef BLOOMCTL_TESTS_UNIT_ROWS_FILES_H
#define BLOOMCTL_TESTS_UNIT_ROWS_FILES_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/rows/file.h"
#include "lib/rows/source.h"
#include "tests/unit/rows/rows.h"

/* Every test has a folder of its own and works in it. */
static char folder[256];

static inline bool enter_folder(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/bloomctl-file-XXXXXX",
		 parent != NULL ? parent : "/tmp");
	return mkdtemp(folder) != NULL && chdir(folder) == 0;
}

static inline void leave_folder(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CHECK(chdir("/") == 0);
	CHECK(system(command) == 0);
}

static inline bool put(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	if (f == NULL)
		return false;
	if (fwrite(data, 1, len, f) != len) {
		fclose(f);
		return false;
	}
	return fclose(f) == 0;
}

#define PUT(path, text) REQUIRE(put((path), BYTES(text)))

/* The next descriptor: after a test as before it, or one was left open. */
static inline int next_fd(void)
{
	int fd = open(".", O_RDONLY);

	if (fd >= 0)
		(void)close(fd);
	return fd;
}

static const char *const names_a[] = {"a"};
static const struct rowformat text_a = {.kind = ROWFORMAT_TEXT,
					.names = names_a,
					.name_count = 1,
					.wanted = names_a,
					.wanted_count = 1};

/* Reads a part as a worker does; the telling is appended. */
static inline int read_part(struct source *source,
			    const struct source_part *part,
			    const struct rowformat *format, size_t chunk,
			    struct telling *t, struct error *err)
{
	struct stream *stream = NULL;
	struct rowparse *parse = NULL;
	char *buf = malloc(chunk);
	size_t got = 1;
	int rc = -1;

	if (buf != NULL &&
	    rowparse_new(format, tell_row, t, &parse, err) == 0 &&
	    source->ops->open(source, part, &stream, err) == 0)
		rc = 0;
	if (rc == 0 && part->header != NULL)
		rc = rowparse_feed(parse, part->header, part->header_len, err);
	while (rc == 0 && got > 0) {
		rc = stream->ops->read(stream, buf, chunk, &got, err);
		if (rc == 0 && got > 0)
			rc = rowparse_feed(parse, buf, got, err);
	}
	if (rc == 0)
		rc = stream->ops->finish(stream, err);
	if (rc == 0)
		rc = rowparse_end(parse, part->at_end, err);
	if (stream != NULL)
		stream->ops->close(stream);
	rowparse_free(parse);
	free(buf);
	return rc;
}

static const struct source_options plain_source;

static inline struct source *open_one(const char *word)
{
	struct error err = ERROR_INIT;
	struct source *source = NULL;

	if (source_open(&word, 1, &plain_source, &source, &err) != 0)
		CHECK_STR(err.text, "");
	return source;
}

#endif
