/* SPDX-License-Identifier: BSD-2-Clause
 *
 * origin: where rows came from and what was seen of it, for the records of
 * generations and exports; so far only PostgreSQL has one.
 */
#ifndef BLOOMCTL_ROWS_ORIGIN_H
#define BLOOMCTL_ROWS_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/json.h"

/* Text that is not known is "". */
struct origin {
	char software[64];  /* "PostgreSQL 15.18" */
	char place[256];    /* "HOST:PORT", or the path of a socket */
	char database[128]; /* cut where longer */
	char encoding[32];  /* the database's */
	bool standby;       /* it was in recovery */
	int64_t lag_ms;     /* age of the last transaction replayed; -1: not
			       known, or no standby */
	char lsn[32];       /* surely reached before the snapshot */
	char timeline[16];
	char system[24];   /* the cluster's identifier */
	char snapshot[64]; /* "XMIN:XMAX" */
	int64_t taken;     /* when, ms since 1970, by its clock */
	bool again;        /* parts were read again, under later snapshots */
	char *query;       /* what was selected; owned, NULL: not known */
};

void origin_init(struct origin *origin);

/* Frees what it owns; legal after origin_init() and twice. */
void origin_release(struct origin *origin);

/* As JSON, a reference of the caller's; NULL: no memory. */
json_t *origin_json(const struct origin *origin);

/*
 * What a source says of itself, as the text of that object; *out is owned by
 * the caller, and NULL where it says nothing.  0 or -1 (ERROR_INTERNAL).
 */
struct source;
int origin_text(const struct source *source, char **out, struct error *err);

/* Reads origin_json().  0, or -1 (ERROR_DATA: a member is missing or wrong). */
int origin_read(const json_t *json, struct origin *origin, struct error *err);

#endif
