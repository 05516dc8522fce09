/* SPDX-License-Identifier: BSD-2-Clause
 *
 * serverpass: a pass into filters of a server that are whole.
 *
 *	state, server ──── noted ─────────────────┐
 *	adds, by workers, beside anybody          ├─ one script a filter: is it
 *	                                          │  what it was? then its
 *	horizon of the pass ──────────────────────┘  horizon moves
 *
 *	serverpass.c      from its beginning to its end
 *	serverpassnote.c  what each filter is before the first add
 *	serverpassend.c   what each one is behind the last, and its horizon
 */
#ifndef BLOOMCTL_STORE_SERVERPASS_H
#define BLOOMCTL_STORE_SERVERPASS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/serverintake.h"

/* What a filter was before the first add. */
struct noted {
	char generation[NAMES_ID_MAX];
	char fence[SERVER_NUMBER_MAX];
	char horizon[HORIZON_TEXT_MAX]; /* as its state has it; "": none */
	uint64_t items;    /* by its state; behind the end as counted then */
	uint64_t capacity; /* by its state; 0: not known */
	size_t node;       /* of the pass's own connections that has it */
	bool failed;       /* it took not all, or is not what it should be */
};

struct serverpass {
	struct intake intake;
	struct server *server;
	uint32_t buckets;
	struct noted *noted; /* per bucket */
	bool *closed;        /* per bucket: was no whole filter at the start */
	/* Under intake.merge while writers are open. */
	struct error why;        /* of the first that failed; NONE */
	struct cluster *cluster; /* notes and ends; the main thread's, or: */
	struct cluster *own;     /* owned; pinned, where no run id is known */
};

/* The intake of a pass that has begun. */
struct intake *serverpass_intake(struct serverpass *pass);

/* A filter is left out from here on; *why is kept if it is the first. */
void serverpass_fail(struct serverpass *pass, uint32_t bucket,
		     const struct error *why);

/* Notes what each filter is. */
int serverpassnote_all(struct serverpass *pass, struct error *err);

/*
 * Asks each filter whether it is what it was, and moves its horizon, if to is
 * not NULL.  As store_ops.pass_end(); moved is told of each whose was moved,
 * with its new one.
 */
int serverpassend_all(struct serverpass *pass, const struct horizon *to,
		      const uint64_t *keys, struct pass_report *out,
		      struct error *err);

/* From now on promote() wants this horizon of a filter. */
void serverpass_promise(struct server *server, uint32_t bucket,
			const struct horizon *horizon);

#endif
