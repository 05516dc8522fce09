/* SPDX-License-Identifier: BSD-2-Clause
 *
 * source: where rows come from, as parts that workers read side by side.
 *
 *	source ── parts: [file a][file b, bytes 0-9][file b, bytes 10-19]
 *	                   │
 *	                   └ stream: bytes, then the word that it was whole
 *
 * A source is opened and checked once; source_split() cuts it into parts; a
 * worker opens a part as a stream, reads it to its end and asks
 * stream_finish() whether that was a true end.  Only then may its rows count.
 * A source keeps few descriptors: a part's file is open while it is read.
 */
#ifndef BLOOMCTL_ROWS_SOURCE_H
#define BLOOMCTL_ROWS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/rows/rowparse.h"

struct source;
struct stream;

/* One piece of a source, read by one worker. */
struct source_part {
	char *name;     /* for messages: "file 'x.csv'"; owned by the part */
	size_t index;   /* of the file in the source */
	uint64_t start; /* bytes of the file: [start, end) */
	uint64_t end;
	bool at_end;       /* whether the part ends where the file does */
	void *header;      /* bytes to parse before the part's own, or NULL: a
			      later range's copy of the file's header row;
			      owned by the part */
	size_t header_len; /* in bytes */
};

struct source_ops {
	/*
	 * Cuts the source into parts, in the order of the rows: at most one
	 * per file, or with jobs > 1 and a format that can be cut anywhere
	 * (COPY text) more.  *parts is owned by the caller.
	 */
	int (*split)(struct source *source, unsigned jobs,
		     const struct rowformat *format, struct source_part **parts,
		     size_t *count, struct error *err);
	int (*open)(struct source *source, const struct source_part *part,
		    struct stream **out, struct error *err);
	/* How many rows stand in the file before the part; for messages. */
	uint64_t (*rows_before)(struct source *source,
				const struct source_part *part,
				const struct rowformat *format);
	/* All bytes of the source, for progress; 0 if not known. */
	uint64_t (*bytes)(const struct source *source);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
};

struct stream_ops {
	/*
	 * Reads up to cap bytes into buf; *got is 0 only at the end.  0 or -1
	 * (ERROR_DATA).
	 */
	int (*read)(struct stream *stream, void *buf, size_t cap, size_t *got,
		    struct error *err);
	/*
	 * After the end: whether it was the true one.  0 or -1 (ERROR_DATA).
	 * Sets counted and rows, where the source says how many it had.
	 */
	int (*finish)(struct stream *stream, struct error *err);
	/* Legal at any time; what it was made of is closed, too. */
	void (*close)(struct stream *stream);
};

/*
 * A stream may be made of another one, which it then owns: bytes of a pipe,
 * unpacked, without their trailer.
 */
struct stream {
	const struct stream_ops *ops;
	bool counted;  /* after finish(): rows is known */
	uint64_t rows; /* that the source says it had, without headers */
};

/*
 * Opens the source that the -s options name, in their order: "file:PATTERN",
 * where PATTERN may be a glob.  Every file is opened once and looked at: a
 * file that is missing, unreadable, no regular file, or something else by its
 * first bytes is ERROR_SOURCE; a word that is no source is ERROR_USAGE.
 */
int source_open(const char *const *texts, size_t count, struct source **out,
		struct error *err);

/* Frees the parts that source_split() made; NULL is legal. */
void source_parts_free(struct source_part *parts, size_t count);

#endif
