/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tiers: one key's way through all that answers for it, and whether the answers
 * contradict each other.
 *
 *	cache ─► database ─► recent-writes ─► filter      the order asked in
 *
 * A writer puts a key into recent-writes before its row is committed, and into
 * the filter behind that.  Asked in this order a row that is just being
 * written is never taken for one that is missing: what the database has is in
 * recent-writes by then, and what has left these is in the filter.
 *
 *	tiers.c     the walk, and what it means
 *	tierkey.c   a key of the server: recent-writes, cache
 *	tierrow.c   rows of a database
 */
#ifndef BLOOMCTL_JOB_TIERS_H
#define BLOOMCTL_JOB_TIERS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/horizon.h"
#include "lib/job/lookup.h"
#include "lib/pg/session.h"
#include "lib/redis/target.h"

/* What stands for the key in the pattern of a tier's keys. */
#define TIERS_KEY "{key}"

/* What a key of the server says; its value is not read. */
struct tier_key {
	bool asked;
	bool found;
	int64_t ttl_ms; /* it goes away by itself after; -1: never */
	bool replica;   /* a replica said so */
};

/* What the database says. */
struct tier_row {
	bool asked;
	bool found;   /* a row in force that makes the key */
	bool other;   /* one in force of these values that makes another */
	bool expired; /* neither, but one whose time is past */
	/* Of a row that was found, by the horizon that was asked about. */
	bool before;  /* its version is of a transaction that is in it */
	bool after;   /* ... that need not be in it */
	bool unmoved; /* its stamp lies before that of the horizon */
	bool moved;   /* its stamp does not */
	struct session_facts facts; /* of who said so */
};

/* A generation that is not live yet. */
struct tier_shadow {
	char generation[NAMES_ID_MAX]; /* "": there is none */
	enum manifest_state state;     /* building or complete */
	bool known;                    /* its filter can be asked */
	bool found;
};

/* What the answers mean, the worst first. */
enum tiers_verdict {
	TIERS_FALSE_NEGATIVE, /* in the database, and readers are told no */
	TIERS_OTHER_KEY,      /* its row makes another key */
	TIERS_STALE,          /* an entry of the cache, and no row */
	TIERS_EXPIRED,        /* the same, of a row whose time is past */
	TIERS_DENIED,         /* the same, and the filter says no; the database
				 was not asked */
	TIERS_COVERED,        /* readers find it in recent-writes only */
	TIERS_NOT_LIVE,       /* a row that a generation lacks, not the live
				 one */
	TIERS_FALSE_POSITIVE, /* no row, where the filter says maybe */
	TIERS_AGREE,
	TIERS_OPEN, /* the database was not asked: nothing is to be said */
};

struct tiers_report {
	struct lookup_report filter;
	struct tier_shadow shadow;
	struct tier_key recent;
	struct tier_key cache;
	struct tier_row row;
	enum tiers_verdict verdict;
};

/* The database to ask; texts are borrowed. */
struct tiers_database {
	const char *word; /* that session_is_word() */
	bool primary;     /* a standby will not do */
	const char *of;   /* the word of a server of the same cluster, which
			     word must be of, too; NULL: not known */
	const char *table;
	const char *where;   /* of table; NULL: all rows */
	const char *query;   /* in place of both */
	const char *expires; /* the column of a row's end; NULL: none */
};

/* What is asked; borrowed until return. */
struct tiers_question {
	const struct bloomkey_spec *spec;
	const char *generation; /* NULL: the live one */
	const void *key;
	size_t len;
	uint32_t bucket;
	const char *server; /* the target, where recent or cache is asked */
	const struct redis_options *options;
	const char *recent;                    /* a pattern; NULL: not asked */
	const char *cache;                     /* a pattern; NULL: not asked */
	const struct tiers_database *database; /* NULL: not asked */
	const char *const *values; /* for it, of each field; NULL is SQL's */
	bool nul; /* a value has a NUL, which no text of a column has */
};

/* Whether a pattern names the key, once. */
bool tiers_pattern(const char *pattern);

/*
 * Asks all tiers.  Errors of lookup_run(), cluster_open(), session_open() and
 * query_compare(); ERROR_SOURCE where a primary is wanted and it is a standby.
 * A contradiction is no error here.
 */
int tiers_walk(struct store *store, const struct tiers_question *question,
	       struct tiers_report *report, struct error *err);

/* What the answers of a report mean. */
enum tiers_verdict tiers_judge(const struct tiers_report *report);

/* Whether a reader who asks filter and recent-writes is told "maybe". */
bool tiers_maybe(const struct tiers_report *report);

/* "false-negative", "agree" and so on; TIERS_OPEN: NULL. */
const char *tiers_verdict_name(enum tiers_verdict verdict);

/* --- the tiers, for tiers.c ---------------------------------------------- */

struct cluster;

/* Asks the server for the key of a pattern; what names it in messages. */
int tierkey_ask(struct cluster *c, const char *what, const char *pattern,
		const void *key, size_t len, struct tier_key *out,
		struct error *err);

/* Asks the database for rows of the question's values. */
int tierrow_ask(const struct tiers_question *question, struct tier_row *out,
		struct error *err);

/* --- many questions to one database --------------------------------------- */

struct tierrow;

/*
 * Connects; what is seen is of this moment.  All is borrowed until
 * tierrow_close().  Errors of session_open() and relation_read(); ERROR_SOURCE
 * where a primary is wanted and it is a standby, or of another cluster.
 */
int tierrow_open(const struct bloomkey_spec *spec,
		 const struct tiers_database *database, struct tierrow **out,
		 struct error *err);

const struct session_facts *tierrow_facts(const struct tierrow *t);

/*
 * Asks for rows of these values, one a field, that make the key.  horizon, if
 * not NULL, and the column of changes, if not NULL, say what out->before and
 * those behind it are about.
 */
int tierrow_match(struct tierrow *t, const char *const *values, const void *key,
		  size_t len, const struct horizon *horizon,
		  const char *changed, struct tier_row *out, struct error *err);

/* NULL is legal. */
void tierrow_close(struct tierrow *t);

#endif
