/* SPDX-License-Identifier: BSD-2-Clause
 *
 * dirbuild: the generation that a dir: store is building, in memory until it
 * is sealed.  For dirbuild.c and dirseal.c alone.
 */
#ifndef BLOOMCTL_STORE_DIRBUILD_H
#define BLOOMCTL_STORE_DIRBUILD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/filter/image.h"
#include "lib/store/dir.h"

struct dirbuild {
	char generation[NAMES_ID_MAX];
	struct image image;
	uint64_t *added;  /* per bucket, of closed writers; with sentinels */
	uint64_t planted; /* sentinels per bucket: 0 or 1 */
	pthread_mutex_t merge; /* of all below, and of added */
	uint64_t sent;         /* members that closed writers were given */
	unsigned writers;      /* open */
	bool lost;             /* one was closed with members in its ring */
};

/*
 * ERROR_FULL: that a bucket is full.  items is what it holds, or 0 if that is
 * only known to be too much.
 */
int dirbuild_full(const struct dir *dir, uint32_t bucket, uint64_t items,
		  struct error *err);

#endif
