/* SPDX-License-Identifier: BSD-2-Clause
 *
 * serverbuild: the generation that a server's store is building.  For
 * the files server*.c that make it.
 */
#ifndef BLOOMCTL_STORE_SERVERBUILD_H
#define BLOOMCTL_STORE_SERVERBUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/store/serverintake.h"

struct serverbuild {
	struct intake intake;
	struct filter_params params;
	uint64_t planted;        /* sentinels per bucket: 0 or 1 */
	struct evicted *evicted; /* before the first reserve */
	bool sealed;             /* or begun to be: others may take it */
};

/*
 * Why a filter that was reserved, or its state, is not there: the lock was
 * lost, as lease_confirm(); ERROR_SPACE if the server has evicted keys
 * meanwhile; else ERROR_DATA.  what is "it is" or "its state is".  Asks over a
 * connection of its own.
 */
int serverbuild_vanished(struct server *server, uint32_t bucket,
			 const char *what, struct error *err);

/* "filter 'SHADOW'", in front of an error. */
int serverbuild_prefix(const struct server *server, uint32_t bucket,
		       struct error *err);

/* 0, or ERROR_SPACE if keys were evicted and may not be. */
int serverroom_check_evictions(struct server *server, struct error *err);

#endif
