/* SPDX-License-Identifier: BSD-2-Clause
 *
 * lease_private: what the files of a lease share.
 *
 *	lease.c       the thread that keeps it; taking and releasing
 *	leasebeat.c   what is asked of the server
 */
#ifndef BLOOMCTL_STORE_LEASE_PRIVATE_H
#define BLOOMCTL_STORE_LEASE_PRIVATE_H

#include <pthread.h>

#include "lib/base/clock.h"
#include "lib/store/server.h"

struct lease {
	const struct server *server;
	bool sync;               /* the lock of those that keep up */
	struct cluster *cluster; /* of the thread, but before and after it */
	bool broken;             /* it must be opened again */
	int64_t next_look;       /* no look for evictions before, clock_ns() */
	bool last_try;           /* the lease is over, unless this one tells */
	pthread_t thread;
	bool running;
	int lease_ms;
	uint64_t fence;
	char token[SERVER_TOKEN_MAX];
	char host[65];
	char since[CLOCK_TEXT_MAX];
	char command[64];

	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t wake;
	bool stop;
	bool changed; /* the phase, so others are told at once */
	char phase[64];
	uint64_t done;
	uint64_t total;
	bool watching;
	struct evicted *evicted;      /* owned; what was counted before */
	struct evicted *last_evicted; /* owned; the one before */
	struct error lost;            /* code ERROR_NONE while it is held */
	struct error spoiled;         /* keys were evicted; the lock is held */
	/* When what confirmed it last was sent: it is ours for a lease from
	 * then on, by clock_ns(). */
	int64_t beaten;
};

/* The name of its key, as keys_of_set() wants it. */
const char *lease_name(const struct lease *l);

/* Takes the lock, over the lease's own connection; its fence is at least so. */
int lease_lock(struct lease *l, uint64_t least, struct error *err);

#endif
