/* SPDX-License-Identifier: BSD-2-Clause
 *
 * postgres: a table or a query of PostgreSQL as a source; for source.c.
 *
 *	postgres.c      what is asked for, and its columns
 *	pghorizon.c     its horizon, and what changed since one
 *	pgsplit.c       its parts: all of it, or ranges of pages
 *	pgsessions.c    the sessions that workers take and give back
 *	pgstream.c      one COPY as a stream of rows
 *
 * All sessions share one snapshot.  With several jobs a table is read by
 * ranges of pages, leaf by leaf, the last range of each open at its end.
 *
 *	snapshot S │ range │ range │ cut ╳        │ range │ moved
 *	           └───────┴───────┴──────────────┴───────┘
 *	late       │                     │ again  │       │ xmin >= xmin(S)
 *
 * A range that the server cancels is read again, by a session whose snapshot
 * is later.  A row that was updated between the two may have moved from a
 * range that is still to be read to one that was read already, and its
 * transaction is then not below S's xmin.  So once anything was read under a
 * later snapshot, all row versions of such transactions are read at the end,
 * under a snapshot that is later than all others.  A table that was rewritten
 * between the two has moved all its rows, and then nothing helps but to begin
 * anew.
 */
#ifndef BLOOMCTL_ROWS_POSTGRES_H
#define BLOOMCTL_ROWS_POSTGRES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/pg/relation.h"
#include "lib/pg/select.h"
#include "lib/rows/source.h"

/* No range has fewer pages, unless its leaf has. */
#define POSTGRES_RANGE_MIN 1024u

/* So many ranges per job, so that jobs end at about the same time. */
#define POSTGRES_RANGES_PER_JOB 4u

/* How often a range is read in all. */
#define POSTGRES_TRIES 4u

/* The sessions of a source, from several threads. */
struct pgsessions {
	pthread_mutex_t mutex;
	char *word;                 /* owned */
	struct session *first;      /* whose snapshot they share; it is in idle,
				       or lent; NULL: lost */
	struct session_facts facts; /* of first */
	struct session **idle;      /* owned, and each of them */
	size_t count;
	size_t cap;
	bool late;    /* one with a later snapshot was lent */
	bool changed; /* a table is not what it was: reading again is no use */
};

/*
 * Connects the first one, as session_open_at(); release in both cases.  All
 * others have its snapshot, or later ones of the same server.
 */
int pgsessions_init(struct pgsessions *s, const char *word,
		    const struct session_goal *goal, struct error *err);

/* Has at least n, all with the snapshot of the first, if it is idle. */
int pgsessions_share(struct pgsessions *s, unsigned n, struct error *err);

/*
 * Lends one; where none is idle a new one, which has a later snapshot, of the
 * same server.  *idle: which it is.  ERROR_TEMPORARY if another one answers.
 */
int pgsessions_take(struct pgsessions *s, struct session **out, bool *idle,
		    struct error *err);

/* Says that a table has changed, and whether one has. */
void pgsessions_set_changed(struct pgsessions *s);
bool pgsessions_changed(struct pgsessions *s);

/* Takes one back; one that is not good any more is closed. */
void pgsessions_give(struct pgsessions *s, struct session *session, bool good);

/* Closes those that are idle, so that the next has a later snapshot. */
void pgsessions_drop(struct pgsessions *s);

/* Nothing may be lent. */
void pgsessions_release(struct pgsessions *s);

struct postgres_source {
	struct source base;
	struct pgsessions sessions;
	struct source_query query; /* what was asked for */
	struct relation *relation; /* owned; NULL: a query */
	const char **columns;      /* owned, the texts borrowed or names' */
	size_t column_count;
	char **names;    /* owned, where all columns are read */
	char *described; /* for records; owned */

	/* Of pghorizon.c. */
	bool asked;                  /* the writer was */
	struct session_facts writer; /* what it said before the snapshot */
	int64_t stamp;               /* of the writer; 0: none */
	struct error stampless;      /* why there is none */
	bool every;                  /* every row may have changed since */
	struct select_since since;   /* what did, unless `every` */
	uint32_t *whole;             /* owned; the oids in it */
};

/* What a part's index says beside the number of its leaf. */
#define POSTGRES_WHOLE SIZE_MAX /* all of it, in one COPY */
#define POSTGRES_MOVED                                     \
	(SIZE_MAX - 1) /* rows that may have moved between \
			  snapshots */

/* "table 'public.cards'" or "query", in front of every message. */
void postgres_name(const struct postgres_source *s, char *out, size_t size);

/* What is asked for: a selection of all of it. */
struct selection postgres_selection(const struct postgres_source *s);

/*
 * Asks the writer, if there is one, where it stands; before the source is
 * connected, to which *goal is then given, and borrows from s.
 */
int pghorizon_ask(struct postgres_source *s, struct session_goal *goal,
		  struct error *err);

/*
 * Behind relation_read(): whether what is asked for by times, or by ids, can
 * be, and what it is.  0 or -1.
 */
int pghorizon_prepare(struct postgres_source *s, struct error *err);

/* The horizon of source_ops. */
int pghorizon(const struct source *source, struct horizon *out,
	      struct error *err);

/* The split of source_ops. */
int pgsplit(struct source *source, unsigned jobs,
	    const struct rowformat *format, struct source_part **parts,
	    size_t *count, struct error *err);

/*
 * Adds a part: pages [first, last) of the leaf of that number and name (last 0:
 * no end), or where the name is NULL all, index saying what.  0 or -1.
 */
int pgsplit_add(const struct postgres_source *s, const char *leaf,
		uint64_t first, uint64_t last, size_t index,
		struct source_part **parts, size_t *count, struct error *err);

/* As source_open(); word is one that session_is_word(). */
int postgres_source_open(const char *const *words, size_t count,
			 const struct source_options *options,
			 struct source **out, struct error *err);

/* What a stream is of; borrowed until return, but for relation and leaf. */
struct pgstream_of {
	const char *statement; /* a COPY */
	const char *header;    /* a line in front of the rows, or NULL */
	/* What must be the same when all was read, see relation_check();
	 * NULL: nothing. */
	const struct relation *relation;
	const struct relation_leaf *leaf;
};

/* On a session of s, which it gives back when it is closed. */
int pgstream_open(struct pgsessions *s, const struct pgstream_of *of,
		  struct stream **out, struct error *err);

#endif
