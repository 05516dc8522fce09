/* SPDX-License-Identifier: BSD-2-Clause
 *
 * service: an example of a service that adds to a set and asks for its members,
 * as bloomctl-operations(7) says: add.c is how it writes, ask.c how it asks.
 *
 * Its rows are cards that are blocked: those of the table `cards` whose status
 * is 1, with the columns entity_id and scope as the fields of the keyspec.
 * It uses libbloomkey as it is installed, libpq and hiredis, and one thread.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include <bloomkey.h>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of a card, in the order of the template. */
#define FIELDS 2

/* What a key of recent-writes begins with; the Bloom key follows. */
#define RECENT     "recent:"
#define RECENT_MAX (sizeof(RECENT) - 1 + BLOOMKEY_MAX)

/* The servers of a cluster, or the one that there is. */
#define NODES     64
#define PLACE_MAX 108

struct redis {
	struct {
		char place[PLACE_MAX];
		redisContext *link; /* NULL: not connected */
	} nodes[NODES];
	size_t count;
	size_t node; /* the last one that was asked for a recent write */
};

struct key {
	const char *bytes;
	size_t len;
	uint32_t bucket;
	uint64_t hash;
};

struct service {
	struct bloomkey_spec *spec;
	struct redis filters;
	struct redis recent;
	size_t *nodes;        /* of each bucket: which of the filters' has it */
	PGconn *db;           /* NULL: there is none to ask */
	const char *ttl;      /* seconds for which a recent write is kept */
	const char *ttl_file; /* whose first line is that; NULL: it stays */
	int log;              /* what is committed; -1: nobody wants to know */
	unsigned hold;        /* milliseconds for which a transaction is open */
	char why[512];        /* of an alarm, of what is passed on */
	char buffer[BLOOMKEY_MAX];
	char name[RECENT_MAX];
	char ttl_text[16];
};

/* --- service.c ----------------------------------------------------------- */

/* Seconds since 1970. */
double now(void);

void sleep_for(double seconds);

/*
 * Derives the key of a card into s->buffer, where it lies until the next one
 * is derived.  0; or a reject, and s->why is its word.
 */
int derive(struct service *s, const char *const values[FIELDS],
	   struct key *out);

/* For how long a recent write is to be kept by now, in seconds. */
const char *ttl(struct service *s);

/* The name of recent-writes for a key, in s->name; its length. */
size_t recent_name(struct service *s, const struct key *key);

/*
 * Logs that a card is in the set or, with gone, that it may soon be in it no
 * more: a line of the key, the time, and `gone`, with a TAB between.
 */
int log_key(struct service *s, const struct key *key, bool gone);

/* --- redis.c ------------------------------------------------------------- */

/* PLACE is the path of a unix socket, or HOST:PORT of any node. */
int redis_open(struct redis *r, const char *place);
void redis_close(struct redis *r);

/*
 * The answer to one command, which the caller frees; NULL and why, of 512
 * bytes, if there is none.  An answer may be an error.
 * *node is who is asked first; it becomes who answered, or who to try next.
 */
redisReply *redis_ask(struct redis *r, size_t *node, int argc,
		      const char **argv, const size_t *lens, char *why);

/* --- add.c --------------------------------------------------------------- */

enum outcome {
	OUTCOME_DONE,
	OUTCOME_ROLLED_BACK, /* as was wanted */
	OUTCOME_NO_KEY,      /* committed; in the database only: s->why */
	OUTCOME_ALARM,       /* s->why is for an operator */
};

/* What services do that differ from each other, and what happens to them. */
struct manner {
	bool rolled_back;  /* it fails, for a reason of its own */
	bool two_phase;    /* another coordinates the commit */
	bool unstamped;    /* an update leaves updated_at as it was */
	bool removes;      /* who is not blocked has no row */
	bool lost;         /* it dies between the commit and the filter */
	const char *clock; /* what stamps rows, as SQL; NULL: the server's */
};

/* Blocks a card. */
enum outcome block(struct service *s, const char *const values[FIELDS],
		   const struct manner *manner);

/* It is not blocked any more. */
enum outcome unblock(struct service *s, const char *const values[FIELDS],
		     const struct manner *manner);

/* --- ask.c --------------------------------------------------------------- */

enum answer {
	ANSWER_NO,     /* certainly not in the set */
	ANSWER_FILTER, /* maybe: the filter found it */
	ANSWER_RECENT, /* maybe: it was written a moment ago */
	ANSWER_PASS,   /* nothing is known: s->why */
};

enum answer ask(struct service *s, const struct key *key);

/* The filter alone: what a reader must not do. */
enum answer ask_filter(struct service *s, const struct key *key);

/* The database: 1 it is blocked, 0 it is not, -1 s->why. */
int ask_database(struct service *s, const char *const values[FIELDS]);

/* --- write.c, follow.c --------------------------------------------------- */

struct work {
	const char *name; /* what entity_id begins with */
	const char *scope;
	unsigned long number; /* of transactions; 0: any */
	double rate;          /* of transactions a second; 0: as it goes */
	double until;         /* seconds since 1970; 0: for ever */
	unsigned long alarms; /* after so many it ends */
	unsigned flip;        /* percent that are of a card that was there */
	unsigned rollback;    /* percent that are of a manner */
	unsigned two_phase;
	unsigned unstamped;
	unsigned removes;
	unsigned lost;
	bool own_clock; /* stamps are of this machine's time */
	double clock;   /* and so many seconds ahead of it */
	double before;  /* only what was committed before then; 0: all */
	uint64_t seed;
	bool filter_only;
	bool once;
};

/* Whether somebody wants the program to end. */
bool stopped(void);

/* Both print what they have done, and return an exit status. */
int write_cards(struct service *s, const struct work *w);
int follow_log(struct service *s, const struct work *w, const char *path);

#endif
