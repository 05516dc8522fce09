/* SPDX-License-Identifier: BSD-2-Clause
 *
 * reply: what a server says, parsed into one arena: arrays of digits, which
 * are most of what comes, by replyflat, and all else by hiredis' reader.
 *
 *	bytes ─ reader_feed ─ reader_next ─ struct reply, a tree
 *
 * The arena is used again for each reply, so that nothing is allocated per
 * element; a reply is valid until the next reader_next().  A reply that needs
 * more than the reader's maximum, and bytes that are no reply, are
 * ERROR_DATA: the connection cannot be used any further.
 */
#ifndef BLOOMCTL_REDIS_REPLY_H
#define BLOOMCTL_REDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

enum reply_type {
	REPLY_STATUS, /* text, len */
	REPLY_ERROR,  /* text, len: "ERR ...", as the server wrote it */
	REPLY_BULK,   /* text, len: any bytes */
	REPLY_INTEGER,
	REPLY_NIL,
	REPLY_ARRAY, /* items, len of them */
};

struct reply {
	enum reply_type type;
	size_t len;
	union {
		const char *text; /* ended by a NUL that is not counted */
		int64_t integer;
		const struct reply *items;
	} u;
};

struct reader;

/* A reader of replies that need up to max bytes; NULL: out of memory. */
struct reader *reader_new(size_t max);
void reader_free(struct reader *r);

/* Takes bytes as they came; borrowed until return.  0 or -1. */
int reader_feed(struct reader *r, const void *data, size_t len,
		struct error *err);

/* The next whole reply: 1; 0 if there is none yet; -1. */
int reader_next(struct reader *r, const struct reply **out, struct error *err);

/* Whether no byte was taken that is not of a reply given out. */
bool reader_empty(const struct reader *r);

/* --- questions to a reply ------------------------------------------------ */

/* Whether it is a status or bulk of exactly this text. */
bool reply_is(const struct reply *reply, const char *text);

/* Whether it is an error whose first word is this: "OOM", "NOPERM". */
bool reply_is_error(const struct reply *reply, const char *word);

/* Whether it is an error that begins so: "ERR unknown command". */
bool reply_error_begins(const struct reply *reply, const char *text);

/*
 * An integer, or a bulk or status that is one in decimal digits.  0, or -1 if
 * it is something else.
 */
int reply_integer(const struct reply *reply, int64_t *out);

/*
 * The value behind a name in a flat array of names and values, as HGETALL and
 * BF.INFO give it; names are compared without regard to case.  NULL if there
 * is none, or the reply is no such array.
 */
const struct reply *reply_member(const struct reply *reply, const char *name);

/*
 * Whether it is an error that sounds like throttling: the same may be done
 * more slowly.
 */
bool reply_is_throttled(const struct reply *reply);

/*
 * The error that a reply means when it is not what was wanted.  An error
 * reply: NOAUTH, WRONGPASS, NOPERM: ERROR_RIGHTS; OOM, or a plan's size that
 * is used up: ERROR_SPACE; LOADING, MASTERDOWN, READONLY, CLUSTERDOWN,
 * TRYAGAIN, BUSY, MISCONF, NOREPLICAS, too many clients, a quota of requests
 * that is used up, and what sounds like throttling: ERROR_TEMPORARY; "ERR
 * unknown command", the same of a command in a script, and MOVED and ASK,
 * which say that a key is on another node of a cluster: ERROR_ENGINE; anything
 * else, also any other type, ERROR_DATA.  The text is
 * "what: " and the server's own, shown as show_clean() does and without the
 * words of a command or the place in a script; for MOVED and ASK a sentence
 * with slot and node; for another type what came instead.  A hint goes with
 * those of rights, memory, quotas, throttling, unknown commands and what a
 * server waits for.  Always returns -1.
 */
int reply_refused(const struct reply *reply, struct error *err, const char *fmt,
		  ...) __attribute__((format(printf, 3, 4)));

#endif
