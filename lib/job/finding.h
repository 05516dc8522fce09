/* SPDX-License-Identifier: BSD-2-Clause
 *
 * finding: what was looked at, whether it is as it should be, what shows that,
 * and what to do about it.
 */
#ifndef BLOOMCTL_JOB_FINDING_H
#define BLOOMCTL_JOB_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/job/generation.h"
#include "lib/store/store.h"

enum finding_level { FINDING_OK, FINDING_WARNING, FINDING_ERROR };

struct finding {
	enum finding_level level;
	enum error_code code; /* the exit status of an error; else
				 ERROR_NONE */
	char what[320];       /* "lock", "server 'HOST:PORT'" */
	char evidence[512];
	char remedy[320]; /* "" if there is nothing to do */
};

/* A zeroed struct is an empty list. */
struct findings {
	struct finding *list; /* in the order in which they were made; owned */
	size_t count;
	bool failed; /* memory was out for one of them */
};

/* "ok", "warning", "error". */
const char *finding_level_name(enum finding_level level);

/*
 * Adds one.  remedy may be NULL.  Cannot fail at once: findings_end() tells
 * whether all were taken.
 */
void findings_add(struct findings *f, enum finding_level level,
		  const char *what, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/* Adds an error, with its text as evidence and its hint as remedy. */
void findings_add_error(struct findings *f, const char *what,
			const struct error *why);

/* 0, or -1 (ERROR_INTERNAL) if one is missing. */
int findings_end(const struct findings *f, struct error *err);

/* The first of the worst level; NULL if there is none at all. */
const struct finding *findings_worst(const struct findings *f);

void findings_release(struct findings *f);

/*
 * What is wrong with the generations of a set: a swap not finished, leftovers,
 * records that are lost.  locked_by says who is at work: "" for nobody.
 */
void findings_of_generations(struct findings *f, const struct generations *g,
			     const char *locked_by);

/* That servers may not be looked at: a warning, as filters can be. */
void findings_add_unseen(struct findings *f, const struct error *why);

/* What is wrong with servers: filters may be evicted, or it is a replica. */
void findings_of_nodes(struct findings *f, const struct store_node *nodes,
		       size_t count);

#endif
