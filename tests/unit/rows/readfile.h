/* SPDX-License-Identifier: BSD-2-Clause
 *
 * readfile: one file as a source, from its name to its rows.
 */
#ifndef BLOOMCTL_TESTS_UNIT_ROWS_READFILE_H
#define BLOOMCTL_TESTS_UNIT_ROWS_READFILE_H

#include "tests/unit/rows/files.h"

/* The telling of packed.h's rows. */
#define TOLD "1 <1>\n2 <2>\n3 <3>\n"

/*
 * Opens file 'x', cuts it as small as may be, and reads all parts; *count is
 * their number.
 */
static inline int read_file(bool no_trailer, struct telling *t, size_t *count,
			    struct error *err)
{
	const struct source_options options = {.no_trailer = no_trailer};
	const char *word = "file:x";
	struct source *source = NULL;
	struct source_part *parts = NULL;
	int rc;

	memset(t, 0, sizeof(*t));
	t->wanted = 1;
	buf_init(&t->out, 4096);
	*count = 0;
	rc = source_open(&word, 1, &options, &source, err);
	if (rc != 0) {
		CHECK(source == NULL);
		return rc;
	}
	((struct file_source *)source)->part_min = 2;
	rc = source->ops->split(source, 3, &text_a, &parts, count, err);
	CHECK((parts != NULL) == (rc == 0));
	for (size_t i = 0; rc == 0 && i < *count; i++)
		rc = read_part(source, &parts[i], &text_a, 4096, t, err);
	source_parts_free(parts, *count);
	source->ops->free(source);
	return rc;
}

#endif
