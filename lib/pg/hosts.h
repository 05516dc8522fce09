/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hosts: the servers that a word names, in libpq's lists with commas, and the
 * word's server that is passed over.
 */
#ifndef BLOOMCTL_PG_HOSTS_H
#define BLOOMCTL_PG_HOSTS_H

#include "lib/base/error.h"

/* Each list is owned; NULL: what the word says.  A port alone is for all. */
struct hosts {
	char *host;
	char *hostaddr;
	char *port;
};

/* One server, as libpq tells where it is; texts are borrowed. */
struct host {
	const char *host;
	const char *port;
	const char *address; /* of its lookup, too; NULL or "": a socket */
};

/* Copies of the lists, each of which may be NULL.  0 or -1: no memory. */
int hosts_init(struct hosts *hosts, const char *host, const char *hostaddr,
	       const char *port, struct error *err);

/*
 * Takes the first server out that can be this one.  1 then; 0 if none can, or
 * if no other would be left, and nothing has changed.
 */
int hosts_drop(struct hosts *hosts, const struct host *gone);

void hosts_release(struct hosts *hosts);

#endif
