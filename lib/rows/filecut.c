/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A newline in COPY text ends a row unless an odd run of backslashes stands
 * before it.  So one look back, as far as the run goes, tells how to read on
 * from any byte of a file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/rows/copyscan.h"
#include "lib/rows/file.h"

#define BLOCK 65536u

/* On a worker's stack. */
#define COUNT_BLOCK 16384u

static int cannot_read(int64_t got, struct error *err)
{
	if (got < 0)
		return error_errno(err, ERROR_DATA, errno, "cannot read it");
	return error_set(err, ERROR_DATA,
			 "it became shorter while it was read");
}

/* Whether the byte at offset is escaped by a run that ends before it. */
static int look_back(int fd, uint64_t offset, char *block, bool *escaped,
		     struct error *err)
{
	uint64_t run = 0;
	bool open = true;

	while (open && offset > 0) {
		/* Runs are short: a small step first saves a long read. */
		size_t len = run == 0 ? 16 : BLOCK;
		size_t i;
		int64_t got;

		if (len > offset)
			len = (size_t)offset;
		offset -= len;
		got = file_entry_read(fd, block, len, offset);
		if (got != (int64_t)len)
			return cannot_read(got, err);
		for (i = len; i > 0 && block[i - 1] == '\\'; i--)
			run++;
		open = i == 0;
	}
	*escaped = run % 2 == 1;
	return 0;
}

/* The end of the first row that ends at or after *offset, or size. */
static int skip_row(int fd, uint64_t *offset, uint64_t size, char *block,
		    struct error *err)
{
	bool escaped;

	if (look_back(fd, *offset, block, &escaped, err) != 0)
		return -1;
	while (*offset < size) {
		size_t len = BLOCK;
		int64_t got;
		char *newline;

		if (len > size - *offset)
			len = (size_t)(size - *offset);
		got = file_entry_read(fd, block, len, *offset);
		if (got != (int64_t)len)
			return cannot_read(got, err);
		newline = copyscan_row_end(block, block + len, &escaped);
		if (newline != NULL) {
			*offset += (uint64_t)(newline - block) + 1;
			return 0;
		}
		*offset += len;
	}
	return 0;
}

/* Whether there is one at offset. */
static int begins_with_bom(int fd, uint64_t offset, uint64_t size, bool *bom,
			   struct error *err)
{
	char start[3];
	int64_t got;

	*bom = false;
	if (size - offset < sizeof(start))
		return 0;
	got = file_entry_read(fd, start, sizeof(start), offset);
	if (got != sizeof(start))
		return cannot_read(got, err);
	*bom = memcmp(start, "\xef\xbb\xbf", sizeof(start)) == 0;
	return 0;
}

int file_rows_cut(int fd, uint64_t offset, uint64_t size, uint64_t *cut,
		  struct error *err)
{
	char *block = malloc(BLOCK);
	bool bom = true;
	int rc = 0;

	if (block == NULL)
		return error_nomem(err);
	/* The newline before offset may be the one that ends a row. */
	if (offset > 0)
		offset--;
	while (rc == 0 && bom && offset < size) {
		rc = skip_row(fd, &offset, size, block, err);
		if (rc == 0)
			rc = begins_with_bom(fd, offset, size, &bom, err);
	}
	*cut = offset;
	free(block);
	return rc;
}

int file_rows_first(int fd, char **out, size_t *len, struct error *err)
{
	bool escaped = false;
	struct buf row;

	*out = NULL;
	*len = 0;
	buf_init(&row, (size_t)ROWPARSE_ROW_MAX + BLOCK);
	for (;;) {
		int64_t got;
		char *newline;

		if (buf_reserve(&row, BLOCK) != 0) {
			bool full = buf_full(&row, BLOCK) != 0;

			buf_release(&row);
			return full ? 0 : error_nomem(err);
		}
		got = file_entry_read(fd, row.data + row.len, BLOCK, row.len);
		if (got <= 0) {
			buf_release(&row);
			return got < 0 ? cannot_read(got, err) : 0;
		}
		newline = copyscan_row_end(row.data + row.len,
					   row.data + row.len + got, &escaped);
		if (newline != NULL) {
			*len = (size_t)(newline - row.data) + 1;
			*out = row.data;
			return 0;
		}
		row.len += (size_t)got;
	}
}

uint64_t file_rows_count(int fd, uint64_t size)
{
	/* No memory to ask for: without it the numbers would be wrong. */
	char block[COUNT_BLOCK];
	bool escaped = false;
	uint64_t rows = 0;
	uint64_t offset = 0;

	while (offset < size) {
		size_t len = sizeof(block);
		char *pos = block;

		if (len > size - offset)
			len = (size_t)(size - offset);
		if (file_entry_read(fd, block, len, offset) != (int64_t)len)
			break;
		while (pos < block + len) {
			pos = copyscan_row_end(pos, block + len, &escaped);
			if (pos == NULL)
				break;
			rows++;
			pos++;
		}
		offset += len;
	}
	return rows;
}
