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

struct examination;
struct exportlist;
struct horizon;
struct origin;
struct source;
struct stream;

/* One piece of a source, read by one worker. */
struct source_part {
	char *name;     /* for messages: "file 'x.csv'"; owned by the part */
	size_t index;   /* of the file in the source */
	size_t number;  /* from 1, of all parts of a scan, which sets it */
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
	/*
	 * How many rows stand in the file before the part; for messages.
	 * NULL where no file is cut.
	 */
	uint64_t (*rows_before)(struct source *source,
				const struct source_part *part,
				const struct rowformat *format);
	/* All bytes that streams will give, for progress; 0 or NULL: not known.
	 */
	uint64_t (*bytes)(const struct source *source);
	/*
	 * Whether a part that was cut off with this error is to be read from
	 * its start once more; attempt counts from 1.  Waits a while first.
	 * 1, 0, or -1 (a stop).  NULL: never.  By several threads at a time.
	 */
	int (*again)(struct source *source, const struct source_part *part,
		     unsigned attempt, const struct error *why,
		     struct error *err);
	/*
	 * After all parts are read: those to be read in addition, for rows
	 * that moved while parts were read again; as split().  NULL: none.
	 */
	int (*more)(struct source *source, struct source_part **parts,
		    size_t *count, struct error *err);
	/*
	 * The columns that rows have, where the source knows without reading a
	 * header; borrowed as long as the source lives.  NULL: it does not.
	 */
	const char *const *(*columns)(const struct source *source,
				      size_t *count);
	/*
	 * Fills in what records say of it: 0, 1 (nothing is known, and *out is
	 * as it was), or -1.  NULL: there is nothing to say.
	 */
	int (*origin)(const struct source *source, struct origin *out,
		      struct error *err);
	/*
	 * From where on it may lack what was committed; after all parts are
	 * read.  0 or -1.  NULL: it does not say.
	 */
	int (*horizon)(const struct source *source, struct horizon *out,
		       struct error *err);
	/*
	 * The list of the export that it is, which says what its bytes are;
	 * borrowed as long as the source lives.  NULL, and an answer of NULL:
	 * it is none.
	 */
	const struct exportlist *(*list)(const struct source *source);
	/*
	 * What is to be known of a database before it is read, as examine() in
	 * lib/pg/examine.h; no part may be open.  NULL: it is none.
	 */
	int (*examine)(struct source *source, struct examination *out,
		       struct error *err);
	void (*free)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	bool once; /* a part can be opened once only, as that of a pipe */
	uint64_t lacking; /* rows that the exports it is of passed over */
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
	bool counted;        /* after finish(): rows is known */
	uint64_t rows;       /* that the source says it had, without headers */
	const char *witness; /* who says so; NULL: "its trailer" */
};

/* What is read of a database; borrowed as long as the source lives. */
struct source_query {
	const char *table;          /* [schema.]name, by SQL's rules; or NULL */
	const char *where;          /* a condition in SQL on it, or NULL */
	const char *query;          /* in place of both: SQL */
	const char *const *columns; /* those wanted; twice is once */
	size_t column_count;        /* 0: all */
	bool csv; /* streams are CSV with a header, not COPY text */
	/*
	 * Whose position is the horizon, and up to which the database that is
	 * read must have come before it is: the word of its primary.  NULL: its
	 * own.  wait_ms: how long that may take.
	 */
	const char *writer;
	int64_t wait_ms;
	/*
	 * The column of time that every change moves; the horizon has a stamp
	 * then: the begin of the oldest transaction that could still commit,
	 * less a margin, by the writer; without one now less overlap_ms.
	 * NULL: there is none.  overlap_ms -1: not said.
	 */
	const char *changed;
	int64_t overlap_ms;
	int64_t max_age_ms; /* a horizon may be older than now by; 0: any */
	/*
	 * Only what changed since, by the column or else by ids of
	 * transactions; NULL: all.  ERROR_GENERATION where that cannot be told:
	 * it is of another cluster or timeline, or too old.
	 */
	const struct horizon *since;
	bool stamped;
	/* Only rows that surely did not change since, and at most so many. */
	const struct horizon *before;
	uint64_t limit; /* 0: all */
};

/* Whether files are parts of exports (lib/rows/exportlist.h). */
enum source_parts {
	SOURCE_PARTS_FOUND,  /* those beside which a list lies */
	SOURCE_PARTS_LISTED, /* all must be */
	SOURCE_PARTS_ANY,    /* none: files are taken as they are */
};

struct source_options {
	bool no_trailer; /* a pipe may end without one */
	enum source_parts parts;
	const struct source_query *query; /* NULL: nothing is asked for */
	/* For commands, ended by NULL; NULL is an empty one.  Borrowed as long
	 * as the source lives. */
	char *const *environment;
};

/*
 * Opens the source that the -s options name, in their order: "file:PATTERN",
 * where PATTERN may be a glob; "exec:COMMAND"; "-", standard input; or what
 * libpq takes for a database, such as "postgresql://HOST/DATABASE".  Files
 * are opened once and looked at: one that is missing, unreadable, or something
 * else than rows by its first bytes is ERROR_SOURCE.  A word that is no source
 * is ERROR_USAGE.  A command is started and a pipe read when its part is
 * opened.  options is borrowed until return.
 */
int source_open(const char *const *texts, size_t count,
		const struct source_options *options, struct source **out,
		struct error *err);

/* Its horizon, of all zeros if it has none.  0 or -1. */
int source_horizon(const struct source *source, struct horizon *out,
		   struct error *err);

/* Takes over what an inner stream's finish() says of its rows. */
void stream_count_of(struct stream *stream, const struct stream *inner);

/*
 * Holds the rows that were parsed to the number that the stream's source says
 * it had, if it does; after finish().  0 or -1 (ERROR_DATA).
 */
int stream_check_rows(const struct stream *stream, uint64_t rows,
		      struct error *err);

/*
 * Whether a word names a database, which is asked for columns and needs a
 * source_query; *password: whether the word holds one.  ERROR_USAGE if it
 * cannot be read.
 */
int source_is_database(const char *text, bool *is, bool *password,
		       struct error *err);

/*
 * A source's word as records may show it: a command without its arguments,
 * which may hold a password.  *out is owned by the caller.
 */
int source_label(const char *text, char **out, struct error *err);

/*
 * Adds a part of this name to a list that source_parts_free() frees; all else
 * in it is 0, and at_end true.  NULL with ERROR_INTERNAL: no memory, and the
 * list is as it was.
 */
struct source_part *source_part_add(struct source_part **parts, size_t *count,
				    const char *name, struct error *err);

/* Frees a list of parts; NULL is legal. */
void source_parts_free(struct source_part *parts, size_t count);

#endif
