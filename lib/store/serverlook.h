/* SPDX-License-Identifier: BSD-2-Clause
 *
 * serverlook: what the filters of a generation are, on a server: where they
 * are, of what kind, with what state.
 *
 * They are looked at some hundred at a time, and few at the beginning, so that
 * going through a set costs few round trips and one question not much; what
 * was looked at ahead is moments old.
 */
#ifndef BLOOMCTL_STORE_SERVERLOOK_H
#define BLOOMCTL_STORE_SERVERLOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/server.h"

/* What was found of one bucket. */
struct seen {
	bool live;   /* where readers look, not in the shadows */
	bool there;  /* there is a key */
	bool filter; /* and it is a Bloom filter */
	bool own;    /* its state is of this generation and keyspec */
	bool sealed; /* and says that it is whole */
	char serves[NAMES_ID_MAX]; /* the generation that readers get */
	char type[24];             /* TYPE */
	int64_t ttl_ms;            /* -1: it stays */
	char held[NAMES_ID_MAX];   /* the generation of its state, if that says
				      that it is whole; "" if not */
	uint64_t links;    /* filters that it is made of: 1, unless it grew */
	uint64_t reserved; /* the capacity that its state says it has */
	uint64_t least;    /* the items when it was built, by its state */
	uint64_t capacity;
	double error; /* that of the filter; 0: the server does not say it */
	uint64_t memory;
	uint64_t items;
	uint64_t rows;          /* by its state */
	struct horizon horizon; /* likewise; what cannot be read is none */
};

struct serverlook {
	char generation[NAMES_ID_MAX];
	uint32_t first; /* of the buckets that were looked at */
	uint32_t count; /* 0: none */
	uint32_t ahead; /* how many the last time: it grows */
	struct seen seen[SERVER_LOOK_AHEAD];
};

/* Stands for no generation: what is live is looked at, whosever it is. */
#define SERVERLOOK_ANY "any"

/*
 * What is known of a bucket, borrowed until the next call; looks at it and
 * those behind it if that is not known yet, over c, and answers what else is
 * under way there.  NULL: the connection failed.
 */
const struct seen *serverlook_at(struct serverlook *look,
				 const struct server *server, struct cluster *c,
				 const char *generation, uint32_t bucket,
				 struct error *err);

/*
 * 0, or ERROR_DATA naming the filter: missing, something else, foreign, or,
 * where it should be sealed, unfinished.
 */
int serverlook_check(const struct seen *seen, const struct server *server,
		     const char *generation, uint32_t bucket, bool sealed,
		     struct error *err);

#endif
